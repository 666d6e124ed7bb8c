import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { readGiven } from '../place/given-file.ts'
import { packageFolder } from '../up/node-program.ts'

/** Which files a browser gets, and one hash over all of them. */
export interface Manifest {
  readonly build: string
  readonly files: Readonly<Record<string, string>>
}

const digestOf = (files: Manifest['files']): string => {
  const paths = Object.keys(files).sort()
  const lines = paths.map((path) => `${path} ${files[path]}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

const isPath = (path: string): boolean => /^[\w./-]+$/.test(path) && !path.includes('..') && !path.startsWith('/')

/** The list that a text is, with the hash that it has; or what is wrong with it. */
export function manifestIn(text: string): Manifest | string {
  let found: { build?: unknown; files?: unknown } | null
  try {
    found = JSON.parse(text) as typeof found
  } catch {
    return 'is no JSON'
  }
  const { build, files } = found ?? {}
  if (typeof build !== 'string' || typeof files !== 'object' || files === null) return 'is no list of a build'
  const isRight = ([path, hash]: [string, unknown]): boolean =>
    isPath(path) && typeof hash === 'string' && /^sha384-[A-Za-z0-9+/]{64}$/.test(hash)
  if (!Object.hasOwn(files, 'index.html') || !Object.entries(files).every(isRight)) return 'is no list of a build'
  const manifest = { build, files: files as Manifest['files'] }
  return digestOf(manifest.files) === build ? manifest : 'was changed: its files do not have the hash it says'
}

/** Of the console in the server package beside this program: published it is in it, in the repository the set-up builds it. */
function ownManifest(): string {
  const folder = packageFolder('@strongroom/server')
  const places = folder === undefined ? [] : ['console', '../../.setup/console']
  const files = places.map((place) => join(realpathSync(folder ?? ''), place, 'build.json'))
  const found = files.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new CliError('file_unreadable', 'no console was built beside this program', {
    fix: 'give the list of a release: strongroom verify-console --manifest build.json',
  })
}

/** The list of a release: in the file that was given, or the one that came with this program. */
export async function releasedManifest(cli: Cli, given: string | undefined): Promise<Manifest> {
  const path = given ?? ownManifest()
  const found = manifestIn((await readGiven(cli, path)).toString())
  if (typeof found !== 'string') return found
  throw new CliError('file_unreadable', `${path} ${found}`, {
    fix: 'give the build.json of the release that you expect',
  })
}
