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
