import type { ErrorCode } from '@strongroom/contract'
import { sql } from 'kysely'
import type { TxCtx } from '../context.ts'
import { ApiError, found } from '../errors.ts'
import type { VaultRole } from './vaults.ts'

// Who may touch a project. Only these functions make handles, and stores take nothing else.

declare const readable: unique symbol
/** A project whose access list names the caller. */
export interface ReadableProject {
  readonly [readable]: true
  readonly orgId: string
  readonly projectId: string
  readonly role: VaultRole
  readonly slug: string
  readonly name: string
  readonly status: 'active' | 'archived'
  readonly vaults: readonly string[]
  readonly projectVersion: number
  readonly docHash: string
}

declare const changeable: unique symbol
/** An active project that the caller is a signed admin of. */
export interface ChangeableProject extends ReadableProject {
  readonly [changeable]: true
}

export const PROJECT_ID = /^p[a-z2-7]{32}$/

/** By its id, or by its slug while it is active. What looks like an id is one: no slug has that form. */
export async function openProject(
  { db, principal }: TxCtx,
  ref: string,
  absent: ErrorCode = 'project_not_found',
): Promise<ReadableProject> {
  const named = PROJECT_ID.test(ref) ? sql`p.project_id = ${ref}` : sql`p.slug = ${ref} and p.status = 'active'`
  const { rows } = await sql<ReadableProject>`
    select p.org_id as "orgId", p.project_id as "projectId", a.role, p.slug, p.name, p.status, p.vaults,
      p.project_version as "projectVersion", p.doc_hash as "docHash"
    from project p join project_access a on a.org_id = p.org_id and a.project_id = p.project_id
    where p.org_id = ${principal.orgId} and a.principal = ${principal.id} and ${named}`.execute(db)
  return found(rows[0], absent)
}

/** Every change is signed by an admin, so the other roles only read. */
export function ensureChangeable(project: ReadableProject): ChangeableProject {
  if (project.role !== 'admin') throw new ApiError('project_access_denied', { details: { role: 'ADMIN' } })
  if (project.status !== 'active') throw new ApiError('project_archived')
  return project as ChangeableProject
}
