import { encodePem, type PrivateKeyMaterial, serialiseTrustStore, type TrustStore } from '@strongroom/protocol'
import { createClient } from '../../src/client.ts'
import { makeActor } from '../../src/engine/actor.ts'
import { keysOfAll } from '../../src/engine/directory.ts'
import { memoryTrust, pinTrust, type TrustKeeper } from '../../src/engine/trust.ts'
import type { FirstPerson } from '../../src/people.ts'
import type { Receipt } from '../../src/strongroom/receipt.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { keysOf } from '../engine/server.ts'

// Whole sessions with an honest server, written down, to be played again with something changed.

/** One answer, in the order in which it was given. */
export interface Played {
  readonly asked: string
  readonly status: number
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

export interface Session {
  readonly name: string
  readonly answers: readonly Played[]
  /** What the client knew before; absent for one without memory. */
  readonly memory: TrustStore | undefined
  /** What it gave, and what it knows since. */
  readonly honest: string
}

export interface Recording {
  readonly sessions: readonly Session[]
  /** Plays a session with these answers; gives what `Session.honest` holds, or refuses. */
  play(session: Session, answers: readonly Played[]): Promise<string>
}

type Reading = (client: Strongroom, options: ReadingOptions) => Promise<unknown>
interface ReadingOptions {
  readonly fetch: typeof fetch
  readonly trust: TrustKeeper
}

const SERVER = 'http://127.0.0.1'

/** Nobody signs in which order things are listed, and nothing depends on it. */
const inOrder = (members: Readonly<Record<string, unknown>>): unknown =>
  Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1))

/** What a receipt claims; when it was fetched is this client's own. */
const claims = (receipt: Receipt | undefined): unknown => receipt && { ...receipt, fetchedAt: 0 }

/** What was seen, whenever that was. */
const seenIn = ({ seenAt = {} }: TrustStore['orgs'][string]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.keys(seenAt)
      .sort()
      .map((hash) => [hash, 0]),
  )

/** The trust store without the time of day. */
const withoutTimes = (store: TrustStore): TrustStore => ({
  ...store,
  orgs: Object.fromEntries(
    Object.entries(store.orgs).map(([org, trust]) => [org, { ...trust, checkpointAt: 0, seenAt: seenIn(trust) }]),
  ),
})

function playing(answers: readonly Played[]): typeof fetch {
  const left = [...answers]
  return async (input) => {
    const { pathname, search } = new URL(String(input))
    const at = left.findIndex(({ asked }) => asked === pathname + search)
    const [answer] = at < 0 ? [] : left.splice(at, 1)
    if (!answer) throw new TypeError('nothing is recorded for this')
    return new Response(answer.bytes, { status: answer.status, headers: { 'content-type': answer.type } })
  }
}

function recording(url: string): { fetch: typeof fetch; answers: Played[] } {
  const answers: Played[] = []
  const through: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input))
    const response = await fetch(`${url}${pathname}${search}`, init)
    const bytes = new Uint8Array(await response.arrayBuffer())
    const { status, headers } = response
    answers.push({ asked: pathname + search, status, type: headers.get('content-type') ?? '', bytes })
    return new Response(bytes, { status, headers })
  }
  return { fetch: through, answers }
}

interface Prepared {
  readonly apiKey: string
  readonly agentId: string
  readonly pem: string
  readonly readings: Readonly<Record<string, Reading>>
}

/** An organisation in which one agent may read two vaults. */
async function prepare(url: string, founder: FirstPerson, keys: PrivateKeyMaterial): Promise<Prepared> {
  const alice = new Strongroom({
    server: url,
    accessToken: founder.accessToken,
    privateKey: founder.identity,
    trustAnchor: founder.trustAnchor,
    trustStore: memoryTrust(),
  })
  const [one, two] = [await alice.vaults.create({ name: 'first' }), await alice.vaults.create({ name: 'second' })]
  const vaults = [one, two].map(({ vaultId }) => ({ vault: vaultId, role: 'read' as const }))
  const { agent, apiKey } = await alice.agents.create({ name: 'mutated', keys: { material: keys }, vaults })
  const env = (label: string) => ({ label, value: `value of ${label}`, isEnvironmentVariable: true })
  await alice.items.create(one.vaultId, { name: 'db', website: 'https://db.example', fields: [env('A'), env('B')] })
  await alice.items.create(one.vaultId, { name: 'mail', fields: [env('C'), { label: 'note', value: 'n' }] })
  await alice.items.create(two.vaultId, { name: 'x', fields: [env('D')] })
  const { assetId } = await alice.attachments.upload(one.vaultId, 'db', new TextEncoder().encode('a file'), {
    name: 'f',
  })
  const principal = `agent:${agent.agentId}`
  const project = await alice.projects.create({ name: 'both', vaults: [one.vaultId, two.vaultId] })
  await alice.permissions.grant({ project: project.id }, { principal, role: 'READ' })
  const readings: Record<string, Reading> = {
    environment: async ({ secrets }) => {
      const read = await secrets.env({ vault: one.vaultId })
      return [inOrder(read.toObject()), claims(read.receipt)]
    },
    project: async ({ secrets }) => inOrder((await secrets.env({ project: project.id })).toObject()),
    item: async ({ items }) => {
      const { fields, receipt, ...rest } = await items.get(one.vaultId, 'mail')
      return [rest, claims(receipt), fields.map(({ secret, ...field }) => [field, secret.reveal()])]
    },
    list: async ({ items }) => {
      const listed = await items.list(one.vaultId)
      return inOrder(
        Object.fromEntries(listed.map((item) => [item.itemId, { ...item, labels: [...item.labels].sort() }])),
      )
    },
    attachment: async ({ attachments }) => {
      const download = await attachments.download(one.vaultId, assetId)
      return [download.name, download.size, [...(await download.bytes())]]
    },
    directory: async (_, options) => readDirectory(founder, options, [principal, founder.identity.key.principal]),
  }
  return { apiKey: apiKey.reveal(), agentId: agent.agentId, pem: encodePem(keys), readings }
}

async function readDirectory(
  { orgId, identity }: FirstPerson,
  { fetch: network, trust }: ReadingOptions,
  principals: readonly string[],
): Promise<unknown> {
  const client = createClient({ baseUrl: SERVER, apiKey: 'k', fetch: network })
  const keys = await keysOfAll(makeActor({ client, org: orgId, identity, trust }), principals)
  return inOrder(Object.fromEntries([...keys.values()].flat().map(({ kid, bundle }) => [kid, bundle])))
}

export async function recordSessions(url: string, founder: FirstPerson): Promise<Recording> {
  const prepared = await prepare(url, founder, keysOf('deploy'))
  const run = async (name: string, network: typeof fetch, memory: TrustStore | undefined): Promise<string> => {
    const trust = memoryTrust(memory)
    await pinTrust(trust, founder.trustAnchor)
    const { apiKey, agentId, pem, readings } = prepared
    const { trustAnchor } = founder
    const own = { server: SERVER, apiKey, agentId, privateKey: pem, trustAnchor, maxRetries: 0 }
    const client = new Strongroom({ ...own, trustStore: trust, fetch: network, storageOrigins: [] })
    const result = await readings[name]?.(client, { fetch: network, trust })
    return JSON.stringify([result, JSON.parse(serialiseTrustStore(withoutTimes(await trust.read())))])
  }
  const sessions: Session[] = []
  for (const name of Object.keys(prepared.readings)) {
    let memory: TrustStore | undefined
    // Without memory, and again with what the first time has left.
    for (let turn = 0; turn < 2; turn += 1) {
      const { fetch: network, answers } = recording(url)
      const credentialed = withCredential(network, prepared.apiKey)
      const honest = await run(name, credentialed, memory)
      sessions.push({ name: turn === 0 ? name : `${name}, again`, answers, memory, honest })
      memory = (JSON.parse(honest) as [unknown, TrustStore])[1]
    }
  }
  return { sessions, play: ({ name, memory }, answers) => run(name.replace(', again', ''), playing(answers), memory) }
}

const withCredential =
  (network: typeof fetch, apiKey: string): typeof fetch =>
  (input, init = {}) => {
    const headers = new Headers(init.headers)
    if (headers.has('x-api-key')) headers.set('x-api-key', apiKey)
    return network(input, { ...init, headers })
  }
