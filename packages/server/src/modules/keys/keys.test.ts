import {
  keyAdd,
  makeDocument,
  requestEndorsement,
  rotateKey,
  verifyDirectory,
  verifyTransparency,
  wrapDek,
} from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../../test/actors.ts'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, outcomes, refusal, seedUser } from '../../../test/people.ts'
import {
  currentDek,
  edit,
  endorse,
  itemsCommit,
  makeVault,
  trustOf,
  vaultKeys,
  type Writer,
  writeItems,
} from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'

// Catches: a registration brought by somebody who neither owns nor endorses it, a second key without the first one's signature
// (rotation_requires_old_key left out), a rotation that leaves a vault out, a wrap by somebody who is no admin of the vault or
// for another vault, grants and pending keys shown to others.

let h: Harness
let alice: FirstPerson
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
})
afterAll(() => h.close())

const header = () => ({ org: alice.orgId, at: Date.now() })
const logSize = () =>
  inOrg(h.deps, alice.orgId, async (db) => (await db.selectFrom('log_state').select('size').executeTakeFirst())?.size)

it('registers the key of an agent for its endorser or for itself, and the same key again changes nothing', async () => {
  const agent = await h.agent(alice, [])
  const identity = await identityOf('deploy', `agent:${agent.agentId}`)
  const event = await endorse(alice, identity)
  const first = await agent.client.keys.register({ body: { event } })
  expect(first).toMatchObject({ kid: identity.kid, status: 'active' })
  expect(first.receipt?.transparency.map.map(({ name }) => name)).toContain(`kid/${identity.kid}`)
  const size = await logSize()
  expect(await alice.client.keys.register({ body: { event } })).toEqual({ kid: identity.kid, status: 'active' })
  expect(await logSize()).toBe(size)
})

it('keeps half a registration for exactly the endorser it names, who completes it', async () => {
  const agent = await h.agent(alice, [])
  const identity = await identityOf('worker', `agent:${agent.agentId}`)
  const event = await requestEndorsement({ ...header(), caps: ['agent'], endorser: alice.identity.kid }, identity)
  expect(await agent.client.keys.register({ body: { event } })).toEqual({ kid: identity.kid, status: 'pending' })
  const other = await seedUser(h, alice, { orgRoles: ['ORG_ADMIN'] })
  expect((await other.client.keys.pending()).data).toEqual([])
  expect((await agent.client.keys.pending()).data).toEqual([])
  const [waiting] = (await alice.client.keys.pending()).data
  expect(waiting).toMatchObject({ kid: identity.kid, event })
  const signed = await endorse(alice, identity)
  expect(await alice.client.keys.register({ body: { event: signed } })).toMatchObject({ status: 'active' })
  expect((await alice.client.keys.pending()).data).toEqual([])
})

it('keeps no half registration that asks for more than the part of an agent', async () => {
  const agent = await h.agent(alice, [])
  const identity = await identityOf('worker', `agent:${agent.agentId}`)
  const caps = ['agent', 'dir-admin'] as const
  const event = await requestEndorsement({ ...header(), caps, endorser: alice.identity.kid }, identity)
  expect(await codeOf(agent.client.keys.register({ body: { event } }))).toBe('signer_not_authorised')
  expect((await alice.client.keys.pending()).data).toEqual([])
})

it('refuses a registration of an archived, foreign or absent agent, of a person, and by a bystander; nothing is logged', async () => {
  const agent = await h.agent(alice, [])
  const identity = await identityOf('deploy', `agent:${agent.agentId}`)
  const event = await endorse(alice, identity)
  const bystander = await h.agent(alice, ['machine.all'])
  const size = await logSize()
  expect(await codeOf(bystander.client.keys.register({ body: { event } }))).toBe('signer_not_authorised')
  const foreignOrg = await h.org('foreign')
  const foreign = await h.agent(foreignOrg, ['machine.all'])
  for (const id of [foreign.agentId, 'agt_absent00000000000000']) {
    const absent = await endorse(alice, await identityOf('deploy', `agent:${id}`))
    expect(await codeOf(alice.client.keys.register({ body: { event: absent } }))).toBe('agent_not_found')
  }
  const person = await endorsePerson()
  expect(await codeOf(alice.client.keys.register({ body: { event: person } }))).toBe('invalid_document')
  await inOrg(h.deps, alice.orgId, (db) =>
    db.updateTable('agent').set({ status: 'archived' }).where('agent_id', '=', agent.agentId).execute(),
  )
  expect(await codeOf(alice.client.keys.register({ body: { event } }))).toBe('agent_not_found')
  expect(await logSize()).toBe(size)
})

async function endorsePerson() {
  const stranger = await identityOf('bob', 'user:usr_nobody')
  const payload = { ...header(), kid: stranger.kid, key: stranger.key.bundle, caps: ['member' as const] }
  return makeDocument(keyAdd, payload, [alice.identity, stranger])
}

/** The complete batch, from verified keys. */
async function rotation(agent: Writer, next: Writer['identity'], vaultIds: readonly string[]) {
  const held = []
  for (const vaultId of vaultIds) held.push(...(await vaultKeys(agent, vaultId)).values())
  return rotateKey({ ...header(), held }, agent.identity, next)
}

it('rotates to another key with the complete batch only, and by the old key only', async () => {
  const agent = await agentWriter(h, alice, 'deploy')
  const share = { with: [{ identity: agent.identity, role: 'read' as const }] }
  const vaultIds = [await makeVault(alice, share), await makeVault(alice, share)]
  expect((await agent.client.keys.grants()).data.map(({ vaultId }) => vaultId).sort()).toEqual([...vaultIds].sort())
  const next = await identityOf('deployNext', `agent:${agent.agentId}`)
  const size = await logSize()
  const second = await endorse(alice, next)
  expect(await codeOf(agent.client.keys.register({ body: { event: second } }))).toBe('rotation_requires_old_key')
  const short = await rotation(agent, next, vaultIds.slice(0, 1))
  const refused = await refusal(
    agent.client.keys.register({ body: { event: short.event, replacements: [...short.replacements] } }),
  )
  expect(refused).toMatchObject({ code: 'incomplete_replacement_batch', status: 409 })
  const whole = await rotation(agent, next, vaultIds)
  const body = { event: whole.event, replacements: [...whole.replacements] }
  expect(await codeOf(alice.client.keys.register({ body }))).toBe('signer_not_authorised')
  expect(await logSize()).toBe(size)
  expect(await agent.client.keys.register({ body })).toMatchObject({ kid: next.kid, status: 'active' })
  const moved = { ...agent, identity: next }
  for (const vaultId of vaultIds) expect((await vaultKeys(moved, vaultId)).size).toBe(1)
})

it('lets one of ten rotations at a time win', async () => {
  const agent = await agentWriter(h, alice, 'deploy')
  const next = await identityOf('deployNext', `agent:${agent.agentId}`)
  const { event } = await rotation(agent, next, [])
  const ended = await outcomes(Array.from({ length: 12 }, () => agent.client.keys.register({ body: { event } })))
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended)).toEqual(new Set(['ok', 'log_conflict']))
})

it('gives the vault key to a further key by an admin’s wrap, and names every holder', async () => {
  const agent = await agentWriter(h, alice, 'deploy')
  const vaultId = await makeVault(alice, { with: [{ identity: agent.identity, role: 'read' }] })
  const { wraps, stranger } = await otherWraps(vaultId)
  const size = await logSize()
  const post = (who: Pick<TestAgent, 'client'>, body: { wraps: typeof wraps }) =>
    who.client.keys.grant({ params: { vaultId }, body })
  expect(await codeOf(post(agent, { wraps }))).toBe('vault_access_denied')
  expect(await codeOf(post(stranger, { wraps }))).toBe('vault_not_found')
  // Somebody who is not on the access list gets no key, whoever wraps it.
  expect(await codeOf(post(alice, { wraps }))).toBe('signer_not_authorised')
  expect(await logSize()).toBe(size)
  const { data } = await agent.client.keys.holders({ params: { vaultId } })
  expect(data.map(({ principal, role, keys }) => [principal, role, keys.length])).toEqual(
    [
      [`agent:${agent.agentId}`, 'READ', 1],
      [`user:${alice.userId}`, 'ADMIN', 1],
    ].sort(),
  )
  const wrapped = await agent.client.keys.wrapped({ params: { vaultId } })
  expect(wrapped.data.map(({ kid }) => kid).sort()).toEqual([agent.identity.kid, alice.identity.kid].sort())
  for (const call of [stranger.client.keys.holders, stranger.client.keys.wrapped])
    expect(await codeOf(call({ params: { vaultId } }))).toBe('vault_not_found')
})

async function otherWraps(vaultId: string) {
  const stranger = await agentWriter(h, alice, 'worker')
  const dek = await currentDek(alice, vaultId)
  return { stranger, wraps: [await wrapDek(dek, stranger.identity.key, alice.identity, Date.now())] }
}

it('proves the active keys of others, and leaves out who has none', async () => {
  const agent = await agentWriter(h, alice, 'deploy')
  const keyless = await h.agent(alice, ['machine.vault.read'])
  const principals = [agent, keyless].map(({ agentId }) => `agent:${agentId}`).join(',')
  const answer = await keyless.client.keys.directory({ query: { principals } })
  expect(answer.kids).toEqual([agent.identity.kid])
  const { log, genesis, freshness } = trustOf(agent)
  const view = await verifyTransparency(answer.transparency, log, freshness)
  const directory = await verifyDirectory(view, answer, genesis)
  expect((await directory.resolve(agent.identity.kid)).key.bundle).toEqual(agent.identity.key.bundle)
  const foreign = await h.agent(await h.org('without a log'), ['machine.all'])
  expect(await codeOf(foreign.client.keys.directory({ query: { principals } }))).toBe('leaf_not_found')
  expect(await codeOf(agent.client.keys.directory({ query: { principals: 'nobody' } }))).toBe('validation_failed')
})

it('shows people their own keys, and agents none of them', async () => {
  const { data } = await alice.client.keys.own()
  expect(data.map(({ kid, status }) => [kid, status])).toEqual([[alice.identity.kid, 'active']])
  const agent = await h.agent(alice, ['machine.all'])
  expect(await codeOf(agent.client.keys.own())).toBe('key_kind_refused')
})

it('refuses the next write of an agent whose key the log has ended', async () => {
  const agent = await agentWriter(h, alice, 'deploy')
  const vaultId = await makeVault(alice, { with: [{ identity: agent.identity, role: 'write' }] })
  await writeItems(agent, vaultId, [edit('itm_before', { A: '1' })])
  const { commit } = await itemsCommit(agent, vaultId, [edit('itm_after', { B: '2' })])
  const next = await identityOf('deployNext', `agent:${agent.agentId}`)
  const { event, replacements } = await rotation(agent, next, [vaultId])
  await agent.client.keys.register({ body: { event, replacements: [...replacements] } })
  expect(await codeOf(agent.client.vaults.commit({ params: { vaultId }, body: { commit } }))).toBe(
    'signer_not_authorised',
  )
})

it('adds a key of another device to the person who asks, endorsed, and to nobody else', async () => {
  const laptop = await identityOf('dave', `user:${alice.userId}`)
  const payload = { ...header(), kid: laptop.kid, key: laptop.key.bundle, caps: ['member' as const] }
  const event = await makeDocument(keyAdd, payload, [alice.identity, laptop])
  const other = await seedUser(h, alice, { orgRoles: ['ORG_ADMIN'] })
  expect(await codeOf(other.client.keys.addOwn({ body: { event } }))).toBe('signer_not_authorised')
  expect(await alice.client.keys.addOwn({ body: { event } })).toMatchObject({ kid: laptop.kid })
  expect((await alice.client.keys.own()).data).toHaveLength(2)
})
