import { defaultPolicy } from '../../src/directory/documents.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { identityOf } from '../../test/world/actors.ts'
import { type Chronicle, openChronicle, SALT, sign } from './chronicle.ts'
import type { VectorFile } from './file.ts'
import { base64url, sha256, utf8 } from './reference.ts'

// Sections 4.1 to 4.6 as the log sees them: how an organisation begins, and how keys come in and get their caps.

const LOGS = 'A log of one organisation, replayable by the transition function.'
export const named = ({ kid, key }: Identity) => ({ kid, key: key.bundle })
const byKid = (a: { kid: string }, b: { kid: string }): number => (a.kid < b.kid ? -1 : 1)

export const genesisOf = (founders: readonly Identity[], change: object = {}): Promise<Envelope> =>
  sign(
    'org.genesis',
    { admins: founders.map(named).sort(byKid), policy: defaultPolicy(founders.length), salt: SALT, ...change },
    ...founders,
  )

export const addOf = (by: Identity, who: Identity, caps: readonly string[], change: object = {}): Promise<Envelope> =>
  sign('key.add', { ...named(who), caps, ...change }, by, who)

async function refuseGenesis(c: Chronicle): Promise<void> {
  const { alice, dave, worker, mallory, malloryNext } = c
  const [policy, two] = [defaultPolicy(1), defaultPolicy(2)]
  c.no('a founder who did not sign', 'missing_signature', [
    await sign('org.genesis', { admins: [alice, dave].map(named).sort(byKid), policy: two, salt: SALT }, alice),
  ])
  c.no('signed by a stranger only', 'unknown_signer', [
    await sign('org.genesis', { admins: [named(alice)], policy, salt: SALT }, mallory),
  ])
  c.no('an author who is no founder', 'missing_signature', [await genesisOf([alice], { by: mallory.kid })])
  c.no('a founder with RSA only', 'not_authorised', [await genesisOf([worker])])
  c.no('a quorum larger than the founders', 'bad_transition', [
    await genesisOf([alice], { policy: { ...policy, dirQuorum: 2 } }),
  ])
  c.no('a quorum for recovery larger than the founders', 'bad_transition', [
    await genesisOf([alice], { policy: { ...policy, recoverQuorum: 2 } }),
  ])
  c.no('one founder with two keys', 'bad_transition', [await genesisOf([mallory, malloryNext])])
  c.no('no founder', 'unknown_signer', [await sign('org.genesis', { admins: [], policy, salt: SALT }, alice)])
  c.no('founders in another order', 'malformed', [
    await genesisOf([alice, dave], { admins: [alice, dave].map(named).sort(byKid).reverse() }),
  ])
  c.no('a key under the id of another', 'key_substitution', [
    await genesisOf([alice], { admins: [{ kid: alice.kid, key: mallory.key.bundle }] }),
  ])
  c.no('a key shorter than its own policy asks', 'weak_key', [
    await genesisOf([alice], { policy: { ...policy, minRsaBits: 3072 } }),
  ])
  c.no('another organisation', 'genesis_mismatch', [await genesisOf([alice], { org: 'org_evil' })])
  c.no('a salt that is too short', 'malformed', [await genesisOf([alice], { salt: 'AAAA' })])
  c.no('an unknown rule in the policy', 'malformed', [await genesisOf([alice], { policy: { ...policy, open: true } })])
}

export async function makeGenesis(): Promise<VectorFile> {
  const c = await openChronicle()
  const { alice, dave } = c
  await c.ok('one founder', [await genesisOf([alice])])
  await c.ok('two founders', [await genesisOf([alice, dave])])
  await c.ok('two founders and both quorums at two', [
    await genesisOf([alice, dave], { policy: { ...defaultPolicy(2), dirQuorum: 2 } }),
  ])
  await refuseGenesis(c)
  c.no('a key before the genesis', 'bad_transition', [await addOf(alice, dave, ['member'])])
  c.no('nothing', 'bad_transition', [])
  const genesis = await genesisOf([alice, dave])
  c.no('the same document twice', 'bad_transition', [genesis, genesis])
  c.no('two documents', 'bad_transition', [genesis, await genesisOf([alice])])
  await c.act('the founding of this log', genesis)
  c.no('a second genesis', 'bad_transition', [await genesisOf([alice])])
  return c.file({
    vectors: 'genesis',
    section: '4.1',
    comment: `${LOGS} The hash of the genesis document is the fingerprint of the organisation.`,
  })
}

const HASH = base64url(sha256(utf8('an invite')))

async function addKeys(c: Chronicle): Promise<void> {
  const { alice, dave, bob, carol, worker, hybrid } = c
  await c.act('the founding of this log', await genesisOf([alice, dave]))
  await c.act('a member', await addOf(alice, bob, ['member']))
  await c.act('an agent-manager', await addOf(dave, carol, ['agent-manager', 'member']))
  await c.ok('an agent by an agent-manager', [await addOf(carol, worker, ['agent'])])
  await c.act('an agent with RSA only', await addOf(alice, worker, ['agent']))
  await c.act('an agent with ML-KEM', await addOf(alice, hybrid, ['agent']))
}

async function refuseKeys(c: Chronicle): Promise<void> {
  const { alice, bob, carol, deploy, mallory, worker } = c
  const agent = ['agent']
  const asUser = await identityOf('worker', 'user:ou_worker')
  const small = { kid: `agent:ag_deploy:${'a'.repeat(32)}`, key: deploy.key.bundle }
  const by = (who: Identity, change: object = {}) => addOf(who, deploy, agent, change)
  c.no('by a plain member', 'endorser_not_admin', [await by(bob)])
  c.no('a user by an agent-manager', 'endorser_not_admin', [await addOf(carol, mallory, ['member'])])
  c.no('an agent with a further cap by an agent-manager', 'endorser_not_admin', [
    await by(carol, { caps: ['agent', 'recovery'] }),
  ])
  c.no('by an agent', 'endorser_not_admin', [await by(worker)])
  c.no('by a stranger', 'missing_signature', [await by(mallory)])
  c.no('by itself', 'endorser_not_admin', [await sign('key.add', { ...named(deploy), caps: agent }, deploy)])
  c.no('without the signature of the new key', 'missing_signature', [
    await sign('key.add', { ...named(deploy), caps: agent }, alice),
  ])
  c.no('without the signature of the endorser', 'missing_signature', [
    await sign('key.add', { ...named(deploy), caps: agent, by: alice.kid }, deploy),
  ])
  c.no('a key that is there already', 'bad_transition', [await addOf(alice, bob, ['member'])])
  c.no('a key under another id', 'key_substitution', [await by(alice, small)])
  c.no('an authority with RSA only', 'not_authorised', [await addOf(alice, asUser, ['dir-admin', 'member'])])
  c.no('a user as agent', 'not_authorised', [await addOf(alice, mallory, agent)])
  c.no('a user as member and agent', 'not_authorised', [await addOf(alice, mallory, ['agent', 'member'])])
  c.no('an agent as member', 'not_authorised', [await by(alice, { caps: ['member'] })])
  c.no('no caps', 'not_authorised', [await by(alice, { caps: [] })])
  c.no('caps in another order', 'malformed', [await addOf(alice, mallory, ['member', 'dir-admin'])])
  c.no('an unknown cap', 'malformed', [await addOf(alice, mallory, ['member', 'owner'])])
  c.no('another organisation', 'genesis_mismatch', [await by(alice, { org: 'org_evil' })])
  c.no('two keys in one leaf', 'bad_transition', [await by(alice), await addOf(alice, mallory, ['member'])])
}

export async function makeKeyAdd(): Promise<VectorFile> {
  const c = await openChronicle()
  await addKeys(c)
  await refuseKeys(c)
  const { alice, dave, mallory, malloryNext, deploy } = c
  await c.act('a member who was invited', await addOf(alice, mallory, ['member'], { invite: HASH }))
  c.no('a second key by the same invite', 'bad_transition', [
    await addOf(alice, malloryNext, ['member'], { invite: HASH }),
  ])
  await c.ok('a second key of the same person by another invite', [
    await addOf(alice, malloryNext, ['member'], { invite: base64url(sha256(utf8('another'))) }),
  ])
  await c.act('the end of a founder', await sign('key.revoke', { kid: dave.kid, reason: 'removed' }, alice))
  c.no('by a founder who was removed', 'signer_not_active', [await addOf(dave, deploy, ['agent'])])
  return c.file({ vectors: 'key-add', section: '4.1', comment: `${LOGS} How keys come into the directory.` })
}

export async function makeCapsSet(): Promise<VectorFile> {
  const c = await openChronicle()
  const { alice, dave, bob, carol, worker, mallory } = c
  const set = (by: readonly Identity[], who: Identity, caps: readonly string[], prev = '') =>
    sign('caps.set', { kid: who.kid, caps, prev }, ...by)
  await c.act('the founding of this log', await genesisOf([alice, dave]))
  await c.act('a member', await addOf(alice, bob, ['member']))
  await c.act('an agent with RSA only', await addOf(alice, worker, ['agent']))
  c.no('a member endorses before it may', 'endorser_not_admin', [await addOf(bob, carol, ['member'])])
  const raised = await set([alice], bob, ['dir-admin', 'member'])
  c.no('by a plain member', 'endorser_not_admin', [await set([bob], bob, ['dir-admin', 'member'])])
  c.no('by a stranger', 'unknown_signer', [await set([mallory], bob, ['dir-admin', 'member'])])
  c.no('an authority with RSA only', 'not_authorised', [await set([alice], worker, ['agent', 'agent-manager'])])
  c.no('a user as agent', 'not_authorised', [await set([alice], bob, ['agent'])])
  c.no('a key that is not there', 'unknown_signer', [await set([alice], carol, ['member'])])
  c.no('a predecessor where there is none', 'bad_transition', [await set([alice], bob, ['member'], HASH)])
  await c.act('a member becomes dir-admin', raised)
  await c.ok('and endorses from now on', [await addOf(bob, carol, ['member'])])
  c.no('without its predecessor', 'bad_transition', [await set([alice], bob, ['member'])])
  await c.act('and loses it again', await set([dave], bob, ['member'], documentHash(raised)))
  c.no('and endorses no longer', 'endorser_not_admin', [await addOf(bob, carol, ['member'])])
  await c.act('a founder becomes a plain member', await set([alice], dave, ['member']))
  c.no('and endorses no longer, founder or not', 'endorser_not_admin', [await addOf(dave, carol, ['member'])])
  await c.act('the end of a member', await sign('key.revoke', { kid: bob.kid, reason: 'removed' }, alice))
  c.no('caps for a key that has ended', 'signer_not_active', [await set([alice], bob, ['member'], HASH)])
  return c.file({ vectors: 'caps-set', section: '4.1', comment: `${LOGS} How authority is given and taken away.` })
}

const BUILD = '0123456789abcdef'.repeat(4)
const WRONG_BUILDS: readonly (readonly [name: string, console: unknown])[] = [
  ['a console in upper case', BUILD.toUpperCase()],
  ['a console that is too short', BUILD.slice(1)],
  ['a console that is too long', `${BUILD}0`],
  ['a console and a line more', `${BUILD}\n`],
  ['a console that is a number', 64],
  ['a console that is null', null],
]

export async function makePolicySet(): Promise<VectorFile> {
  const c = await openChronicle()
  const { alice, dave, bob, carol } = c
  const genesis = await genesisOf([alice, dave])
  const policy = defaultPolicy(2)
  const set = (by: readonly Identity[], policyVersion: number, prev: Envelope, change: object = {}) =>
    sign('policy.set', { policyVersion, policy: { ...policy, ...change }, prev: documentHash(prev) }, ...by)
  await c.act('the founding of this log', genesis)
  await c.act('a member', await addOf(alice, bob, ['member']))
  c.no('by a plain member', 'endorser_not_admin', [await set([bob], 2, genesis)])
  c.no('a version left out', 'bad_transition', [await set([alice], 3, genesis)])
  c.no('version 1', 'malformed', [await set([alice], 1, genesis)])
  c.no('another predecessor', 'bad_transition', [await set([alice], 2, await genesisOf([alice]))])
  c.no('a quorum of 0', 'malformed', [await set([alice], 2, genesis, { dirQuorum: 0 })])
  c.no('an unknown rule', 'malformed', [await set([alice], 2, genesis, { open: true })])
  c.no('an unknown way of stretching passphrases', 'malformed', [await set([alice], 2, genesis, { kdf: 'md5' })])
  await c.ok('a console', [await set([alice], 2, genesis, { console: BUILD })])
  for (const [name, console] of WRONG_BUILDS) c.no(name, 'malformed', [await set([alice], 2, genesis, { console })])
  const second = await set([alice], 2, genesis, { dirQuorum: 2, minRsaBits: 3072 })
  await c.act('two signatures and longer keys from now on', second)
  c.no('one signature where two are asked', 'endorser_not_admin', [await set([alice], 3, second)])
  c.no('two signatures of one person', 'endorser_not_admin', [await set([alice, alice], 3, second)])
  c.no('an admin and a plain member', 'endorser_not_admin', [await set([alice, bob], 3, second)])
  c.no('one signature under new caps where two are asked', 'endorser_not_admin', [
    await sign('caps.set', { kid: bob.kid, caps: ['dir-admin', 'member'], prev: '' }, alice),
  ])
  c.no('a key that is too short from now on', 'weak_key', [await addOf(alice, carol, ['member'])])
  await c.ok('a key that is long enough', [await addOf(alice, await identityOf('big', 'agent:ag_big1'), ['agent'])])
  await c.act('two signatures, and a console', await set([alice, dave], 3, second, { console: BUILD }))
  return c.file({
    vectors: 'policy-set',
    section: '4.1',
    comment: `${LOGS} How the rules change, by the rules before.`,
  })
}
