import { createHash } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/codes.ts'
import { arg, command, flag } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { readGiven } from '../place/given-file.ts'
import { addressOf } from '../place/server-address.ts'
import { withProgress } from '../prompt/progress.ts'
import { packageFolder } from '../up/node-program.ts'

/** Which files a browser gets, and one hash over all of them. */
interface Manifest {
  readonly build: string
  readonly files: Readonly<Record<string, string>>
}

const digestOf = (files: Manifest['files']): string => {
  const paths = Object.keys(files).sort()
  const lines = paths.map((path) => `${path} ${files[path]}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

const isPath = (path: string): boolean => /^[\w./-]+$/.test(path) && !path.includes('..') && !path.startsWith('/')

function parseManifest(text: string, from: string): Manifest {
  const refuse = (why: string): CliError =>
    new CliError('file_unreadable', `${from} ${why}`, { fix: 'give the build.json of the release that you expect' })
  let found: { build?: unknown; files?: unknown } | null
  try {
    found = JSON.parse(text) as typeof found
  } catch {
    throw refuse('is no JSON')
  }
  const { build, files } = found ?? {}
  if (typeof build !== 'string' || typeof files !== 'object' || files === null) throw refuse('is no list of a build')
  const isRight = ([path, hash]: [string, unknown]): boolean =>
    isPath(path) && typeof hash === 'string' && /^sha384-[A-Za-z0-9+/]{64}$/.test(hash)
  if (!Object.hasOwn(files, 'index.html') || !Object.entries(files).every(isRight))
    throw refuse('is no list of a build')
  const manifest = { build, files: files as Manifest['files'] }
  if (digestOf(manifest.files) !== build) throw refuse('was changed: its files do not have the hash it says')
  return manifest
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

async function expectedFiles(cli: Cli, given: string | undefined): Promise<Manifest> {
  const path = given ?? ownManifest()
  return parseManifest((await readGiven(cli, path)).toString(), path)
}

/** No file of a console is a tenth of it; what a server sends without end is not read to the end. */
const MOST_BYTES = 33_554_432

/** What the server sends at an address; undefined where it has nothing there. */
async function bytesAt(url: string, signal: AbortSignal): Promise<Buffer | undefined> {
  const answer = await fetch(url, { headers: { accept: 'text/html,*/*' }, redirect: 'error', signal }).catch(() => {
    throw new CliError('server_not_running', `nothing that could be checked answers at ${url}`)
  })
  if (!answer.ok || !answer.body) return undefined
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MOST_BYTES) break
  }
  return Buffer.concat(chunks)
}

/** What the server says of itself, for a hint and nothing else. */
async function claimedBuild(base: string, signal: AbortSignal): Promise<string | null> {
  const text = (await bytesAt(`${base}/build.json`, signal))?.toString() ?? '{}'
  const { build } = JSON.parse(text) as { build?: unknown }
  return typeof build === 'string' && /^[0-9a-f]{64}$/.test(build) ? build : null
}

/** A page further down is the same page: a server could change only that. */
const FURTHER_DOWN = 'vaults'

const addressesOf = ({ files }: Manifest): readonly (readonly [path: string, expected: string])[] => [
  ...Object.entries(files).map(([path, hash]) => [path === 'index.html' ? '' : path, hash] as const),
  [FURTHER_DOWN, files['index.html'] ?? ''],
]

interface Different {
  readonly path: string
  readonly state: 'differs' | 'missing'
  readonly expected: string
  readonly found: string | null
}

const AT_ONCE = 8

async function compare(base: string, manifest: Manifest, signal: AbortSignal): Promise<readonly Different[]> {
  const left = [...addressesOf(manifest)]
  const different: Different[] = []
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [path, expected] = next
      const bytes = await bytesAt(`${base}/${path}`, signal)
      const found = bytes ? `sha384-${createHash('sha384').update(bytes).digest('base64')}` : null
      if (found === expected) continue
      different.push({ path: `/${path}`, state: found === null ? 'missing' : 'differs', expected, found })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return different.sort((a, b) => (a.path < b.path ? -1 : 1))
}

interface Verdict {
  readonly url: string
  readonly matches: boolean
  readonly build: string
  readonly claimed: string | null
  readonly checked: number
  readonly different: readonly Different[]
}

function wordsFor({ style }: Cli, { url, matches, build, claimed, checked, different }: Verdict): string {
  if (matches) return `${style.good('✓')} ${safeText(url)} serves build ${build}   ${checked} files`
  const isOther = claimed !== null && claimed !== build
  return [
    ...different.map(({ path, state }) => `${style.bad('✗')} ${safeText(path)}   ${state}`),
    '',
    `${different.length} of ${checked} files are not those of build ${build}.`,
    isOther
      ? `The server says it serves build ${claimed}: get the list of that release from whom you trust, and give it with --manifest.`
      : 'Type no passphrase there, and ask whoever runs the server.',
  ].join('\n')
}

async function addressToCheck(cli: Cli, given: string | undefined): Promise<string> {
  const url = (given ?? (await addressOf(cli))).replace(/\/+$/, '')
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new CliError('usage', 'the address of a server begins with https://', { fix: 'strongroom verify-console URL' })
}

export const verifyConsole = command({
  summary: 'hold the console that a server serves against the one of this release',
  about:
    'A page that encrypts in the browser trusts the files it is served. This fetches each of them and compares it with the list that this program was built with, or with --manifest. Exit code 9 where one differs. A server can send you one thing and a browser another: run it where the browser is, and use this program itself where that is not enough.',
  args: { url: arg.maybe('address of the server; without it, that of the profile') },
  flags: { manifest: flag.text('the build.json of the release you expect', 'FILE', { completes: 'file' }) },
  examples: [
    { run: 'strongroom verify-console', does: 'the console of your server' },
    { run: 'strongroom verify-console https://vault.example --manifest build.json', does: 'against another release' },
  ],
  next: 'strongroom verify',
  output: async () => (await import('../schemas/console.ts')).verifiedConsoleShape,
  run: async (cli, { args, flags }) => {
    const manifest = await expectedFiles(cli, flags.manifest)
    const url = await addressToCheck(cli, args.url)
    const checked = addressesOf(manifest).length
    const different = await withProgress(cli, `fetching ${checked} files`, () => compare(url, manifest, cli.signal))
    const claimed = await claimedBuild(url, cli.signal).catch(() => null)
    const { build } = manifest
    const data = { url, matches: different.length === 0, build, claimed, checked, different }
    return { data, text: wordsFor(cli, data), exitCode: data.matches ? EXIT.ok : EXIT.unverified }
  },
})
