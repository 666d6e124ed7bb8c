import { makeDocument, policySet } from '@strongroom/protocol'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { readPolicy } from '../../src/engine/policy.ts'
import { memoryTrust } from '../../src/engine/trust.ts'
import { ConflictError } from '../../src/strongroom/public-errors.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { actorFor, type Wire } from '../engine/server.ts'
import { type Bot, errorOf, startWorld, unique, type World } from './world.ts'

// A reader has left with the vault key. The clock of the client goes on and that of the server does not: so it looks to a client when a
// server takes writes that it should refuse. Catches: anything that is sent under such a key after the grace; a grace that is taken from
// nowhere; a rotation that is refused for want of a rotation; a client that goes on refusing when the key was rotated.
// Seen red: `ensureRotated` not called in `currentDek`, and not in `attempt`; the epoch of a commit not looked for; what is overdue in
// memory not read again; one day taken for the grace whatever the policy says; a grace from a time to come.

let world: World
let reader: Bot
beforeAll(async () => {
  world = await startWorld()
  await world.alice.licenses.testCredit()
  reader = await world.agent('deploy', { permissions: ['machine.all'] })
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => world.close())

const HOUR_MS = 3_600_000
const clock = Date.now
const wait = (hours: number) => vi.spyOn(Date, 'now').mockImplementation(() => clock() + hours * HOUR_MS)

async function vaultLeft(): Promise<string> {
  const { alice } = world
  const vault = unique('left')
  await alice.vaults.create({ name: vault })
  await alice.secrets.set(`sr://${vault}/app/KEY`, 'before')
  await alice.permissions.grant({ vault }, { principal: reader.principal, role: 'READ' })
  await alice.permissions.revoke({ vault }, reader.principal, { deferRotation: true })
  return vault
}

/** Another process of the founder, and whatever of it would change something. */
function start(): { readonly client: Strongroom; readonly wire: Wire; readonly sent: string[] } {
  const sent: string[] = []
  const { client, wire } = world.device({ trustStore: memoryTrust(), maxRetries: 0 })
  wire.before = (asked) => {
    if (!asked.startsWith('GET ')) sent.push(asked)
  }
  return { client, wire, sent }
}

it('writes until the grace is over, and sends nothing after it, whatever it is', async () => {
  const vault = await vaultLeft()
  const sound = unique('sound')
  await world.alice.vaults.create({ name: sound })
  await world.alice.secrets.set(`sr://${sound}/moving/OTHER`, 'o')
  const order = { license: 'sandbox-once', vault: { existing: vault } }
  const purchase = await world.alice.licenses.buy(order)
  await purchase.wait({ handOff: false, pollMs: 20 })
  const early = start()
  wait(23)
  await early.client.secrets.set(`sr://${vault}/app/KEY`, 'in time')
  wait(25)
  const { client, sent } = start()
  const bought = await client.licenses.purchase(purchase.id)
  const file = new TextEncoder().encode('a plan')
  const writes: Readonly<Record<string, () => PromiseLike<unknown>>> = {
    set: () => client.secrets.set(`sr://${vault}/app/KEY`, 'too late'),
    remove: () => client.secrets.remove(`sr://${vault}/app/KEY`),
    create: () => client.items.create(vault, { name: 'new', fields: [] }),
    archive: () => client.items.archive(vault, 'app'),
    'move in': () => client.items.move(sound, 'moving', { vault }),
    'move out': () => client.items.move(vault, 'app', { vault: sound }),
    upload: () => client.attachments.upload(vault, 'app', file, { name: 'plan.txt' }),
    handOff: () => bought.handOff(),
    rename: () => client.vaults.update(vault, { name: unique('other') }),
    grant: () => client.permissions.grant({ vault }, { principal: reader.principal, role: 'READ' }),
  }
  for (const [name, write] of Object.entries(writes)) {
    const refused = await errorOf(write())
    expect([name, refused.code]).toEqual([name, 'rotation_due'])
    expect(refused).toBeInstanceOf(ConflictError)
    expect(refused).toMatchObject({ status: 409, hint: 'A vault administrator must rotate the vault key.' })
  }
  // Also who has written in time, and knows the vault.
  const known = early.sent.length
  expect(await errorOf(early.client.secrets.set(`sr://${vault}/app/KEY`, 'too late'))).toMatchObject({
    code: 'rotation_due',
  })
  expect([sent, early.sent.length]).toEqual([[], known])
  vi.restoreAllMocks()
  expect((await world.alice.secrets.get(`sr://${vault}/app/KEY`)).reveal()).toBe('in time')
})

it('gives no grace to a reader who leaves in an hour from now, as a server may say that wants none', async () => {
  const vault = await vaultLeft()
  wait(-1)
  const { client, sent } = start()
  const refused = await errorOf(client.secrets.set(`sr://${vault}/app/KEY`, 'too early'))
  expect([refused.code, sent]).toEqual(['rotation_due', []])
  wait(-0.1)
  await start().client.secrets.set(`sr://${vault}/app/KEY`, 'with another clock')
})

it('goes on with a new key, also for who had refused before, and an upload too', async () => {
  const vault = await vaultLeft()
  wait(25)
  const waiting = start().client
  const refused = await errorOf(waiting.secrets.set(`sr://${vault}/app/KEY`, 'too late'))
  expect(refused).toMatchObject({ code: 'rotation_due' })
  await start().client.vaults.rotateKey(vault, { reason: 'member-removed' })
  await waiting.secrets.set(`sr://${vault}/app/KEY`, 'after')
  await waiting.attachments.upload(vault, 'app', new Uint8Array(3), { name: 'plan.txt' })
  expect((await waiting.secrets.get(`sr://${vault}/app/KEY`)).reveal()).toBe('after')
})

it('takes an access change that brings a new key, and none that does not', async () => {
  const vault = await vaultLeft()
  const leaving = await world.agent('worker')
  await world.alice.permissions.grant({ vault }, { principal: leaving.principal, role: 'READ' })
  wait(25)
  const { client, sent } = start()
  const deferred = client.permissions.revoke({ vault }, leaving.principal, { deferRotation: true })
  expect(await errorOf(deferred)).toMatchObject({ code: 'rotation_due' })
  expect(sent).toEqual([])
  await client.permissions.revoke({ vault }, leaving.principal)
  await client.secrets.set(`sr://${vault}/app/KEY`, 'after')
  expect(await client.vaults.get(vault)).toMatchObject({ rotationDue: null })
})

it('goes by the grace of the policy in force, and takes no answer that leaves it out', async () => {
  const vault = await vaultLeft()
  const { founder } = world
  const { policy, version, hash } = await readPolicy(await actorFor(world, founder))
  const members = { org: founder.orgId, at: clock(), policyVersion: version + 1, prev: hash }
  const event = await makeDocument(policySet, { ...members, policy: { ...policy, rotationGraceMs: HOUR_MS } }, [
    founder.identity,
  ])
  await founder.client.directory.setPolicy({ body: { event } })
  wait(2)
  const plain = start()
  const set = (client: Strongroom) => errorOf(client.secrets.set(`sr://${vault}/app/KEY`, 'too late'))
  expect(await set(plain.client)).toMatchObject({ code: 'rotation_due' })
  const withheld = start()
  withheld.wire.tamper = (asked, answer) => {
    const { signed } = answer as { signed?: object }
    return asked.startsWith('GET /vault/') && signed
      ? { ...(answer as object), signed: { ...signed, policies: [] } }
      : undefined
  }
  expect(await set(withheld.client)).toMatchObject({ code: 'bad_map_proof' })
  expect([plain.sent, withheld.sent]).toEqual([[], []])
})
