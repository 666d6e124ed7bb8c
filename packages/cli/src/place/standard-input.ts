import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'

/** Everything that is piped in, up to a limit. */
export async function readAll(stdin: NodeJS.ReadStream, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Uint8Array | string)
    size += bytes.length
    if (size > maxBytes) throw new CliError('input_too_large', `standard input is larger than ${maxBytes} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/**
 * What is piped in. A terminal where nobody can be asked is refused, and `flag` named: it would be waited for without an end, and
 * what is typed there is shown.
 */
export async function readPiped({ io, isInteractive }: Cli, maxBytes: number, flag: string): Promise<Buffer> {
  ensurePiped({ io, isInteractive }, flag)
  return readAll(io.stdin, maxBytes)
}

export function ensurePiped({ io, isInteractive }: Pick<Cli, 'io' | 'isInteractive'>, flag: string): void {
  if (!io.stdin.isTTY || isInteractive) return
  throw new CliError('input_required', 'nothing is piped in, and nobody can be asked', {
    fix: `pipe it in, or give ${flag}`,
  })
}
