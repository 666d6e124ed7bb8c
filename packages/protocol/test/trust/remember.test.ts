// Catches: stores that go back, or that take a fork for a growing log.
// Seen red: the older of two reads written over the newer, for checkpoint, keys, policy, vaults and projects in turn; a longer
// log taken without a proof that it extends the stored one; one version of a vault with two contents; ended keys coming back.
import { beforeEach, describe, expect, it } from 'vitest'
import type { VerifiedDirectory } from '../../src/directory/resolve.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { kidName } from '../../src/log/state.ts'
import { remember } from '../../src/trust/remember.ts'
import { EMPTY_TRUST_STORE, pinAnchor, type TrustStore } from '../../src/trust/store.ts'
import { deriveProjectId } from '../../src/vault/authority.ts'
import { projectCreate, projectSet } from '../../src/vault/documents.ts'
import { verifyProject } from '../../src/vault/project.ts'
import { refusal } from '../log/refusal.ts'
import {
  aclWith,
  commit,
  kidStateOf,
  nextHead,
  revoke,
  salt,
  setCaps,
  setPolicy,
  sign,
  vaultStateOf,
} from '../transition/desk.ts'
import { ORIGIN } from '../world/log-host.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { codes, headOf, learn, read, round, trustOf, twinOf } from './desk.ts'

let world: World
let alice: Identity
let bob: Identity
let dave: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice, bob, dave } = world.actors)
})
const append = async (...docs: readonly Envelope[]) => world.host.append(docs, world.now)

describe('the first read', () => {
  it('is remembered whole: checkpoint, keys with their records, people, vaults', async () => {
    const directory = await read(world, world.fresh(), [bob.kid])
    const head = await headOf(world, directory)
    const { store, notices } = remember(world.fresh(), round(world, directory, { heads: [head] }))
    const size = world.host.leaves.length
    expect(notices).toEqual([])
    expect(trustOf(store)).toMatchObject({
      checkpoint: directory.view.checkpoint.note,
      checkpointAt: world.now,
      policyVersion: 1,
      principals: {
        'user:ou_alice': { kids: [alice.kid], continuity: 'ok' },
        'user:ou_bob1': { kids: [bob.kid], continuity: 'ok' },
      },
    })
    const { added, rec } = kidStateOf(world, bob.kid)
    expect(trustOf(store).signers[bob.kid]).toEqual({
      firstIndex: added,
      lastIndex: size - 1,
      status: 'active',
      capSets: 0,
      via: 'key.add',
      verified: 'endorsed',
      rec,
    })
    const state = vaultStateOf(world)
    const { headVersion, headHash, dekVersion, dekCommit, aclVersion, aclHash, adminsHash } = state
    expect(trustOf(store).vaults[world.prod]).toEqual({
      headVersion,
      headHash,
      dekVersion,
      dekCommit,
      aclVersion,
      aclHash,
      admins: ['user:ou_alice'],
      adminsHash,
      size,
      chain: [{ index: state.createIndex, hash: adminsHash }],
      at: { head: state.headIndex, epoch: state.epochIndex, acl: state.aclIndex },
    })
  })

  it('is marked as trusted on first use where nobody had pinned the organisation', async () => {
    const { genesis, origin, logVkeys, tlogPolicy } = trustOf(world.fresh())
    const tofu = pinAnchor(EMPTY_TRUST_STORE, { org: ORG, genesis, origin, logVkeys, tlogPolicy }, 'tofu')
    const { store } = await learn(world, tofu, [bob.kid])
    expect(trustOf(store).signers[bob.kid]?.verified).toBe('tofu')
  })

  it('of another organisation is refused', async () => {
    const other = {
      ...trustOf(world.fresh()),
      genesis: documentHash({ payload: 'AAAA', payloadType: '', signatures: [] }),
    }
    const directory = await read(world, world.fresh())
    const store: TrustStore = { version: 1, orgs: { [ORG]: other } }
    expect(await refusal(() => remember(store, round(world, directory)))).toBe('genesis_mismatch')
    expect(await refusal(() => remember(EMPTY_TRUST_STORE, round(world, directory)))).toBe('genesis_mismatch')
  })

  it('without witnesses is remembered, and said', async () => {
    const { genesis, logVkeys } = trustOf(world.fresh())
    const anchor = { org: ORG, genesis, origin: ORIGIN, logVkeys, tlogPolicy: 'quorum none\n' }
    const { notices } = await learn(world, pinAnchor(EMPTY_TRUST_STORE, anchor, 'pinned'), [])
    expect(codes(notices)).toEqual([`no_witness ${ORG}`])
  })
})

describe('two reads that end in another order than they began', () => {
  it('leave the newer of everything, whichever is remembered last', { timeout: 30_000 }, async () => {
    const start = (await learn(world, world.fresh(), [bob.kid, dave.kid])).store
    const project = await newProject()
    const early = await read(world, start, [bob.kid, dave.kid])
    const earlyRound = round(world, early, {
      heads: [await headOf(world, early)],
      projects: [await verifyProject(early, project)],
    })

    await append(await setPolicy(world, { rotationGraceMs: 1 }, alice))
    await commit(world, { acl: aclWith(world, { 'user:ou_bob1': 'admin' }), admins: ['user:ou_alice', 'user:ou_bob1'] })
    await append(await revoke(world, dave.kid, 'removed'))
    const set = await projectVersion(project.projectId, 2, documentHash(project.set))
    await append(set)
    const late = await read(world, start, [bob.kid, dave.kid])
    const projects = [await verifyProject(late, { ...project, set })]
    const lateRound = round(world, late, { heads: [await headOf(world, late)], projects })

    const newest = remember(start, lateRound).store
    const both = remember(newest, earlyRound)
    expect(both.store).toEqual(newest)
    expect(both.notices).toEqual([])
    expect(trustOf(newest)).toMatchObject({ policyVersion: 2, signers: { [dave.kid]: { status: 'removed' } } })
    expect(trustOf(newest).projects[project.projectId]?.projectVersion).toBe(2)
  })

  it('that saw two logs of one size show a fork', async () => {
    const start = (await learn(world, world.fresh(), [])).store
    const twin = await twinOf(world)
    await append(await nextHead(world, {}, bob))
    await twin.host.append([await nextHead(twin, {}, alice)], twin.now)
    const one = await read(world, start)
    const two = await read(twin, start)
    const { store } = remember(start, round(world, one))
    expect(await refusal(() => remember(store, round(world, two)))).toBe('log_fork')
  })

  it('of which the second saw a longer log that nothing links to the first must read again', async () => {
    const start = (await learn(world, world.fresh(), [])).store
    const twin = await twinOf(world)
    await append(await nextHead(world, {}, bob))
    for (let i = 0; i < 2; i++) await twin.host.append([await nextHead(twin, {}, alice)], twin.now)
    const one = await read(world, start)
    const forked = await read(twin, start)
    const { store } = remember(start, round(world, one))
    expect(await refusal(() => remember(store, round(world, forked)))).toBe('missing_consistency')
    // Reading again from the newer store, the fork is seen.
    expect(await refusal(() => read(twin, store))).toBe('log_fork')
    await append(await nextHead(world, {}, bob))
    expect(await refusal(async () => remember(store, round(world, await read(world, store))))).toBe('accepted')
  })

  it('that saw one version of a vault with two contents show a fork', async () => {
    const start = (await learn(world, world.fresh(), [])).store
    const twin = await twinOf(world)
    await append(await nextHead(world, {}, bob))
    await twin.host.append([await nextHead(twin, {}, alice)], twin.now)
    const one = await read(world, start)
    const { store } = remember(start, round(world, one, { heads: [await headOf(world, one)] }))
    const two = await read(twin, start)
    const forked = { ...two, view: one.view } as VerifiedDirectory
    const heads = [await headOf(twin, two)]
    expect(await refusal(() => remember(store, round(world, forked, { heads })))).toBe('vault_fork')
  })

  it('of which the later shows an older vault or project show a rollback', async () => {
    const start = (await learn(world, world.fresh(), [])).store
    const project = await newProject()
    const early = await read(world, start)
    const [oldHead, oldProject] = [await headOf(world, early), await verifyProject(early, project)]
    await append(await nextHead(world, {}, bob))
    const set = await projectVersion(project.projectId, 2, documentHash(project.set))
    await append(set)
    const late = await read(world, start)
    const projects = [await verifyProject(late, { ...project, set })]
    const { store } = remember(start, round(world, late, { heads: [await headOf(world, late)], projects }))
    // The same old state, in a log that is not the earlier one: nobody verified it against the pins of the vault.
    const again = await read(world, store)
    const stale = { ...oldHead, vault: { ...oldHead.vault, directory: again } }
    expect(await refusal(() => remember(store, round(world, again, { heads: [stale] })))).toBe('vault_rollback')
    const staleProject = { ...oldProject, pin: { ...oldProject.pin, size: again.view.checkpoint.size } }
    expect(await refusal(() => remember(store, round(world, again, { projects: [staleProject] })))).toBe(
      'project_rollback',
    )
  })

  it('that saw one version of a project with two contents show a fork', async () => {
    const start = (await learn(world, world.fresh(), [])).store
    const project = await newProject()
    const directory = await read(world, start)
    const verified = await verifyProject(directory, project)
    const { store } = remember(start, round(world, directory, { projects: [verified] }))
    const other = { ...verified, pin: { ...verified.pin, docHash: documentHash(world.genesis) } }
    const again = await read(world, store)
    const forked = () => remember(store, round(world, again, { projects: [other] }))
    expect(await refusal(forked)).toBe('project_mismatch')
  })

  const newProject = async () => {
    const create = await sign(world, projectCreate, { admins: [bob.key.principal], salt: salt() }, bob)
    const projectId = deriveProjectId(documentHash(create))
    const set = await projectVersion(projectId, 1, '')
    await append(create, set)
    return { projectId, create, adminsChain: [], set }
  }
  const projectVersion = (projectId: string, version: number, prev: string) =>
    sign(
      world,
      projectSet,
      { projectId, projectVersion: version, slug: 's', name: 'S', status: 'active', vaults: [], prev } as never,
      bob,
    )
})

describe('what the store knows of a key', () => {
  const falsify = (kid: string, change: object): void => {
    const state = { ...kidStateOf(world, kid), ...change } as never
    world.host.appendFalse({ t: 'key.revoke', d: [], updates: [{ name: kidName(kid), state }] }, [], world.now)
  }

  it('does not turn: an ended key never comes back', async () => {
    await append(await revoke(world, bob.kid, 'removed'))
    const { store } = await learn(world, world.fresh(), [bob.kid])
    falsify(bob.kid, { status: 'active', end: null })
    const directory = await read(world, store, [bob.kid])
    expect(await refusal(() => remember(store, round(world, directory)))).toBe('log_rollback')
  })

  it('does not move: a key stays where it was added', async () => {
    const { store } = await learn(world, world.fresh(), [bob.kid])
    falsify(bob.kid, { added: kidStateOf(world, bob.kid).added + 1 })
    const directory = await read(world, store, [bob.kid])
    expect(await refusal(() => remember(store, round(world, directory)))).toBe('log_fork')
  })

  it('does not forget: caps that were set stay set', async () => {
    await append(await setCaps(world, bob.kid, ['member'], alice))
    const { store } = await learn(world, world.fresh(), [bob.kid])
    falsify(bob.kid, { capSets: [] })
    const directory = await read(world, store, [bob.kid])
    expect(await refusal(() => remember(store, round(world, directory)))).toBe('log_rollback')
  })

  it('does not shrink: a policy is never older', async () => {
    await append(await setPolicy(world, { rotationGraceMs: 1 }, alice))
    const { store } = await learn(world, world.fresh(), [])
    const genesis = { policyVersion: 1, policyHash: documentHash(world.genesis), indexes: [0] } as never
    world.host.appendFalse({ t: 'policy.set', d: [], updates: [{ name: 'policy', state: genesis }] }, [], world.now)
    const directory = await read(world, store)
    expect(await refusal(() => remember(store, round(world, directory)))).toBe('log_rollback')
  })
})
