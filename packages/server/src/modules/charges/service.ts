import { type billing, money, type Output } from '@strongroom/contract'
import { managesMoney } from '../../access/roles.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { MAX_ALL_ROWS } from '../../http/pagination.ts'
import { type LicenseCharges, licensesOf, linesIn, type Scope, type ShownLine, totalOf } from './report-store.ts'
import { closesAt, dayOf, endOf, monthOf } from './rules.ts'
import { knownMonths, type MonthState } from './store.ts'

// Who manages the money of the organisation sees all of it, who manages the budgets of a tenant what that tenant costs, and everybody
// else what they have bought themselves.

type Charges = Output<typeof billing.distributorCharges>

function seenBy({ principal }: TxCtx): Scope['seenBy'] {
  if (principal.type === 'operator' || managesMoney(principal)) return undefined
  const managing = ['TENANT_BUDGET_MANAGER', 'TENANT_ADMIN']
  const tenants = principal.tenantRoles.filter(({ role }) => managing.includes(role)).map(({ tenantId }) => tenantId)
  return { buyer: principal.id, tenants }
}

function readMonth(asked: string | undefined, now: Date): string {
  const current = monthOf(dayOf(now))
  if (asked === undefined) return current
  if (asked > current) throw new ApiError('invalid_month', { details: { month: asked, current } })
  return asked
}

/** A month that nothing was ever written in ends with the clock as well. */
async function statusOf({ db, principal, now }: TxCtx, month: string): Promise<MonthState> {
  const known = (await knownMonths(db, principal.orgId, [month])).get(month)
  if (known === 'final' || (known === undefined && closesAt(month) <= now())) return 'final'
  return endOf(month) <= now() ? 'closing' : 'open'
}

const showLine =
  (status: MonthState) =>
  ({ licenseInstanceId: _, amount, transferId, ...line }: ShownLine) => ({
    ...line,
    amount: money(amount),
    state: status === 'final' ? ('final' as const) : ('estimated' as const),
    ledgerTransferId: transferId,
  })

const showLicense = (row: LicenseCharges, lines: Charges['licenses'][number]['lines']) => {
  const { subtotal, recurring, usage, setup, credit, adjustment, createdAt: _, ...license } = row
  const sums = { recurring, usage, setup, credit, adjustment }
  const breakdown = Object.fromEntries(Object.entries(sums).map(([kind, sum]) => [kind, money(sum)]))
  return {
    ...license,
    subtotal: money(subtotal),
    breakdown: breakdown as Charges['licenses'][number]['breakdown'],
    ...(lines && { lines }),
  }
}

async function withLines(
  { db }: TxCtx,
  scope: Scope,
  rows: readonly LicenseCharges[],
  status: MonthState,
): Promise<Charges['licenses']> {
  const all = await linesIn(
    db,
    scope,
    rows.map(({ licenseInstanceId }) => licenseInstanceId),
  )
  if (!all) throw new ApiError('list_too_long', { details: { maxRows: MAX_ALL_ROWS } })
  const byLicense = new Map<string, ShownLine[]>(rows.map(({ licenseInstanceId }) => [licenseInstanceId, []]))
  for (const line of all) byLicense.get(line.licenseInstanceId)?.push(line)
  return rows.map((row) => showLicense(row, byLicense.get(row.licenseInstanceId)?.map(showLine(status))))
}

export const distributorCharges: Handler<typeof billing.distributorCharges> = (ctx, { query }) =>
  transact(
    ctx,
    async (ctx) => {
      const { page, limit, licenseInstanceId, tenantId, includeLines = false } = query
      const month = readMonth(query.month, ctx.now())
      const scope: Scope = { orgId: ctx.principal.orgId, month, seenBy: seenBy(ctx), licenseInstanceId, tenantId }
      const status = await statusOf(ctx, month)
      const asked = { ...(page !== undefined && { page }), ...(limit !== undefined && { limit }) }
      const { rows, meta } = await licensesOf(ctx.db, scope, asked)
      const licenses = includeLines
        ? await withLines(ctx, scope, rows, status)
        : rows.map((row) => showLicense(row, undefined))
      const total = money(await totalOf(ctx.db, scope))
      return { month, status, asOf: ctx.now().toISOString(), total, licenses, ...(meta && { meta }) }
    },
    // Total, subtotals and lines are of one moment.
    { atOneMoment: true },
  )
