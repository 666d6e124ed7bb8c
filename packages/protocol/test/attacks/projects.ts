import { documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import { kidName, type ProjectState, projectName } from '../../src/log/state.ts'
import { orgTrustOf } from '../../src/trust/store.ts'
import { projectAdmins, projectCreate, projectSet } from '../../src/vault/documents.ts'
import {
  ensureProjectVaults,
  type ProjectResponse,
  type VerifiedProject,
  verifyProject,
} from '../../src/vault/project.ts'
import { createProject, makeProjectChange, projectStateOf, revokeKey } from '../world/acts.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Bench, Client, Honest } from './attack.ts'
import { withKid } from './directory.ts'
import { alterState, forge, logged, tamper } from './powers.ts'

// Row 27: the production environment answered with the vault of another project, every document of it valid.

interface ProjectAnswer extends ProjectResponse {
  /** The vaults whose environments come with it. */
  readonly vaults: readonly string[]
}

function projectAnswer(world: World, projectId: string): ProjectAnswer {
  const { adminsHash, docHash } = projectStateOf(world, projectId)
  const chain: Envelope[] = []
  let envelope = logged(world, adminsHash)
  while (envelope.payloadType.includes('project.admins')) {
    chain.unshift(envelope)
    envelope = logged(world, (JSON.parse(atob(envelope.payload)) as { prev: string }).prev)
  }
  return { projectId, create: envelope, adminsChain: chain, set: logged(world, docHash), vaults: [world.prod] }
}

/** Reads a project: the signed association, then exactly its vaults. */
async function readProject(
  world: World,
  client: Client,
  { vaults, ...response }: ProjectAnswer,
): Promise<VerifiedProject> {
  const { alice, bob, dave } = world.actors
  const have = orgTrustOf(client.store, ORG).checkpoint ? { have: world.trust(client.store).log.seen?.size ?? 0 } : {}
  const names = [projectName(response.projectId), ...[alice, bob, dave].map(({ kid }) => kidName(kid))]
  const proven = await world.answer(world.prod, world.actors.deploy, { names, ...have })
  const { records } = await withKid(world, bob.kid, dave.kid)
  const { vault, ...head } = await client.head(
    tamper(proven, (copy) => {
      copy.records = structuredClone(records) as never
    }),
  )
  const pin = orgTrustOf(client.store, ORG).projects[response.projectId]
  const project = await verifyProject(vault.directory, response, pin)
  ensureProjectVaults(project, vaults)
  client.remember({ directory: vault.directory, heads: [{ vault, ...head } as never], projects: [project] })
  client.release(project.payload.name)
  return project
}

export const read = (world: World, { client }: Bench, projectId: string, change: Partial<ProjectAnswer> = {}) =>
  readProject(world, client, { ...projectAnswer(world, projectId), ...change })

const paymentsOf = (world: World): Promise<string> => createProject(world, [world.prod], world.actors.alice)

/** A project document that a colluding server logs, whoever signed it. */
export function logProject(world: World, projectId: string, set: Envelope, change: Partial<ProjectState> = {}): void {
  const { projectVersion } = projectStateOf(world, projectId)
  const step = { projectVersion: projectVersion + 1, docHash: documentHash(set), index: world.host.leaves.length }
  alterState<ProjectState>(world, projectName(projectId), { ...step, ...change }, [set])
}

export const nextSet = async (
  world: World,
  projectId: string,
  vaults: readonly string[],
  signer: Signer,
): Promise<Envelope> => {
  const [set] = await makeProjectChange(world, projectId, { vaults }, signer)
  return set as Envelope
}

export const PROJECTS_HONEST: readonly Honest[] = [
  {
    id: 'projects-honest-handover',
    theme: 'projects',
    title: 'a project whose admins and vaults change is read, with memory',
    run: async (world, bench) => {
      const { alice, dave } = world.actors
      const projectId = await paymentsOf(world)
      await read(world, bench, projectId)
      const change = { admins: ['user:ou_dave'], vaults: [world.prod, world.staging] }
      await world.host.append(await makeProjectChange(world, projectId, change, alice), world.now)
      await world.host.append(await makeProjectChange(world, projectId, {}, dave), world.now)
      await read(world, bench, projectId, { vaults: [world.staging, world.prod] })
    },
  },
]

export const PROJECTS: readonly Attack[] = [
  {
    id: 'project-other-vault',
    row: 27,
    title: 'the vaults of another project',
    code: 'project_mismatch',
    run: async (world, bench) => read(world, bench, await paymentsOf(world), { vaults: [world.staging] }),
  },
  {
    id: 'project-vault-left-out',
    row: 27,
    title: 'one vault of the project left out',
    code: 'project_mismatch',
    run: async (world, bench) => read(world, bench, await paymentsOf(world), { vaults: [] }),
  },
  {
    id: 'project-set-of-other-project',
    row: 27,
    title: 'the signed list of another project, logged as that of this one',
    code: 'project_mismatch',
    run: async (world, bench) => {
      const projectId = await paymentsOf(world)
      const set = await forge(
        projectSet,
        await nextSet(world, projectId, [world.prod], world.actors.alice),
        { projectId: `p${'a'.repeat(32)}` },
        world.actors.alice,
      )
      logProject(world, projectId, set)
      return read(world, bench, projectId)
    },
  },
  {
    id: 'project-set-not-logged',
    row: 27,
    title: 'a list of vaults that the log does not know',
    code: 'project_mismatch',
    run: async (world, bench) => {
      const projectId = await paymentsOf(world)
      const set = await nextSet(world, projectId, [world.staging], world.actors.alice)
      return read(world, bench, projectId, { set, vaults: [world.staging] })
    },
  },
  {
    id: 'project-by-member',
    row: 27,
    title: 'a list of vaults signed by a member who does not administer the project',
    code: 'not_authorised',
    run: async (world, bench) => {
      const projectId = await paymentsOf(world)
      logProject(world, projectId, await nextSet(world, projectId, [world.staging], world.actors.bob))
      return read(world, bench, projectId, { vaults: [world.staging] })
    },
  },
  {
    id: 'project-by-compromised-admin',
    row: 16,
    title: 'a list of vaults signed by a key that is known to be compromised',
    code: 'signer_compromised',
    run: async (world, bench) => {
      const { alice, dave } = world.actors
      const projectId = await createProject(world, [world.prod], dave)
      await revokeKey(world, dave.kid, 'compromised', alice)
      return read(world, bench, projectId)
    },
  },
  {
    id: 'project-other-creation',
    row: 27,
    title: 'a project of the server’s making under the id of a real one',
    code: 'vault_swap',
    run: async (world, bench) => {
      const { bob } = world.actors
      const projectId = await paymentsOf(world)
      const create = await forge(
        projectCreate,
        projectAnswer(world, projectId).create,
        { admins: ['user:ou_bob1'] },
        bob,
      )
      return read(world, bench, projectId, { create })
    },
  },
  {
    id: 'project-chain-of-other-project',
    row: 27,
    title: 'the admin document of another project',
    code: 'vault_swap',
    run: async (world, bench) => {
      const { alice } = world.actors
      const projectId = await paymentsOf(world)
      const { adminsHash, adminsIndexes } = projectStateOf(world, projectId)
      const members = { projectId: `p${'a'.repeat(32)}`, adminsVersion: 2, admins: ['user:ou_bob1'], prev: adminsHash }
      const admins = await makeDocument(projectAdmins, { org: ORG, at: world.now, ...members }, [alice])
      const chain = { adminsHash: documentHash(admins), adminsIndexes: [...adminsIndexes, world.host.leaves.length] }
      alterState<ProjectState>(world, projectName(projectId), chain, [admins])
      return read(world, bench, projectId)
    },
  },
  {
    id: 'project-unproven',
    row: 27,
    title: 'a project of which the log knows nothing',
    code: 'bad_map_proof',
    run: async (world, bench) => {
      const projectId = await paymentsOf(world)
      const answer = projectAnswer(world, projectId)
      return readProject(world, bench.client, { ...answer, projectId: `p${'a'.repeat(32)}` })
    },
  },
  {
    id: 'project-rolled-back',
    row: 6,
    title: 'an older list of vaults, to a client that has seen the newer one',
    code: 'project_rollback',
    run: async (world, bench) => {
      const { alice } = world.actors
      const projectId = await paymentsOf(world)
      const older = projectStateOf(world, projectId)
      await world.host.append([await nextSet(world, projectId, [world.prod, world.staging], alice)], world.now)
      await remembering(world, bench, projectId, [world.prod, world.staging])
      alterState<ProjectState>(world, projectName(projectId), older)
      return read(world, bench, projectId)
    },
  },
  {
    id: 'project-forked',
    row: 8,
    title: 'another list of vaults of the version the client has seen',
    code: 'project_mismatch',
    run: async (world, bench) => {
      const { alice } = world.actors
      const projectId = await paymentsOf(world)
      const { docHash } = projectStateOf(world, projectId)
      await remembering(world, bench, projectId, [world.prod])
      const other = await forge(projectSet, logged(world, docHash), { vaults: [world.staging] }, alice)
      alterState<ProjectState>(world, projectName(projectId), { docHash: documentHash(other) }, [other])
      return read(world, bench, projectId, { vaults: [world.staging] })
    },
  },
  {
    id: 'project-dated-back',
    row: 27,
    title: 'a list of vaults by a former admin, dated back to when he was one',
    code: 'project_mismatch',
    run: async (world, bench) => {
      const { dave } = world.actors
      const projectId = await createProject(world, [world.prod], dave)
      const { index } = projectStateOf(world, projectId)
      await world.host.append(await makeProjectChange(world, projectId, { admins: ['user:ou_alice'] }, dave), world.now)
      await remembering(world, bench, projectId, [world.prod])
      logProject(world, projectId, await nextSet(world, projectId, [world.staging], dave), { index: index + 1 })
      return read(world, bench, projectId, { vaults: [world.staging] })
    },
  },
  {
    id: 'project-admin-chain-forked',
    row: 27,
    title: 'a former admin who signs another successor of the set he was in',
    code: 'project_mismatch',
    run: async (world, bench) => {
      const { dave } = world.actors
      const projectId = await createProject(world, [world.prod], dave)
      const [set, takeover] = await makeProjectChange(
        world,
        projectId,
        { admins: ['user:ou_dave', 'user:ou_mallory'] },
        dave,
      )
      await world.host.append(await makeProjectChange(world, projectId, { admins: ['user:ou_alice'] }, dave), world.now)
      await remembering(world, bench, projectId, [world.prod])
      const newer = await forge(projectSet, set as Envelope, { projectVersion: 3 }, dave)
      const { adminsIndexes } = projectStateOf(world, projectId)
      const chain = { adminsHash: documentHash(takeover as Envelope), adminsIndexes }
      logProject(world, projectId, newer, chain)
      alterState<ProjectState>(world, projectName(projectId), {}, [takeover as Envelope])
      return read(world, bench, projectId)
    },
  },
]

/** The client reads the project, and from now on has memory of it. */
export async function remembering(
  world: World,
  bench: Bench,
  projectId: string,
  vaults: readonly string[],
): Promise<void> {
  await read(world, bench, projectId, { vaults })
  await bench.client.learn()
}
