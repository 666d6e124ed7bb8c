import { openKeys, registerKey } from '@strongroom/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { memoryTrust } from '../../src/engine/trust.ts'
import { acceptInvite, endorseInvite, makeUserInvite } from '../../src/people-invites.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { keysOf } from '../engine/server.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// What a compromised key signed last is refused to everybody, until it is signed anew. Catches: a vault that nobody can read or write any more
// after its last writer was found to be compromised; what was reviewed taken for sound by who did not review it.
// Seen red: items not signed anew; the head not signed where no item is to be; the list of access left as it was, and the keys of the vault;
// who administers it left as they were signed; every read a review; other vaults not found by name any more; what nobody was shown signed along
// (head, access, admins, item, an item's version, and of a project its content and its admins); what was remembered written on; those whom a
// compromised administrator endorsed refused to whoever reviews what they wrote, to whoever makes a new vault key, and to whoever removes them;
// a key taken for confirmed that nobody has confirmed; a server believed that logs no confirmation.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

async function vaultWith(role: 'WRITE' | 'ADMIN') {
  const vault = unique('vault')
  const { client } = world.device()
  await client.vaults.create({ name: vault })
  for (const name of ['db', 'other'])
    await client.items.create(vault, { name, fields: [{ label: name, value: name, isEnvironmentVariable: true }] })
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  await client.permissions.grant({ vault }, { principal: bot.principal, role })
  const [key] = await world.alice.transparency.keys(bot.principal)
  const keyId = String(key?.keyId)
  return { vault, bot, keyId, compromise: () => world.alice.agents.revokeKey(keyId, 'compromised') }
}

const fresh = () => world.device().client
const attest = async (vault: string) => {
  const { vaults } = fresh()
  return vaults.attest(await vaults.review(vault))
}
const readAll = async (vault: string) => (await fresh().secrets.env({ vault })).toObject()

it('gives a vault back to everybody whose last writer was compromised, with what was written', async () => {
  const { vault, bot, keyId, compromise } = await vaultWith('WRITE')
  const ref = `sr://${vault}/db/db`
  await bot.client.secrets.set(ref, 'theirs')
  expect(await fresh().vaults.review(vault)).toMatchObject({ head: null, access: null, items: [] })
  await compromise()
  const { client } = world.device()
  const reviewed = await client.vaults.review(vault)
  expect(reviewed).toMatchObject({
    ...{ name: vault, head: keyId, access: null },
    items: [{ name: 'db', itemVersion: 2, labels: ['db'], by: keyId }],
  })
  // To have looked at it makes nothing of it sound.
  for (const work of [
    () => client.secrets.set(ref, 'mine'),
    () => client.secrets.get(ref),
    () => client.secrets.get(`sr://${vault}/other/other`),
    () => readAll(vault),
    () => client.vaults.rotateKey(vault),
    () => fresh().vaults.rotateKey(vault, { reason: 'key-compromised' }),
    () => client.vaults.reencrypt(vault),
  ])
    expect(await errorOf(work())).toMatchObject({ code: 'signer_compromised' })
  expect(await client.vaults.attest(reviewed)).toEqual(reviewed)
  expect((await client.secrets.get(ref)).reveal()).toBe('theirs')
  expect((await fresh().items.get(vault, 'db')).receipt.signerKeyId).toBe(world.founder.identity.kid)
  const known = await fresh().vaults.get(vault)
  expect(await attest(vault)).toMatchObject({ head: null, access: null, items: [] })
  expect((await fresh().vaults.get(vault)).headVersion).toBe(known.headVersion)
  await fresh().secrets.set(ref, 'mine')
  await fresh().vaults.rotateKey(vault, { reason: 'key-compromised' })
  expect(await readAll(vault)).toEqual({ db: 'mine', other: 'other' })
})

it('writes nothing on top of what it remembers of a vault whose last writer it has just called compromised', async () => {
  const { vault, bot, keyId } = await vaultWith('WRITE')
  await bot.client.secrets.set(`sr://${vault}/db/db`, 'theirs')
  const { client } = world.device()
  const { vaultId, headVersion } = await client.vaults.get(vault)
  await client.items.list(vaultId)
  await client.agents.revokeKey(keyId, 'compromised')
  expect(await errorOf(client.vaults.rotateKey(vaultId))).toMatchObject({ code: 'signer_compromised' })
  expect(await errorOf(client.items.create(vaultId, { name: 'new', fields: [] }))).toMatchObject({
    code: 'signer_compromised',
  })
  expect((await client.vaults.review(vaultId)).headVersion).toBe(headVersion)
})

it('signs the head alone where nothing else is to be signed', async () => {
  const { vault, bot, keyId, compromise } = await vaultWith('WRITE')
  const elsewhere = unique('vault')
  await world.alice.vaults.create({ name: elsewhere })
  await world.alice.permissions.grant({ vault: elsewhere }, { principal: bot.principal, role: 'WRITE' })
  await bot.client.items.move(vault, 'other', { vault: elsewhere })
  await compromise()
  expect(await attest(vault)).toMatchObject({ head: keyId, access: null, items: [] })
  expect(await readAll(vault)).toEqual({ db: 'db' })
  expect(await errorOf(readAll(elsewhere))).toMatchObject({ code: 'signer_compromised' })
})

it('renews the list of access that a compromised administrator signed, and every key they wrapped', async () => {
  const { vault, bot, keyId, compromise } = await vaultWith('ADMIN')
  const reader = await world.agent('worker', { permissions: ['machine.all'] })
  await bot.client.permissions.grant({ vault }, { principal: reader.principal, role: 'READ' })
  const ref = `sr://${vault}/db/db`
  expect((await reader.client.secrets.get(ref)).reveal()).toBe('db')
  await compromise()
  expect((await fresh().vaults.review(vault)).readers).toContainEqual({ principal: reader.principal, role: 'READ' })
  expect(await errorOf(reader.client.secrets.get(ref))).toMatchObject({ code: 'signer_compromised' })
  expect(await attest(vault)).toMatchObject({ head: keyId, access: keyId, items: [] })
  expect((await reader.client.secrets.get(ref)).reveal()).toBe('db')
  expect(await fresh().vaults.review(vault)).toMatchObject({ head: null, access: null, items: [] })
})

it('signs nothing that was not looked at: another key called compromised meanwhile, an item written once more', async () => {
  const { vault, bot, compromise } = await vaultWith('ADMIN')
  const other = await world.agent('hybrid', { permissions: ['machine.all'] })
  await bot.client.permissions.grant({ vault }, { principal: other.principal, role: 'ADMIN' })
  await other.client.secrets.set(`sr://${vault}/other/other`, 'theirs')
  await bot.client.secrets.set(`sr://${vault}/db/db`, 'theirs')
  await compromise()
  const [key] = await world.alice.transparency.keys(other.principal)
  const { vaults } = fresh()
  const before = await vaults.review(vault)
  expect(before.items.map(({ name }) => name)).toEqual(['db'])
  await world.alice.agents.revokeKey(String(key?.keyId), 'compromised')
  const now = await vaults.review(vault)
  const [db] = now.items
  for (const [shown, details] of [
    [before, { itemId: now.items.find(({ name }) => name === 'other')?.itemId }],
    [{ ...now, head: null }, { part: 'head' }],
    [{ ...now, headVersion: now.headVersion - 1 }, { part: 'head' }],
    [{ ...now, access: null }, { part: 'access' }],
    [{ ...now, accessVersion: now.accessVersion - 1 }, { part: 'access' }],
    [{ ...now, admins: null }, { part: 'admins' }],
    [{ ...now, adminsVersion: now.adminsVersion - 1 }, { part: 'admins' }],
    [{ ...now, items: now.items.map((item) => ({ ...item, itemVersion: 1 })) }, { itemId: db?.itemId }],
  ] as const)
    expect(await errorOf(vaults.attest(shown))).toMatchObject({ code: 'vault_head_conflict', details })
  expect(await vaults.review(vault)).toEqual(now)
  await vaults.attest(now)
  expect(await readAll(vault)).toEqual({ db: 'theirs', other: 'theirs' })
})

it('is done once when several do it at once', async () => {
  const { vault, bot, compromise } = await vaultWith('WRITE')
  await bot.client.secrets.set(`sr://${vault}/db/db`, 'theirs')
  await compromise()
  const reviewed = await fresh().vaults.review(vault)
  const settled = await Promise.allSettled([fresh(), fresh(), fresh()].map(({ vaults }) => vaults.attest(reviewed)))
  const refusals = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(refusals.length).toBeLessThan(3)
  for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'vault_head_conflict' })
  expect((await fresh().items.get(vault, 'db')).version).toBe(3)
  expect(await readAll(vault)).toEqual({ db: 'theirs', other: 'other' })
})

describe('somebody whom a compromised administrator endorsed', () => {
  /** An agent with a vault to write to, and the administrator who endorsed it. */
  async function endorsedByBob() {
    const { founder, url } = world
    const email = `${unique('bob')}@example.com`
    const terms = { email, name: 'Bob', tenantId: founder.tenantId, caps: ['dir-admin', 'member'] as const }
    const invite = await makeUserInvite(founder, terms)
    const passphrase = 'a passphrase of an invitee'
    const bob = await acceptInvite({ baseUrl: url, link: invite.link, passphrase, keys: keysOf('bob') })
    await endorseInvite(founder, invite)
    const body = { name: unique('bot'), permissions: ['machine.all' as const] }
    const { agent, apiKey } = await founder.client.agents.create({ body })
    const identity = await openKeys(`agent:${agent.agentId}`, keysOf('deploy'))
    const event = await registerKey({ org: founder.orgId, caps: ['agent'], at: Date.now() }, bob.identity, identity)
    await createClient({ baseUrl: url, apiKey: String(apiKey) }).keys.register({ body: { event } })
    const { trustAnchor } = founder
    const own = { server: url, apiKey: String(apiKey), privateKey: identity, trustAnchor, trustStore: memoryTrust() }
    const vault = unique('vault')
    await world.alice.vaults.create({ name: vault })
    const { principal } = identity.key
    await fresh().permissions.grant({ vault }, { principal, role: 'WRITE' })
    const compromise = () => world.alice.agents.revokeKey(bob.identity.kid, 'compromised')
    return { vault, bot: new Strongroom(own), principal, keyId: identity.kid, compromise }
  }

  it('closes no vault for ever by having written to it last', async () => {
    const { vault, bot, keyId, compromise } = await endorsedByBob()
    await bot.secrets.set(`sr://${vault}/db/db`, 'theirs')
    await compromise()
    expect(await errorOf(readAll(vault))).toMatchObject({ code: 'signer_compromised' })
    expect(await attest(vault)).toMatchObject({ head: keyId, access: null, items: [{ name: 'db', by: keyId }] })
    expect(await readAll(vault)).toEqual({ db: 'theirs' })
    expect(await fresh().vaults.review(vault)).toMatchObject({ head: null, items: [] })
  })

  it('gets no new vault key and keeps nobody from one, nor from removing them', async () => {
    const { vault, bot, principal, compromise } = await endorsedByBob()
    await compromise()
    await fresh().vaults.rotateKey(vault, { reason: 'key-compromised' })
    await fresh().secrets.set(`sr://${vault}/db/db`, 'mine')
    expect(await errorOf(bot.secrets.get(`sr://${vault}/db/db`))).toMatchObject({ name: 'NoWrappedKeyError' })
    await world.alice.transparency.quorums.ensureWithout(principal)
  })

  it('counts again once an administrator has confirmed the key, with what it wrote', async () => {
    const { vault, bot, principal, keyId, compromise } = await endorsedByBob()
    await bot.secrets.set(`sr://${vault}/db/db`, 'theirs')
    const { caps } = world.alice.transparency
    expect(await caps.show(principal)).toMatchObject([{ keyId, caps: ['agent'], isConfirmed: true }])
    expect(await caps.propose(keyId, [])).toBe(null)
    await compromise()
    expect(await caps.show(principal)).toMatchObject([{ keyId, caps: ['agent'], isConfirmed: false }])
    expect(await errorOf(readAll(vault))).toMatchObject({ code: 'signer_compromised' })
    const made = await caps.propose(keyId, [])
    const idle: typeof fetch = async (input, init) =>
      String(input).endsWith('/directory/caps') ? Response.json({ kid: keyId, index: 0 }) : fetch(input, init)
    const { client: deceived } = world.device({ fetch: idle })
    expect(await errorOf(deceived.transparency.caps.send(made?.statement))).toMatchObject({ code: 'bad_inclusion' })
    expect(made).toMatchObject({ from: ['agent'], to: ['agent'], isConfirmed: false, signatures: 1, needed: 1 })
    expect(await errorOf(readAll(vault))).toMatchObject({ code: 'signer_compromised' })
    expect(await caps.send(made?.statement)).toMatchObject({ keyId, caps: ['agent'], isConfirmed: true })
    expect(await readAll(vault)).toEqual({ db: 'theirs' })
    expect(await errorOf(caps.send(made?.statement))).toMatchObject({ code: 'log_conflict' })
  })
})

it('gives a vault back that a compromised agent made, to those who administer it too', async () => {
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  const vault = unique('vault')
  await bot.client.vaults.create({ name: vault })
  await bot.client.items.create(vault, {
    name: 'db',
    fields: [{ label: 'db', value: 'db', isEnvironmentVariable: true }],
  })
  const principal = world.founder.identity.key.principal
  await bot.client.permissions.grant({ vault }, { principal, role: 'ADMIN' })
  // What everything else hangs on is the bot's alone: all the rest was signed anew by the founder.
  await fresh().secrets.set(`sr://${vault}/db/db`, 'mine')
  await fresh().permissions.grant({ vault }, { principal: (await world.agent('worker')).principal, role: 'READ' })
  const [key] = await world.alice.transparency.keys(bot.principal)
  const keyId = String(key?.keyId)
  await world.alice.agents.revokeKey(keyId, 'compromised')
  expect(await errorOf(readAll(vault))).toMatchObject({ code: 'signer_compromised' })
  expect(await attest(vault)).toMatchObject({ head: null, access: null, admins: keyId, adminsVersion: 2, items: [] })
  expect(await readAll(vault)).toEqual({ db: 'mine' })
  expect(await fresh().vaults.review(vault)).toMatchObject({ admins: null, adminsVersion: 3 })
})

describe('a project', () => {
  async function madeBy(bot: Awaited<ReturnType<World['agent']>>) {
    const vault = unique('vault')
    await world.alice.vaults.create({ name: vault })
    await world.alice.permissions.grant({ vault }, { principal: bot.principal, role: 'WRITE' })
    const slug = unique('shop')
    await bot.client.projects.create({ name: slug, slug, vaults: [vault] })
    const principal = world.founder.identity.key.principal
    await bot.client.permissions.grant({ project: slug }, { principal, role: 'ADMIN' })
    const [key] = await world.alice.transparency.keys(bot.principal)
    const keyId = String(key?.keyId)
    return { slug, keyId, compromise: () => world.alice.agents.revokeKey(keyId, 'compromised') }
  }
  const agent = () => world.agent('deploy', { permissions: ['machine.all'] })

  it('that a compromised agent made and signed last is signed anew, with who administers it', async () => {
    const { slug, keyId, compromise } = await madeBy(await agent())
    expect(await fresh().projects.review(slug)).toMatchObject({ content: null, admins: null })
    await compromise()
    const { projects } = fresh()
    for (const work of [() => projects.get(slug), () => projects.update(slug, { name: 'Other' })])
      expect(await errorOf(work())).toMatchObject({ code: 'signer_compromised' })
    const reviewed = await projects.review(slug)
    const administrators = reviewed.administrators
    expect(reviewed).toMatchObject({ content: keyId, admins: keyId, adminsVersion: 2, project: { slug } })
    expect(administrators).toContain(world.founder.identity.key.principal)
    expect(await errorOf(projects.get(slug))).toMatchObject({ code: 'signer_compromised' })
    expect(await projects.attest(reviewed)).toEqual({ ...reviewed.project, version: reviewed.project.version + 1 })
    expect(await fresh().projects.get(slug)).toMatchObject({ slug, isVerified: true })
    const after = await fresh().projects.review(slug)
    expect(after).toMatchObject({ content: null, admins: null, adminsVersion: 3, administrators })
    expect(await projects.attest(after)).toEqual(after.project)
  })

  it('of which something else is found than was looked at is not signed', async () => {
    const { slug, compromise } = await madeBy(await agent())
    await compromise()
    const { projects } = fresh()
    const now = await projects.review(slug)
    for (const [shown, part] of [
      [{ ...now, content: null }, 'content'],
      [{ ...now, project: { ...now.project, version: 1 } }, 'content'],
      [{ ...now, admins: null }, 'admins'],
      [{ ...now, adminsVersion: 1 }, 'admins'],
    ] as const)
      expect(await errorOf(projects.attest(shown))).toMatchObject({ code: 'vault_head_conflict', details: { part } })
    expect(await projects.review(slug)).toEqual(now)
  })
})
