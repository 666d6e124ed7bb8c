import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Purchase } from '@strongroom/contract'
import { valueText } from '@strongroom/protocol'
import { attach } from '../attach.ts'
import { freePort, runServer, type ServerProcess } from '../process.ts'
import { buy, giveCredit, makeBuyer, makeLicenseOrg, statusOf, takeDelivery } from '../provider/license-buyer.ts'
import { SECRET, startReferenceProvider } from '../provider/reference-provider.ts'
import { byteFormsOf } from './forms.ts'
import { type Finding, searchBytes, searchFolder, searchMemory, searchTables, type Wanted } from './places.ts'

// Two licences are bought from a server that is a process of its own, one of a provider and one of the built-in issuer, and taken by
// their buyer. Afterwards their secrets are looked for wherever that server could have left them.

export const MUTANTS = ['here', 'log', 'heap'] as const
export type Mutant = (typeof MUTANTS)[number]

export interface CanaryResult {
  /** Secrets, each in all its forms. */
  readonly secrets: number
  readonly forms: number
  /** What was searched, and how much of it. */
  readonly places: Readonly<Record<string, number>>
  readonly found: readonly Finding[]
  /** Places where something that must be there was not found: the search itself is broken. */
  readonly blind: readonly string[]
}

const PRICE = 31_000_000n
const WAIT_MS = 90_000
const TURN_MS = 150

async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
    const seen = await look()
    if (seen !== undefined) return seen
    await new Promise((resolve) => setTimeout(resolve, TURN_MS))
  }
  throw new Error(`waited too long for ${what}`)
}

function writeCatalogue(folder: string, url: string): string {
  const offer = { description: '', price: String(PRICE), term: 'month' }
  const variable = (label: string) => ({ label, isEnvironmentVariable: true })
  const licenses = [
    {
      ...offer,
      ...{ slug: 'mail-pro', name: 'Mail', provider: 'acme', sku: 'MP1' },
      fields: [variable('MAIL_KEY'), { label: 'Account', isEnvironmentVariable: false }],
    },
    { ...offer, slug: 'own', name: 'Own', provider: 'builtin', sku: 'OWN', fields: [variable('OWN_KEY')] },
  ]
  const [secretFile, file] = [join(folder, 'acme.secret'), join(folder, 'catalogue.json')]
  writeFileSync(secretFile, SECRET)
  writeFileSync(file, JSON.stringify({ providers: { acme: { url, secretFile } }, licenses }))
  return file
}

/** Keeps what it is sent, as a collector of traces would. */
async function startCollector() {
  const chunks: Buffer[] = []
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => response.end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, received: () => Buffer.concat(chunks), close: () => server.close() }
}

interface Scene {
  readonly server: ServerProcess
  readonly data: string
  readonly dumps: string
  readonly traces: () => Buffer
}

async function secretsOf(server: ServerProcess, data: string) {
  const { h, admin } = await attach(server.url, data)
  const org = await makeLicenseOrg(h, 'canary')
  await giveCredit(h, org.orgId, 10n * PRICE)
  const buyer = await makeBuyer(h, org)
  const texts = new Map<string, string>()
  const purchases: Purchase[] = []
  for (const slug of ['mail-pro', 'own']) {
    const { purchaseId } = await buy(buyer, slug, `Vault of ${slug}`)
    purchases.push(
      await until(slug, async () => {
        const now = await statusOf(buyer, purchaseId)
        return now.status === 'awaiting_handoff' ? now : undefined
      }),
    )
    const { fields } = await takeDelivery(h, buyer, purchaseId)
    for (const { label, value } of fields) texts.set(label, valueText(value))
  }
  return { h, admin, texts, purchases }
}

/** A licence key is looked for by its halves as well: each alone would give it away. */
function wantedOf(texts: ReadonlyMap<string, string>): Wanted {
  const wanted = new Map([...texts].map(([label, text]) => [label, byteFormsOf(text)]))
  const [payload = '', signature = ''] = (texts.get('OWN_KEY') ?? '').slice('key/'.length).split('.')
  wanted.set('OWN_KEY payload', byteFormsOf(payload))
  wanted.set('OWN_KEY signature', [...byteFormsOf(signature), Buffer.from(signature, 'base64url')])
  return wanted
}

/** By the engine's own account: every text that is alive. */
async function heapSnapshot({ server, dumps }: Scene): Promise<Buffer> {
  server.child.kill('SIGUSR2')
  return until('the heap snapshot', () => {
    const name = readdirSync(dumps).find((file) => file.endsWith('.heapsnapshot'))
    if (name === undefined || statSync(join(dumps, name)).size === 0) return undefined
    const bytes = readFileSync(join(dumps, name))
    return bytes.subarray(-16).toString().trimEnd().endsWith('}') ? bytes : undefined
  })
}

async function search(scene: Scene, wanted: Wanted, admin: Awaited<ReturnType<typeof attach>>['admin']) {
  const { server, data, traces } = scene
  const pid = server.child.pid ?? 0
  // What is in memory is looked at first: everything else would stir it.
  const memory = process.platform === 'linux' ? searchMemory(pid, wanted) : { bytes: 0, found: [] }
  const heap = await heapSnapshot(scene)
  await admin.query('checkpoint')
  const tables = await searchTables(admin, wanted)
  const disk = searchFolder(data, wanted)
  const [log, spans] = [Buffer.from(server.output()), traces()]
  const found = [
    ...memory.found,
    ...searchBytes('heap', heap, wanted),
    ...tables.found,
    ...disk.found,
    ...searchBytes('log', log, wanted),
    ...searchBytes('traces', spans, wanted),
  ]
  const places = {
    memoryBytes: memory.bytes,
    heapBytes: heap.length,
    tables: tables.tables,
    files: disk.files,
    logBytes: log.length,
    traceBytes: spans.length,
  }
  return { places, found }
}

/** Searches for what must be there: the number of a purchase is in tables, on disk and in memory, a route in log and traces. */
async function blindSpots(scene: Scene, purchaseId: string, admin: Awaited<ReturnType<typeof attach>>['admin']) {
  const known: Wanted = new Map([['known', [Buffer.from(purchaseId)]]])
  const route: Wanted = new Map([['known', [Buffer.from('/licenses/purchase')]]])
  const isLinux = process.platform === 'linux'
  const sees: readonly (readonly [string, boolean])[] = [
    ['tables', (await searchTables(admin, known)).found.length > 0],
    ['disk', searchFolder(scene.data, known).found.some(({ place }) => place.includes('pg_wal'))],
    ['memory', !isLinux || searchMemory(scene.server.child.pid ?? 0, known).found.length > 0],
    ['log', searchBytes('log', Buffer.from(scene.server.output()), route).length > 0],
    ['traces', searchBytes('traces', scene.traces(), route).length > 0],
  ]
  return sees.flatMap(([place, isSeen]) => (isSeen ? [] : [place]))
}

async function onScene(scene: Scene): Promise<CanaryResult> {
  const { h, admin, texts, purchases } = await secretsOf(scene.server, scene.data)
  try {
    const wanted = wantedOf(texts)
    await until('traces', () => (scene.traces().includes('/vault-item') ? true : undefined))
    const { places, found } = await search(scene, wanted, admin)
    const blind = await blindSpots(scene, purchases[0]?.purchaseId ?? '', admin)
    const forms = [...wanted.values()].reduce((sum, list) => sum + list.length, 0)
    return { secrets: wanted.size, forms, places, found, blind }
  } finally {
    await h.close()
  }
}

export async function runCanary(mutant?: Mutant): Promise<CanaryResult> {
  // The data directory stands alone: PostgreSQL may run as somebody who sees no folder of ours.
  const [data, folder] = [mkdtempSync(join(tmpdir(), 'sr-canary-')), mkdtempSync(join(tmpdir(), 'sr-canary-files-'))]
  const dumps = mkdtempSync(join(folder, 'dumps-'))
  const labels = { MP1: ['MAIL_KEY', 'Account'] }
  const canary = `canary/of+a "credential" ${crypto.randomUUID()}`
  const provider = await startReferenceProvider({ secret: SECRET, prices: { MP1: PRICE }, labels, canary })
  const collector = await startCollector()
  const preload = new URL('./mutants.ts', import.meta.url).href
  const env = {
    NODE_OPTIONS: `--import=${preload} --heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${dumps}`,
    STRONGROOM_CATALOGUE: writeCatalogue(folder, provider.url),
    STRONGROOM_EGRESS_ALLOW: '127.0.0.0/8',
    STRONGROOM_LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...(mutant !== undefined && { CANARY_MUTANT: mutant }),
  }
  const server = await runServer({ data, port: await freePort(), env })
  try {
    return await onScene({ server, data, dumps, traces: collector.received })
  } finally {
    await server.end('SIGTERM')
    collector.close()
    await provider.close()
    for (const one of [data, folder]) rmSync(one, { recursive: true, force: true })
  }
}
