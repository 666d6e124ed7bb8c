// Catches: a project answered with the wrong vaults, an older version, somebody else’s signature or another chain of admins.
// Seen red: `docHash`, version and id not compared; the signer judged by the admins after the leaf; pins not compared; the
// vaults of an answer compared by number only.
import { beforeEach, describe, expect, it } from 'vitest'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type ProjectState, projectName } from '../../src/log/state.ts'
import { deriveProjectId } from '../../src/vault/authority.ts'
import { projectAdmins, projectCreate, projectSet } from '../../src/vault/documents.ts'
import { ensureProjectVaults, type ProjectPin, type ProjectResponse, verifyProject } from '../../src/vault/project.ts'
import { openDirectory } from '../directory/full.ts'
import { refusal } from '../log/refusal.ts'
import { revoke, salt, sign } from '../transition/desk.ts'
import { openWorld, type World } from '../world/world.ts'

let world: World
let bob: Identity
let carol: Identity
let response: ProjectResponse
beforeEach(async () => {
  world = await openWorld()
  ;({ bob, carol } = world.actors)
  const create = await sign(world, projectCreate, { admins: [bob.key.principal], salt: salt() }, bob)
  const projectId = deriveProjectId(documentHash(create))
  const set = await version(projectId, { vaults: [world.prod, world.staging].sort() })
  await append(create, set)
  response = { projectId, create, adminsChain: [], set }
})
const append = async (...docs: readonly Envelope[]) => world.host.append(docs, world.now)
const stateOf = (projectId = response.projectId) => world.host.state(projectName(projectId)) as ProjectState | undefined
const version = (projectId: string, change: object, by: Identity = bob) => {
  const state = stateOf(projectId)
  const members = { slug: 'payments', name: 'Payments', status: 'active', vaults: [world.prod] }
  const step = { projectId, projectVersion: (state?.projectVersion ?? 0) + 1, prev: state?.docHash ?? '' }
  return sign(world, projectSet, { ...members, ...step, ...change } as never, by)
}
const next = async (change: object = {}, by: Identity = bob): Promise<void> => {
  const set = await version(response.projectId, change, by)
  await append(set)
  response = { ...response, set }
}
const verify = async (change: Partial<ProjectResponse> = {}, pin?: ProjectPin) =>
  verifyProject(await openDirectory(world), { ...response, ...change }, pin)
const codeOf = (change: Partial<ProjectResponse> = {}, pin?: ProjectPin) => refusal(() => verify(change, pin))

describe('a project', () => {
  it('is verified to the vaults its admins named, and only with exactly these', async () => {
    const project = await verify()
    expect(project.payload.vaults).toEqual([world.prod, world.staging].sort())
    const code = (...vaultIds: string[]) => refusal(() => ensureProjectVaults(project, vaultIds))
    expect(await code(world.prod, world.staging)).toBe('accepted')
    expect(await code(world.staging, world.prod)).toBe('accepted')
    expect(await code(world.prod)).toBe('project_mismatch')
    expect(await code(world.prod, world.prod)).toBe('project_mismatch')
    expect(await code(world.prod, world.staging, world.staging)).toBe('project_mismatch')
    expect(await code(world.prod, `v${'a'.repeat(32)}`)).toBe('project_mismatch')
  })

  it('is the version that the log names', async () => {
    const first = response.set
    await next({ vaults: [world.staging] })
    expect(await codeOf()).toBe('accepted')
    expect(await codeOf({ set: first })).toBe('project_mismatch')
    const never = await version(response.projectId, { vaults: [] })
    expect(await codeOf({ set: never })).toBe('project_mismatch')
  })

  it('is the one that was asked for', async () => {
    const create = await sign(world, projectCreate, { admins: [bob.key.principal], salt: salt() }, bob)
    const other = deriveProjectId(documentHash(create))
    const set = await version(other, {})
    await append(create, set)
    expect(await codeOf({ create, set })).toBe('vault_swap')
    expect(await codeOf({ set })).toBe('project_mismatch')
    expect(await codeOf({ projectId: `p${'a'.repeat(32)}` })).toBe('bad_map_proof')
    // A server that logs the other project’s document under this one’s name.
    const state = { ...(stateOf() as ProjectState), docHash: documentHash(set) } as never
    const updates = [{ name: projectName(response.projectId), state }]
    world.host.appendFalse({ t: 'project.commit', d: [], updates }, [], world.now)
    expect(await codeOf({ set })).toBe('project_mismatch')
  })

  it('does not go back, and does not split, for a client that has seen it', async () => {
    const { pin } = await verify()
    expect(await codeOf({}, pin)).toBe('accepted')
    await next()
    expect(await codeOf({}, pin)).toBe('accepted')
    const later = (await verify()).pin
    expect(await codeOf({}, { ...later, projectVersion: later.projectVersion + 1 })).toBe('project_rollback')
    expect(await codeOf({}, { ...later, docHash: documentHash(world.genesis) })).toBe('project_mismatch')
    expect(await codeOf({}, { ...later, adminsHash: documentHash(world.genesis) })).toBe('project_mismatch')
  })

  it('whose change claims to be older than a project without it is refused', async () => {
    const { pin } = await verify()
    await next()
    const state = stateOf() as ProjectState
    const false_ = { ...state, index: (pin.size as number) - 1 } as never
    const updates = [{ name: projectName(response.projectId), state: false_ }]
    world.host.appendFalse({ t: 'project.commit', d: [], updates }, [], world.now)
    expect(await codeOf({}, pin)).toBe('project_mismatch')
  })

  it('is signed by one of its admins at that leaf, and not by one who has gone', async () => {
    const admins = async (by: Identity, to: Identity) => {
      const state = stateOf() as ProjectState
      const step = { adminsVersion: state.adminsIndexes.length + 1, prev: state.adminsHash }
      return sign(world, projectAdmins, { projectId: response.projectId, admins: [to.key.principal], ...step }, by)
    }
    const handOver = await admins(bob, carol)
    const last = await version(response.projectId, {})
    await append(handOver, last)
    response = { ...response, adminsChain: [handOver], set: last }
    // Bob signed the leaf in which he left: that stays his.
    expect(await codeOf()).toBe('accepted')
    expect(await codeOf({ adminsChain: [] })).toBe('admin_chain')
    await next({}, carol)
    expect(await codeOf()).toBe('accepted')
    const forged = await version(response.projectId, {}, bob)
    falsely(forged)
    expect(await codeOf({ set: forged })).toBe('not_authorised')
  })
  /** A server in league with somebody logs a version that no rule accepts. */
  const falsely = (set: Envelope): void => {
    const state = stateOf() as ProjectState
    const next_ = {
      ...state,
      projectVersion: state.projectVersion + 1,
      docHash: documentHash(set),
      index: world.host.leaves.length,
    }
    const updates = [{ name: projectName(response.projectId), state: next_ as never }]
    world.host.appendFalse({ t: 'project.commit', d: [documentHash(set)], updates }, [set], world.now)
  }

  it('last signed by a key that is compromised now waits for another admin', async () => {
    await append(await revoke(world, bob.kid, 'compromised'))
    expect(await codeOf()).toBe('signer_compromised')
  })
})
