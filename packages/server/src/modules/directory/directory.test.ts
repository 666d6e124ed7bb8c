import {
  type CheckedKey,
  capsSet,
  defaultPolicy,
  documentHash,
  type Envelope,
  type Identity,
  keyRecover,
  makeDocument,
  type Policy,
  policySet,
  registerKey,
} from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { identityOf } from '../../../test/actors.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, contentOf, foundOrg, outcomes, refusal, seedUser } from '../../../test/people.ts'
import { inOrg } from '../../context.ts'
import { commitDirectoryFor } from '../../log/directory-commit.ts'

// Catches: an act brought by somebody who did not sign it (ensureBroughtBySigner left out), a route that logs another act than
// its own (`allowed` left out), a quorum that is not asked for, a person's key replaced by an admin, two acts on one state; the last
// administrator who signs for nothing any more (the check left out; made without the lock, nobody is left); a policy that nobody could ever change again.

let h: Harness
let alice: FirstPerson
beforeEach(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
})
afterEach(() => h.close())

const header = () => ({ org: alice.orgId, at: h.deps.now().getTime() })
const content = () => contentOf(h, alice.orgId)
const capsFor = (
  kid: string,
  caps: readonly string[],
  signer: Identity = alice.identity,
  prev = '',
): Promise<Envelope> => makeDocument(capsSet, { ...header(), kid, caps: [...caps] as never, prev }, [signer])
const genesisHash = () =>
  inOrg(
    h.deps,
    alice.orgId,
    async (db) => (await db.selectFrom('org').select('genesis_hash').executeTakeFirstOrThrow()).genesis_hash,
  )
const nextPolicy = async (
  policyVersion = 2,
  signer: Identity = alice.identity,
  more: Partial<Policy> = {},
): Promise<Envelope> =>
  makeDocument(
    policySet,
    {
      ...header(),
      policyVersion,
      policy: { ...defaultPolicy(1), rotationGraceMs: 3_600_000, ...more },
      prev: await genesisHash(),
    },
    [signer],
  )

/** A key in the log, as the route that registers it would leave it. */
async function logKey(identity: Identity, caps: readonly ('agent' | 'dir-admin' | 'member')[]): Promise<void> {
  const event = await registerKey({ ...header(), caps }, alice.identity, identity)
  const request = { requestId: 'req_test', ip: '', userAgent: '', routeName: 'test' }
  await inOrg(h.deps, alice.orgId, (db) =>
    commitDirectoryFor({ ...h.deps, request }, db, { orgId: alice.orgId, actor: { type: 'user', id: 'test' } }, [
      event,
    ]),
  )
}

async function agentWithKey(): Promise<TestAgent & { identity: Identity }> {
  const agent = await h.agent(alice, ['machine.all'])
  const identity = await identityOf('deploy', `agent:${agent.agentId}`)
  await logKey(identity, ['agent'])
  return { ...agent, identity }
}

const recovery = (principal: string, oldKids: readonly string[], next: Identity, signer = alice.identity) => {
  const key = (next.key as CheckedKey).bundle
  const payload = { ...header(), principal, oldKids: [...oldKids], kid: next.kid, key, reason: 'lost' as const }
  return makeDocument(keyRecover, payload as never, [signer, next])
}

it('gives a key caps that the quorum has signed, proves it, and records whose key it was', async () => {
  const { identity } = await agentWithKey()
  const event = await capsFor(identity.kid, ['agent', 'agent-manager'])
  const answer = await alice.client.directory.setCaps({ body: { event } })
  expect(answer.kid).toBe(identity.kid)
  const [entry] = answer.transparency.map.filter(({ name }) => name === `kid/${identity.kid}`)
  expect(entry?.state).toMatchObject({ capSets: [{ index: answer.index, docHash: documentHash(event) }] })
  const acts = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('audit_event').select('targets').where('action', '=', 'directory.caps.set').execute(),
  )
  expect(acts[0]?.targets).toContainEqual({ type: 'key', id: identity.kid })
})

it('takes the caps of no administrator without whom nothing could be signed any more, also when all give theirs up at once', async () => {
  const giveUp = async ({ client }: Pick<FirstPerson, 'client'>, own: Identity) =>
    client.directory.setCaps({ body: { event: await capsFor(own.kid, ['member'], own) } })
  const before = await content()
  expect(await refusal(giveUp(alice, alice.identity))).toMatchObject({
    code: 'quorum_unreachable',
    details: { administratorsLeft: 0 },
  })
  expect(await content()).toBe(before)
  const others = await Promise.all(
    (['bob', 'carol', 'dave', 'mallory', 'deploy'] as const).map(async (name) => {
      const person = await seedUser(h, alice, { orgRoles: ['ORG_ADMIN'] })
      return { person, identity: await identityOf(name, `user:${person.userId}`) }
    }),
  )
  for (const { identity } of others) await logKey(identity, ['dir-admin', 'member'])
  const ended = await outcomes([
    giveUp(alice, alice.identity),
    ...others.map(({ person, identity }) => giveUp(person, identity)),
  ])
  expect([...ended].sort()).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'quorum_unreachable'])
})

it('takes no policy that asks for more signatures than there are administrators to give them', async () => {
  const person = await seedUser(h, alice, { orgRoles: ['ORG_ADMIN'] })
  await logKey(await identityOf('bob', `user:${person.userId}`), ['member'])
  const before = await content()
  for (const more of [{ dirQuorum: 2 }, { recoverQuorum: 2 }]) {
    const event = await nextPolicy(2, alice.identity, more)
    expect(await refusal(alice.client.directory.setPolicy({ body: { event } }))).toMatchObject({
      code: 'quorum_unreachable',
      details: { administrators: 1 },
    })
  }
  expect(await content()).toBe(before)
  const second = await seedUser(h, alice, { orgRoles: ['ORG_ADMIN'] })
  await logKey(await identityOf('carol', `user:${second.userId}`), ['dir-admin', 'member'])
  const event = await nextPolicy(2, alice.identity, { dirQuorum: 2, recoverQuorum: 2 })
  expect(await alice.client.directory.setPolicy({ body: { event } })).toMatchObject({ policyVersion: 2 })
})

it('sets the next policy once, also when twelve bring one at a time', async () => {
  const event = await nextPolicy()
  const ended = await outcomes(Array.from({ length: 12 }, () => alice.client.directory.setPolicy({ body: { event } })))
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended.filter((one) => one !== 'ok'))).toEqual(new Set(['log_conflict']))
})

it('puts a new key in the place of a lost one of an agent', async () => {
  const { agentId, identity } = await agentWithKey()
  const next = await identityOf('deployNext', `agent:${agentId}`)
  const answer = await alice.client.directory.recoverKey({
    body: { event: await recovery(`agent:${agentId}`, [identity.kid], next) },
  })
  const states = new Map(answer.transparency.map.map(({ name, state }) => [name, state]))
  expect(states.get(`kid/${identity.kid}`)).toMatchObject({ status: 'removed' })
  expect(states.get(`kid/${next.kid}`)).toMatchObject({ status: 'active' })
})

it('refuses what the caller did not sign, what is no such act, and whom the quorum does not include; nothing changes', async () => {
  const { identity, client } = await agentWithKey()
  const other = await seedUser(h, alice, { orgRoles: ['ORG_ADMIN'] })
  const stranger = await identityOf('bob', `user:${other.userId}`)
  const caps = await capsFor(identity.kid, ['agent', 'agent-manager'])
  const before = await content()
  const cases: readonly [() => Promise<unknown>, string][] = [
    [async () => other.client.directory.setCaps({ body: { event: caps } }), 'signer_not_authorised'],
    [async () => other.client.directory.setPolicy({ body: { event: await nextPolicy() } }), 'signer_not_authorised'],
    [async () => client.directory.setCaps({ body: { event: caps } }), 'key_kind_refused'],
    [async () => alice.client.directory.setCaps({ body: { event: await nextPolicy() } }), 'invalid_document'],
    [async () => alice.client.directory.setPolicy({ body: { event: caps } }), 'invalid_document'],
    [async () => alice.client.directory.setPolicy({ body: { event: await nextPolicy(3) } }), 'log_conflict'],
    [
      async () => alice.client.directory.setCaps({ body: { event: await capsFor(identity.kid, ['member']) } }),
      'signer_not_authorised',
    ],
    [
      async () => other.client.directory.setCaps({ body: { event: await capsFor(identity.kid, ['agent'], stranger) } }),
      'invalid_signature',
    ],
    [
      async () => other.client.directory.setPolicy({ body: { event: await nextPolicy(2, stranger) } }),
      'invalid_signature',
    ],
  ]
  for (const [call, code] of cases) expect(await codeOf(call())).toBe(code)
  expect(await content()).toBe(before)
})

it('recovers no person, no stranger’s agent and no archived one for an admin', async () => {
  const { agentId, identity } = await agentWithKey()
  const other = await h.org('other')
  const foreign = await h.agent(other, [])
  const before = await content()
  const next = async (id: string) => identityOf('deployNext', `agent:${id}`)
  const own = await identityOf('bob', `user:${alice.userId}`)
  const person = await recovery(`user:${alice.userId}`, [alice.identity.kid], own)
  expect(await refusal(alice.client.directory.recoverKey({ body: { event: person } }))).toMatchObject({
    code: 'invalid_document',
    details: { rule: 'not_an_agent' },
  })
  for (const id of [foreign.agentId, 'agt_absent00000000000000']) {
    const event = await recovery(`agent:${id}`, [identity.kid], await next(id))
    expect(await codeOf(alice.client.directory.recoverKey({ body: { event } }))).toBe('agent_not_found')
  }
  expect(await content()).toBe(before)
  await inOrg(h.deps, alice.orgId, (db) =>
    db.updateTable('agent').set({ status: 'archived' }).where('agent_id', '=', agentId).execute(),
  )
  const event = await recovery(`agent:${agentId}`, [identity.kid], await next(agentId))
  expect(await codeOf(alice.client.directory.recoverKey({ body: { event } }))).toBe('agent_not_found')
})
