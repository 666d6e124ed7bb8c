import { money } from '@strongroom/contract'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { emit } from '../../outbox/outbox.ts'
import { lockPeriods, markCharged, type PeriodRow } from './period-store.ts'
import { closesAt, dayOf, dueLines, monthOf, nextLineAt, settlementOf } from './rules.ts'
import { holdMonths, insertLines, type LineKind, type NewLine, openMonths } from './store.ts'

// Writing lines. One that belongs to a month that is closed is written today, as a correction that names its day.

type Maker = Pick<Deps, 'now' | 'newId'>

export interface Wanted extends Omit<NewLine, 'lineId' | 'correctsDate'> {
  readonly correctsDate?: string | null
}

/** The months that still take lines. One that nothing was ever to be written in closes with the clock. */
async function takingLines(db: Db, orgId: string, days: readonly string[], now: Date): Promise<ReadonlySet<string>> {
  const months = [...new Set([...days, dayOf(now)].map(monthOf))]
  const notOver = months.filter((month) => closesAt(month) > now)
  await openMonths(db, orgId, notOver, now)
  const held = await holdMonths(db, orgId, months)
  return new Set([...held].flatMap(([month, state]) => (state === 'final' ? [] : [month])))
}

/** Each once, however often it is asked for. Gives those that were new. */
export async function writeLines(
  maker: Maker,
  db: Db,
  { orgId, tenantId }: { readonly orgId: string; readonly tenantId: string },
  wanted: readonly Wanted[],
): Promise<readonly NewLine[]> {
  if (wanted.length === 0) return []
  const at = maker.now()
  const today = dayOf(at)
  const days = wanted.map(({ date }) => date)
  const open = await takingLines(db, orgId, days, at)
  const lines = wanted.map((line): NewLine => {
    const placed = { ...line, lineId: maker.newId('chg'), correctsDate: line.correctsDate ?? null }
    if (open.has(monthOf(line.date))) return placed
    return { ...placed, date: today, kind: 'adjustment', correctsDate: line.date }
  })
  const made = new Set(await insertLines(db, orgId, lines, at))
  const written = lines.filter(({ lineId }) => made.has(lineId))
  for (const group of [written.filter(isPlain), written.filter((line) => !isPlain(line))])
    await tell(maker, db, { orgId, tenantId }, group)
  return written
}

const isPlain = ({ correctsDate }: NewLine): boolean => correctsDate === null

async function tell(
  maker: Maker,
  db: Db,
  { orgId, tenantId }: { readonly orgId: string; readonly tenantId: string },
  lines: readonly NewLine[],
): Promise<void> {
  const last = lines.at(-1)
  if (!last) return
  const amount = lines.reduce((sum, line) => sum + line.amount, 0n)
  const { lineId, instanceId, date } = last
  await emit(maker, db, orgId, {
    type: isPlain(last) ? 'billing.charge.posted' : 'billing.charge.corrected',
    object: {
      type: 'charge',
      id: lineId,
      licenseInstanceId: instanceId,
      month: monthOf(date),
      lines: lines.length,
      amount: money(amount),
    },
    self: `/api/v1/machine/billing/distributor-charges?month=${monthOf(date)}&licenseInstanceId=${instanceId}&includeLines=true`,
    tenantId,
  })
}

/** Every line of a period that is due now. The caller holds its lock. */
export async function chargePeriod(maker: Maker, db: Db, period: PeriodRow): Promise<void> {
  const now = maker.now()
  const { instanceId, periodNo, quantity, transferId, refundId, endedAt } = period
  const common = { instanceId, quantity, transferId }
  const kind: LineKind = period.endsAt === null ? 'setup' : 'recurring'
  const days = dueLines(period, now)
  const lines: Wanted[] = days.map(({ day, date, amount }) => ({
    ...common,
    ...{ kind, date, amount, source: `period-${periodNo}:${day}` },
  }))
  const charged = period.chargedDays + days.length
  const rest = settlementOf(period, charged)
  if (endedAt !== null && rest !== 0n)
    lines.push({
      ...common,
      ...{
        kind: rest < 0n ? 'credit' : 'adjustment',
        date: dayOf(now),
        amount: rest,
        source: `period-${periodNo}:end`,
      },
      ...{ correctsDate: dayOf(endedAt), transferId: refundId ?? transferId },
    })
  await writeLines(maker, db, period, lines)
  const next = nextLineAt(period, charged)
  if (next) await openMonths(db, period.orgId, [monthOf(dayOf(next))], now)
  await markCharged(db, period, charged, next)
}

/** Every line of a licence that is due now. */
export async function chargeLicense(maker: Maker, db: Db, orgId: string, instanceId: string): Promise<void> {
  for (const period of await lockPeriods(db, orgId, instanceId)) await chargePeriod(maker, db, period)
}
