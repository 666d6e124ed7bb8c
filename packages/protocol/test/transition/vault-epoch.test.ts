// Catches: vault keys announced without right or out of order, and grants that are too many, too few or doubled.
// Seen red: the new key granted to fewer keys than are active; two wraps for one key accepted; `ensureCommitted` and
// `checkWrapAlgorithm` not called; the epoch not held against the access list.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { grantName, type VaultState, vaultName } from '../../src/log/state.ts'
import { type Dek, makeDek } from '../../src/values/dek.ts'
import { epochNew } from '../../src/vault/documents.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import {
  aclWith,
  admit,
  apply,
  type CommitDocs,
  commitDocs,
  join,
  newIdentity,
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

const swap = (made: CommitDocs, old: readonly Envelope[] | Envelope, next: Envelope): Envelope[] => {
  const gone = new Set(Array.isArray(old) ? old : [old])
  return [...made.all.filter((envelope) => !gone.has(envelope)), next]
}

describe('vault.commit with an epoch', () => {
  it('writes the new key, keeps the old one as draining, and grants to every active key of the list', async () => {
    const before = vaultStateOf(world)
    const made = await commitDocs(world, { rotate: 'scheduled' })
    const index = world.host.leaves.length
    const updates = await updatesOf(world, made.all)
    expect(updates[vaultName(world.prod)]).toEqual({
      ...before,
      headVersion: before.headVersion + 1,
      headHash: documentHash(made.head),
      headIndex: index,
      dekVersion: 2,
      dekCommit: (made.dek as Dek).dekCommit,
      epochIndex: index,
      draining: [{ dekVersion: 1, dekCommit: before.dekCommit }],
    } satisfies VaultState)
    const { alice, bob, carol, deploy, worker, hybrid } = world.actors
    const granted = [alice, bob, carol, deploy, worker, hybrid].map(({ kid }) => grantName(world.prod, kid, 2))
    expect(Object.keys(updates).sort()).toEqual([vaultName(world.prod), ...granted].sort())
  })

  it('grants to both keys of a reader who has two, and to none of a reader who has none', async () => {
    world = await openWorld()
    const { carol, bob } = world.actors
    const bob2 = admit(world, 'bob2', await newIdentity(bob.key.principal))
    await join(world, bob2, ['member'])
    await world.host.append([await revoke(world, carol.kid, 'removed')], world.now)
    const made = await commitDocs(world, { rotate: 'scheduled' })
    const updates = await updatesOf(world, made.all)
    expect(updates[grantName(world.prod, bob.kid, 2)]).toBeDefined()
    expect(updates[grantName(world.prod, bob2.kid, 2)]).toBeDefined()
    expect(updates[grantName(world.prod, carol.kid, 2)]).toBeUndefined()
    const { alice, deploy, worker, hybrid } = world.actors
    const all = [alice, bob, bob2, deploy, worker, hybrid].map(({ key }) => key)
    for (const missing of [bob, bob2]) {
      const recipients = all.filter((key) => key.kid !== missing.kid)
      const short = await commitDocs(world, { rotate: 'scheduled', recipients })
      await refuses(world, short.all, 'incomplete_batch')
      await expect(apply(world, short.all)).rejects.toMatchObject({ details: { missing: [missing.kid], extra: [] } })
    }
    const dead = await commitDocs(world, { rotate: 'scheduled', recipients: [...all, carol.key] })
    await refuses(world, dead.all, 'signer_not_active')
  })

  it('grants to nobody who is not on the list', async () => {
    const { dave, alice, bob, carol, deploy, worker, hybrid } = world.actors
    const recipients = [alice, bob, carol, deploy, worker, hybrid, dave].map(({ key }) => key)
    await refuses(world, (await commitDocs(world, { rotate: 'scheduled', recipients })).all, 'not_authorised')
  })

  it('wraps the new key once for each: of two wraps for one key neither would be the last', async () => {
    const made = await commitDocs(world, { rotate: 'scheduled' })
    const again = await wrapDek(made.dek as Dek, world.actors.carol.key, world.actors.alice, world.now)
    await refuses(world, [...made.all, again], 'bad_transition')
  })

  it('follows the key before, for this vault and this access list', async () => {
    const made = await commitDocs(world, { rotate: 'scheduled' })
    const { aclVersion, aclHash } = vaultStateOf(world)
    const { dekVersion, dekCommit } = made.dek as Dek
    const epoch = { vaultId: world.prod, dekVersion, dekCommit, prevDekVersion: 1, reason: 'scheduled' }
    const withEpoch = async (change: object): Promise<Envelope[]> => {
      const members = { ...epoch, aclVersion, aclHash, ...change } as never
      return swap(made, made.epoch, await sign(world, epochNew, members, world.actors.alice))
    }
    await refuses(world, await withEpoch({ dekVersion: 3 }), 'bad_transition')
    await refuses(world, await withEpoch({ prevDekVersion: 2 }), 'bad_transition')
    await refuses(world, await withEpoch({ vaultId: world.staging }), 'vault_swap')
    await refuses(world, await withEpoch({ aclVersion: aclVersion + 1 }), 'acl_mismatch')
    await refuses(world, await withEpoch({ aclHash: documentHash(world.genesis) }), 'acl_mismatch')
    await refuses(world, await withEpoch({ dekCommit: documentHash(world.genesis) }), 'head_mismatch')
  })

  it('is signed by an admin, and so is each of its wraps', async () => {
    const { bob, alice } = world.actors
    await refuses(world, (await commitDocs(world, { rotate: 'scheduled', by: bob })).all, 'not_authorised')
    const made = await commitDocs(world, { rotate: 'scheduled' })
    const byBob = await wrapDek(made.dek as Dek, alice.key, bob, world.now)
    const [first] = made.wraps as [Envelope]
    await refuses(world, swap(made, first, byBob), 'not_authorised')
  })

  it('wraps the key it announces and no other, in the algorithm of the recipient', async () => {
    const { alice, hybrid, carol } = world.actors
    const made = await commitDocs(world, { rotate: 'scheduled' })
    const forCarol = made.wraps[2] as Envelope
    expect(JSON.parse(atob(forCarol.payload)).to).toBe(carol.kid)
    const foreign = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 2 })
    await refuses(world, swap(made, forCarol, await wrapDek(foreign, carol.key, alice, world.now)), 'dek_commitment')
    const classic = { ...hybrid.key, kem: null }
    const forHybrid = made.wraps.find(({ payload }) => JSON.parse(atob(payload)).to === hybrid.kid) as Envelope
    const downgraded = await wrapDek(made.dek as Dek, classic, alice, world.now)
    await refuses(world, swap(made, forHybrid, downgraded), 'alg_downgrade')
  })

  it('may come with a new list and new admins, all in one leaf', async () => {
    const before = vaultStateOf(world)
    const made = await commitDocs(world, {
      acl: aclWith(world, { 'user:ou_bob1': 'admin', 'user:ou_carol': null }),
      admins: ['user:ou_alice', 'user:ou_bob1'],
      rotate: 'member-removed',
    })
    const index = world.host.leaves.length
    const updates = await updatesOf(world, made.all)
    expect(updates[vaultName(world.prod)]).toMatchObject({
      adminsIndexes: [...before.adminsIndexes, index],
      aclIndex: index,
      epochIndex: index,
      headIndex: index,
      rotationDue: null,
    })
    expect(updates[grantName(world.prod, world.actors.carol.kid, 1)]).toEqual({ wrapHash: '', index })
  })
})
