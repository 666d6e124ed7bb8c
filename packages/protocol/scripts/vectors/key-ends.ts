import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { rotateKey } from '../../src/runtime/runtime-key.ts'
import type { Dek } from '../../src/values/dek.ts'
import { createVault } from '../../src/vault/lifecycle.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { identityOf } from '../../test/world/actors.ts'
import { type Chronicle, ORG, openChronicle, sign, T0 } from './chronicle.ts'
import { addOf, genesisOf, named } from './directory.ts'
import type { VectorFile } from './file.ts'
import { base64url, sha256, utf8 } from './reference.ts'

// Sections 4.3, 4.4 and 11: rotation, recovery and revocation, with the vault keys that hang on them.

const META = { name: 'Payments', classification: 'confidential', status: 'active' } as const

/** A vault of alice that the others read; gives its key. */
export async function foundVault(c: Chronicle, name: string, readers: readonly Identity[]): Promise<Dek> {
  const acl = [
    { p: c.alice.key.principal, role: 'admin' as const },
    ...readers.map(({ key }) => ({ p: key.principal, role: 'read' as const })),
  ]
  const recipients = [c.alice, ...readers].map(({ key }) => key)
  const { commit, dek } = await createVault({ org: ORG, meta: META, acl, recipients, at: T0 }, c.alice)
  await c.act(name, commit.head, ...commit.docs)
  return dek
}

interface RotationParts {
  readonly event: Envelope
  readonly wraps: readonly Envelope[]
}

const batchOf = (wraps: readonly (readonly [Dek, Envelope])[]) =>
  wraps
    .map(([{ vaultId, dekVersion }, envelope]) => ({ vaultId, dekVersion, wrapHash: documentHash(envelope) }))
    .sort((a, b) => (a.vaultId < b.vaultId ? -1 : 1))

/** A rotation from parts that need not fit. */
async function rotation(
  old: Identity,
  next: Identity,
  pairs: readonly (readonly [Dek, Envelope])[],
  change: object = {},
): Promise<RotationParts> {
  const event = await sign(
    'key.rotate',
    { oldKid: old.kid, ...named(next), batch: batchOf(pairs), ...change },
    old,
    next,
  )
  return { event, wraps: pairs.map(([, envelope]) => envelope) }
}

type Pair = readonly [Dek, Envelope]
const pairOf = async (dek: Dek, by: Identity, to: Identity): Promise<Pair> => [dek, await wrapDek(dek, to.key, by, T0)]

/** Who signs what, and for which key. */
async function refuseSigners(c: Chronicle, pairs: readonly [Pair, Pair]): Promise<void> {
  const { alice, deploy, deployNext, worker, mallory } = c
  const wraps = pairs.map(([, envelope]) => envelope)
  const bare = { oldKid: deploy.kid, ...named(deployNext), batch: batchOf(pairs) }
  const by = async (name: string, ...signers: readonly Identity[]) =>
    c.no(name, 'missing_signature', [await sign('key.rotate', { ...bare, by: deploy.kid }, ...signers), ...wraps])
  await by('without the new key', deploy)
  await by('without the old key', deployNext)
  c.no('by an admin in place of the old key', 'missing_signature', [
    await sign('key.rotate', bare, alice, deployNext),
    ...wraps,
  ])
  const to = async (name: string, code: ProtocolErrorCode, next: Identity, change: object = {}) =>
    c.no(name, code, [(await rotation(deploy, next, pairs, change)).event, ...wraps])
  await to('to the key of somebody else', 'key_substitution', mallory)
  await to('to a key that is there already', 'bad_transition', worker)
  await to('to a key under another id', 'key_substitution', deployNext, { key: alice.key.bundle })
}

/** The wraps must be those of every live grant, from the old key to the new one. */
async function refuseBatches(c: Chronicle, [first, second]: readonly [Pair, Pair]): Promise<void> {
  const { alice, deploy, deployNext, worker } = c
  const no = async (name: string, code: ProtocolErrorCode, pairs: readonly Pair[]) => {
    const { event, wraps } = await rotation(deploy, deployNext, pairs)
    c.no(name, code, [event, ...wraps])
  }
  const { event, wraps } = await rotation(deploy, deployNext, [first, second])
  await no('without replacements', 'incomplete_batch', [])
  await no('with one replacement of two', 'incomplete_batch', [first])
  c.no('with a replacement that is named and not there', 'incomplete_batch', [event, ...wraps.slice(1)])
  const extra = await wrapDek(first[0], deployNext.key, deploy, T0 + 1)
  c.no('with a replacement that is not named', 'incomplete_batch', [event, ...wraps, extra])
  await no('with a replacement by an admin', 'wrap_context', [await pairOf(first[0], alice, deployNext), second])
  await no('with a replacement for somebody else', 'wrap_context', [await pairOf(first[0], deploy, worker), second])
  await no('with replacements exchanged', 'wrap_context', [
    [second[0], first[1]],
    [first[0], second[1]],
  ])
  const forged = await forgedCommit(deploy, deployNext, first)
  await no('with a wrap of a key that is not in use', 'dek_commitment', [forged, second])
}

/** The same wrap under another commitment: the log sees it without a private key. */
async function forgedCommit(by: Identity, to: Identity, [dek, envelope]: readonly [Dek, Envelope]) {
  const payload = JSON.parse(Buffer.from(envelope.payload, 'base64').toString())
  const dekCommit = base64url(sha256(utf8('another key')))
  return [dek, await sign('wrapped-dek', { ...payload, to: to.kid, dekCommit }, by)] as const
}

export async function makeKeyRotate(): Promise<VectorFile> {
  const c = await openChronicle()
  const { alice, bob, deploy, deployNext, worker } = c
  await c.act('the founding of this log', await genesisOf([alice]))
  await c.act('a member', await addOf(alice, bob, ['member']))
  await c.act('an agent', await addOf(alice, deploy, ['agent']))
  await c.act('an agent with RSA only', await addOf(alice, worker, ['agent']))
  const held = [
    await foundVault(c, 'a vault that the agent reads', [deploy]),
    await foundVault(c, 'a second one', [deploy, worker]),
  ] as const
  const pairs = [await pairOf(held[0], deploy, deployNext), await pairOf(held[1], deploy, deployNext)] as const
  await refuseSigners(c, pairs)
  await refuseBatches(c, pairs)
  const bobNext = await identityOf('malloryNext', 'user:ou_bob1')
  await c.ok('of a key without grants', [(await rotation(bob, bobNext, [])).event])
  const rsaOnly = await identityOf('worker', 'user:ou_alice')
  const aliceHeld = await Promise.all(
    held.map(async (dek) => [dek, await wrapDek(dek, rsaOnly.key, alice, T0)] as const),
  )
  const adminRotation = await rotation(alice, rsaOnly, aliceHeld)
  c.no('of an admin to RSA only', 'not_authorised', [adminRotation.event, ...adminRotation.wraps])
  const { event, replacements } = await rotateKey({ org: ORG, at: T0, held }, deploy, deployNext)
  await c.act('with both vault keys', event, ...replacements)
  c.no('of a key that was rotated before', 'signer_not_active', [
    (await rotation(deploy, await identityOf('big', 'agent:ag_deploy'), [])).event,
  ])
  c.no('of the new key without the grants it got', 'incomplete_batch', [
    (await rotation(deployNext, await identityOf('big', 'agent:ag_deploy'), [])).event,
  ])
  return c.file({
    vectors: 'key-rotate',
    section: '11',
    comment:
      'A log in which an agent hands over to its next key, with a wrap of every vault key it holds, and what is refused before and after.',
  })
}

export async function makeKeyRecover(): Promise<VectorFile> {
  const c = await openChronicle()
  const { alice, dave, bob, carol, mallory } = c
  const next = await identityOf('malloryNext', 'user:ou_bob1')
  await c.act('the founding of this log', await genesisOf([alice, dave]))
  await c.act('a member', await addOf(alice, bob, ['member']))
  await c.act('another member', await addOf(alice, carol, ['member']))
  const dek = await foundVault(c, 'a vault that the member reads', [bob])
  const members = { principal: 'user:ou_bob1', oldKids: [bob.kid], ...named(next), reason: 'lost' }
  const recover = (change: object, ...signers: readonly Identity[]) =>
    sign('key.recover', { ...members, ...change }, ...signers)
  const admins = [alice, dave] as const
  await c.ok('of a key that was compromised', [await recover({ reason: 'compromised' }, ...admins, next)])
  c.no('by one admin of two', 'endorser_not_admin', [await recover({}, alice, next)])
  c.no('by one admin who signed twice', 'endorser_not_admin', [await recover({}, alice, alice, next)])
  c.no('by an admin and a member', 'endorser_not_admin', [await recover({}, alice, carol, next)])
  c.no('by an admin and a stranger', 'endorser_not_admin', [await recover({}, alice, mallory, next)])
  c.no('without the new key', 'missing_signature', [await recover({}, ...admins)])
  c.no('without the old keys', 'bad_transition', [await recover({ oldKids: [] }, ...admins, next)])
  c.no('with the key of somebody else as old key', 'bad_transition', [
    await recover({ oldKids: [bob.kid, carol.kid].sort() }, ...admins, next),
  ])
  c.no('for somebody else', 'key_substitution', [
    await recover({ principal: 'user:ou_carol', oldKids: [carol.kid] }, ...admins, next),
  ])
  c.no('of a key that is there already', 'bad_transition', [await recover({ ...named(bob) }, ...admins, bob)])
  c.no('for an unknown reason', 'malformed', [await recover({ reason: 'holiday' }, ...admins, next)])
  await c.act('by two admins: the old grants end, rotation is due', await recover({}, ...admins, next))
  c.no('the old key signs no longer', 'signer_not_active', [
    await sign('key.revoke', { kid: bob.kid, reason: 'compromised' }, bob),
  ])
  await c.ok('an admin grants the vault key to the new key', [await wrapDek(dek, next.key, alice, T0)])
  c.no('an admin grants the vault key to the old key', 'signer_not_active', [await wrapDek(dek, bob.key, alice, T0)])
  return c.file({
    vectors: 'key-recover',
    section: '4.3',
    comment:
      'A log in which two admins give a member who lost everything a new key, and what is refused before and after.',
  })
}

export async function makeKeyRevoke(): Promise<VectorFile> {
  const c = await openChronicle()
  const { alice, dave, bob, carol, worker, mallory } = c
  const revoke = (by: Identity, kid: string, reason: string, change: object = {}) =>
    sign('key.revoke', { kid, reason, ...change }, by)
  await c.act('the founding of this log', await genesisOf([alice, dave]))
  await c.act('a member', await addOf(alice, bob, ['member']))
  await c.act('another member', await addOf(alice, carol, ['member']))
  await c.act('an agent', await addOf(alice, worker, ['agent']))
  const dek = await foundVault(c, 'a vault that member and agent read', [bob, worker])
  await c.ok('by the key itself', [await revoke(bob, bob.kid, 'superseded')])
  await c.ok('by an admin, with the leaf since when', [await revoke(alice, bob.kid, 'compromised', { since: 1 })])
  c.no('by another member', 'not_authorised', [await revoke(bob, carol.kid, 'removed')])
  c.no('by an agent', 'not_authorised', [await revoke(worker, bob.kid, 'removed')])
  c.no('by a stranger', 'unknown_signer', [await revoke(mallory, bob.kid, 'removed')])
  c.no('of a key that is not there', 'unknown_signer', [await revoke(alice, mallory.kid, 'removed')])
  c.no('for an unknown reason', 'malformed', [await revoke(alice, bob.kid, 'holiday')])
  await c.act('a superseded key leaves no duty', await revoke(bob, bob.kid, 'superseded'))
  c.no('it signs no longer', 'signer_not_active', [await revoke(bob, carol.kid, 'removed')])
  c.no('it cannot end twice', 'bad_transition', [await revoke(alice, bob.kid, 'removed')])
  await c.act('it can be found to be compromised later', await revoke(alice, bob.kid, 'compromised'))
  c.no('it cannot be compromised twice', 'bad_transition', [await revoke(alice, bob.kid, 'compromised')])
  await c.act('a compromised reader leaves the duty to rotate', await revoke(dave, worker.kid, 'compromised'))
  c.no('a vault key is not granted to it again', 'signer_not_active', [await wrapDek(dek, worker.key, alice, T0)])
  await c.act('an admin ends its own key', await revoke(dave, dave.kid, 'removed'))
  c.no('and ends no others', 'signer_not_active', [await revoke(dave, carol.kid, 'removed')])
  return c.file({
    vectors: 'key-revoke',
    section: '4.4',
    comment: 'A log in which keys end, in every way a key can end without a successor.',
  })
}
