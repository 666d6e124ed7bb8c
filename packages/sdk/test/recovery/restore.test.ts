import {
  checkEvidence,
  type Evidence,
  type Identity,
  keyRevoke,
  makeDocument,
  type Notice,
  orgTrustOf,
  peekCheckpoint,
  serialiseTrustStore,
  textValue,
  toBase64url,
  valueText,
} from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../server/test/agent-writer.ts'
import { type Harness, startHarness } from '../../../server/test/harness.ts'
import { backup, restore } from '../../../server/test/operator.ts'
import { makeDirectory, operatorOf } from '../../../server/test/operator-seed.ts'
import { FOUNDER, foundOrg } from '../../../server/test/people.ts'
import { createClient } from '../../src/client.ts'
import { type Actor, type ActorOptions, makeActor } from '../../src/engine/actor.ts'
import { memoryCache } from '../../src/engine/cache.ts'
import { readEnvironment } from '../../src/engine/environment.ts'
import { memoryTrust, pinTrust, type TrustKeeper } from '../../src/engine/trust.ts'
import { changeItems } from '../../src/engine/write-items.ts'
import { createVault } from '../../src/engine/write-vaults.ts'
import { type FirstPerson, login, type Person } from '../../src/people.ts'
import { makeRecoveryStatement, restoredLog, sendRecovery } from '../../src/people-recovery.ts'

// The drill of docs/how-to/back-up-and-restore.md with a real server, a real backup and real clients: some saw what was lost, some did not.
// Catches: a client that goes on with a restored server by itself, or never again; a write to a restored log before its statement;
// values released or pins moved by a refusal; a key that comes back from the dead with the backup; a cache of the log that is gone.
// Seen red: the mark not set by the restore, not asked for by writers, not ended by the statement; ended keys not remembered in the
// directory; `onRecovery` not asked; what was refused not asked again; memory and cache kept over a recovery.

interface Device {
  readonly actor: Actor
  readonly trust: TrustKeeper
  readonly notices: Notice[]
  readonly evidence: Evidence[]
  /** How often its private key was used. */
  opened(): number
}

const directory = makeDirectory()
const archive = directory.path('yesterday.srb')
let source: Harness
let target: Harness
let url: string
let closeServer: () => Promise<void>
let founder: FirstPerson
/** The founder, logged in to the restored server. */
let admin: Person
let reader: { readonly apiKey: string; readonly identity: Identity }
let writer: { readonly apiKey: string; readonly identity: Identity }
/** Last written by `writer` before the backup, and not again; the other one was written after it. */
let kept: string
let lost: string
let today: Device
let yesterday: Device
/** The founder as she wrote what is lost, with everything she remembers of it. */
let author: Actor

function counting(identity: Identity): { readonly identity: Identity; opened(): number } {
  let opened = 0
  const rsaDecrypt: Identity['rsaDecrypt'] = (ciphertext) => {
    opened += 1
    return identity.rsaDecrypt(ciphertext)
  }
  return { identity: { ...identity, rsaDecrypt }, opened: () => opened }
}

async function device(
  at: string,
  { apiKey, identity }: { readonly apiKey: string; readonly identity: Identity },
  more: Partial<ActorOptions> = {},
): Promise<Device> {
  const notices: Notice[] = []
  const evidence: Evidence[] = []
  const counted = counting(identity)
  const trust = more.trust ?? memoryTrust()
  const actor = makeActor({
    org: founder.orgId,
    client: createClient({ baseUrl: at, apiKey }),
    identity: counted.identity,
    onNotice: (notice) => notices.push(notice),
    onEvidence: (one) => `evidence ${evidence.push(one)}`,
    ...more,
    trust,
  })
  await pinTrust(trust, founder.trustAnchor)
  return { actor, trust, notices, evidence, opened: counted.opened }
}

/** The same device, now that the server is another one. */
const moved = (one: Device, more: Partial<ActorOptions> = {}): Promise<Device> =>
  device(url, reader, { trust: one.trust, ...(one.actor.cache && { cache: one.actor.cache }), ...more })

const read = async ({ actor }: Device, vaultId: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await readEnvironment(actor, vaultId)).variables.map(({ label, value }) => [label, valueText(value)]),
  )

const pinsOf = async ({ trust }: Device) => orgTrustOf(await trust.read(), founder.orgId)
const withoutAlarms = async (one: Device): Promise<string> => {
  const store = await one.trust.read()
  return serialiseTrustStore({ ...store, orgs: { [founder.orgId]: { ...(await pinsOf(one)), alarms: [] } } })
}
const copyOf = async ({ trust }: Device): Promise<TrustKeeper> => memoryTrust(await trust.read())

const actorOf = async (client: Person['client']): Promise<Actor> => {
  const actor = makeActor({ org: founder.orgId, client, identity: founder.identity, trust: memoryTrust() })
  await pinTrust(actor.trust, founder.trustAnchor)
  return actor
}

const setToken = async (actor: Actor, vaultId: string, value: string): Promise<void> => {
  const item = { name: `service ${value}`, fields: [{ label: `TOKEN_${value}`, env: true, value: textValue(value) }] }
  await changeItems(actor, vaultId, { create: [item] })
}

const revocation = (kid: string) =>
  makeDocument(keyRevoke, { org: founder.orgId, at: Date.now(), kid, reason: 'removed' }, [founder.identity])

const logSize = async (): Promise<number> => (await admin.client.transparency.checkpoint()).size

beforeAll(async () => {
  source = await startHarness()
  target = await startHarness()
  founder = await foundOrg(source)
  reader = await agentWriter(source, founder, 'deploy')
  writer = await agentWriter(source, founder, 'worker')
  const alice = await actorOf(founder.client)
  author = alice
  const access = [
    { p: reader.identity.key.principal, role: 'read' as const },
    { p: writer.identity.key.principal, role: 'write' as const },
  ]
  kept = (await createVault(alice, { name: 'kept', access })).vaultId
  lost = (await createVault(alice, { name: 'lost', access })).vaultId
  const other = await device(source.url, writer)
  await setToken(other.actor, kept, 'one')
  await setToken(alice, lost, 'one')
  yesterday = await device(source.url, reader)
  today = await device(source.url, reader, { cache: memoryCache() })
  for (const vaultId of [kept, lost]) expect(await read(yesterday, vaultId)).toEqual({ TOKEN_one: 'one' })

  await backup(operatorOf(source), archive)

  await setToken(alice, lost, 'two')
  await founder.client.userKeys.revoke({ body: { event: await revocation(writer.identity.kid) } })
  expect(await read(today, kept)).toEqual({ TOKEN_one: 'one' })
  expect(await read(today, lost)).toEqual({ TOKEN_one: 'one', TOKEN_two: 'two' })
  today = { ...today, trust: await copyOf(today) }

  await restore(operatorOf(target), archive)
  const started = await target.sibling()
  url = started.url
  closeServer = started.close
  const { passphrase, email } = FOUNDER
  const { deviceSecret } = founder.codes
  admin = await login({ baseUrl: url, email, passphrase, deviceSecret, trustAnchor: founder.trustAnchor })
})
afterAll(async () => {
  await closeServer()
  await source.close()
  await target.close()
  directory.remove()
})

it('is refused by a client that saw more: nothing is opened, no pin moves, and the evidence shows both logs', async () => {
  const client = await moved(today, { trust: await copyOf(today) })
  const before = await withoutAlarms(client)
  for (const vaultId of [kept, lost])
    await expect(read(client, vaultId)).rejects.toMatchObject({ name: 'ProtocolError', code: 'log_rollback' })
  expect(client.opened()).toBe(0)
  expect(client.notices).toEqual([])
  expect(await withoutAlarms(client)).toBe(before)
  expect((await pinsOf(client)).alarms.map(({ code }) => code)).toEqual(['log_rollback', 'log_rollback'])
  const verdict = await checkEvidence(client.evidence[0])
  expect(verdict).toMatchObject({ reproduced: true, found: 'log_rollback' })
  const [seen, served] = verdict.checkpoints
  expect(seen?.size).toBeGreaterThan(served?.size ?? 0)
})

it('answers reads and refuses every change until the recovery is stated', async () => {
  const size = await logSize()
  const client = await moved(yesterday)
  expect(await read(client, lost)).toEqual({ TOKEN_one: 'one' })
  expect(client.notices.filter(({ code }) => code === 'log_recovered')).toEqual([])
  const alice = await actorOf(admin.client)
  const refused = { status: 409, code: 'recovery_required' }
  await expect(createVault(alice, { name: 'new' })).rejects.toMatchObject(refused)
  await expect(setToken(alice, lost, 'three')).rejects.toMatchObject(refused)
  const event = await revocation(writer.identity.kid)
  await expect(admin.client.userKeys.revoke({ body: { event } })).rejects.toMatchObject(refused)
  expect(await logSize()).toBe(size)
})

it('goes on with a statement of the admins: the client that saw more gives up what was lost, and says so once', async () => {
  const restored = await restoredLog(admin)
  expect(restored).toMatchObject({ keptSize: await logSize(), recoverQuorum: 1 })
  const past = await pinsOf(today)
  const statement = await makeRecoveryStatement(admin, { reason: 'disk failure', trust: today.trust })
  expect(await sendRecovery(admin, statement)).toEqual({ index: restored?.keptSize })
  expect(await restoredLog(admin)).toBeNull()

  const cautious = await moved(today, { trust: await copyOf(today), policy: { onRecovery: 'refuse' } })
  await expect(read(cautious, lost)).rejects.toMatchObject({ code: 'log_rollback' })
  const asked: unknown[] = []
  const onRecovery = (recovery: object): boolean => asked.push(recovery) < 0
  const asking = await moved(today, { trust: await copyOf(today), policy: { onRecovery } })
  await expect(read(asking, lost)).rejects.toMatchObject({ code: 'log_rollback' })
  const seen = peekCheckpoint(past.checkpoint ?? '')
  expect(asked).toEqual([expect.objectContaining({ keptSize: restored?.keptSize, seenSize: seen.size })])

  const client = await moved(today)
  client.actor.memory.keepKeys(kept, new Map())
  expect(await read(client, lost)).toEqual({ TOKEN_one: 'one' })
  expect(client.actor.memory.keys(kept)).toBeUndefined()
  expect(await read(client, lost)).toEqual({ TOKEN_one: 'one' })
  expect(client.notices.filter(({ code }) => code === 'log_recovered')).toHaveLength(1)
  const { alarms, checkpoint, recoveries } = await pinsOf(client)
  expect(recoveries).toHaveLength(1)
  const now = peekCheckpoint(checkpoint ?? '')
  expect(now.size).toBe(await logSize())
  const [alarm] = alarms.filter(({ code }) => code === 'log_recovered')
  expect(alarm?.detail).toContain(`seen ${seen.size} ${toBase64url(seen.root)}`)
  expect(alarm?.detail).toContain(`now ${now.size} ${toBase64url(now.root)}`)
  expect(alarm?.detail).toContain(writer.identity.kid)
  expect(await checkEvidence(client.evidence[0])).toMatchObject({ reproduced: true, found: 'log_rollback' })
  await expect(readEnvironment(client.actor, kept, { cached: 'only' })).rejects.toMatchObject({
    name: 'NotCachedError',
  })
})

it('lets a writer go on who remembers what was lost, without bringing it back', async () => {
  const writing: Actor = { ...author, client: admin.client }
  await setToken(writing, lost, 'three')
  const client = await moved(today)
  expect(await read(client, lost)).toEqual({ TOKEN_one: 'one', TOKEN_three: 'three' })
})

it('is nothing but a notice for a client that had not seen what was lost', async () => {
  const client = await moved(yesterday)
  expect(await read(client, lost)).toEqual({ TOKEN_one: 'one', TOKEN_three: 'three' })
  expect(await read(client, kept)).toEqual({ TOKEN_one: 'one' })
  expect(client.notices.filter(({ code }) => code === 'log_recovered')).toHaveLength(1)
  expect((await pinsOf(client)).alarms).toEqual([])
})

it('does not bring a key back to a client that saw it ended, until it is ended again', async () => {
  const knowing = await moved(today)
  const innocent = await moved(yesterday)
  // Signed before the loss, while the key was good.
  expect(await read(knowing, kept)).toEqual({ TOKEN_one: 'one' })
  const ghost = await device(url, writer)
  await setToken(ghost.actor, kept, 'ghost')
  expect(await read(innocent, kept)).toMatchObject({ TOKEN_ghost: 'ghost' })
  await expect(read(knowing, kept)).rejects.toMatchObject({ code: 'signer_not_active' })
  expect(await checkEvidence(knowing.evidence[0])).toMatchObject({ reproduced: true, found: 'signer_not_active' })

  await admin.client.userKeys.revoke({ body: { event: await revocation(writer.identity.kid) } })
  await expect(read(knowing, kept)).rejects.toMatchObject({ code: 'signer_not_active' })
  await setToken(await actorOf(admin.client), kept, 'again')
  expect(await read(knowing, kept)).toMatchObject({ TOKEN_again: 'again' })
})

it('takes no second statement, and a statement serves for one restore', async () => {
  const [stated] = (await admin.client.transparency.recovery()).recoveries
  const { statement } = await admin.client.transparency.recoveryStatement({ params: { index: stated?.index ?? 0 } })
  await expect(sendRecovery(admin, statement)).rejects.toMatchObject({ status: 409, code: 'recovery_not_due' })
  await expect(makeRecoveryStatement(admin, { reason: 'again' })).rejects.toMatchObject({ code: 'bad_transition' })
})
