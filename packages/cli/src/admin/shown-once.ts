import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Cli, ensureNotAgent } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { ensureFolderFor } from '../place/given-file.ts'
import { writePrivate } from '../place/private-file.ts'

// A secret that is shown once: into a file that only its owner can read, or to a person.

/** Before the secret is made: afterwards a refusal would lose it. */
export function ensureShowable(cli: Cli, out: string | undefined): void {
  if (out === undefined) ensureNotAgent(cli)
  ensureFolderFor(cli, out)
  const file = resolve(cli.io.cwd, out ?? '')
  if (out !== undefined && existsSync(file))
    throw new CliError('file_unwritable', `${file} is there already`, { fix: 'choose another name with --out' })
}

/** What `data` gets of it: the place of the file, or the secret itself. */
export async function shownOnce<N extends string>(
  cli: Cli,
  { name, secret, out }: { readonly name: N; readonly secret: string; readonly out: string | undefined },
): Promise<{ readonly file: string } | Record<N, string>> {
  if (out === undefined) return { [name]: secret } as Record<N, string>
  const file = resolve(cli.io.cwd, out)
  await writePrivate(file, `${secret}\n`)
  return { file }
}
