import { resolve } from 'node:path'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { readIfThere } from '../place/private-file.ts'
import { readAll } from '../place/standard-input.ts'

// Secrets come from a file, from standard input or from a person: never from the command line, which everybody on the machine
// and the history of the shell can read.

const MOST_BYTES = 131_072

/** The text of a file without the line end; `-` is standard input. */
export async function secretFromFile({ io }: Cli, path: string, flag: string): Promise<string> {
  const text =
    path === '-' ? (await readAll(io.stdin, MOST_BYTES)).toString('utf8') : await readIfThere(resolve(io.cwd, path))
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
