import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../../db/database.ts'

/** Of a purchase, a renewal or a termination: its next step is due, and nobody is taking it. */
export const dueAt = (at: Date): RawBuilder<SqlBool> =>
  sql`next_at <= ${at} and (lease_until is null or lease_until <= ${at})`

/** Of a licence `i` whose period ends before then: nothing was decided about the next one. */
export const endingBefore = (before: Date): RawBuilder<SqlBool> => sql`
  i.status = 'active' and i.period_end <= ${before}
  and not exists (select 1 from license_renewal r
    where r.org_id = i.org_id and r.instance_id = i.instance_id and r.starts_at = i.period_end)
  and exists (select 1 from license_period l where l.org_id = i.org_id and l.instance_id = i.instance_id)`

/** Of a licence `i` whose period has ended without a next one; also where its termination has come to a stop and nothing was begun for the next. */
export const overAt = (at: Date): RawBuilder<SqlBool> => sql`
  i.status in ('active', 'terminating') and i.period_end <= ${at} and (
    i.status = 'active' and exists (select 1 from license_renewal r
      where r.org_id = i.org_id and r.instance_id = i.instance_id and r.starts_at = i.period_end and r.state = 'lapsed')
    or i.status = 'terminating' and exists (select 1 from license_termination t
      where t.org_id = i.org_id and t.instance_id = i.instance_id and t.state in ('failed', 'in_review') and t.replaced_by is null)
    and not exists (select 1 from license_renewal r
      where r.org_id = i.org_id and r.instance_id = i.instance_id and r.state in ('reserved', 'renewing', 'in_review')))`

/** Whether a turn of any kind would find something: twice a second there is nothing, and one question says so in place of five transactions. */
export async function isAnythingDue({ kysely }: Pick<Database, 'kysely'>, at: Date, noticeAt: Date): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select 1 from license_purchase where ${dueAt(at)})
      or exists (select 1 from license_termination where ${dueAt(at)})
      or exists (select 1 from license_renewal where ${dueAt(at)})
      or exists (select 1 from license_instance i where ${endingBefore(noticeAt)})
      or exists (select 1 from license_instance i where ${overAt(at)}) as due`.execute(kysely)
  return rows[0]?.due ?? false
}
