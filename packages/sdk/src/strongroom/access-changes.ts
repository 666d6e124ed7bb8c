import type { AclEntry } from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import { changeAccess } from '../engine/access.ts'
import { listOf, membersOf, refuseUnless } from '../engine/answers.ts'
import { ApiError } from '../errors.ts'
import type { KeyedPlace } from './core.ts'
import { vaultIdOf, verifiedVault } from './names.ts'
import type { AccessEntry, AccessOptions, AccessTarget, Next } from './permissions.ts'
import { adminsDocuments, signedAdmins } from './project-changes.ts'
import { type ProjectQuestion, type ProjectRead, readProject } from './project-read.ts'
import { roleName, roleOf } from './vault-reads.ts'

// A list of who has access is replaced as a whole; one entry more or less is a change of the list in force.

const entryOf = ({ p, role }: AclEntry): AccessEntry => ({ principal: p, role: roleName(role) })
const aclOf = ({ principal, role }: AccessEntry): AclEntry => ({ p: principal, role: roleOf(role) })

export async function listEntries(place: KeyedPlace, target: AccessTarget): Promise<readonly AccessEntry[]> {
  const { actor, options } = place
  if ('vault' in target) return (await verifiedVault(place, target.vault)).access.map(entryOf)
  if ('item' in target) return (await actor.client.permissions.item({ params: { id: target.item } }, options)).data
  return (await currentList(place, target.project)).entries
}

export async function changeEntries(
  place: KeyedPlace,
  target: AccessTarget,
  next: Next,
  { allowSelfRemoval = false, deferRotation = false }: AccessOptions,
): Promise<readonly AccessEntry[]> {
  if ('item' in target) return changeItem(place, target.item, next, allowSelfRemoval)
  if ('project' in target) return changeProject(place, target.project, next, allowSelfRemoval)
  const { actor, options } = place
  const vaultId = await vaultIdOf(place, target.vault)
  const { head } = await changeAccess(actor, vaultId, (acl) => next(acl.map(entryOf)).map(aclOf), {
    ...options,
    allowSelfRemoval,
    deferRotation,
  })
  return head.vault.acl.acl.map(entryOf)
}

const MAX_TRIES = 4

/** Read, change, replace; again if somebody else was quicker. */
async function replacing<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await work()
    } catch (error) {
      const isOvertaken =
        error instanceof ApiError && (error.code === 'etag_mismatch' || error.code === 'project_conflict')
      if (!isOvertaken || tries >= MAX_TRIES) throw error
    }
}

const removal = (allowSelfRemoval: boolean): { allowSelfRemoval?: boolean } =>
  allowSelfRemoval ? { allowSelfRemoval } : {}

function changeItem(
  { scope, options }: KeyedPlace,
  id: string,
  next: Next,
  allowSelfRemoval: boolean,
): Promise<readonly AccessEntry[]> {
  return replacing(async () => {
    const { data, etag } = await scope.client.permissions.item({ params: { id } }, options)
    const input = { params: { id }, query: removal(allowSelfRemoval), body: { entries: [...next(data)] } }
    return (await scope.matching(etag).permissions.setItem(input, options)).data
  })
}

const adminsIn = (entries: readonly AccessEntry[]): readonly string[] =>
  entries.filter(({ role }) => role === 'ADMIN').map(({ principal }) => principal)

function sameAdmins(some: readonly string[], others: readonly string[]): boolean {
  const [one, other] = [new Set(some), new Set(others)]
  return one.size === other.size && [...one].every((principal) => other.has(principal))
}

interface ProjectList {
  readonly project: ProjectRead
  readonly entries: readonly AccessEntry[]
  readonly etag: string
}

/** Who reads and writes is the server's say. Its ADMINs are those of the signed chain in the same answer, or all of it is refused. */
async function readList(
  { actor, options }: KeyedPlace,
  asked: string,
  question: Pick<ProjectQuestion<undefined>, 'ask' | 'isWrite'>,
): Promise<ProjectList> {
  const entriesOf = (answer: unknown) => listOf(membersOf(answer, 'answer').data, 'data') as readonly AccessEntry[]
  const check: ProjectQuestion<undefined>['check'] = async (answer, project) => {
    const isSigned = sameAdmins(adminsIn(entriesOf(answer)), signedAdmins(project))
    const { projectId } = project.verified
    refuseUnless(isSigned, 'acl_mismatch', 'the list has other ADMINs than the project is signed with', { projectId })
    return { rounds: [], rest: undefined }
  }
  const reread = (call: CallOptions) => actor.client.projects.permissions({ params: { id: asked } }, call)
  const { project, answer } = await readProject(actor, asked, { ...question, reread, check }, options)
  return { project, entries: entriesOf(answer), etag: String(membersOf(answer, 'answer').etag) }
}

const currentList = (place: KeyedPlace, asked: string): Promise<ProjectList> =>
  readList(place, asked, { ask: (call) => place.actor.client.projects.permissions({ params: { id: asked } }, call) })

/** The same list, with the project and who administers it signed anew if `approve` does not throw. */
export const renewProject = async (
  place: KeyedPlace,
  projectId: string,
  approve: (project: ProjectRead) => Promise<void>,
): Promise<void> => {
  await changeProject(place, projectId, (current) => current, false, approve)
}

function changeProject(
  place: KeyedPlace,
  asked: string,
  next: Next,
  allowSelfRemoval: boolean,
  renew?: (project: ProjectRead) => Promise<void>,
): Promise<readonly AccessEntry[]> {
  const { actor, scope } = place
  return replacing(async () => {
    const { project, entries: current, etag } = await currentList(place, asked)
    const entries = [...next(current)]
    const [before, after] = [signedAdmins(project), adminsIn(entries)]
    await renew?.(project)
    const isSigned = !renew && (sameAdmins(before, after) || after.length === 0)
    const docs = isSigned ? undefined : await adminsDocuments(actor, project, after)
    const { projectId } = project.verified
    const input = {
      params: { id: projectId },
      query: removal(allowSelfRemoval),
      body: { entries, ...(docs && { docs }) },
    }
    const idempotencyKey = crypto.randomUUID()
    const ask: ProjectQuestion<undefined>['ask'] = (call) =>
      scope.matching(etag).projects.setPermissions(input, { ...call, idempotencyKey })
    return (await readList(place, projectId, { ask, isWrite: true })).entries
  })
}
