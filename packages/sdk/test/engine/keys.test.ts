import { openKeys, orgTrustOf, textValue, valueText } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import { changeAccess, rotateVaultKey } from '../../src/engine/access.ts'
import type { Actor } from '../../src/engine/actor.ts'
import { keysOfAll } from '../../src/engine/directory.ts'
import { readEnvironment } from '../../src/engine/environment.ts'
import { listItems } from '../../src/engine/items.ts'
import { reencrypt } from '../../src/engine/reencrypt.ts'
import { rotateRuntimeKey } from '../../src/engine/runtime-key.ts'
import { readVault, vaultKeys } from '../../src/engine/vaults.ts'
import { changeItems } from '../../src/engine/write-items.ts'
import { createVault } from '../../src/engine/write-vaults.ts'
import { actorFor, type KeyName, keysOf, makeAgent, startServer, type TestAgent, type TestServer } from './server.ts'

// Catches: a vault key wrapped for a key that nobody endorsed, a reader who leaves and still gets what is written later, a joining
// reader who cannot read what was there, a re-encryption that leaves something behind, a rotation that loses a vault.

let server: TestServer
let alice: Actor
const own = () => `user:${server.founder.userId}`
beforeAll(async () => {
  server = await startServer()
  alice = await actorFor(server, server.founder)
})
afterAll(() => server.close())

async function agent(key: KeyName): Promise<TestAgent & { readonly actor: Actor; readonly principal: string }> {
  const made = await makeAgent(server, key)
  const principal = `agent:${made.agentId}`
  return { ...made, principal, actor: await actorFor(server, made) }
}
const read = async (actor: Actor, vaultId: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await readEnvironment(actor, vaultId)).variables.map(({ label, value }) => [label, valueText(value)]),
  )
const secret = (label: string, value: string) => ({
  create: [{ name: label, fields: [{ label, env: true, value: textValue(value) }] }],
})

it('creates a vault for several, and each opens it', async () => {
  const worker = await agent('worker')
  const hybrid = await agent('hybrid')
  const { vaultId } = await createVault(alice, {
    name: 'shared',
    access: [
      { p: worker.principal, role: 'write' },
      { p: hybrid.principal, role: 'read' },
    ],
  })
  await changeItems(worker.actor, vaultId, secret('BY_WORKER', 'w'))
  for (const actor of [alice, worker.actor, hybrid.actor])
    expect(await read(actor, vaultId)).toEqual({ BY_WORKER: 'w' })
  const refused = changeItems(hybrid.actor, vaultId, secret('NO', 'n'))
  await expect(refused).rejects.toMatchObject({ code: 'vault_access_denied' })
})

it('gives whoever joins every key in use, and makes a new one when somebody leaves', async () => {
  const [stays, leaves, joins] = [await agent('worker'), await agent('deploy'), await agent('hybrid')]
  const { vaultId } = await createVault(alice, { name: 'team', access: [{ p: leaves.principal, role: 'read' }] })
  await changeItems(alice, vaultId, secret('FIRST', '1'))
  await changeAccess(alice, vaultId, (list) => [...list, { p: stays.principal, role: 'read' }])
  expect(await read(stays.actor, vaultId)).toEqual({ FIRST: '1' })
  expect((await readVault(alice, vaultId)).dekVersion).toBe(1)
  await changeAccess(alice, vaultId, (list) => list.filter(({ p }) => p !== leaves.principal))
  expect(await readVault(alice, vaultId)).toMatchObject({ dekVersion: 2, draining: [1], rotationDue: null })
  await expect(read(leaves.actor, vaultId)).rejects.toMatchObject({ code: 'vault_not_found' })
  await changeItems(alice, vaultId, secret('SECOND', '2'))
  await changeAccess(alice, vaultId, (list) => [...list, { p: joins.principal, role: 'write' }])
  for (const actor of [alice, stays.actor, joins.actor])
    expect(await read(actor, vaultId)).toEqual({ FIRST: '1', SECOND: '2' })
  expect([...(await vaultKeys(joins.actor, vaultId)).keys.keys()].sort()).toEqual([1, 2])
})

it('lets one join and another leave in one change', async () => {
  const [leaves, joins] = [await agent('deploy'), await agent('worker')]
  const { vaultId } = await createVault(alice, { name: 'swap', access: [{ p: leaves.principal, role: 'read' }] })
  await changeItems(alice, vaultId, secret('OLD', 'o'))
  await changeAccess(alice, vaultId, [
    { p: own(), role: 'admin' },
    { p: joins.principal, role: 'read' },
  ])
  await changeItems(alice, vaultId, secret('NEW', 'n'))
  expect(await read(joins.actor, vaultId)).toEqual({ OLD: 'o', NEW: 'n' })
})

it('defers a rotation openly, and makes up for it', async () => {
  const leaves = await agent('deploy')
  const { vaultId } = await createVault(alice, { name: 'deferred', access: [{ p: leaves.principal, role: 'read' }] })
  await changeAccess(alice, vaultId, [{ p: own(), role: 'admin' }], { deferRotation: true })
  expect((await readVault(alice, vaultId)).rotationDue).toBeTypeOf('number')
  await rotateVaultKey(alice, vaultId, { reason: 'member-removed' })
  expect(await readVault(alice, vaultId)).toMatchObject({ rotationDue: null, dekVersion: 2 })
})

it('refuses to leave the own list by accident', async () => {
  const worker = await agent('deploy')
  const { vaultId } = await createVault(alice, { name: 'locked', access: [{ p: worker.principal, role: 'admin' }] })
  const without = [{ p: worker.principal, role: 'admin' as const }]
  await expect(changeAccess(alice, vaultId, without)).rejects.toMatchObject({ code: 'self_lockout' })
  await changeAccess(alice, vaultId, without, { allowSelfRemoval: true })
  await expect(readVault(alice, vaultId)).rejects.toMatchObject({ code: 'vault_not_found' })
})

type KeyAnswer = Awaited<ReturnType<Client['keys']['directory']>>

/** A server that says something else about the keys of others. */
function inAnswer(change: (answer: KeyAnswer) => unknown): Client {
  const { client } = server.founder
  const directory: Client['keys']['directory'] = async (...asked) =>
    change(await client.keys.directory(...asked)) as KeyAnswer
  return { ...client, keys: { ...client.keys, directory } }
}

function withKey(record: { payload: string }, kid: string, key: object): { payload: string } {
  const payload = JSON.parse(atob(record.payload)) as { kid: string; key: object }
  return { ...record, payload: btoa(JSON.stringify({ ...payload, kid, key })) }
}

it('wraps for no key that is not endorsed: nothing is sent, and the alarm is kept', async () => {
  const worker = await agent('worker')
  const mallory = await openKeys(`agent:${worker.agentId}`, keysOf('mallory'))
  const { vaultId } = await createVault(alice, { name: 'tempting' })
  const lies: readonly (readonly [string, Client])[] = [
    // A key of the server's own under the name of the agent: not in the log at all.
    ['unknown_signer', inAnswer((answer) => ({ ...answer, kids: [mallory.kid] }))],
    ['unknown_signer', inAnswer((answer) => ({ ...answer, kids: [] }))],
    ['unknown_signer', inAnswer((answer) => ({ ...answer, kids: [server.founder.identity.kid] }))],
    [
      'unknown_signer',
      inAnswer((answer) => ({
        ...answer,
        records: answer.records.map((one) => withKey(one, mallory.kid, mallory.key.bundle)),
      })),
    ],
    [
      'bad_map_proof',
      inAnswer(({ transparency, ...answer }) => {
        const renamed = transparency.map.map((one) => ({
          ...one,
          name: one.name.replace(worker.identity.kid, mallory.kid),
        }))
        return { ...answer, kids: [mallory.kid], transparency: { ...transparency, map: renamed } }
      }),
    ],
    ['malformed', inAnswer((answer) => ({ ...answer, records: {} }))],
    ['malformed', inAnswer((answer) => ({ ...answer, kids: ['agent:x'] }))],
    ['malformed', inAnswer(() => null)],
  ]
  for (const [code, client] of lies) {
    const actor = await actorFor(server, { ...server.founder, client })
    const join = changeAccess(actor, vaultId, (list) => [...list, { p: worker.principal, role: 'read' }])
    await expect(join).rejects.toMatchObject({ name: 'ProtocolError', code })
    expect(orgTrustOf(await actor.trust.read(), actor.org).alarms).toMatchObject([{ code }])
  }
  expect((await readVault(alice, vaultId)).access).toHaveLength(1)
})

it('gives the active keys of everybody asked for, and says who has none', async () => {
  const worker = await agent('worker')
  const found = await keysOfAll(alice, [own(), worker.principal])
  expect([...found].map(([principal, keys]) => [principal, keys.map(({ kid }) => kid)])).toEqual([
    [own(), [server.founder.identity.kid]],
    [worker.principal, [worker.identity.kid]],
  ])
  await expect(keysOfAll(alice, ['agent:agt_without_keys'])).rejects.toMatchObject({ code: 'unknown_signer' })
})

const fieldOf = (item: { fields: readonly { fieldId: string; label: string }[] } | undefined, label: string): string =>
  item?.fields.find((field) => field.label === label)?.fieldId ?? ''

it('re-encrypts everything under the new key, archived and hidden fields too, and retires the old one', async () => {
  const { vaultId } = await createVault(alice, { name: 'aging' })
  const { items } = await changeItems(alice, vaultId, {
    create: Array.from({ length: 60 }, (_, i) => ({
      name: `item ${i}`,
      fields: [
        { label: `KEY_${i}`, env: true, value: textValue(`v${i}`) },
        { label: 'hidden', value: textValue(`h${i}`) },
      ],
    })),
  })
  const [archived, edited] = items
  await changeItems(alice, vaultId, { archive: [archived?.itemId ?? ''] })
  await rotateVaultKey(alice, vaultId)
  const edit = [{ fieldId: fieldOf(edited, 'KEY_1'), value: textValue('new') }]
  await changeItems(alice, vaultId, { edit: [{ itemId: edited?.itemId ?? '', edit }] })
  const progress: number[] = []
  const done = await reencrypt(alice, vaultId, { onProgress: (count) => progress.push(count) })
  expect(done).toMatchObject({ items: 60, fields: 119 })
  expect(progress).toEqual([50, 60])
  expect(await readVault(alice, vaultId)).toMatchObject({ dekVersion: 2, draining: [] })
  const fresh = await actorFor(server, server.founder)
  expect([...(await vaultKeys(fresh, vaultId)).keys.keys()]).toEqual([2])
  const values = await read(fresh, vaultId)
  expect([Object.keys(values).length, values.KEY_1, values.KEY_59]).toEqual([59, 'new', 'v59'])
  expect((await listItems(fresh, vaultId)).items).toHaveLength(60)
  expect(await reencrypt(alice, vaultId)).toEqual({ items: 0, fields: 0, attachments: 0, retired: null })
})

it('seals a change again when the vault key is rotated under it', async () => {
  const { vaultId } = await createVault(alice, { name: 'rotated under' })
  await changeItems(alice, vaultId, secret('BEFORE', 'b'))
  const late = await actorFor(server, server.founder)
  await listItems(late, vaultId)
  await vaultKeys(late, vaultId)
  await rotateVaultKey(alice, vaultId)
  expect((await changeItems(late, vaultId, secret('AFTER', 'a'))).rebases).toBe(1)
  expect(await read(await actorFor(server, server.founder), vaultId)).toEqual({ BEFORE: 'b', AFTER: 'a' })
  const { environment } = await listItems(alice, vaultId)
  expect(environment.find(({ label }) => label === 'AFTER')?.dekVersion).toBe(2)
})

it('rotates the key of an agent with everything it holds, and the old one is over', async () => {
  const worker = await agent('deploy')
  const access = [{ p: worker.principal, role: 'write' as const }]
  const first = await createVault(alice, { name: 'one', access })
  const second = await createVault(alice, { name: 'two', access })
  await changeItems(alice, first.vaultId, secret('SECRET', 's'))
  await rotateVaultKey(alice, first.vaultId)
  const next = await openKeys(`agent:${worker.agentId}`, keysOf('deployNext'))
  const progress: (readonly [number, number])[] = []
  const rotated = await rotateRuntimeKey(worker.actor, next, {
    onProgress: (done, total) => progress.push([done, total]),
  })
  // The server may name former keys as well: they are of no use any more.
  const client = inAnswer((answer) => ({ ...answer, kids: [worker.identity.kid, next.kid] }))
  const found = await keysOfAll({ ...alice, client }, [worker.principal])
  expect(found.get(worker.principal)?.map(({ kid }) => kid)).toEqual([next.kid])
  expect([rotated.rewrapped, progress]).toEqual([
    3,
    [
      [1, 2],
      [2, 2],
    ],
  ])
  expect(await read(rotated.actor, first.vaultId)).toEqual({ SECRET: 's' })
  await changeItems(rotated.actor, second.vaultId, secret('WRITTEN', 'w'))
  expect(await read(alice, second.vaultId)).toEqual({ WRITTEN: 'w' })
  const late = changeItems(worker.actor, second.vaultId, secret('OLD', 'o'))
  await expect(late).rejects.toMatchObject({ code: 'signer_not_authorised' })
  await expect(read(worker.actor, first.vaultId)).rejects.toMatchObject({ code: 'unwrapped_key_missing' })
})

it('makes the batch again where a vault is shared meanwhile', async () => {
  const worker = await agent('deploy')
  const access = [{ p: worker.principal, role: 'read' as const }]
  await createVault(alice, { name: 'before', access })
  const next = await openKeys(`agent:${worker.agentId}`, keysOf('deployNext'))
  let tries = 0
  const rotated = await rotateRuntimeKey(worker.actor, next, {
    submit: async ({ event, replacements }) => {
      tries += 1
      if (tries === 1) await createVault(alice, { name: 'meanwhile', access })
      return worker.client.keys.register({ body: { event, replacements: [...replacements] } })
    },
  })
  expect([tries, rotated.rewrapped]).toEqual([2, 2])
})
