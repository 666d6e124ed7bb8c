import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { type ProjectState, projectName } from '../../src/log/state.ts'
import { deriveProjectId } from '../../src/vault/authority.ts'
import type { World } from '../../test/world/world.ts'
import { SALT, sign } from './chronicle.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { trustOf } from './read-desk.ts'
import { fixedWorld, lie } from './world-desk.ts'

// Section 4.7 for readers: a bundle of vaults is the one its project names, or it is refused.

interface Desk {
  readonly world: World
  readonly projectId: string
  readonly create: Envelope
  readonly first: Envelope
  readonly set: Envelope
}

const setOf = (world: World, projectId: string, by: keyof World['actors'], change: object): Promise<Envelope> => {
  const members = { projectId, slug: 'payments', name: 'Payments', status: 'active', vaults: [world.prod] }
  return sign('project.set', { ...members, projectVersion: 1, prev: '', ...change }, world.actors[by])
}

async function openDesk(): Promise<Desk> {
  const world = await fixedWorld()
  const create = await sign('project.create', { admins: ['user:ou_alice'], salt: SALT }, world.actors.alice)
  const projectId = deriveProjectId(documentHash(create))
  const first = await setOf(world, projectId, 'alice', {})
  await world.host.append([create, first], world.now)
  const vaults = [world.prod, world.staging].sort()
  const set = await setOf(world, projectId, 'alice', { projectVersion: 2, prev: documentHash(first), vaults })
  await world.host.append([set], world.now)
  return { world, projectId, create, first, set }
}

/** A directory with the state of the project, as a bundle brings it. */
const answerOf = ({ world, projectId }: Desk): Promise<object> =>
  world.vaultAnswer(world.prod, { names: [projectName(projectId)] })

/** The server logs a project that its admins did not set. */
async function forged(desk: Desk): Promise<{ answer: object; set: Envelope }> {
  const { world, projectId } = desk
  const before = world.host.state(projectName(projectId)) as ProjectState
  const set = await setOf(world, projectId, 'bob', { projectVersion: 3, prev: before.docHash, vaults: [world.staging] })
  const state = { ...before, projectVersion: 3, docHash: documentHash(set), index: world.host.leaves.length }
  lie(world, { t: 'project.commit', docs: [set], updates: [{ name: projectName(projectId), state }] })
  return { answer: await answerOf(desk), set }
}

function casesOf(desk: Desk, lied: Envelope): VectorCase[] {
  const { world, projectId, create, first, set } = desk
  const { docHash, adminsHash, projectVersion } = world.host.state(projectName(projectId)) as ProjectState
  const pin = { projectVersion, docHash, adminsHash, size: world.host.leaves.length }
  const vaults = [world.prod, world.staging].sort()
  const input = { answer: 'current', projectId, create, adminsChain: [], set, vaults }
  const no = (name: string, code: ProtocolErrorCode, change: object) =>
    refuses('bundle', name, code, { ...input, ...change })
  return [
    accepts('bundle', 'a project with its two vaults', input, { projectVersion: 2, vaults }),
    accepts('bundle', 'with memory of it', { ...input, pin }, { projectVersion: 2, vaults }),
    no('a vault left out', 'project_mismatch', { vaults: [world.prod] }),
    no('a vault added', 'project_mismatch', { vaults: [...vaults, `v${'a'.repeat(32)}`] }),
    no('a vault in place of another', 'project_mismatch', { vaults: [world.prod, `v${'a'.repeat(32)}`] }),
    no('an older version', 'project_mismatch', { set: first }),
    no('a project older than one seen before', 'project_rollback', { pin: { ...pin, projectVersion: 3 } }),
    no('another project of a version seen before', 'project_mismatch', { pin: { ...pin, docHash: 'A'.repeat(43) } }),
    no('another project', 'bad_map_proof', { projectId: `p${'a'.repeat(32)}` }),
    no('the creation of something else', 'wrong_type', { create: set }),
    no('a further admin document', 'admin_chain', { adminsChain: [set] }),
    no('a project without signature', 'missing_signature', { set: { ...set, signatures: [] } }),
    no('a project set by somebody who does not administer it', 'not_authorised', {
      answer: 'forged',
      set: lied,
      vaults: [world.staging],
    }),
  ]
}

export async function makeProjectBundle(): Promise<VectorFile> {
  const desk = await openDesk()
  const current = await answerOf(desk)
  const other = await openDesk()
  const { answer, set } = await forged(other)
  return {
    vectors: 'project-bundle',
    section: '4.7',
    comment:
      'A project as an answer brings it, and the vaults that were answered for it. `given.answers` carry the directory; what the reader has pinned is `given.trust`.',
    given: { trust: trustOf(desk.world), answers: { current, forged: answer } },
    cases: casesOf(desk, set),
  }
}
