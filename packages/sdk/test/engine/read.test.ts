import {
  checkEvidence,
  type Evidence,
  openKeys,
  orgTrustOf,
  serialiseTrustStore,
  type TrustStore,
  textValue,
  valueText,
} from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { type Actor, type ActorOptions, makeActor } from '../../src/engine/actor.ts'
import { memoryCache } from '../../src/engine/cache.ts'
import { type EnvironmentRead, readEnvironment } from '../../src/engine/environment.ts'
import { listItems, readField, readItem } from '../../src/engine/items.ts'
import { memoryTrust, type TrustKeeper } from '../../src/engine/trust.ts'
import { listVaults, readVault, vaultKeys } from '../../src/engine/vaults.ts'
import { changeItems } from '../../src/engine/write-items.ts'
import { createVault } from '../../src/engine/write-vaults.ts'
import { actorFor, keysOf, makeAgent, makeWire, startServer, type TestServer, type Wire } from './server.ts'

// Catches: values released before the trust store has them, a refusal without alarm or evidence, a pin moved by a refused answer, a
// ciphertext, an item or a wrap taken for another, a fallback that mixes two heads, a cache that is believed, or used beyond its age.
// Seen red: what was read in parts not kept for when the server is away.

let server: TestServer
let alice: Actor
beforeAll(async () => {
  server = await startServer()
  alice = await actorFor(server, server.founder)
})
afterAll(() => server.close())

/** The founder on another device: a memory of its own, and somebody between it and the server. */
async function aliceBehind(
  options: Partial<ActorOptions> = {},
): Promise<{ actor: Actor; wire: Wire; evidence: Evidence[] }> {
  const { wire, fetch } = makeWire()
  const evidence: Evidence[] = []
  const client = createClient({ baseUrl: server.url, accessToken: server.founder.accessToken, fetch })
  const onEvidence = (one: Evidence) => {
    evidence.push(one)
    return 'evidence.json'
  }
  return {
    actor: await actorFor(server, { client, identity: server.founder.identity, onEvidence, ...options }),
    wire,
    evidence,
  }
}

const variables = ({ variables: read }: EnvironmentRead) =>
  Object.fromEntries(read.map(({ label, value }) => [label, valueText(value)]))

const SECRETS = { DATABASE_URL: 'postgres://x', TOKEN: 't-1' }
async function vaultWith(
  fields: Readonly<Record<string, string>> = SECRETS,
): Promise<{ vaultId: string; itemId: string }> {
  const { vaultId } = await createVault(alice, { name: 'payments' })
  const { items } = await changeItems(alice, vaultId, {
    create: [
      {
        name: 'service',
        website: 'https://service.example',
        fields: [
          ...Object.entries(fields).map(([label, value]) => ({ label, env: true, value: textValue(value) })),
          { label: 'note', value: textValue('not exported') },
        ],
      },
      { name: 'other', fields: [{ label: 'PIN', value: textValue('1234') }] },
    ],
  })
  return { vaultId, itemId: items[0]?.itemId ?? '' }
}

const alarmsOf = async ({ trust, org }: Actor) => orgTrustOf(await trust.read(), org).alarms
const withoutAlarms = (store: TrustStore, org: string): string =>
  serialiseTrustStore({ ...store, orgs: { ...store.orgs, [org]: { ...orgTrustOf(store, org), alarms: [] } } })

it('reads the environment in one request, and says who signed it and what proves it', async () => {
  const { vaultId } = await vaultWith()
  const { actor, wire } = await aliceBehind()
  const first = await readEnvironment(actor, vaultId)
  expect(variables(first)).toEqual(SECRETS)
  expect(wire.asked).toEqual([`GET /vault/${vaultId}/environment-fields?include=wrapped-key%2Csigners`])
  expect(first.receipt).toMatchObject({
    vaultId,
    headVersion: 2,
    signer: alice.identity.kid,
    witnessed: false,
    source: 'network',
  })
  const stored = orgTrustOf(await actor.trust.read(), actor.org)
  expect(stored.vaults[vaultId]).toMatchObject({ headVersion: 2, headHash: first.receipt.headHash })
  expect(first.receipt.checkpoint.size).toBeGreaterThan(2)
  const again = await readEnvironment(actor, vaultId)
  expect(again.receipt.consistency).toBe('consistent')
})

it('reads items, fields, lists, vaults and keys, each verified and remembered', async () => {
  const { vaultId, itemId } = await vaultWith()
  const { actor } = await aliceBehind()
  const item = await readItem(actor, vaultId, itemId)
  expect(item).toMatchObject({ itemId, name: 'service', website: 'https://service.example', status: 'active' })
  expect(item.fields.map(({ label, value }) => [label, valueText(value)]).sort()).toEqual(
    [...Object.entries(SECRETS), ['note', 'not exported']].sort(),
  )
  const token = item.fields.find(({ label }) => label === 'TOKEN')
  const field = await readField(actor, vaultId, token?.fieldId ?? '')
  expect([field.itemName, field.label, valueText(field.value)]).toEqual(['service', 'TOKEN', 't-1'])
  const { items, environment } = await listItems(actor, vaultId)
  expect(items.map(({ name }) => name).sort()).toEqual(['other', 'service'])
  expect(environment.map(({ label }) => label).sort()).toEqual(Object.keys(SECRETS).sort())
  const vault = await readVault(actor, vaultId)
  expect(vault).toMatchObject({
    name: 'payments',
    classification: 'confidential',
    status: 'active',
    role: 'admin',
    itemCount: 2,
  })
  expect(vault.access).toEqual([{ p: `user:${server.founder.userId}`, role: 'admin' }])
  expect(vault.signers).toMatchObject([{ kid: alice.identity.kid, status: 'active', via: 'org.genesis' }])
  expect([...(await vaultKeys(actor, vaultId)).keys.keys()]).toEqual([1])
  const listed = (await listVaults(actor)).find(({ claimed }) => claimed.vaultId === vaultId)
  expect((await listed?.verify())?.headVersion).toBe(2)
  expect(await alarmsOf(actor)).toEqual([])
})

it('takes the wraps of its own key where the principal has several', async () => {
  const agent = await makeAgent(server, 'worker')
  const stranger = await openKeys(`agent:${agent.agentId}`, keysOf('deploy'))
  const { vaultId } = await vaultWith()
  const { actor, wire } = await aliceBehind()
  wire.tamper = (asked, answer) => {
    if (!asked.includes('environment-fields')) return undefined
    const { wrappedKeys } = answer as { wrappedKeys: { payload: string }[] }
    const [own] = wrappedKeys
    const payload = JSON.parse(atob(own?.payload ?? '')) as { to: string }
    const other = JSON.stringify({ ...payload, to: payload.to.replace(/[a-z2-7]{32}$/, stranger.kid.slice(-32)) })
    return { ...(answer as object), wrappedKeys: [{ ...own, payload: btoa(other) }, own] }
  }
  expect(variables(await readEnvironment(actor, vaultId))).toEqual(SECRETS)
})

type Answer = Record<string, never> & {
  data: { row: Record<string, unknown>; value: string }[]
  signed: {
    head: { payload: string; signatures: { sig: string }[] }
    transparency: { map: { state: Record<string, unknown> }[] }
  }
  wrappedKeys: { signatures: unknown[] }[]
}
const swapValues = ({ data, ...answer }: Answer) => ({
  ...answer,
  data: data.map(({ row }, i) => ({ row, value: data[data.length - 1 - i]?.value })),
})
const LIES: readonly (readonly [name: string, code: string, lie: (answer: Answer) => unknown])[] = [
  ['two values are exchanged', 'field_swap', swapValues],
  [
    'a label is changed',
    'env_mismatch',
    ({ data, ...rest }) => ({
      ...rest,
      data: data.map((one, i) => (i ? one : { ...one, row: { ...one.row, label: 'PATH' } })),
    }),
  ],
  ['a field is left out', 'env_mismatch', ({ data, ...rest }) => ({ ...rest, data: data.slice(1) })],
  [
    'the head is not signed',
    'missing_signature',
    ({ signed, ...rest }) => ({ ...rest, signed: { ...signed, head: { ...signed.head, signatures: [] } } }),
  ],
  [
    'a state is not that of the log',
    'bad_map_proof',
    ({ signed, ...rest }) => ({
      ...rest,
      signed: {
        ...signed,
        transparency: {
          ...signed.transparency,
          map: signed.transparency.map.map((one) => ({ ...one, state: { ...one.state, headVersion: 9 } })),
        },
      },
    }),
  ],
  [
    'a wrap is not signed',
    'missing_signature',
    ({ wrappedKeys, ...rest }) => ({ ...rest, wrappedKeys: wrappedKeys.map((wrap) => ({ ...wrap, signatures: [] })) }),
  ],
  ['there is no wrap', 'unwrapped_key_missing', (answer) => ({ ...answer, wrappedKeys: [] })],
  ['nothing is signed', 'malformed', ({ signed: _, ...rest }) => rest],
  ['the answer is null', 'malformed', () => null],
  ['the answer is a list', 'malformed', () => []],
  ['the fields are none', 'malformed', ({ data: _, ...rest }) => rest],
]

it.each(LIES)(
  'releases nothing where %s: refused with %s, an alarm and evidence, and no pin moved',
  async (_, code, lie) => {
    const { vaultId } = await vaultWith()
    const { actor, wire, evidence } = await aliceBehind()
    await readVault(actor, vaultId)
    await changeItems(alice, vaultId, { create: [{ name: 'newer', fields: [] }] })
    const before = await actor.trust.read()
    wire.tamper = (asked, answer) => (asked.includes('environment-fields') ? lie(answer as Answer) : undefined)
    await expect(readEnvironment(actor, vaultId)).rejects.toMatchObject({ name: 'ProtocolError', code })
    expect(withoutAlarms(await actor.trust.read(), actor.org)).toBe(withoutAlarms(before, actor.org))
    expect(await alarmsOf(actor)).toMatchObject([{ code, evidence: 'evidence.json' }])
    expect(evidence).toMatchObject([{ code, vaultId }])
    expect(JSON.stringify(evidence)).not.toMatch(/v3\.[A-Za-z0-9_-]{100}/)
    wire.tamper = undefined
    expect(variables(await readEnvironment(actor, vaultId))).toEqual(SECRETS)
  },
)

it('gives evidence that anybody can check, also for refusals of other reads', async () => {
  const { vaultId } = await vaultWith()
  for (const read of [readEnvironment, readVault, listItems, vaultKeys] as const) {
    const { actor, wire, evidence } = await aliceBehind()
    wire.tamper = (_, answer) => {
      const { signed, ...rest } = answer as Answer
      return {
        ...rest,
        signed: {
          ...signed,
          head: { ...signed.head, payload: btoa(atob(signed.head.payload).replace('payments', 'payrolls')) },
        },
      }
    }
    await expect(read(actor, vaultId)).rejects.toMatchObject({ code: 'bad_signature' })
    const [file] = JSON.parse(JSON.stringify(evidence)) as unknown[]
    expect(await checkEvidence(file)).toMatchObject({ claimed: 'bad_signature', reproduced: true })
  }
})

it('refuses changed items, fields and lists', async () => {
  const { vaultId, itemId } = await vaultWith()
  const { fields } = await readItem(alice, vaultId, itemId)
  const fieldId = fields[0]?.fieldId ?? ''
  type Parts = {
    row: object
    detail: object
    values: Record<string, string>
    value: string
    data: object[]
    environment: object[]
  }
  const cases: readonly (readonly [(actor: Actor) => Promise<unknown>, string, (answer: Parts) => unknown])[] = [
    [
      (actor) => readItem(actor, vaultId, itemId),
      'items_mismatch',
      (answer) => ({ ...answer, row: { ...answer.row, name: 'x' } }),
    ],
    [(actor) => readItem(actor, vaultId, itemId), 'field_swap', (answer) => ({ ...answer, values: {} })],
    [
      (actor) => readItem(actor, vaultId, itemId),
      'field_swap',
      (answer) => ({
        ...answer,
        values: Object.fromEntries(
          Object.keys(answer.values).map((id, i, ids) => [id, answer.values[ids[(i + 1) % ids.length] ?? '']]),
        ),
      }),
    ],
    [(actor) => readItem(actor, vaultId, itemId), 'malformed', (answer) => ({ ...answer, detail: null })],
    [(actor) => readField(actor, vaultId, fieldId), 'field_swap', (answer) => ({ ...answer, value: 7 })],
    [(actor) => listItems(actor, vaultId), 'items_mismatch', (answer) => ({ ...answer, data: answer.data.slice(1) })],
    [(actor) => listItems(actor, vaultId), 'env_mismatch', (answer) => ({ ...answer, environment: [] })],
    [(actor) => listItems(actor, vaultId), 'malformed', (answer) => ({ ...answer, data: {} })],
  ]
  for (const [read, code, lie] of cases) {
    const { actor, wire, evidence } = await aliceBehind()
    wire.tamper = (asked, answer) =>
      asked.includes('/items') || asked.includes('/fields/') ? lie(answer as Parts) : undefined
    await expect(read(actor)).rejects.toMatchObject({ name: 'ProtocolError', code })
    expect((await alarmsOf(actor)).map((one) => one.code)).toEqual([code])
    // Values are not in evidence: what is wrong with one only its reader can see.
    const found = code === 'field_swap' ? null : code
    expect(await checkEvidence(JSON.parse(JSON.stringify(evidence[0])))).toMatchObject({ found, checkable: true })
  }
})

it('refuses the answer of one item for another', async () => {
  const { vaultId, itemId } = await vaultWith()
  const other = (await listItems(alice, vaultId)).items.find((row) => row.itemId !== itemId)
  const { actor } = await aliceBehind()
  const client = {
    ...actor.client,
    items: {
      ...actor.client.items,
      get: () => actor.client.items.get({ params: { vaultId, itemId: other?.itemId ?? '' } }),
    },
  }
  await expect(readItem({ ...actor, client } as Actor, vaultId, itemId)).rejects.toMatchObject({ code: 'item_swap' })
})

it('refuses what is older than it has seen: a log, and a vault of another device', async () => {
  const { vaultId } = await vaultWith()
  const { actor, wire } = await aliceBehind()
  const old = await actor.client.vaults.environmentFields({
    params: { vaultId },
    query: { include: 'wrapped-key,signers' },
  })
  await changeItems(alice, vaultId, { create: [{ name: 'newer', fields: [] }] })
  expect((await readEnvironment(actor, vaultId)).receipt.headVersion).toBe(3)
  const before = await actor.trust.read()
  wire.tamper = (asked) => (asked.includes('environment-fields') ? old : undefined)
  await expect(readEnvironment(actor, vaultId)).rejects.toMatchObject({ code: 'log_rollback' })
  expect(withoutAlarms(await actor.trust.read(), actor.org)).toBe(withoutAlarms(before, actor.org))
})

it('releases nothing if the trust store cannot be written', async () => {
  const { vaultId } = await vaultWith()
  const pinned = await (await aliceBehind()).actor.trust.read()
  const full: TrustKeeper = {
    read: async () => pinned,
    update: async (change) => {
      await change(pinned)
      throw new Error('no space left on device')
    },
  }
  const { actor } = await aliceBehind()
  const broken = makeActor({ client: actor.client, identity: actor.identity, org: actor.org, trust: full })
  await expect(readEnvironment(broken, vaultId)).rejects.toThrow('no space left')
})

it('asks again where another read has moved the store on meanwhile, without an alarm', async () => {
  const { vaultId } = await vaultWith()
  const trust = memoryTrust()
  const { actor, wire } = await aliceBehind({ trust })
  await readEnvironment(actor, vaultId)
  await changeItems(alice, vaultId, { create: [{ name: 'first', fields: [] }] })
  let isNested = false
  // While the first read is under way, another one ends and the log grows once more.
  wire.before = async (asked) => {
    if (!asked.includes('environment-fields') || isNested) return
    isNested = true
    await readVault(actor, vaultId)
    await changeItems(alice, vaultId, { create: [{ name: 'second', fields: [] }] })
  }
  expect((await readEnvironment(actor, vaultId)).receipt.headVersion).toBe(4)
  expect(wire.asked.filter((asked) => asked.includes('environment-fields'))).toHaveLength(3)
  expect(await alarmsOf(actor)).toEqual([])
})

const NO_ROUTE = () =>
  Response.json({ error: { code: 'route_not_found', message: 'There is no such route.' } }, { status: 404 })

it('yields the same verified set without the route, and a server that only denies it gains nothing', async () => {
  const { vaultId } = await vaultWith()
  const direct = await readEnvironment(alice, vaultId)
  const { actor, wire } = await aliceBehind()
  const deny = (asked: string) => (asked.includes('environment-fields') ? NO_ROUTE() : undefined)
  wire.tamper = deny
  const fallen = await readEnvironment(actor, vaultId)
  const sorted = (read: EnvironmentRead) => [...read.variables].sort((a, b) => (a.fieldId < b.fieldId ? -1 : 1))
  expect(sorted(fallen)).toEqual(sorted(direct))
  expect(fallen.receipt.headHash).toBe(direct.receipt.headHash)
  wire.tamper = (asked, answer) => {
    if (!/\/items$/.test(asked)) return deny(asked)
    const { environment, ...rest } = answer as { environment: object[] }
    return { ...rest, environment: environment.slice(1) }
  }
  await expect(readEnvironment(actor, vaultId)).rejects.toMatchObject({ code: 'env_mismatch' })
})

it('keeps what it read in parts for when the server is away, verified like any other', async () => {
  const { vaultId } = await vaultWith()
  const cache = memoryCache()
  const { actor, wire } = await aliceBehind({ cache })
  wire.tamper = (asked) => (asked.includes('environment-fields') ? NO_ROUTE() : undefined)
  const fallen = await readEnvironment(actor, vaultId)
  wire.before = unreachable
  const offline = await readEnvironment(actor, vaultId, { cached: 'only' })
  expect(variables(offline)).toEqual(variables(fallen))
  expect(offline.receipt).toMatchObject({ source: 'cache', headHash: fallen.receipt.headHash })
  const key = `environment/${actor.org}/${vaultId}/${actor.identity.kid}`
  const kept = new TextDecoder().decode(await cache.get(key))
  await cache.set(key, new TextEncoder().encode(kept.replace('TOKEN', 'TOKEM')))
  await expect(readEnvironment(actor, vaultId, { cached: 'only' })).rejects.toMatchObject({ name: 'ProtocolError' })
})

it('begins the fallback anew where somebody writes in the middle of it, without an alarm', async () => {
  const { vaultId, itemId } = await vaultWith()
  const { fields } = await readItem(alice, vaultId, itemId)
  const token = fields.find(({ label }) => label === 'TOKEN')?.fieldId ?? ''
  const { actor, wire } = await aliceBehind()
  wire.tamper = (asked) => (asked.includes('environment-fields') ? NO_ROUTE() : undefined)
  let isWritten = false
  wire.before = async (asked) => {
    if (!asked.endsWith(`/items/${itemId}`) || isWritten) return
    isWritten = true
    await changeItems(alice, vaultId, { edit: [{ itemId, edit: [{ fieldId: token, value: textValue('t-2') }] }] })
  }
  expect(variables(await readEnvironment(actor, vaultId))).toEqual({ ...SECRETS, TOKEN: 't-2' })
  expect(wire.asked.filter((asked) => asked.endsWith('/items'))).toHaveLength(2)
  expect(await alarmsOf(actor)).toEqual([])
})

it('reads an empty environment both ways', async () => {
  const { vaultId } = await createVault(alice, { name: 'empty' })
  const { actor, wire } = await aliceBehind()
  expect((await readEnvironment(actor, vaultId)).variables).toEqual([])
  wire.tamper = (asked) => (asked.includes('environment-fields') ? NO_ROUTE() : undefined)
  expect((await readEnvironment(actor, vaultId)).variables).toEqual([])
})

it('passes on what the server refuses, without an alarm', async () => {
  const { actor } = await aliceBehind()
  const absent = `v${'a'.repeat(32)}`
  await expect(readEnvironment(actor, absent)).rejects.toMatchObject({ name: 'ApiError', code: 'vault_not_found' })
  await expect(readItem(actor, absent, 'itm_absent')).rejects.toMatchObject({ code: 'vault_not_found' })
  expect(await alarmsOf(actor)).toEqual([])
})

const unreachable = () => {
  throw new TypeError('fetch failed')
}

it('reads offline from the cache, verified again, and only where it was told to', async () => {
  const { vaultId } = await vaultWith()
  const cache = memoryCache()
  const { actor, wire } = await aliceBehind({ cache })
  await expect(readEnvironment(actor, vaultId, { cached: 'only' })).rejects.toMatchObject({ name: 'NotCachedError' })
  await readEnvironment(actor, vaultId)
  wire.before = unreachable
  await expect(readEnvironment(actor, vaultId)).rejects.toMatchObject({ name: 'TransportError' })
  for (const cached of ['only', 'unreachable'] as const) {
    const read = await readEnvironment(actor, vaultId, { cached })
    expect(variables(read)).toEqual(SECRETS)
    expect(read.receipt).toMatchObject({ source: 'cache', headVersion: 2 })
  }
  // Another process with the same trust store and cache, and nothing in memory.
  const { identity, org, trust, client } = actor
  const other = makeActor({ identity, org, trust, client, cache })
  expect(variables(await readEnvironment(other, vaultId, { cached: 'only' }))).toEqual(SECRETS)
})

it('keeps neither values nor keys in the cache', async () => {
  const { vaultId } = await vaultWith({ CANARY: 'canary-7f3a' })
  const kept: Uint8Array[] = []
  const cache = { ...memoryCache(), set: async (_: string, bytes: Uint8Array) => void kept.push(bytes) }
  const { actor } = await aliceBehind({ cache })
  await readEnvironment(actor, vaultId)
  expect(kept).toHaveLength(1)
  expect(new TextDecoder().decode(kept[0])).not.toContain('canary-7f3a')
})

it('bounds an offline read by its age, and refuses one that is older than the trust store', async () => {
  const { vaultId } = await vaultWith()
  const elsewhere = await vaultWith({ OTHER: 'o' })
  let skewMs = 0
  const { actor, wire } = await aliceBehind({ cache: memoryCache(), now: () => Date.now() + skewMs })
  const offline = (maxAgeMs?: number) =>
    readEnvironment(actor, vaultId, { cached: 'only', ...(maxAgeMs !== undefined && { maxAgeMs }) })
  await readEnvironment(actor, vaultId)
  skewMs = 3_600_000
  await expect(offline(60_000)).rejects.toMatchObject({ code: 'stale_view' })
  expect(variables(await offline(7_200_000))).toEqual(SECRETS)
  skewMs = -3_600_000
  await expect(offline(60_000)).rejects.toMatchObject({ code: 'stale_view' })
  skewMs = 0
  // The log went on elsewhere, and this vault did not change as far as anybody here knows.
  await readEnvironment(actor, elsewhere.vaultId)
  expect(variables(await offline())).toEqual(SECRETS)
  await changeItems(alice, vaultId, { create: [{ name: 'newer', fields: [] }] })
  await readVault(actor, vaultId)
  wire.before = unreachable
  await expect(offline()).rejects.toMatchObject({ name: 'NotCachedError' })
  const fallback = readEnvironment(actor, vaultId, { cached: 'unreachable' })
  await expect(fallback).rejects.toMatchObject({ name: 'NotCachedError', cause: { name: 'TransportError' } })
  expect(await alarmsOf(actor)).toEqual([])
})

it('refuses a cache that was tampered with, with an alarm', async () => {
  const { vaultId } = await vaultWith()
  const cache = memoryCache()
  const { actor } = await aliceBehind({ cache })
  await readEnvironment(actor, vaultId)
  const key = `environment/${actor.org}/${vaultId}/${actor.identity.kid}`
  const text = new TextDecoder().decode(await cache.get(key))
  const put = (changed: string) => cache.set(key, new TextEncoder().encode(changed))
  await put(text.replace('DATABASE_URL', 'DATABASE_URI'))
  await expect(readEnvironment(actor, vaultId, { cached: 'only' })).rejects.toMatchObject({ code: 'env_mismatch' })
  expect((await alarmsOf(actor)).map(({ code }) => code)).toEqual(['env_mismatch'])
  await put('{"version":1,"fetchedAt":"x"}')
  await expect(readEnvironment(actor, vaultId, { cached: 'only' })).rejects.toMatchObject({ name: 'NotCachedError' })
})

it('refuses to read for an organisation that is not pinned', async () => {
  const { client, identity, org } = alice
  const unpinned = makeActor({ client, identity, org, trust: memoryTrust() })
  await expect(readEnvironment(unpinned, `v${'a'.repeat(32)}`)).rejects.toMatchObject({ code: 'genesis_mismatch' })
})
