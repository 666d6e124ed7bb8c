import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
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

export function parseGiven(bytes: Buffer, name: string): unknown {
  const text = utf8Text(bytes, name)
  try {
    return JSON.parse(text)
  } catch {
    throw new CliError('usage', `${name} is not JSON`)
  }
}
