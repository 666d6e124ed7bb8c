import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { utf8Text } from './utf8.ts'

/** The bytes of a file that somebody named on the command line. */
export async function readGiven({ io }: Pick<Cli, 'io'>, path: string, fix = 'check the path'): Promise<Buffer> {
  try {
    return await readFile(resolve(io.cwd, path))
  } catch (cause) {
    throw new CliError('file_unreadable', `${path} cannot be read`, { fix, cause })
  }
}

/** Before anything is done for a file that is to be written: a folder that is not there was mistyped, and nobody would look for secrets in it. */
export function ensureFolderFor({ io }: Pick<Cli, 'io'>, out: string | undefined): void {
  if (out === undefined || out === '-') return
  const folder = dirname(resolve(io.cwd, out))
  if (!existsSync(folder))
    throw new CliError('file_unwritable', `there is no folder ${folder}`, { fix: shellLine`mkdir -p ${folder}` })
}

export function parseGiven(bytes: Buffer, name: string): unknown {
  const text = utf8Text(bytes, name)
  try {
    return JSON.parse(text)
  } catch {
    throw new CliError('usage', `${name} is not JSON`)
  }
}
