import type { billing, Output } from '@strongroom/contract'
import { sql } from 'kysely'
import type { TxCtx } from '../../context.ts'
import { creditOf } from '../../ledger/ledger.ts'
import { subjectsOf, subjectText } from '../budgets/reserve.ts'
import { activeKids } from '../keys/store.ts'

// Everything that a purchase of the caller would be refused for, before it is tried.

export type ReadinessCheck = Output<typeof billing.readiness>['checks'][number]

const check = (
  code: ReadinessCheck['code'],
  ok: boolean,
  told: string,
  otherwise: readonly [string, string],
): ReadinessCheck => ({
  code,
  ok,
  message: ok ? told : otherwise[0],
  action: ok ? null : otherwise[1],
})

async function isTenantActive({ db, principal }: TxCtx): Promise<boolean> {
  if (principal.tenantId === null) return false
  const { rows } = await sql`
    select 1 from tenant where org_id = ${principal.orgId} and tenant_id = ${principal.tenantId} and status = 'active'`.execute(
    db,
  )
  return rows.length > 0
}

/** A hard budget of the caller that has nothing left now. */
async function fullBudget(ctx: TxCtx): Promise<string | undefined> {
  const subjects = (await subjectsOf(ctx)).map(subjectText)
  const { rows } = await sql<{ id: string }>`
    select b.budget_id as id from budget b
    join budget_rule r on r.org_id = b.org_id and r.budget_id = b.budget_id and r.is_active
    cross join lateral budget_window_at(r, ${ctx.now()}) n
    left join budget_window w
      on w.org_id = r.org_id and w.budget_id = r.budget_id and w.rule_no = r.rule_no and w.starts_at = n.starts_at
    where b.org_id = ${ctx.principal.orgId} and b.status = 'active' and b.enforcement = 'hard'
      and b.subject_type || ' ' || b.subject_id = any(${subjects}::text[])
      and coalesce(budget_used(r, w, ${ctx.now()}), 0) >= r.amount
      and (r.starts_at is null or r.starts_at <= ${ctx.now()}) and (r.ends_at is null or r.ends_at > ${ctx.now()})
    order by b.budget_id limit 1`.execute(ctx.db)
  return rows[0]?.id
}

export async function readinessOf(ctx: TxCtx): Promise<ReadinessCheck[]> {
  const { db, principal } = ctx
  const { available } = await creditOf(db, principal.orgId)
  const full = await fullBudget(ctx)
  const keys = await activeKids(db, principal.orgId, [principal.id])
  return [
    check('credit_available', available > 0n, 'There is credit.', [
      'The organisation has no credit.',
      'strongroom billing fund',
    ]),
    // Whoever has credit needs no way of paying now.
    check('funding_rail_configured', ctx.config.chain !== undefined || available > 0n, 'Credit can be paid in.', [
      'No way of paying in is configured on this server.',
      'Ask the operator; a sandbox gives test credit.',
    ]),
    check('tenant_active', await isTenantActive(ctx), 'The tenant is active.', [
      'The caller works in no active tenant.',
      'Use a key of an active tenant.',
    ]),
    check('budget_headroom', full === undefined, 'Every budget has room.', [
      `Budget ${full} has nothing left.`,
      'strongroom budget list',
    ]),
    check('recipient_key_registered', keys.length > 0, 'A key is there that a credential can be sealed for.', [
      'The caller has no key that a credential could be sealed for.',
      principal.type === 'agent' ? 'strongroom agent pending' : 'strongroom key list',
    ]),
  ]
}
