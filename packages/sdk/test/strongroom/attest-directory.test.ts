import { type Cap, openKeys, registerKey } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { memoryTrust } from '../../src/engine/trust.ts'
import { login, type Person } from '../../src/people.ts'
import { acceptInvite, endorseInvite, makeUserInvite } from '../../src/people-invites.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { keysOf } from '../engine/server.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// What an administrator said of others and of all, whose key is found to be compromised. Catches: caps and a policy that nobody can look at or
// sign anew any more, and with them everything that asks who is an administrator, for ever; a policy taken for sound because it was looked at.
// Seen red: caps read by rights of now, and the policy; one key in doubt that keeps all others from being counted; a policy that says so
// already not signed anew; a server believed that logs no new one.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

/** Another administrator, and the end of their key. */
async function admin(keys: 'bob' | 'carol') {
  const { founder, url } = world
  const email = `${unique(keys)}@example.com`
  const caps: readonly Cap[] = ['dir-admin', 'member']
  const invite = await makeUserInvite(founder, { email, name: keys, tenantId: founder.tenantId, caps })
  const own = { baseUrl: url, passphrase: 'a passphrase of an invitee' }
  const { codes } = await acceptInvite({ ...own, link: invite.link, keys: keysOf(keys) })
  await endorseInvite(founder, invite)
  const body = { orgRoles: ['ORG_ADMIN' as const] }
  await founder.client.users.setOrgRoles({ params: { id: invite.userId }, body })
  const person: Person = await login({ ...own, email, deviceSecret: codes.deviceSecret })
  const { accessToken, trustAnchor, identity } = person
  const client = new Strongroom({
    ...{ server: url, accessToken, privateKey: identity, trustAnchor, trustStore: memoryTrust() },
  })
  return { client, identity, compromise: () => world.alice.agents.revokeKey(identity.kid, 'compromised') }
}

const fresh = () => world.device().client.transparency

it('what a compromised administrator said that a key may sign is shown, keeps nobody from anything, and is signed anew', async () => {
  const [bob, carol] = [await admin('bob'), await admin('carol')]
  const who = carol.identity.key.principal
  const { caps } = bob.client.transparency
  // Nobody would notice before: it is what the key might sign already, and one thing more.
  const given: Cap[] = ['agent-manager', 'dir-admin', 'member']
  await caps.send((await caps.propose(carol.identity.kid, given))?.statement)
  expect(await fresh().caps.show(who)).toMatchObject([{ caps: given, isConfirmed: true }])
  await bob.compromise()
  expect(await fresh().caps.show(who)).toMatchObject([{ caps: given, isConfirmed: false }])
  // Carol counts no more, and the founder is the last one.
  const { quorums } = fresh()
  await quorums.ensureWithout(who)
  expect(await errorOf(quorums.propose({ directory: 2 }))).toMatchObject({ code: 'validation_failed' })
  const made = await fresh().caps.propose(carol.identity.kid, given)
  expect(made).toMatchObject({ from: given, to: given, isConfirmed: false, signatures: 1, needed: 1 })
  expect(await fresh().caps.send(made?.statement)).toMatchObject({ caps: given, isConfirmed: true })
  expect(await quorums.propose({ directory: 2 })).toMatchObject({ administrators: 2 })
})

it('what somebody wrote is signed anew whose endorser had the right from a compromised administrator, and has gone since', async () => {
  const [bob, carol] = [await admin('bob'), await admin('carol')]
  const { caps } = bob.client.transparency
  const given: Cap[] = ['agent-manager', 'dir-admin', 'member']
  await caps.send((await caps.propose(carol.identity.kid, given))?.statement)
  const { founder, url } = world
  const body = { name: unique('bot'), permissions: ['machine.all' as const] }
  const { agent, apiKey } = await founder.client.agents.create({ body })
  const privateKey = await openKeys(`agent:${agent.agentId}`, keysOf('deploy'))
  const { orgId: org, trustAnchor } = founder
  const event = await registerKey({ org, caps: ['agent'], at: Date.now() }, carol.identity, privateKey)
  await createClient({ baseUrl: url, apiKey: String(apiKey) }).keys.register({ body: { event } })
  const own = { server: url, apiKey: String(apiKey), privateKey, trustAnchor, trustStore: memoryTrust() }
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  await world.alice.permissions.grant({ vault }, { principal: privateKey.key.principal, role: 'WRITE' })
  const fields = [{ label: 'db', value: 'theirs', isEnvironmentVariable: true }]
  await new Strongroom(own).items.create(vault, { name: 'db', fields })
  await world.alice.agents.revokeKey(carol.identity.kid, 'superseded')
  await bob.compromise()
  const read = async () => (await world.device().client.secrets.env({ vault })).toObject()
  expect(await errorOf(read())).toMatchObject({ code: 'endorser_not_admin' })
  const { vaults } = world.device().client
  const reviewed = await vaults.review(vault)
  expect(reviewed).toMatchObject({ head: privateKey.kid, access: null, items: [{ name: 'db', by: privateKey.kid }] })
  await vaults.attest(reviewed)
  expect(await read()).toEqual({ db: 'theirs' })
})

it('a policy that a compromised administrator signed is shown whole, and signed anew', async () => {
  const bob = await admin('bob')
  const { quorums } = bob.client.transparency
  await quorums.send((await quorums.propose({ recovery: 2 }))?.statement)
  expect(await fresh().quorums.show()).toMatchObject({ recovery: 2, isConfirmed: true })
  expect(await fresh().quorums.propose({ recovery: 2 })).toBe(null)
  await bob.compromise()
  const shown = await fresh().quorums.show()
  expect(shown).toMatchObject({ directory: 1, recovery: 2, isConfirmed: false })
  // To have looked at it makes it no policy that anything goes by.
  const { client } = world.device()
  await client.transparency.quorums.show()
  expect(await errorOf(client.transparency.console())).toMatchObject({ code: 'bad_map_proof' })
  const made = await fresh().quorums.propose({ recovery: 2 })
  const anew = { dirQuorum: 1, recoverQuorum: 2, provisioners: expect.any(Array), minRsaBits: 2048 }
  expect(made).toMatchObject({ from: { recovery: 2 }, to: { recovery: 2 }, anew, needed: 1 })
  const idle: typeof fetch = async (input, init) =>
    String(input).endsWith('/directory/policy') ? Response.json({ policyVersion: 3, index: 0 }) : fetch(input, init)
  const { client: deceived } = world.device({ fetch: idle })
  expect(await errorOf(deceived.transparency.quorums.send(made?.statement))).toMatchObject({ code: 'bad_map_proof' })
  const { policyVersion } = shown
  const set = await fresh().quorums.send(made?.statement)
  expect(set).toMatchObject({ recovery: 2, policyVersion: policyVersion + 1, isConfirmed: true })
  expect(await fresh().console()).toBe(null)
  expect(await fresh().quorums.propose({ recovery: 1 })).toMatchObject({ anew: null })
})
