import { encodeRsaSpki } from '../../src/identity/der.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { deriveKeyId, type KeyBundle } from '../../src/identity/key-bundle.ts'
import type { Identity, Signer } from '../../src/identity/private-keys.ts'
import { grantName, kidName, vaultName } from '../../src/log/state.ts'
import { type Dek, makeDek } from '../../src/values/dek.ts'
import { changeAccess } from '../../src/vault/lifecycle.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { identityOf } from '../../test/world/actors.ts'
import { MINUTE, ORG, type StoredVault, T0, type World } from '../../test/world/world.ts'
import { sign } from './chronicle.ts'
import { addOf, named } from './directory.ts'
import { logged, memoryOf, type Situation, seenAt } from './read-desk.ts'
import { base64url } from './reference.ts'
import { type Desk, entry, headNow, nextAdmins, nextHead, promotion, stateOf, withAcl } from './vault-desk.ts'
import { lie } from './world-desk.ts'

// Section 10: what a server can log, alone or together with a member, and what honest members log that a reader must notice.

const vaultUpdate = (desk: Desk, change: object) => ({
  name: vaultName(desk.vaultId),
  state: { ...stateOf(desk), ...change },
})

/** A head that only a lying server logs. */
async function lieHead(world: World, desk: Desk, by: Identity): Promise<undefined> {
  const head = await nextHead(desk, by)
  const { headVersion } = stateOf(desk)
  const state = { headVersion: headVersion + 1, headHash: documentHash(head), headIndex: world.host.leaves.length }
  lie(world, { docs: [head], updates: [vaultUpdate(desk, state)] })
  return undefined
}

const entryOf = (world: World, kid: string, rec: string): { name: string; state: object } => ({
  name: kidName(kid),
  state: { kid, status: 'active', added: world.host.leaves.length, end: null, rec, capSets: [] },
})

/** Brings a key in by a record that nobody was entitled to make, then lets it write: two leaves, as it would be. */
async function ghost(world: World, desk: Desk, who: Identity, record: Envelope): Promise<undefined> {
  lie(world, { t: 'key.add', docs: [record], updates: [entryOf(world, who.kid, documentHash(record))] })
  return lieHead(world, desk, who)
}

/** An identity that signs as it likes under a key id of its own choice. */
const masked = (who: Identity, kid: string): Identity => ({ ...who, kid: kid as Identity['kid'] })

function weakIdentity(who: Identity): { identity: Identity; bundle: KeyBundle } {
  const modulus = Uint8Array.from({ length: 128 }, (_, i) => (i === 0 ? 0xc5 : i * 2 + 1))
  const bundle = { ...who.key.bundle, enc: base64url(encodeRsaSpki({ modulus, exponent: Uint8Array.of(1, 0, 1) })) }
  return { identity: masked(who, `user:ou_mallory:${deriveKeyId(bundle)}`), bundle }
}

const signers: readonly Situation[] = [
  logged('a head by a reader', 'not_authorised', (world, desk) => lieHead(world, desk, desk.carol)),
  logged('a head by a member without access', 'not_authorised', (world, desk) => lieHead(world, desk, desk.dave)),
  logged('a head by a writer whose key had ended', 'signer_not_active', async (world, desk) => {
    await world.host.append(
      [await sign('key.revoke', { kid: desk.bob.kid, reason: 'superseded' }, desk.bob)],
      world.now,
    )
    return lieHead(world, desk, desk.bob)
  }),
  logged('a head last signed by a key that was compromised', 'signer_compromised', async (world, { alice, bob }) => {
    await world.host.append([await sign('key.revoke', { kid: bob.kid, reason: 'compromised' }, alice)], world.now)
    return undefined
  }),
  logged('a key under the id of another', 'key_substitution', async (world, desk) => {
    const record = await sign(
      'key.add',
      { kid: desk.bob.kid, key: desk.mallory.key.bundle, caps: ['member'] },
      desk.mallory,
    )
    lie(world, { t: 'key.add', docs: [record], updates: [entryOf(world, desk.bob.kid, documentHash(record))] })
    return undefined
  }),
  logged('a key endorsed by a plain member', 'endorser_not_admin', async (world, desk) =>
    ghost(world, desk, desk.mallory, await addOf(desk.bob, desk.mallory, ['member'])),
  ),
  logged('a key whose endorser did not sign', 'missing_signature', async (world, desk) => {
    const { alice, mallory } = desk
    return ghost(
      world,
      desk,
      mallory,
      await sign('key.add', { ...named(mallory), caps: ['member'], by: alice.kid }, mallory),
    )
  }),
  logged('a key that calls itself a founder', 'endorser_not_admin', async (world, desk) => {
    lie(world, { t: 'key.add', updates: [entryOf(world, desk.mallory.kid, documentHash(world.genesis))] })
    return lieHead(world, desk, desk.mallory)
  }),
  logged('a key that is too weak', 'weak_key', async (world, desk) => {
    const { identity, bundle } = weakIdentity(desk.mallory)
    const record = await sign('key.add', { kid: identity.kid, key: bundle, caps: ['member'] }, desk.alice, identity)
    return ghost(world, desk, identity, record)
  }),
  logged('a rotation without the old key', 'missing_signature', async (world, desk) => {
    const next = await identityOf('mallory', 'user:ou_alice')
    const record = await sign(
      'key.rotate',
      { oldKid: desk.alice.kid, ...named(next), batch: [], by: desk.alice.kid },
      next,
    )
    return ghost(world, desk, next, record)
  }),
  logged('a rotation to somebody else', 'key_substitution', async (world, desk) => {
    const record = await sign(
      'key.rotate',
      { oldKid: desk.bob.kid, ...named(desk.mallory), batch: [] },
      desk.bob,
      desk.mallory,
    )
    return ghost(world, desk, desk.mallory, record)
  }),
  logged('a recovery without the admins', 'endorser_not_admin', async (world, desk) => {
    const next = await identityOf('mallory', 'user:ou_alice')
    const members = { principal: 'user:ou_alice', oldKids: [desk.alice.kid], ...named(next), reason: 'lost' }
    return ghost(world, desk, next, await sign('key.recover', members, desk.bob, next))
  }),
  logged('caps that a member gave itself', 'endorser_not_admin', async (world, desk) => {
    const { bob, mallory } = desk
    const caps = await sign('caps.set', { kid: bob.kid, caps: ['dir-admin', 'member'], prev: '' }, bob)
    const before = world.host.state(kidName(bob.kid)) as object
    const capSets = [{ index: world.host.leaves.length, docHash: documentHash(caps) }]
    lie(world, { t: 'caps.set', docs: [caps], updates: [{ name: kidName(bob.kid), state: { ...before, capSets } }] })
    return ghost(world, desk, mallory, await addOf(bob, mallory, ['member']))
  }),
]

/** The second version of head and access list, in one leaf. */
const accessOf = (head: Envelope, list: Envelope, index: number) => ({
  headVersion: 3,
  headHash: documentHash(head),
  headIndex: index,
  aclVersion: 2,
  aclHash: documentHash(list),
  aclIndex: index,
})

const access: readonly Situation[] = [
  logged('a writer who makes himself admin', 'admin_chain', async (world, desk) => {
    const [head, list, admins] = (await promotion(desk, desk.bob, [desk.alice, desk.bob])) as [
      Envelope,
      Envelope,
      Envelope,
    ]
    const index = world.host.leaves.length
    const adminsIndexes = [...stateOf(desk).adminsIndexes, index]
    const chain = { adminsHash: documentHash(admins), adminsIndexes }
    lie(world, {
      docs: [head, list, admins],
      updates: [vaultUpdate(desk, { ...chain, ...accessOf(head, list, index) })],
    })
    return undefined
  }),
  logged('an access list by a writer', 'not_authorised', async (world, desk) => {
    const acl = [entry(desk.alice, 'admin'), entry(desk.bob, 'write')]
    const [head, list] = (await withAcl(desk, desk.bob, acl)) as [Envelope, Envelope]
    const change = accessOf(head, list, world.host.leaves.length)
    lie(world, { docs: [head, list], updates: [vaultUpdate(desk, change)] })
    return undefined
  }),
  logged('a vault set back: a reader without memory sees an older authentic state', undefined, setBack),
  logged('a vault set back: a reader with memory refuses', 'vault_rollback', async (world, desk) => {
    const vaultPin = memoryOf(world)
    await setBack(world, desk)
    return { vaultPin }
  }),
]

/** Section 5.5: the one lie that only memory or an auditor sees. The content of an empty vault comes back. */
async function setBack(world: World, desk: Desk): Promise<undefined> {
  const { createIndex } = stateOf(desk)
  lie(world, { updates: [vaultUpdate(desk, { headVersion: 1, headHash: headNow(desk).prev, headIndex: createIndex })] })
  const stored = world.vaults.get(desk.vaultId) as StoredVault
  stored.content = { items: new Map(), env: new Map(), assets: new Map() }
  return undefined
}

const resigned = async (wrap: Envelope, by: Signer, change: object): Promise<Envelope> =>
  sign('wrapped-dek', { ...JSON.parse(Buffer.from(wrap.payload, 'base64').toString()), ...change }, by)

/** Grants that the log accepted, or that it was made to hold. */
async function grant(world: World, desk: Desk, wrap: Envelope, to: Identity = desk.deploy): Promise<undefined> {
  const state = { wrapHash: documentHash(wrap), index: world.host.leaves.length }
  lie(world, { t: 'grant.add', docs: [wrap], updates: [{ name: grantName(desk.vaultId, to.kid, 1), state }] })
  return undefined
}
const forgedDek = ({ vaultId }: Desk): Dek => makeDek({ org: ORG, vaultId, dekVersion: 1 })

const grants: readonly Situation[] = [
  logged('a wrapped key by a writer', 'not_authorised', async (world, desk) =>
    grant(world, desk, await wrapDek(desk.dek, desk.deploy.key, desk.bob, T0)),
  ),
  logged('a vault key that the server made, wrapped by a stranger', 'unknown_signer', async (world, desk) =>
    grant(world, desk, await wrapDek(forgedDek(desk), desk.deploy.key, desk.mallory, T0)),
  ),
  logged('another vault key than everybody else has, from an admin', 'dek_commitment', async (world, desk) =>
    grant(world, desk, await wrapDek(forgedDek(desk), desk.deploy.key, desk.alice, T0)),
  ),
  logged('another vault key under the right commitment, from an admin', 'dek_commitment', async (world, desk) => {
    const wrap = await resigned(await wrapDek(forgedDek(desk), desk.deploy.key, desk.alice, T0), desk.alice, {
      dekCommit: desk.dek.dekCommit,
    })
    await world.host.append([wrap], world.now)
    return undefined
  }),
  logged('a ciphertext from the wrap of another vault', 'wrap_context', async (world, desk) => {
    const [other] = (await world.answer(world.staging, desk.deploy)).wrappedKeys as [Envelope]
    const { ct } = JSON.parse(Buffer.from(other.payload, 'base64').toString())
    const honest = await wrapDek(desk.dek, desk.deploy.key, desk.alice, T0)
    await world.host.append([await resigned(honest, desk.alice, { ct })], world.now)
    return undefined
  }),
  logged('a wrap signed anew by another admin', 'wrap_context', async (world, desk) => {
    const honest = await wrapDek(desk.dek, desk.deploy.key, desk.bob, T0)
    return grant(world, desk, await resigned(honest, desk.alice, { by: desk.alice.kid }))
  }),
  logged('a grant that was withdrawn', 'unwrapped_key_missing', async (world, desk) => {
    const name = grantName(desk.vaultId, desk.deploy.kid, 1)
    lie(world, { t: 'grant.add', updates: [{ name, state: { wrapHash: '', index: world.host.leaves.length } }] })
    return undefined
  }),
  logged(
    'a wrap with RSA alone for a hybrid key',
    'alg_downgrade',
    async (world, desk) => {
      const plain = { ...desk.hybrid.key, kem: null }
      return grant(world, desk, await wrapDek(desk.dek, plain, desk.alice, T0), desk.hybrid)
    },
    'hybrid',
  ),
]

/** A new vault key for everybody; values written before stay under the older one. */
async function rotateVault(world: World, desk: Desk): Promise<Dek> {
  const { alice, bob, carol, deploy, worker, hybrid } = desk
  const stored = world.vaults.get(desk.vaultId) as StoredVault
  const recipients = [alice, bob, carol, deploy, worker, hybrid].map(({ key }) => key)
  const head = await world.head(desk.vaultId)
  const { commit, dek } = await changeAccess(
    { head, content: stored.content, rotate: { reason: 'scheduled', recipients }, at: world.now },
    alice,
  )
  await world.commit(desk.vaultId, commit)
  return dek as Dek
}

const honest: readonly Situation[] = [
  logged('after a rotation of the vault key: two versions', undefined, async (world, desk) => {
    await rotateVault(world, desk)
    return undefined
  }),
  logged(
    'after a rotation of the vault key, for an RSA-only reader',
    undefined,
    async (world, desk) => {
      await rotateVault(world, desk)
      return undefined
    },
    'rsaOnly',
  ),
  logged('with memory of the same log', undefined, async (world) => ({ seen: seenAt(world, 11) })),
  logged('an hour later, exactly as old as allowed', undefined, async (world) => ({ now: world.now + 60 * MINUTE })),
  logged('after a second admin came', undefined, async (world, desk) => {
    const { alice, dave } = desk
    const { acl } = JSON.parse(Buffer.from((await world.vaultAnswer(desk.vaultId)).acl.payload, 'base64').toString())
    const docs = await withAcl(desk, alice, [...acl, { p: dave.key.principal, role: 'admin' }])
    const admins = await nextAdmins(desk, alice, [alice.key.principal, dave.key.principal])
    await world.host.append([...docs, admins], world.now)
    return undefined
  }),
]

export const LOGGED: readonly Situation[] = [...honest, ...signers, ...access, ...grants]
