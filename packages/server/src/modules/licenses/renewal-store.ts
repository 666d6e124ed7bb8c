import { sql, type Updateable } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { LicenseRenewalTable } from '../../db/schema.ts'
import { dueAt, endingBefore, overAt } from './due-store.ts'
import { notBusy } from './instance-store.ts'
import type { RenewalState } from './renewal-machine.ts'
import { insertTransition } from './transition-store.ts'

export interface RenewalRow {
  readonly orgId: string
  readonly renewalId: string
  readonly instanceId: string
  readonly periodNo: number
  /** Where the period before ends and the new one begins. */
  readonly startsAt: Date
  readonly amount: string
  readonly state: RenewalState
  readonly reason: string | null
  readonly version: number
  readonly attempts: number
  readonly provider: string
  readonly tenantId: string
  readonly instanceRef: string
  readonly quantity: number
  readonly licenseStatus: string
  /** Where the first period begins. */
  readonly anchor: Date
  readonly purchaseId: string
  /** Who bought it. */
  readonly principal: string
  readonly holdNo: number
  readonly subjects: readonly string[]
}

const COLUMNS = sql`r.org_id as "orgId", r.renewal_id as "renewalId", r.instance_id as "instanceId", r.period_no as "periodNo",
  r.starts_at as "startsAt", r.amount::text as amount, r.state, r.reason, r.version, r.attempts, i.provider, i.tenant_id as "tenantId",
  i.instance_ref as "instanceRef", i.quantity, i.status as "licenseStatus", f.starts_at as anchor, p.purchase_id as "purchaseId",
  p.principal, p.hold_no as "holdNo", p.subjects`

/** A licence whose period ends, and that nothing was decided about. */
export interface EndingLicense {
  readonly orgId: string
  readonly instanceId: string
  readonly tenantId: string
  readonly buyer: string
  readonly provider: string
  readonly amount: string
  readonly periodStart: Date
  readonly periodEnd: Date
  readonly periodNo: number
}

/** Nobody else takes it until the transaction ends. */
export async function claimEnding(db: Db, before: Date): Promise<EndingLicense | undefined> {
  const { rows } = await sql<EndingLicense>`
    select i.org_id as "orgId", i.instance_id as "instanceId", i.tenant_id as "tenantId", i.principal as buyer, i.provider,
      i.amount::text as amount,
      i.period_start as "periodStart", i.period_end as "periodEnd", (select max(l.period_no) + 1 from license_period l
        where l.org_id = i.org_id and l.instance_id = i.instance_id) as "periodNo"
    from license_instance i
    where ${endingBefore(before)}
    order by i.period_end limit 1 for update of i skip locked`.execute(db)
  return rows[0]
}

export type OverLicense = Pick<EndingLicense, 'orgId' | 'instanceId' | 'tenantId' | 'buyer' | 'periodEnd'> & {
  readonly purchaseId: string
}

export async function claimOver(db: Db, at: Date): Promise<OverLicense | undefined> {
  const { rows } = await sql<OverLicense>`
    select i.org_id as "orgId", i.instance_id as "instanceId", i.tenant_id as "tenantId", i.principal as buyer,
      i.period_end as "periodEnd", i.purchase_id as "purchaseId"
    from license_instance i
    where ${overAt(at)}
    order by i.period_end limit 1 for update of i skip locked`.execute(db)
  return rows[0]
}

/** False if somebody else has just decided about this period: what was claimed is as it was seen before that. */
export async function insertRenewal(
  db: Db,
  { orgId, instanceId, periodNo, periodEnd, amount }: EndingLicense,
  made: {
    readonly renewalId: string
    readonly state: 'waiting' | 'lapsed'
    readonly reason: string | null
    readonly nextAt: Date | null
    readonly at: Date
  },
): Promise<boolean> {
  const { renewalId, state, reason, nextAt, at } = made
  const { numAffectedRows } = await sql`
    insert into license_renewal (org_id, renewal_id, instance_id, period_no, starts_at, amount, state, reason, next_at, created_at, updated_at)
    values (${orgId}, ${renewalId}, ${instanceId}, ${periodNo}, ${periodEnd}, ${amount}, ${state}, ${reason}, ${nextAt}, ${at}, ${at})
    on conflict do nothing`.execute(db)
  if (numAffectedRows === 0n) return false
  const step = { seq: 1, from: null, to: state, cause: reason ?? 'ending', actor: 'strongroom', at }
  await insertTransition(db, orgId, renewalId, step)
  return true
}

/** The next one that is due and not of a provider in `busy`, for as long as the lease lasts. */
export async function claimRenewal(
  db: Db,
  at: Date,
  leaseMs: number,
  busy: readonly string[],
): Promise<Pick<RenewalRow, 'orgId' | 'renewalId'> | undefined> {
  const { rows } = await sql<Pick<RenewalRow, 'orgId' | 'renewalId'>>`
    update license_renewal set lease_until = ${new Date(at.getTime() + leaseMs)}
    where (org_id, renewal_id) in (
      select org_id, renewal_id from license_renewal t
      where ${dueAt(at)} and ${notBusy(busy)}
      order by next_at limit 1 for update skip locked)
    returning org_id as "orgId", renewal_id as "renewalId"`.execute(db)
  return rows[0]
}

export async function renewal(db: Db, orgId: string, renewalId: string): Promise<RenewalRow | undefined> {
  const { rows } = await sql<RenewalRow>`
    select ${COLUMNS} from license_renewal r
    join license_instance i on i.org_id = r.org_id and i.instance_id = r.instance_id
    join license_purchase p on p.org_id = i.org_id and p.purchase_id = i.purchase_id
    join license_period f on f.org_id = i.org_id and f.instance_id = i.instance_id and f.period_no = 1
    where r.org_id = ${orgId} and r.renewal_id = ${renewalId}`.execute(db)
  return rows[0]
}

/** The licence is in use and whoever bought it is still there, and could buy. Nobody ends it until the transaction does. */
export async function holdActive(db: Db, { orgId, instanceId }: RenewalRow, at: Date): Promise<boolean> {
  const { rows } = await sql`
    select 1 from license_instance i
    join tenant t on t.org_id = i.org_id and t.tenant_id = i.tenant_id and t.status = 'active'
    where i.org_id = ${orgId} and i.instance_id = ${instanceId} and i.status = 'active' and (
      exists (select 1 from agent a where a.org_id = i.org_id and 'agent:' || a.agent_id = i.principal and a.status = 'active'
        and (a.expires_at is null or a.expires_at > ${at}))
      or exists (select 1 from org_user u where u.org_id = i.org_id and 'user:' || u.user_id = i.principal and u.status = 'active'))
    for share of i`.execute(db)
  return rows.length > 0
}

/** Money is held for the next period of the licence, or the provider was asked for it. */
export async function isRenewing(db: Db, orgId: string, instanceId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from license_renewal where org_id = ${orgId} and instance_id = ${instanceId}
      and state in ('reserved', 'renewing', 'in_review')`.execute(db)
  return rows.length > 0
}

type Changes = Updateable<LicenseRenewalTable>

/** One step, by whoever has seen this version: false if somebody else was first. */
export async function moveRenewal(
  db: Db,
  row: RenewalRow,
  { to, cause, at }: { readonly to: RenewalState; readonly cause: string; readonly at: Date },
  changes: Changes,
): Promise<boolean> {
  const seq = row.version + 1
  const { numUpdatedRows } = await db
    .updateTable('license_renewal')
    .set({ ...changes, state: to, version: seq, updated_at: at, lease_until: null })
    .where('org_id', '=', row.orgId)
    .where('renewal_id', '=', row.renewalId)
    .where('state', '=', row.state)
    .where('version', '=', row.version)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await insertTransition(db, row.orgId, row.renewalId, { seq, from: row.state, to, cause, actor: 'strongroom', at })
  return true
}

/** Nothing has come of a turn: the next one is later. */
export async function postponeRenewal(db: Db, row: RenewalRow, changes: Changes): Promise<void> {
  await db
    .updateTable('license_renewal')
    .set({ ...changes, lease_until: null })
    .where('org_id', '=', row.orgId)
    .where('renewal_id', '=', row.renewalId)
    .where('version', '=', row.version)
    .execute()
}

/** The licence goes on with its next period. */
export async function extendInstance(db: Db, { orgId, instanceId, startsAt }: RenewalRow, endsAt: Date): Promise<void> {
  await sql`
    update license_instance set period_start = ${startsAt}, period_end = ${endsAt}, revision = revision + 1
    where org_id = ${orgId} and instance_id = ${instanceId} and status in ('active', 'terminating')`.execute(db)
}
