import { beforeEach, describe, expect, it } from 'vitest'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { type KidState, kidName, POLICY_NAME, type PolicyState } from '../../src/log/state.ts'
import { cutTrust } from '../../src/trust/cut.ts'
import { type AdoptedRecovery, adoptRecovery, verifyRecovery } from '../../src/trust/recovery.ts'
import { remember } from '../../src/trust/remember.ts'
import {
  logPinOf,
  type OrgTrust,
  parseTrustStore,
  serialiseTrustStore,
  type TrustStore,
} from '../../src/trust/store.ts'
import { makeDaveAdmin } from '../attacks/authority.ts'
import { alterState, kidStateOf, policyOf } from '../attacks/powers.ts'
import { refusal } from '../log/refusal.ts'
import { addKey, createProject, revokeKey, setCaps, setPolicy } from '../world/acts.ts'
import { backupOf, loseTo, makeStatement, recoveryAnswer, sizeAndRoot } from '../world/recovery.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { codes, headOf, learn, read, round, trustOf } from './desk.ts'

// Section 9.4: what a store keeps when the log is cut. The refusals are among the attacks (a restored server).
// Catches: pins of the kept log thrown away with the rest, pins of the lost part kept, an end or a quorum forgotten.
// Seen red: whole pins dropped, `size` not set to the cut, ended signers cut like active ones, the minimum kept; the leaves of policies
// not taken over, and not compared; caps asked for again of a key that has ended, and
// others of the kept part taken for such; an end moved to a later cut; a statement
// that the log names at another leaf.

let world: World
beforeEach(async () => {
  world = await openWorld()
})

type CapSet = KidState['capSets'][number]

const FRESH = () => ({ now: world.now, maxStaleMs: 3_600_000 })

/** Reads everything there is to read. */
async function learnAll(store: TrustStore, kids: readonly string[] = []): Promise<TrustStore> {
  const directory = await read(world, store, kids)
  const heads = [await headOf(world, directory), await headOf(world, directory, world.staging)]
  return remember(store, round(world, directory, { heads })).store
}

async function recover(store: TrustStore, statement: Envelope): Promise<AdoptedRecovery> {
  await world.host.append([statement], world.now)
  const answer = await recoveryAnswer(world, statement)
  return adoptRecovery(store, await verifyRecovery(answer, ORG, trustOf(store), FRESH()), world.now, 'evidence.json')
}

/** What a client knows after `between` was lost. */
async function losing(between: () => Promise<unknown>, kids: readonly string[] = []): Promise<AdoptedRecovery> {
  const store = await learnAll(world.fresh(), kids)
  const backup = backupOf(world)
  await between()
  const seen = await learnAll(store, kids)
  const statement = await makeStatement(world, await loseTo(world, backup), [world.actors.alice])
  return recover(seen, statement)
}

describe('after a recovery', () => {
  it('the store can be written and read, has the new checkpoint, names both logs in an alarm, and says so once', async () => {
    const { store, notices, alarm } = await losing(() => world.write(world.prod, [], world.actors.bob))
    expect(parseTrustStore(serialiseTrustStore(store))).toEqual(store)
    const { size, root } = sizeAndRoot(world)
    const { recoveries, alarms } = trustOf(store)
    expect(logPinOf(ORG, trustOf(store)).seen?.size).toBe(size)
    expect(recoveries).toEqual([{ index: size - 1, docHash: expect.any(String), at: world.now }])
    expect(codes(notices)).toEqual([`log_recovered ${size - 1} ${recoveries?.[0]?.docHash}`])
    expect(alarms).toEqual([alarm])
    expect(alarm).toMatchObject({ code: 'log_recovered', evidence: 'evidence.json' })
    expect(alarm.detail).toContain(`now ${size} ${root}`)
    const later = await learn(world, store)
    expect(codes(later.notices)).toEqual([])
    expect(trustOf(later.store).recoveries).toEqual(recoveries)
  })

  it('a vault that was not written since stays pinned as it was, and one that was is learned anew', async () => {
    const before = trustOf(await learnAll(world.fresh()))
    const keptSize = world.host.leaves.length
    const { store } = await losing(() => world.write(world.staging, [], world.actors.bob))
    const { vaults } = trustOf(store)
    expect(vaults[world.prod]).toEqual({ ...before.vaults[world.prod], size: keptSize })
    expect(vaults[world.staging]).toMatchObject({
      size: keptSize,
      adminsHash: before.vaults[world.staging]?.adminsHash,
      dekVersion: 1,
      aclVersion: 1,
      headVersion: 0,
      headHash: '',
    })
    expect(trustOf(await learnAll(store)).vaults[world.staging]?.headVersion).toBe(2)
  })

  it('an admin chain is kept as far as the backup goes, and what was created later is forgotten', async () => {
    const before = trustOf(await learnAll(world.fresh()))
    const { store } = await losing(async () => makeDaveAdmin(world))
    const { adminsHash, chain, admins, aclVersion } = before.vaults[world.prod] ?? {}
    expect(trustOf(store).vaults[world.prod]).toMatchObject({ adminsHash, chain, admins: [], aclVersion: 0 })
    expect(trustOf(store).vaults[world.prod]).not.toHaveProperty('aclHash')
    const born = {
      ...(trustOf(store).vaults[world.prod] as object),
      size: 99,
      chain: [{ index: 98, hash: adminsHash }],
    }
    const pins = { ...trustOf(store), vaults: { [world.prod]: born } } as unknown as OrgTrust
    expect(cutTrust(pins, 50).vaults).toEqual({})
    expect([admins, aclVersion]).toEqual([['user:ou_alice'], 1])
  })

  it('a project is treated like a vault', async () => {
    const projectId = await createProject(world, [world.prod], world.actors.alice)
    const pin = { projectVersion: 2, docHash: `${'A'.repeat(43)}`, adminsHash: `${'B'.repeat(42)}A`, size: 40 }
    const chain = [{ index: 5, hash: pin.adminsHash }]
    const cut = (more: object): unknown =>
      cutTrust({ ...trustOf(world.fresh()), projects: { [projectId]: { ...pin, ...more } } }, 30).projects[projectId]
    expect(cut({ size: 30 })).toEqual({ ...pin, size: 30 })
    expect(cut({ chain, at: 29 })).toEqual({ ...pin, chain, at: 29, size: 30 })
    expect(cut({ chain, at: 30 })).toEqual({ ...pin, chain, at: 30, size: 30, projectVersion: 0, docHash: '' })
    expect(cut({ chain: [{ index: 30, hash: pin.adminsHash }], at: 31 })).toBeUndefined()
    expect(cut({})).toBeUndefined()
  })

  it('a key that had ended is ended for good, one that came later may come again, and its person is known', async () => {
    const { alice, bob, mallory } = world.actors
    const { store } = await losing(async () => {
      await addKey(world, mallory, ['member'], alice)
      await revokeKey(world, bob.kid, 'removed', alice)
    }, [])
    const seen = (await learn(world, store)).store
    expect(trustOf(store).signers[bob.kid]).toMatchObject({ status: 'removed', cut: world.host.leaves.length - 1 })
    const { entry } = await (await read(world, seen)).resolve(bob.kid)
    expect(entry).toMatchObject({ status: 'removed', end: world.host.leaves.length - 1 })

    const knowing = { ...trustOf(store), principals: { 'user:ou_mallory': { kids: [mallory.kid], continuity: 'ok' } } }
    await addKey(world, mallory, ['member'], alice)
    const again = { ...store, orgs: { [ORG]: knowing as OrgTrust } }
    expect(trustOf((await learn(world, again, [mallory.kid])).store).signers[mallory.kid]?.status).toBe('active')
  })

  it('caps that were set in the lost part have to be set again, but for a key that had ended there', async () => {
    const { alice, bob, dave } = world.actors
    const { store } = await losing(async () => {
      for (const { kid } of [bob, dave]) await setCaps(world, kid, ['member'], [alice])
      await revokeKey(world, dave.kid, 'removed', alice)
    }, [bob.kid, dave.kid])
    expect(await refusal(() => learnAll(store, [bob.kid]))).toBe('log_rollback')
    await setCaps(world, bob.kid, ['member'], [alice])
    expect(await refusal(() => learnAll(store, [bob.kid, dave.kid]))).toBe('accepted')
  })

  it('caps that were set in the kept part stay those that were seen, also where they are set again', async () => {
    const { alice, bob } = world.actors
    await setCaps(world, bob.kid, ['member'], [alice])
    const { store } = await losing(() => world.write(world.prod, [], bob), [bob.kid])
    await setCaps(world, bob.kid, ['member'], [alice])
    expect(await refusal(() => learnAll(store, [bob.kid]))).toBe('accepted')
    const [kept, again] = kidStateOf(world, bob.kid).capSets as [CapSet, CapSet]
    alterState<KidState>(world, kidName(bob.kid), { capSets: [{ ...kept, docHash: again.docHash }, again] })
    expect(await refusal(() => learnAll(store, [bob.kid]))).toBe('log_rollback')
  })

  it('the policy is the one of the kept log, and the quorum that was seen counts until the next read', async () => {
    const policy = { dirQuorum: 1, kdf: 'argon2id', minRsaBits: 2048, provisioners: [], recoverQuorum: 1 } as const
    const { alice } = world.actors
    const { store } = await losing(() => setPolicy(world, { ...policy, rotationGraceMs: 7 }, [alice]))
    expect(trustOf(store)).toMatchObject({ policyVersion: 1, policyIndexes: [0], recoverQuorum: 1 })
    expect(codes((await learn(world, store)).notices)).toEqual([])
  })

  it('a policy that was set before the client heard of it is believed, and none that is dated back', async () => {
    const { alice } = world.actors
    const store = await learnAll(world.fresh())
    const backup = backupOf(world)
    await world.write(world.prod, [], world.actors.bob)
    const seen = await learnAll(store)
    const statement = await makeStatement(world, await loseTo(world, backup), [alice])
    await world.host.append([statement], world.now)
    const index = world.host.leaves.length
    await setPolicy(world, { ...policyOf(world), rotationGraceMs: 7 }, [alice])
    const judge = async () => verifyRecovery(await recoveryAnswer(world, statement), ORG, trustOf(seen), FRESH())
    const adopted = adoptRecovery(seen, await judge(), world.now)
    expect(trustOf(adopted.store).policyIndexes).toEqual([0, index])
    expect(codes((await learn(world, adopted.store)).notices)).toEqual(['policy_changed 2'])
    alterState<PolicyState>(world, POLICY_NAME, { indexes: [0, 3] })
    await expect(judge()).rejects.toMatchObject({ code: 'log_fork' })
  })
})

describe('the minimum of an anchor', () => {
  it('above what is kept needs the statement too, and goes with it', async () => {
    const backup = backupOf(world)
    await world.write(world.prod, [], world.actors.bob)
    await world.write(world.prod, [], world.actors.bob)
    const minimum = sizeAndRoot(world)
    const fresh = trustOf(world.fresh())
    const store = { ...world.fresh(), orgs: { [ORG]: { ...fresh, minimum } } }
    const statement = await makeStatement(world, await loseTo(world, backup), [world.actors.alice])
    await expect(learn(world, store)).rejects.toMatchObject({ code: 'log_rollback' })
    const adopted = await recover(store, statement)
    expect(trustOf(adopted.store)).toMatchObject({ minimum: null, recoveries: [{ docHash: documentHash(statement) }] })
    await learn(world, adopted.store)
  })
})

describe('a store that was written before recoveries were known', () => {
  it('forgets a vault seen beyond the cut, and keeps one seen before it', () => {
    const fresh = trustOf(world.fresh())
    const pin = { headVersion: 3, headHash: 'A'.repeat(43), dekVersion: 1, dekCommit: 'A'.repeat(43), aclVersion: 1 }
    const vault = { ...pin, admins: [], adminsHash: 'A'.repeat(43), size: 12 }
    const pins: OrgTrust = { ...fresh, policyVersion: 2, vaults: { [world.prod]: vault } }
    expect(cutTrust(pins, 12).vaults).toEqual({ [world.prod]: vault })
    expect(cutTrust(pins, 11)).toMatchObject({ vaults: {}, policyVersion: 0 })
  })
})

describe('a key that was seen ended', () => {
  it('stays so from the first cut on, however often the log is cut later', () => {
    const { kid } = world.actors.bob
    const pin = { firstIndex: 1, lastIndex: 30, via: 'key.add', verified: 'endorsed', capSets: 0, cut: 10 } as const
    const pins: OrgTrust = { ...trustOf(world.fresh()), signers: { [kid]: { ...pin, status: 'removed' } } }
    expect(cutTrust(pins, 20).signers[kid]).toMatchObject({ status: 'removed', cut: 10, lastIndex: 19 })
    expect(cutTrust(pins, 5).signers[kid]).toMatchObject({ cut: 5, lastIndex: 4 })
  })
})

describe('a statement', () => {
  it('is named by the log at the very leaf that it is', async () => {
    const store = await learnAll(world.fresh())
    const backup = backupOf(world)
    await world.write(world.prod, [], world.actors.bob)
    const seen = trustOf(await learnAll(store))
    const statement = await makeStatement(world, await loseTo(world, backup), [world.actors.alice])
    await world.host.append([statement], world.now)
    const judged = async () => {
      const answer = await recoveryAnswer(world, statement)
      return refusal(() => verifyRecovery(answer, ORG, seen, FRESH()))
    }
    expect(await judged()).toBe('accepted')
    const { recoveries = [] } = world.host.state(POLICY_NAME) as PolicyState
    const later = recoveries.map(({ index, docHash }) => ({ index: index + 1, docHash }))
    alterState<PolicyState>(world, POLICY_NAME, { recoveries: later })
    expect(await judged()).toBe('bad_map_proof')
  })
})
