import { existsSync, statSync } from 'node:fs'
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

/** Streams of this process, by name. */
const STREAMS = /^\/(?:dev\/(?:fd\/|std(?:in|out|err)$)|proc\/)/

/** A file is put in place of what is there: whoever reads a pipe would wait for ever, and a device be one no more. */
function ensureReplaceable(path: string): void {
  const there = existsSync(path) ? statSync(path) : undefined
  const isReplaceable = !there || there.isFile() || there.isDirectory()
  if (!isReplaceable || STREAMS.test(path))
    throw new CliError('file_unwritable', `${path} is no file, and would be replaced by one`, {
      fix: 'give the path of a file',
    })
}

/** Before anything is done for a file that is to be written: a folder that is not there was mistyped, and nobody would look for secrets in it. */
export function ensureFolderFor({ io }: Pick<Cli, 'io'>, out: string | undefined): void {
  if (out === undefined) return
  if (out === '-')
    throw new CliError('usage', '- does not stand for standard output here', {
      fix: 'give the path of a file, such as ./-',
    })
  const path = resolve(io.cwd, out)
  const folder = dirname(path)
  if (!existsSync(folder))
    throw new CliError('file_unwritable', `there is no folder ${folder}`, { fix: shellLine`mkdir -p ${folder}` })
  ensureReplaceable(path)
}

export function parseGiven(bytes: Buffer, name: string): unknown {
  const text = utf8Text(bytes, name)
  try {
    return JSON.parse(text)
  } catch {
    throw new CliError('usage', `${name} is not JSON`)
  }
}
