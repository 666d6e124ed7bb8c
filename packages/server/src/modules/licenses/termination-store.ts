import type { Termination } from '@strongroom/contract'
import { sql, type Updateable } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { LicenseTerminationTable } from '../../db/schema.ts'
import { dueAt } from './due-store.ts'
import { notBusy } from './instance-store.ts'
import { insertTransition } from './transition-store.ts'

export type TerminationState = Termination['status']

export interface TerminationRow {
  readonly orgId: string
  readonly terminationId: string
  readonly instanceId: string
  readonly principal: string
  readonly effective: 'immediate' | 'period_end'
  readonly asked: 'immediate' | 'period_end'
  readonly fallback: 'period_end' | null
  readonly state: TerminationState
  readonly reason: string | null
  readonly version: number
  readonly attempts: number
  readonly refundable: string | null
  readonly refund: string | null
  readonly effectiveAt: Date | null
  readonly earliestAt: Date | null
  /** The one that was asked for instead. */
  readonly replacedBy: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const COLUMNS = sql`org_id as "orgId", termination_id as "terminationId", instance_id as "instanceId", principal, effective, asked,
  fallback, state, reason, version, attempts, refundable::text as refundable, refund::text as refund, effective_at as "effectiveAt",
  earliest_at as "earliestAt", replaced_by as "replacedBy", created_at as "createdAt", updated_at as "updatedAt"`

export type NewTermination = Pick<
  TerminationRow,
  'orgId' | 'terminationId' | 'instanceId' | 'principal' | 'effective' | 'fallback'
> & { readonly note: string | null }

/** Undefined if one runs already. */
export async function insertTermination(
  db: Db,
  termination: NewTermination,
  at: Date,
): Promise<TerminationRow | undefined> {
  const t = termination
  const { rows } = await sql<TerminationRow>`
    insert into license_termination (org_id, termination_id, instance_id, principal, effective, asked, fallback, note, state, next_at,
      created_at, updated_at)
    values (${t.orgId}, ${t.terminationId}, ${t.instanceId}, ${t.principal}, ${t.effective}, ${t.effective}, ${t.fallback}, ${t.note},
      'requested', ${at}, ${at}, ${at})
    on conflict do nothing
    returning ${COLUMNS}`.execute(db)
  const [made] = rows
  const step = { seq: 1, from: null, to: 'requested', cause: 'requested', actor: t.principal, at }
  if (made) await insertTransition(db, t.orgId, t.terminationId, step)
  return made
}

export async function termination(db: Db, orgId: string, id: string): Promise<TerminationRow | undefined> {
  const { rows } = await sql<TerminationRow>`
    select ${COLUMNS} from license_termination where org_id = ${orgId} and termination_id = ${id}`.execute(db)
  return rows[0]
}

/** The one that has not ended and was not replaced: there is one at most. */
export async function runningTermination(
  db: Db,
  orgId: string,
  instanceId: string,
): Promise<TerminationRow | undefined> {
  const { rows } = await sql<TerminationRow>`
    select ${COLUMNS} from license_termination
    where org_id = ${orgId} and instance_id = ${instanceId} and state <> 'completed'
      and replaced_by is null`.execute(db)
  return rows[0]
}

/** The next one that is due and not of a provider in `busy`, for as long as the lease lasts. */
export async function claimTermination(
  db: Db,
  at: Date,
  leaseMs: number,
  busy: readonly string[],
): Promise<TerminationRow | undefined> {
  const { rows } = await sql<TerminationRow>`
    update license_termination set lease_until = ${new Date(at.getTime() + leaseMs)}
    where (org_id, termination_id) in (
      select org_id, termination_id from license_termination t
      where ${dueAt(at)} and ${notBusy(busy)}
      order by next_at limit 1 for update skip locked)
    returning ${COLUMNS}`.execute(db)
  return rows[0]
}

type Changes = Updateable<LicenseTerminationTable>

export interface Move {
  readonly to: TerminationState
  readonly cause: string
  readonly actor: string
  readonly at: Date
}

/** One step, by whoever has seen this version: false if somebody else was first. */
export async function moveTermination(db: Db, row: TerminationRow, move: Move, changes: Changes): Promise<boolean> {
  const { to, cause, actor, at } = move
  const seq = row.version + 1
  const { numUpdatedRows } = await db
    .updateTable('license_termination')
    .set({ ...changes, state: to, version: seq, updated_at: at, lease_until: null })
    .where('org_id', '=', row.orgId)
    .where('termination_id', '=', row.terminationId)
    .where('state', '=', row.state)
    .where('version', '=', row.version)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await insertTransition(db, row.orgId, row.terminationId, { seq, from: row.state, to, cause, actor, at })
  return true
}

/** Nothing has come of a turn: the next one is later. */
export async function postponeTermination(db: Db, row: TerminationRow, changes: Changes): Promise<void> {
  await db
    .updateTable('license_termination')
    .set({ ...changes, lease_until: null })
    .where('org_id', '=', row.orgId)
    .where('termination_id', '=', row.terminationId)
    .where('version', '=', row.version)
    .execute()
}
