import { resolve } from 'node:path'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { readIfThere } from '../place/private-file.ts'
import { readPiped } from '../place/standard-input.ts'
import { pipedText } from '../place/utf8.ts'

// Secrets come from a file, from standard input or from a person: never from the command line, which everybody on the machine
// and the history of the shell can read.

const MOST_BYTES = 131_072

/** The text of a file without the line end; `-` is standard input, and at a terminal a question, so that nothing is shown. */
export async function secretFromFile(cli: Cli, path: string, flag: string): Promise<string> {
  if (path === '-' && cli.isInteractive) return cli.ask.secret(`For ${flag} (hidden)`, `${flag} FILE`)
  const text =
    path === '-'
      ? pipedText(await readPiped(cli, MOST_BYTES, `${flag} FILE`))
      : await readIfThere(resolve(cli.io.cwd, path))
  if (text === undefined)
    throw new CliError('file_unreadable', `there is no file ${path}`, { fix: `check the path given with ${flag}` })
  const secret = text.replace(/\r?\n$/, '')
  if (secret === '') throw new CliError('file_unreadable', `what ${flag} names is empty`)
  return secret
}

/** From the flag's file if it was given, else from a person. */
export async function secretFrom(cli: Cli, path: string | undefined, flag: string, question: string): Promise<string> {
  return path === undefined ? cli.ask.secret(question, `${flag} FILE`) : secretFromFile(cli, path, flag)
}
