// Catches: stores that take a stranger’s key for somebody they know, and changes that nobody hears of.
// Seen red: a key.add of a known principal accepted; a rotation from an unknown key taken for one from a known key; recoveries
// without a notice; each notice left out, and each given at first contact.
import { beforeEach, describe, expect, it } from 'vitest'
import type { Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { rotateKey } from '../../src/runtime/runtime-key.ts'
import { remember } from '../../src/trust/remember.ts'
import type { TrustStore } from '../../src/trust/store.ts'
import { refusal } from '../log/refusal.ts'
import { aclWith, commit, join, newIdentity, recover, register, revoke, setPolicy } from '../transition/desk.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { codes, headOf, learn, read, round, trustOf } from './desk.ts'

let world: World
let alice: Identity
let bob: Identity
let dave: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice, bob, dave } = world.actors)
})
const append = async (...docs: readonly Envelope[]) => world.host.append(docs, world.now)

const rotate = async (old: Identity): Promise<Identity> => {
  const next = await newIdentity(old.key.principal)
  await append((await rotateKey({ org: ORG, at: world.now, held: [] }, old, next)).event)
  return next
}

describe('a new key of somebody known', () => {
  let store: TrustStore
  beforeEach(async () => {
    store = (await learn(world, world.fresh(), [bob.kid])).store
  })

  it('is accepted silently through a chain of rotations, however many were missed', async () => {
    let key = bob
    await commit(world, { acl: aclWith(world, { 'user:ou_bob1': null }), rotate: 'member-removed' })
    await commit(world, {
      vaultId: world.staging,
      acl: aclWith(world, { 'user:ou_bob1': null }, world.staging),
      rotate: 'member-removed',
    })
    const chain = [bob.kid]
    for (let i = 0; i < 4; i++) {
      key = await rotate(key)
      chain.push(key.kid)
    }
    const { store: next, notices } = await learn(world, store, [key.kid])
    expect(notices).toEqual([])
    expect(trustOf(next).principals['user:ou_bob1']).toEqual({ kids: chain, continuity: 'ok' })
    expect(trustOf(next).signers[bob.kid]?.status).toBe('superseded')
    expect(trustOf(next).signers[key.kid]).toMatchObject({ status: 'active', via: 'key.rotate' })
  })

  it('through key.add is refused, unless a person has confirmed it', async () => {
    const second = await newIdentity(bob.key.principal)
    await join(world, second, ['member'])
    const directory = await read(world, store, [second.kid])
    expect(await refusal(() => remember(store, round(world, directory)))).toBe('continuity_broken')
    const confirmed = new Set([second.kid as string])
    const { store: next } = remember(store, round(world, directory, { confirmed }))
    expect(trustOf(next).signers[second.kid]).toMatchObject({ verified: 'oob', via: 'key.add' })
    expect(trustOf(next).principals['user:ou_bob1']).toEqual({ kids: [bob.kid, second.kid], continuity: 'ok' })
    // Once it is known, it needs no confirmation again.
    expect((await learn(world, next, [second.kid])).notices).toEqual([])
  })

  it('through rotation of a key that was never seen is refused', async () => {
    const second = await newIdentity(bob.key.principal)
    await join(world, second, ['member'])
    const third = await rotate(second)
    const directory = await read(world, store, [third.kid])
    expect(await refusal(() => remember(store, round(world, directory)))).toBe('continuity_broken')
  })

  it('through recovery is accepted with an alarm, and the break stays on record', async () => {
    const next = await newIdentity(bob.key.principal)
    await append(await recover(world, next, [bob.kid], 'lost', alice, next))
    const first = await learn(world, store, [next.kid])
    expect(codes(first.notices)).toEqual([`recovery_discontinuity ${next.kid}`])
    expect(trustOf(first.store).principals['user:ou_bob1']?.continuity).toBe('broken')
    const second = await learn(world, first.store, [(await rotate(next)).kid])
    expect(second.notices).toEqual([])
    expect(trustOf(second.store).principals['user:ou_bob1']?.continuity).toBe('broken')
  })

  it('changes nothing in the store when it is refused', async () => {
    const before = JSON.stringify(store)
    const second = await newIdentity(bob.key.principal)
    await join(world, second, ['member'])
    const directory = await read(world, store, [second.kid])
    expect(await refusal(() => remember(store, round(world, directory)))).toBe('continuity_broken')
    expect(JSON.stringify(store)).toBe(before)
  })

  it('does not push the older ones out of a store that could not be written any more', async () => {
    const kids = Array.from(
      { length: 1024 },
      (_, i) =>
        `user:ou_dave:${String(i)
          .padStart(32, 'a')
          .replace(/\d/g, (d) => 'bcdefghijk'[Number(d)] as string)}`,
    )
    const crowded: TrustStore = {
      version: 1,
      orgs: {
        [ORG]: {
          ...trustOf(store),
          principals: { 'user:ou_dave': { kids: [...kids.slice(1), dave.kid], continuity: 'ok' } },
        },
      },
    }
    const next = await rotate(dave)
    const remembered = remember(
      crowded,
      round(world, await read(world, crowded, [next.kid]), { confirmed: new Set([dave.kid as string]) }),
    )
    const { kids: kept } = trustOf(remembered.store).principals['user:ou_dave'] as { kids: readonly string[] }
    expect(kept).toHaveLength(1024)
    expect(kept.slice(-2)).toEqual([dave.kid, next.kid])
  })
})

describe('people are told', () => {
  it('of a new admin of a vault they know, once', async () => {
    const first = await read(world, world.fresh())
    const { store } = remember(world.fresh(), round(world, first, { heads: [await headOf(world, first)] }))
    await commit(world, { acl: aclWith(world, { 'user:ou_bob1': 'admin' }), admins: ['user:ou_alice', 'user:ou_bob1'] })
    const second = await read(world, store)
    const told = remember(store, round(world, second, { heads: [await headOf(world, second)] }))
    expect(codes(told.notices)).toEqual([`new_admin ${world.prod} user:ou_bob1`])
    const third = await read(world, told.store)
    expect(remember(told.store, round(world, third, { heads: [await headOf(world, third)] })).notices).toEqual([])
  })

  it('of an endorser they have not seen, but not on first contact', async () => {
    const { store, notices } = await learn(world, world.fresh(), [bob.kid])
    expect(notices).toEqual([])
    const erin = await newIdentity('user:ou_erin')
    await append(await register(world, erin, ['member'], dave))
    expect(codes((await learn(world, store, [erin.kid])).notices)).toEqual([`new_endorser ${dave.kid}`])
  })

  it('of a policy that changed', async () => {
    const { store } = await learn(world, world.fresh(), [])
    await append(await setPolicy(world, { rotationGraceMs: 1 }, alice))
    const next = await learn(world, store, [])
    expect(codes(next.notices)).toEqual(['policy_changed 2'])
    expect(trustOf(next.store).policyVersion).toBe(2)
    expect((await learn(world, next.store, [])).notices).toEqual([])
  })

  it('of a rotation that is due, at every read', async () => {
    await append(await revoke(world, world.actors.carol.kid, 'removed'))
    let store = world.fresh()
    for (let i = 0; i < 2; i++) {
      const directory = await read(world, store)
      const remembered = remember(store, round(world, directory, { heads: [await headOf(world, directory)] }))
      expect(codes(remembered.notices)).toEqual([`rotation_due ${world.prod}`])
      store = remembered.store
    }
  })
})
