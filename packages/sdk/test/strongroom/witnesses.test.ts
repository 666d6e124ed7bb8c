import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { formatTrustAnchor, parseTrustAnchor } from '@strongroom/protocol'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { ofThisRun } from '../../../server/test/process.ts'
import { createClient } from '../../src/client.ts'
import { makeActor } from '../../src/engine/actor.ts'
import { listItems } from '../../src/engine/items.ts'
import { memoryTrust, pinTrust } from '../../src/engine/trust.ts'
import { readVault, vaultKeys } from '../../src/engine/vaults.ts'
import { changeItems } from '../../src/engine/write-items.ts'
import { createVault } from '../../src/engine/write-vaults.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { makeWire } from '../engine/server.ts'
import { run, WITNESS, writeConfig } from '../monitor/processes.ts'
import { errorOf, memoryCache, startWorld, unique, type World } from './world.ts'

// Clients that ask for a witness, with the witness program at work, away, and asleep for a while. Catches: a read right after a
// write that is refused although the witness is about to sign, a read that waits for ever, an alarm for what was only early, a
// write that is taken for failed because nobody can have witnessed it yet, a quorum that is not asked for, a head of somebody else that is
// built on because a conflict brought it.
// Seen red: no waiting; waiting without an end; receipts of changes judged with the quorum; verify.witnesses not looked at; conflicts judged
// without it.

let world: World
let vkey: string
let config: string
let witness: ChildProcess | undefined
beforeAll(async () => {
  world = await startWorld()
  const directory = world.directory()
  vkey = (await run(WITNESS, ['key', join(directory, 'key.pem'), '--name', 'witness.example/w'])).stdout.trim()
  const { origin, logVkeys } = parseTrustAnchor(world.founder.trustAnchor)
  const logs = logVkeys.map((one) => ({ origin, vkey: one }))
  const settings = {
    name: 'witness.example/w',
    key: 'key.pem',
    state: 'state',
    server: world.url,
    everySeconds: 1,
    logs,
  }
  config = writeConfig(directory, settings)
  await world.founder.client.transparency.setWitnesses({ body: { witnesses: [{ vkey }] } })
})
afterEach(async () => {
  const child = witness
  witness = undefined
  if (!child) return
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  await ended
})
afterAll(() => world.close())

/** The program as an operator runs it, until the end of the test. */
function startWitness(): void {
  witness = spawn(process.execPath, [WITNESS, 'follow', '--config', config], {
    env: { ...ofThisRun(), STRONGROOM_ACCESS_TOKEN: world.founder.accessToken },
    stdio: 'ignore',
  })
}
const witnessOnce = () =>
  run(WITNESS, ['follow', '--config', config, '--once'], { STRONGROOM_ACCESS_TOKEN: world.founder.accessToken })

const watchedAnchor = (): string =>
  formatTrustAnchor({
    ...parseTrustAnchor(world.founder.trustAnchor),
    tlogPolicy: `witness w ${vkey}\nquorum w\n`,
  })

/** The founder on a device that believes nothing that the witness has not seen. */
function careful(options: StrongroomOptions = {}): Strongroom {
  const { founder, url } = world
  const { accessToken, identity: privateKey } = founder
  return new Strongroom({ server: url, accessToken, privateKey, trustAnchor: watchedAnchor(), ...options })
}

it('reads what was just written, as soon as the witness has signed it', async () => {
  startWitness()
  const client = careful()
  const vault = unique('vault')
  await client.vaults.create({ name: vault })
  for (const value of ['one', 'two']) {
    await client.secrets.set(`sr://${vault}/app/KEY`, value)
    const { KEY } = (await client.secrets.env({ vault })).toObject()
    expect(KEY).toBe(value)
    const { receipt } = await client.secrets.get(`sr://${vault}/app/KEY`)
    expect(receipt?.witnessedAt).toBeInstanceOf(Date)
  }
  expect(await client.transparency.trust.alarms()).toEqual([])
})

it('takes its own change for made before anybody has witnessed it, and says so; the next read is witnessed', async () => {
  const notices: string[] = []
  const { client, identity, orgId } = world.founder
  const actor = makeActor({
    client,
    identity,
    org: orgId,
    trust: memoryTrust(),
    onNotice: ({ code }) => notices.push(code),
  })
  await pinTrust(actor.trust, watchedAnchor())
  await witnessOnce()
  const { receipt, vaultId } = await createVault(actor, { name: unique('vault') })
  expect(receipt).toMatchObject({ witnessed: false, witnessedAt: null })
  const reading = readVault(actor, vaultId)
  expect(await witnessOnce()).toMatchObject({ code: 0 })
  expect((await reading).receipt).toMatchObject({ witnessed: true, headVersion: 1, consistency: 'consistent' })
  expect(notices).not.toContain('no_witness')
})

it('builds on what somebody else was quicker with only when the witness has seen it', async () => {
  const { vaultId } = await world.alice.vaults.create({ name: unique('vault') })
  const { wire, fetch } = makeWire()
  const { accessToken, identity, orgId } = world.founder
  const client = createClient({ baseUrl: world.url, accessToken, fetch })
  const policy = { witnessWaitMs: 300 }
  const actor = makeActor({ client, identity, org: orgId, trust: memoryTrust(), policy })
  await pinTrust(actor.trust, watchedAnchor())
  await witnessOnce()
  await listItems(actor, vaultId)
  await vaultKeys(actor, vaultId)
  await world.alice.items.create(vaultId, { name: 'quicker', fields: [] })
  const change = () => changeItems(actor, vaultId, { create: [{ name: 'mine', fields: [] }] })
  await expect(change()).rejects.toMatchObject({ code: 'witness_quorum' })
  // Nothing was signed on top of it.
  expect(wire.asked.filter((asked) => asked.startsWith('POST'))).toHaveLength(1)
  await witnessOnce()
  expect((await change()).rebases).toBe(1)
})

it('refuses when the witness stays away, after the time it was given, with one alarm and a way on', async () => {
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  const client = careful({ verify: { maxWitnessWait: '300ms' }, trustStore: memoryTrust() })
  const refused = await errorOf(client.secrets.env({ vault }))
  expect(refused).toMatchObject({ code: 'witness_quorum', name: 'ProofInvalidError', retryable: true })
  expect(refused.details).toMatchObject({ waitedMs: 300 })
  expect(await client.transparency.trust.alarms()).toHaveLength(1)
  await witnessOnce()
  expect((await client.secrets.env({ vault })).names).toEqual([])
})

it('ends a watch when the server shows what was witnessed too long ago, whatever is cached', async () => {
  const vault = unique('vault')
  const { vaultId } = await world.alice.vaults.create({ name: vault })
  await witnessOnce()
  const verify = { maxCheckpointAge: '1h', maxWitnessWait: '300ms' } as const
  let aheadMs = 0
  const clock = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => clock() + aheadMs)
  const client = careful({ verify, trustStore: memoryTrust(), cache: memoryCache() })
  const changes = client.secrets.watch({ vault: vaultId }, { interval: 50 })[Symbol.asyncIterator]()
  await changes.next()
  aheadMs = 7_200_000
  expect(await errorOf(changes.next())).toMatchObject({ code: 'stale_view', name: 'ProofInvalidError' })
  vi.restoreAllMocks()
})

it('goes on with a notice where that is wanted, and with nothing else', async () => {
  const vault = unique('vault')
  const { vaultId } = await world.alice.vaults.create({ name: vault })
  await world.alice.secrets.set(`sr://${vault}/app/KEY`, 'early')
  const notices: string[] = []
  const { wire, fetch } = makeWire()
  const client = careful({
    fetch,
    trustStore: memoryTrust(),
    verify: { mode: 'warn', maxWitnessWait: '100ms' },
    hooks: { onNotice: ({ code }) => notices.push(code) },
  })
  const env = await client.secrets.env({ vault: vaultId })
  expect([env.toObject(), env.receipt?.witnessedAt]).toEqual([{ KEY: 'early' }, null])
  expect(notices).toContain('no_witness')
  wire.tamper = (asked, answer) =>
    asked.includes('environment-fields') ? { ...(answer as object), data: [] } : undefined
  expect(await errorOf(client.secrets.env({ vault: vaultId }))).toMatchObject({ name: 'IntegrityError' })
})

it('stops waiting when the caller does', async () => {
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  const client = careful({ verify: { maxWitnessWait: '1h' } })
  const refused = await errorOf(client.secrets.env({ vault }, { signal: AbortSignal.timeout(400) }))
  expect(refused).toMatchObject({ name: 'AbortError', code: 'aborted' })
  expect(await client.transparency.trust.alarms()).toEqual([])
})

it('asks for witnesses of its own choice where the anchor names none', async () => {
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  const { trustAnchor } = world.founder
  const verify = { witnesses: { keys: [vkey], quorum: 1 }, maxWitnessWait: '200ms' }
  const client = careful({ trustAnchor, verify })
  expect(await errorOf(client.secrets.env({ vault }))).toMatchObject({ code: 'witness_quorum' })
  await witnessOnce()
  expect((await client.secrets.env({ vault })).receipt?.witnessedAt).toBeInstanceOf(Date)
})

it('refuses witnesses that cannot be meant', async () => {
  const { trustAnchor } = world.founder
  for (const witnesses of [
    { keys: [vkey], quorum: 2 },
    { keys: [vkey, vkey], quorum: 1 },
    { keys: [], quorum: 0 },
    { keys: ['no key'], quorum: 1 },
  ])
    expect(() => careful({ trustAnchor, verify: { witnesses } })).toThrow(/witnesses cannot be read/)
  const both = careful({ verify: { witnesses: { keys: [vkey], quorum: 1 } } })
  expect(await errorOf(both.secrets.env({ vault: 'any' }))).toMatchObject({ code: 'config_conflict' })
})
