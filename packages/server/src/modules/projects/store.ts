import { type Expression, sql } from 'kysely'
import type { ChangeableProject, ReadableProject } from '../../access/projects.ts'
import type { VaultRole } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'

export interface ProjectRow {
  readonly projectId: string
  readonly tenantId: string
  readonly slug: string
  readonly name: string
  readonly status: 'active' | 'archived'
  /** Null for somebody who has just left the access list by an own change. */
  readonly role: VaultRole | null
  readonly vaults: string[]
  readonly projectVersion: number
  readonly createdBy: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface Caller {
  readonly orgId: string
  readonly principal: string
}

const selectRows = (db: Db, { orgId, principal }: Caller) =>
  db
    .selectFrom('project as p')
    .leftJoin('project_access as a', (join) =>
      join
        .onRef('a.org_id', '=', 'p.org_id')
        .onRef('a.project_id', '=', 'p.project_id')
        .on('a.principal', '=', principal),
    )
    .select([
      'p.project_id as projectId',
      'p.tenant_id as tenantId',
      'p.slug',
      'p.name',
      sql<ProjectRow['status']>`p.status`.as('status'),
      sql<ProjectRow['role']>`a.role`.as('role'),
      'p.vaults',
      'p.project_version as projectVersion',
      'p.created_by as createdBy',
      'p.created_at as createdAt',
      'p.updated_at as updatedAt',
    ])
    .where('p.org_id', '=', orgId)

export const list = (db: Db, caller: Caller, page: PageQuery): Promise<Listed<ProjectRow>> => {
  const select: Expression<ProjectRow> = selectRows(db, caller).where('a.role', 'is not', null)
  return listRows(db, select, { time: 'createdAt', id: 'projectId' }, page)
}

export type Place = Pick<ReadableProject, 'orgId' | 'projectId'>

export const project = (db: Db, caller: Caller, { projectId }: Place): Promise<ProjectRow> =>
  selectRows(db, caller).where('p.project_id', '=', projectId).executeTakeFirstOrThrow()

/** The documents that are current: the admin chain, the creation first, and the project.set. */
export const currentHashes = (
  db: Db,
  { orgId, projectId }: Place,
): Promise<{ adminsChain: string[]; setHash: string }> =>
  db
    .selectFrom('project')
    .select(['admins_chain as adminsChain', 'doc_hash as setHash'])
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()

export async function isSlugTaken(db: Db, orgId: string, slug: string): Promise<boolean> {
  const row = await db
    .selectFrom('project')
    .select('project_id')
    .where('org_id', '=', orgId)
    .where('slug', '=', slug)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return row !== undefined
}

/** What a project.set says. */
export interface Content {
  readonly slug: string
  readonly name: string
  readonly status: 'active' | 'archived'
  readonly vaults: readonly string[]
  readonly projectVersion: number
  readonly docHash: string
}

const columnsOf = ({ slug, name, status, vaults, projectVersion, docHash }: Content) => ({
  slug,
  name,
  status,
  vaults: [...vaults],
  project_version: projectVersion,
  doc_hash: docHash,
})

export interface NewProject extends Content {
  readonly orgId: string
  readonly projectId: string
  readonly tenantId: string
  readonly createHash: string
  readonly createdBy: string
  readonly at: Date
}

export async function insertProject(db: Db, made: NewProject): Promise<void> {
  await db
    .insertInto('project')
    .values({
      ...columnsOf(made),
      org_id: made.orgId,
      project_id: made.projectId,
      tenant_id: made.tenantId,
      admins_chain: [made.createHash],
      created_by: made.createdBy,
      created_at: made.at,
      updated_at: made.at,
    })
    .execute()
}

/** The next project.set, and the next document of the admin chain if there is one. */
export async function updateProject(
  db: Db,
  { orgId, projectId }: ChangeableProject,
  { at, adminsHash, ...content }: Content & { readonly at: Date; readonly adminsHash: string | undefined },
): Promise<void> {
  await db
    .updateTable('project')
    .set({
      ...columnsOf(content),
      admins_chain: sql`admins_chain || ${adminsHash === undefined ? [] : [adminsHash]}::text[]`,
      updated_at: at,
    })
    .where('org_id', '=', orgId)
    .where('project_id', '=', projectId)
    .execute()
}

export interface Entry {
  readonly principal: string
  readonly role: VaultRole
}

export const entries = async (db: Db, { orgId, projectId }: Place): Promise<Entry[]> =>
  (
    await sql<Entry>`
      select principal, role from project_access
      where org_id = ${orgId} and project_id = ${projectId} order by principal`.execute(db)
  ).rows

export async function replaceEntries(db: Db, { orgId, projectId }: Place, listed: readonly Entry[]): Promise<void> {
  await sql`delete from project_access where org_id = ${orgId} and project_id = ${projectId}`.execute(db)
  await sql`
    insert into project_access (org_id, project_id, principal, role)
    select ${orgId}, ${projectId}, * from unnest(
      ${listed.map(({ principal }) => principal)}::text[], ${listed.map(({ role }) => role)}::text[])`.execute(db)
}

/** The active keys of these principals, as the log has them. */
export const activeKids = async (
  db: Db,
  orgId: string,
  principals: readonly string[],
): Promise<{ kid: string; owner: string }[]> =>
  (
    await sql<{ kid: string; owner: string }>`
      select substr(name, 5) as kid, principal as owner from map_state
      where org_id = ${orgId} and principal = any(${[...principals]}::text[]) and state ->> 'status' = 'active'`.execute(
      db,
    )
  ).rows

/** Those that are nobody of this organisation, or no longer. */
export const unknownPrincipals = async (db: Db, orgId: string, principals: readonly string[]): Promise<string[]> =>
  (
    await sql<{ principal: string }>`
      select principal from unnest(${[...principals]}::text[]) as asked (principal)
      where not exists (
          select 1 from org_user u where u.org_id = ${orgId} and 'user:' || u.user_id = principal and u.status <> 'removed')
        and not exists (
          select 1 from agent a where a.org_id = ${orgId} and 'agent:' || a.agent_id = principal and a.status = 'active')
      order by principal`.execute(db)
  ).rows.map(({ principal }) => principal)
