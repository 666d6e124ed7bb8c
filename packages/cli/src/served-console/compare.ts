import { createHash } from 'node:crypto'
import { CliError } from '../errors/cli-error.ts'
import { type Manifest, manifestIn } from './manifest.ts'

export interface Different {
  readonly path: string
  readonly state: 'differs' | 'missing'
  readonly expected: string
  readonly found: string | null
}

/** What was found at an address, held against a build. */
export interface Comparison {
  readonly build: string
  /** What the server says of itself, for a hint and nothing else. */
  readonly claimed: string | null
  readonly checked: number
  readonly different: readonly Different[]
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

const LIST = 'build.json'

const servedList = async (base: string, signal: AbortSignal): Promise<string | undefined> =>
  (await bytesAt(`${base}/${LIST}`, signal))?.toString()

function claimedIn(text: string | undefined): string | null {
  try {
    const { build } = JSON.parse(text ?? '{}') as { build?: unknown }
    return typeof build === 'string' && /^[0-9a-f]{64}$/.test(build) ? build : null
  } catch {
    return null
  }
}

/** A page further down is the same page: a server could change only that. */
const FURTHER_DOWN = 'vaults'

const addressesOf = ({ files }: Manifest): readonly (readonly [path: string, expected: string])[] => [
  ...Object.entries(files).map(([path, hash]) => [path === 'index.html' ? '' : path, hash] as const),
  [FURTHER_DOWN, files['index.html'] ?? ''],
]

const AT_ONCE = 8

async function differences(base: string, manifest: Manifest, signal: AbortSignal): Promise<readonly Different[]> {
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

/** Every file that the list names, and a page further down. */
export async function compareWith(base: string, manifest: Manifest, signal: AbortSignal): Promise<Comparison> {
  const different = await differences(base, manifest, signal)
  const claimed = claimedIn(await servedList(base, signal).catch(() => undefined))
  return { build: manifest.build, claimed, checked: addressesOf(manifest).length, different }
}

/** The list that the server itself serves counts when it has the hash of the build; then every file in it is looked at. */
export async function compareWithBuild(base: string, build: string, signal: AbortSignal): Promise<Comparison> {
  const text = await servedList(base, signal)
  const manifest = manifestIn(text ?? '')
  if (typeof manifest !== 'string' && manifest.build === build) return compareWith(base, manifest, signal)
  const state = text === undefined ? 'missing' : 'differs'
  const found = typeof manifest === 'string' ? null : manifest.build
  return {
    build,
    claimed: claimedIn(text),
    checked: 1,
    different: [{ path: `/${LIST}`, state, expected: build, found }],
  }
}
