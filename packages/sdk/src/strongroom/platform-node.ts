import { channel } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Evidence } from '@strongroom/protocol'
import { fileCache, fileTrust } from '../engine/trust-file.ts'
import { nodeFiles } from './files-node.ts'
import { openWithMemory } from './key-memory.ts'
import type { Platform } from './options.ts'

/** Where HOME is set to nothing, that of the account: pins must not lie in whatever folder a program was started in. */
const inHome = (...parts: readonly string[]): string => join(homedir() || userInfo().homedir, ...parts)

/** One file for each alarm, to be attached to a report. It holds no key, no value and no ciphertext of one. */
async function keepEvidence(evidence: Evidence): Promise<string> {
  const directory = inHome('.local', 'state', 'strongroom', 'evidence')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `${evidence.at}-${evidence.code}-${crypto.randomUUID().slice(0, 8)}.json`)
  await writeFile(path, `${JSON.stringify(evidence, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  return path
}

/** Costs nothing while nobody listens. */
const requests = channel('strongroom:request')

const NO_CONNECTION = /REFUSED|NOTFOUND|EAI_AGAIN|UNREACH|CONNECT_TIMEOUT|CERT|SIGNATURE/

/** The system names what failed; `fetch` wraps it. */
function isUnsent(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } }
  return NO_CONNECTION.test(String(cause?.code ?? code))
}

/** Node, Bun and Deno: files under the home directory, or where the environment says. */
export const nodePlatform: Platform = {
  isBrowser: false,
  env: () => process.env,
  readText: (path) => readFileSync(path, 'utf8'),
  trustStore: ({ STRONGROOM_TRUST_STORE: path }) =>
    fileTrust(path || inHome('.local', 'share', 'strongroom', 'trust.json')),
  cache: ({ STRONGROOM_CACHE_DIR: path }) => fileCache(path || inHome('.cache', 'strongroom')),
  openKeys: openWithMemory,
  onEvidence: keepEvidence,
  files: nodeFiles,
  publish: (event) => requests.publish(event),
  isUnsent,
}
