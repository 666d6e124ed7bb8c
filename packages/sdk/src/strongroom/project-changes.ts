import type { Project as ListedProject } from '@strongroom/contract'
import {
  deriveProjectId,
  documentHash,
  type Envelope,
  makeDocument,
  peekDocument,
  projectAdmins,
  projectCreate,
  projectSet,
  toBase64url,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor } from '../engine/actor.ts'
import { ApiError } from '../errors.ts'
import type { KeyedPlace } from './core.ts'
import { vaultIdOf } from './names.ts'
import { type ProjectRead, readProject } from './project-read.ts'
import type { Project, ProjectChange } from './projects.ts'

// Projects as their admins sign them.

export const listed = ({ projectId, slug, name, status, vaults, projectVersion }: ListedProject): Project => ({
  id: projectId,
  slug,
  name,
  status,
  vaultIds: vaults,
  version: projectVersion,
  isVerified: false,
})

export const projectOf = ({ verified: { projectId, payload } }: ProjectRead): Project => ({
  id: projectId,
  slug: payload.slug,
  name: payload.name,
  status: payload.status,
  vaultIds: payload.vaults,
  version: payload.projectVersion,
  isVerified: true,
})

export const openProject = async ({ actor, options }: KeyedPlace, asked: string): Promise<ProjectRead> => {
  const ask = (call: CallOptions): Promise<unknown> => actor.client.projects.get({ params: { id: asked } }, call)
  return (await readProject(actor, asked, { ask }, options)).project
}

export const getProject = async (place: KeyedPlace, asked: string): Promise<Project> =>
  projectOf(await openProject(place, asked))

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-+$/, '')

const vaultIdsOf = async (place: KeyedPlace, vaults: readonly string[]): Promise<readonly string[]> => {
  const ids: string[] = []
  for (const vault of vaults) ids.push(await vaultIdOf(place, vault))
  return [...new Set(ids)].sort()
}

const signedBy = (actor: Actor) => ({ org: actor.org, at: actor.now() })

/** The next signed version over the one in hand. */
export function nextSet(
  actor: Actor,
  { verified: { projectId, docHash, payload } }: ProjectRead,
  change: Partial<Pick<Project, 'name' | 'slug' | 'status'>> & { readonly vaults?: readonly string[] } = {},
): Promise<Envelope> {
  const { slug, name, status, vaults, projectVersion } = payload
  const content = { slug, name, status, vaults, ...change }
  const place = { projectId, projectVersion: projectVersion + 1, prev: docHash }
  return makeDocument(projectSet, { ...signedBy(actor), ...content, ...place }, [actor.identity])
}

/** Who administers a project now, and who said so. Peeked at only: all of the chain was verified when the project was read. */
export function lastAdmins({ create, adminsChain }: ProjectRead): {
  readonly admins: readonly string[]
  readonly by: string
} {
  const last = adminsChain.at(-1)
  return (last ? peekDocument(projectAdmins, last) : peekDocument(projectCreate, create)).payload
}

export const signedAdmins = (project: ProjectRead): readonly string[] => lastAdmins(project).admins

/** Other admins, signed by one of the admins before, and the project signed anew. */
export async function adminsDocuments(
  actor: Actor,
  project: ProjectRead,
  admins: readonly string[],
): Promise<Envelope[]> {
  const chain = [project.create, ...project.adminsChain]
  const place = {
    projectId: project.verified.projectId,
    adminsVersion: chain.length + 1,
    admins: [...admins].sort(),
    prev: documentHash(chain.at(-1) as Envelope),
  }
  const document = await makeDocument(projectAdmins, { ...signedBy(actor), ...place }, [actor.identity])
  return [document, await nextSet(actor, project)]
}

const MAX_TRIES = 4

interface Change {
  sign(project: ProjectRead): Promise<Envelope>
  send(id: string, docs: Envelope[], call: CallOptions): Promise<unknown>
}

/** Reads, signs and sends; again on top of whatever somebody else has signed meanwhile. */
async function change(place: KeyedPlace, asked: string, { sign, send }: Change): Promise<Project> {
  const { actor, options } = place
  for (let tries = 1; ; tries += 1) {
    const project = await openProject(place, asked)
    const { projectId } = project.verified
    const docs = [await sign(project)]
    const idempotencyKey = crypto.randomUUID()
    const ask = (call: CallOptions): Promise<unknown> => send(projectId, docs, { ...call, idempotencyKey })
    try {
      return projectOf((await readProject(actor, projectId, { ask, isWrite: true }, options)).project)
    } catch (error) {
      const isOvertaken = error instanceof ApiError && error.code === 'project_conflict'
      if (!isOvertaken || tries >= MAX_TRIES) throw error
    }
  }
}

export async function createProject(
  place: KeyedPlace,
  given: ProjectChange & { readonly name: string },
): Promise<Project> {
  const { actor, options } = place
  const { name, slug = slugOf(given.name), vaults = [] } = given
  const vaultIds = await vaultIdsOf(place, vaults)
  const salt = toBase64url(crypto.getRandomValues(new Uint8Array(16)))
  const members = { ...signedBy(actor), admins: [actor.identity.key.principal], salt }
  const created = await makeDocument(projectCreate, members, [actor.identity])
  const projectId = deriveProjectId(documentHash(created))
  const content = { slug, name, status: 'active' as const, vaults: vaultIds }
  const first = { ...signedBy(actor), ...content, projectId, projectVersion: 1, prev: '' }
  const docs = [created, await makeDocument(projectSet, first, [actor.identity])]
  const idempotencyKey = crypto.randomUUID()
  const ask = (call: CallOptions): Promise<unknown> =>
    actor.client.projects.create({ body: { docs } }, { ...call, idempotencyKey })
  return projectOf((await readProject(actor, projectId, { ask, isWrite: true }, options)).project)
}

export async function updateProject(
  place: KeyedPlace,
  asked: string,
  { name, slug, vaults }: ProjectChange,
): Promise<Project> {
  const { actor } = place
  const ids = vaults && (await vaultIdsOf(place, vaults))
  const next = {
    ...(name !== undefined && { name }),
    ...(slug !== undefined && { slug }),
    ...(ids && { vaults: ids }),
  }
  return change(place, asked, {
    sign: (project) => nextSet(actor, project, next),
    send: (id, docs, call) => actor.client.projects.update({ params: { id }, body: { docs } }, call),
  })
}

export async function archiveProject(place: KeyedPlace, asked: string): Promise<void> {
  await change(place, asked, {
    sign: (project) => nextSet(place.actor, project, { status: 'archived' }),
    send: (id, docs, call) => place.actor.client.projects.archive({ params: { id }, body: { docs } }, call),
  })
}
