// Catches: self-promotion, access lists and admin documents without right or out of order, heads that disagree with the state.
// Seen red: admin authority taken from the set after the leaf; `prev`, version and `vaultId` not compared, each of three kinds;
// `sameMembers` replaced by a comparison of sizes; the role of a head’s signer not asked for; `ensureAuthority` removed.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { grantName, vaultName } from '../../src/log/state.ts'
import { aclSet, vaultAdmins } from '../../src/vault/documents.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { openWorld, type World } from '../world/world.ts'
import {
  aclWith,
  apply,
  type CommitDocs,
  commit,
  commitDocs,
  dekOf,
  nextHead,
  refuses,
  revoke,
  sign,
  updatesOf,
  vaultStateOf,
} from './desk.ts'

// Nothing here is appended unless a test opens a world of its own, so one world serves all.
let shared: World
let world: World
beforeAll(async () => {
  shared = await openWorld()
})
beforeEach(() => {
  world = shared
})

const hashOf = (envelopes: readonly Envelope[]): string => documentHash(envelopes[0])
const swap = (made: CommitDocs, old: readonly Envelope[] | Envelope, next: Envelope): Envelope[] => {
  const gone = new Set(Array.isArray(old) ? old : [old])
  return [...made.all.filter((envelope) => !gone.has(envelope)), next]
}

describe('vault.commit with a head alone', () => {
  it('writes the head and leaves everything else as it is', async () => {
    const { bob } = world.actors
    const head = await nextHead(world, {}, bob)
    const before = vaultStateOf(world)
    expect(await updatesOf(world, [head])).toEqual({
      [vaultName(world.prod)]: {
        ...before,
        headVersion: before.headVersion + 1,
        headHash: documentHash(head),
        headIndex: world.host.leaves.length,
      },
    })
  })

  it('follows the current head, and tells a writer who is late which it is', async () => {
    const { headVersion, headHash } = vaultStateOf(world)
    const conflict = { vaultId: world.prod, headVersion, headHash }
    for (const change of [{ headVersion }, { headVersion: headVersion + 2 }, { prev: documentHash(world.genesis) }]) {
      const head = await nextHead(world, change)
      await refuses(world, [head], 'head_conflict')
      await expect(apply(world, [head])).rejects.toMatchObject({ details: conflict })
    }
  })

  it('is of a vault that exists', async () => {
    await refuses(world, [await nextHead(world, { vaultId: `v${'a'.repeat(32)}` })], 'bad_transition')
  })

  it('agrees with the state on access list and key', async () => {
    const other = documentHash(world.genesis)
    const { aclVersion, dekVersion } = vaultStateOf(world)
    for (const change of [
      { aclVersion: aclVersion + 1 },
      { aclHash: other },
      { dekVersion: dekVersion + 1 },
      { dekCommit: other },
      { oldestDek: dekVersion + 1 },
    ])
      await refuses(world, [await nextHead(world, change)], 'head_mismatch')
  })

  it('is signed by a writer or an admin, and not by a reader, a stranger or a former writer', async () => {
    const { carol, dave, bob, deploy } = world.actors
    expect((await apply(world, [await nextHead(world, {}, bob)])).t).toBe('vault.commit')
    await refuses(world, [await nextHead(world, {}, carol)], 'not_authorised')
    await refuses(world, [await nextHead(world, {}, deploy)], 'not_authorised')
    await refuses(world, [await nextHead(world, {}, dave)], 'not_authorised')
    await refuses(world, [await nextHead(world, {}, world.actors.mallory)], 'unknown_signer')
    world = await openWorld()
    await world.host.append([await revoke(world, bob.kid, 'removed')], world.now)
    await refuses(world, [await nextHead(world, {}, bob)], 'signer_not_active')
  })

  it('may be signed by an RSA-only agent that has the role, but never an access list or a grant', async () => {
    world = await openWorld()
    const { worker, hybrid } = world.actors
    await commit(world, { acl: aclWith(world, { 'agent:ag_worker': 'write' }) })
    expect((await apply(world, [await nextHead(world, {}, worker)])).t).toBe('vault.commit')
    await refuses(world, [await wrapDek(dekOf(world), hybrid.key, worker, world.now)], 'not_authorised')
    const made = await commitDocs(world, { acl: aclWith(world, { 'agent:ag_worker': 'read' }), by: worker })
    await refuses(world, made.all, 'not_authorised')
  })
})

describe('vault.commit with an access list', () => {
  it('writes the next list and keeps the key', async () => {
    const before = vaultStateOf(world)
    const made = await commitDocs(world, { acl: aclWith(world, { 'user:ou_dave': 'read' }) })
    const index = world.host.leaves.length
    expect(await updatesOf(world, made.all)).toEqual({
      [vaultName(world.prod)]: {
        ...before,
        headVersion: before.headVersion + 1,
        headHash: documentHash(made.head),
        headIndex: index,
        aclVersion: before.aclVersion + 1,
        aclHash: hashOf(made.acl),
        aclIndex: index,
      },
    })
  })

  it('may bring the grants of those who join', async () => {
    const { dave } = world.actors
    const made = await commitDocs(world, {
      acl: aclWith(world, { 'user:ou_dave': 'read' }),
      grants: [{ dek: dekOf(world), to: dave.key }],
    })
    const updates = await updatesOf(world, made.all)
    expect(updates[grantName(world.prod, dave.kid, 1)]).toEqual({
      wrapHash: hashOf(made.wraps),
      index: world.host.leaves.length,
    })
  })

  it('follows the list before, for this vault', async () => {
    const made = await commitDocs(world, { acl: aclWith(world, { 'user:ou_dave': 'read' }) })
    const { aclVersion, aclHash } = vaultStateOf(world)
    const list = { vaultId: world.prod, aclVersion: aclVersion + 1, prev: aclHash, acl: aclWith(world, {}) }
    const withList = async (change: object): Promise<Envelope[]> =>
      swap(made, made.acl, await sign(world, aclSet, { ...list, ...change }, world.actors.alice))
    await refuses(world, await withList({ aclVersion }), 'bad_transition')
    await refuses(world, await withList({ prev: documentHash(world.genesis) }), 'bad_transition')
    await refuses(world, await withList({ vaultId: world.staging }), 'vault_swap')
    await refuses(world, await withList({ acl: aclWith(world, { 'user:ou_bob1': 'read' }) }), 'head_mismatch')
  })

  it('is signed by an admin of the vault: not by a writer, and not by a directory admin', async () => {
    const { bob, dave } = world.actors
    for (const by of [bob, dave])
      await refuses(
        world,
        (await commitDocs(world, { acl: aclWith(world, { 'user:ou_dave': 'write' }), by })).all,
        'not_authorised',
      )
  })

  it('shows exactly the admins of the admin chain', async () => {
    await refuses(
      world,
      (await commitDocs(world, { acl: aclWith(world, { 'user:ou_bob1': 'admin' }) })).all,
      'acl_mismatch',
    )
    await refuses(
      world,
      (await commitDocs(world, { acl: aclWith(world, { 'user:ou_alice': 'write' }) })).all,
      'acl_mismatch',
    )
  })
})

describe('vault.commit with admins', () => {
  it('adds to the chain and writes the list that shows them', async () => {
    const before = vaultStateOf(world)
    const made = await commitDocs(world, {
      acl: aclWith(world, { 'user:ou_bob1': 'admin' }),
      admins: ['user:ou_alice', 'user:ou_bob1'],
    })
    const index = world.host.leaves.length
    expect((await updatesOf(world, made.all))[vaultName(world.prod)]).toMatchObject({
      adminsHash: hashOf(made.admins),
      adminsIndexes: [...before.adminsIndexes, index],
      aclVersion: before.aclVersion + 1,
      aclIndex: index,
    })
  })

  it('never comes without an access list', async () => {
    const made = await commitDocs(world, { admins: ['user:ou_alice', 'user:ou_bob1'] })
    await refuses(world, made.all, 'bad_transition')
  })

  it('follows the chain, for this vault', async () => {
    const made = await commitDocs(world, {
      acl: aclWith(world, { 'user:ou_bob1': 'admin' }),
      admins: ['user:ou_alice', 'user:ou_bob1'],
    })
    const { adminsHash } = vaultStateOf(world)
    const next = { vaultId: world.prod, adminsVersion: 2, admins: ['user:ou_alice', 'user:ou_bob1'], prev: adminsHash }
    const withAdmins = async (change: object): Promise<Envelope[]> =>
      swap(made, made.admins, await sign(world, vaultAdmins, { ...next, ...change }, world.actors.alice))
    await refuses(world, await withAdmins({ adminsVersion: 3 }), 'bad_transition')
    await refuses(world, await withAdmins({ prev: documentHash(world.genesis) }), 'bad_transition')
    await refuses(world, await withAdmins({ vaultId: world.staging }), 'vault_swap')
    await refuses(world, await withAdmins({ admins: [] }), 'bad_transition')
    await refuses(world, await withAdmins({ admins: ['user:ou_bob1'] }), 'acl_mismatch')
  })

  it('is signed by an admin before it: nobody promotes himself', async () => {
    const { bob } = world.actors
    const plan = { acl: aclWith(world, { 'user:ou_bob1': 'admin' }), admins: ['user:ou_alice', 'user:ou_bob1'] }
    await refuses(world, (await commitDocs(world, { ...plan, by: bob })).all, 'not_authorised')
    // The admin document alone by Alice does not make the rest of this leaf Bob’s to sign.
    const byAlice = await commitDocs(world, plan)
    const byBob = await commitDocs(world, { acl: plan.acl, by: bob })
    await refuses(world, [...byAlice.admins, ...byBob.all], 'not_authorised')
  })

  it('makes nobody an admin who could not act as one', async () => {
    world = await openWorld()
    const { dave } = world.actors
    const plan = (p: string) => ({ acl: aclWith(world, { [p]: 'admin' }), admins: ['user:ou_alice', p].sort() })
    await refuses(world, (await commitDocs(world, plan('agent:ag_worker'))).all, 'not_authorised')
    await refuses(world, (await commitDocs(world, plan('user:ou_nobody'))).all, 'signer_not_active')
    await world.host.append([await revoke(world, dave.kid, 'removed')], world.now)
    await refuses(world, (await commitDocs(world, plan('user:ou_dave'))).all, 'signer_not_active')
  })

  it('lets an admin leave: he signs the commit that removes him, and nothing after it', async () => {
    world = await openWorld()
    const { alice, bob } = world.actors
    await commit(world, {
      acl: aclWith(world, { 'user:ou_bob1': 'admin' }),
      admins: ['user:ou_alice', 'user:ou_bob1'],
    })
    await commit(world, {
      acl: aclWith(world, { 'user:ou_alice': null }),
      admins: ['user:ou_bob1'],
      rotate: 'member-removed',
      by: alice,
    })
    expect(vaultStateOf(world).adminsIndexes).toHaveLength(3)
    await refuses(world, [await nextHead(world, {}, alice)], 'not_authorised')
    await refuses(world, (await commitDocs(world, { acl: aclWith(world, {}), by: alice })).all, 'not_authorised')
    expect((await apply(world, [await nextHead(world, {}, bob)])).t).toBe('vault.commit')
  })

  it('is re-attested by the same admins where the last one to sign is no longer trusted', async () => {
    const made = await commitDocs(world, { acl: aclWith(world, {}), admins: ['user:ou_alice'] })
    expect((await apply(world, made.all)).t).toBe('vault.commit')
  })
})
