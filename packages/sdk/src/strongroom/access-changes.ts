import type { AclEntry } from '@strongroom/protocol'
import { changeAccess } from '../engine/access.ts'
import { ApiError } from '../errors.ts'
import type { KeyedPlace } from './core.ts'
import { vaultIdOf, verifiedVault } from './names.ts'
import type { AccessEntry, AccessOptions, AccessTarget, Next } from './permissions.ts'
import { adminsDocuments, openProject } from './project-changes.ts'
import { roleName, roleOf } from './vaults.ts'

// A list of who has access is replaced as a whole; one entry more or less is a change of the list in force.

const entryOf = ({ p, role }: AclEntry): AccessEntry => ({ principal: p, role: roleName(role) })
const aclOf = ({ principal, role }: AccessEntry): AclEntry => ({ p: principal, role: roleOf(role) })

export async function listEntries(place: KeyedPlace, target: AccessTarget): Promise<readonly AccessEntry[]> {
  const { actor, options } = place
  if ('vault' in target) return (await verifiedVault(place, target.vault)).access.map(entryOf)
  if ('item' in target) return (await actor.client.permissions.item({ params: { id: target.item } }, options)).data
  const { verified } = await openProject(place, target.project)
  return (await actor.client.projects.permissions({ params: { id: verified.projectId } }, options)).data
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

function changeProject(
  place: KeyedPlace,
  asked: string,
  next: Next,
  allowSelfRemoval: boolean,
): Promise<readonly AccessEntry[]> {
  const { actor, scope, options } = place
  const adminsIn = (entries: readonly AccessEntry[]): string[] =>
    entries.filter(({ role }) => role === 'ADMIN').map(({ principal }) => principal)
  return replacing(async () => {
    const project = await openProject(place, asked)
    const params = { id: project.verified.projectId }
    const { data, etag } = await scope.client.projects.permissions({ params }, options)
    const entries = [...next(data)]
    const [before, after] = [adminsIn(data).sort(), adminsIn(entries).sort()]
    const isSame = before.length === after.length && before.every((one, i) => one === after[i])
    const docs = isSame || after.length === 0 ? undefined : await adminsDocuments(actor, project, after)
    const body = { entries, ...(docs && { docs }) }
    const input = { params, query: removal(allowSelfRemoval), body }
    return (await scope.matching(etag).projects.setPermissions(input, options)).data
  })
}
