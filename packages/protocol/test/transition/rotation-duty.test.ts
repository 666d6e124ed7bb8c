// Catches: a reader who leaves unnoticed, a duty to rotate that is forgotten, postponed or dodged, and grants that outlive the
// reader or the vault key they are of.
// Seen red: `safe` always true; `deferRotation: false` taken for true; `ensureRotated` not called, and comparing with `<`;
// `rotationDue` dropped by a later commit; `dropEndedGrants` skipped where the list changed, and where versions retire.
import { beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../src/directory/documents.ts'
import { grantName, grantState, vaultName } from '../../src/log/state.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { MINUTE, openWorld, type World } from '../world/world.ts'
import {
  aclWith,
  apply,
  commit,
  commitDocs,
  dekOf,
  nextHead,
  refuses,
  revoke,
  setPolicy,
  updatesOf,
  vaultStateOf,
} from './desk.ts'

let world: World
beforeEach(async () => {
  world = await openWorld()
})
const withoutCarol = () => aclWith(world, { 'user:ou_carol': null })
const carolsGrant = () => world.host.state(grantName(world.prod, world.actors.carol.kid, 1))

describe('a reader who leaves', () => {
  it('takes a rotation along in the same leaf, or an open deferral, or the commit is refused', async () => {
    await refuses(world, (await commitDocs(world, { acl: withoutCarol() })).all, 'rotation_due')
    await refuses(world, (await commitDocs(world, { acl: withoutCarol(), deferRotation: false })).all, 'rotation_due')
    const rotated = await commitDocs(world, { acl: withoutCarol(), rotate: 'member-removed' })
    expect((await updatesOf(world, rotated.all))[vaultName(world.prod)]).toMatchObject({ rotationDue: null })
    const deferred = await commitDocs(world, { acl: withoutCarol(), deferRotation: true })
    const index = world.host.leaves.length
    expect((await updatesOf(world, deferred.all))[vaultName(world.prod)]).toMatchObject({
      rotationDue: { index, at: world.now },
      dekVersion: 1,
    })
  })

  it('has every grant ended, with and without a rotation', async () => {
    for (const plan of [{ deferRotation: true }, { rotate: 'member-removed' as const }]) {
      const docs = (await commitDocs(world, { acl: withoutCarol(), ...plan })).all
      const updates = await updatesOf(world, docs)
      const ended = Object.entries(updates).filter(([, state]) => state.wrapHash === '')
      expect(ended).toEqual([
        [grantName(world.prod, world.actors.carol.kid, 1), { wrapHash: '', index: world.host.leaves.length }],
      ])
    }
  })

  it('who only changes roles does not leave', async () => {
    const made = await commitDocs(world, { acl: aclWith(world, { 'user:ou_bob1': 'read' }) })
    expect((await updatesOf(world, made.all))[vaultName(world.prod)]).toMatchObject({ rotationDue: null })
  })

  it('and comes back is still a reason to rotate', async () => {
    await commit(world, { acl: withoutCarol(), deferRotation: true })
    const due = vaultStateOf(world).rotationDue
    await commit(world, { acl: aclWith(world, { 'user:ou_carol': 'read' }) })
    expect(vaultStateOf(world).rotationDue).toEqual(due)
    expect(grantState(carolsGrant(), 'grant').wrapHash).toBe('')
  })
})

describe('the duty to rotate', () => {
  beforeEach(async () => {
    await commit(world, { acl: withoutCarol(), deferRotation: true })
  })

  it('is kept by every commit, and its date is the oldest', async () => {
    const due = vaultStateOf(world).rotationDue
    world.now += MINUTE
    await world.host.append([await nextHead(world, {}, world.actors.bob)], world.now)
    await commit(world, { acl: aclWith(world, { 'agent:ag_hybrid': null }), deferRotation: true })
    expect(vaultStateOf(world).rotationDue).toEqual(due)
  })

  it('ends with the next vault key and with nothing else', async () => {
    await commit(world, { rotate: 'scheduled' })
    expect(vaultStateOf(world)).toMatchObject({ rotationDue: null, dekVersion: 2 })
  })

  it('lets people write until the grace period is over, and then only with a new key', async () => {
    const due = vaultStateOf(world).rotationDue?.at as number
    const late = due + DAY_MS + 1
    const head = await nextHead(world, {}, world.actors.bob)
    expect((await apply(world, [head], due + DAY_MS)).t).toBe('vault.commit')
    await refuses(world, [head], 'rotation_due', late)
    const list = await commitDocs(world, { acl: aclWith(world, { 'user:ou_carol': 'read' }) })
    await refuses(world, list.all, 'rotation_due', late)
    expect((await apply(world, (await commitDocs(world, { rotate: 'repair' })).all, late)).t).toBe('vault.commit')
  })

  it('follows the grace period of the policy in force', async () => {
    await world.host.append([await setPolicy(world, { rotationGraceMs: 0 }, world.actors.alice)], world.now)
    const head = await nextHead(world, {}, world.actors.bob)
    expect((await apply(world, [head], world.now)).t).toBe('vault.commit')
    await refuses(world, [head], 'rotation_due', world.now + 1)
  })

  it('cannot be outlived by a server that sets its clock back', async () => {
    const head = await nextHead(world, {}, world.actors.bob)
    await world.host.append([await revoke(world, world.actors.carol.kid, 'removed')], world.now + 2 * DAY_MS)
    await refuses(world, [head], 'bad_transition', world.now)
    await refuses(world, [head], 'rotation_due', world.now + 2 * DAY_MS)
  })
})

describe('versions of a vault key', () => {
  const versionsOf = (): number[] => vaultStateOf(world).draining.map(({ dekVersion }) => dekVersion)

  it('drain until a head says that nothing is under them, and then their grants end', async () => {
    await commit(world, { rotate: 'scheduled' })
    await commit(world, { rotate: 'scheduled' })
    expect(versionsOf()).toEqual([1, 2])
    const { alice, bob, carol, deploy, worker, hybrid } = world.actors
    const head = await nextHead(world, { oldestDek: 2 }, bob)
    const index = world.host.leaves.length
    const updates = await updatesOf(world, [head])
    expect(updates[vaultName(world.prod)]).toMatchObject({
      oldestDek: 2,
      draining: [{ dekVersion: 2, dekCommit: vaultStateOf(world).draining[1]?.dekCommit }],
    })
    const ended = [alice, bob, carol, deploy, worker, hybrid].map(({ kid }) => grantName(world.prod, kid, 1))
    expect(Object.keys(updates).sort()).toEqual([vaultName(world.prod), ...ended].sort())
    for (const name of ended) expect(updates[name]).toEqual({ wrapHash: '', index })
  })

  it('do not come back: a head names no older one than the head before', async () => {
    await commit(world, { rotate: 'scheduled' })
    await world.host.append([await nextHead(world, { oldestDek: 2 }, world.actors.bob)], world.now)
    expect(versionsOf()).toEqual([])
    await refuses(world, [await nextHead(world, { oldestDek: 1 }, world.actors.bob)], 'head_mismatch')
  })

  it('are granted to those who join while they drain, and not once they are retired', async () => {
    const { alice, dave } = world.actors
    const first = dekOf(world)
    await commit(world, { rotate: 'scheduled' })
    await commit(world, { acl: aclWith(world, { 'user:ou_dave': 'read' }) })
    const wraps = [
      await wrapDek(first, dave.key, alice, world.now),
      await wrapDek(dekOf(world), dave.key, alice, world.now),
    ]
    expect((await apply(world, wraps)).t).toBe('grant.add')
    await world.host.append([await nextHead(world, { oldestDek: 2 }, alice)], world.now)
    await refuses(world, wraps, 'dek_commitment')
  })

  it('end with the reader as well, all of them', async () => {
    await commit(world, { rotate: 'scheduled' })
    const made = await commitDocs(world, { acl: withoutCarol(), deferRotation: true })
    const updates = await updatesOf(world, made.all)
    for (const version of [1, 2])
      expect(updates[grantName(world.prod, world.actors.carol.kid, version)]).toMatchObject({ wrapHash: '' })
  })
})
