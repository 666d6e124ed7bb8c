import fc from 'fast-check'
import { inOrg } from '../../src/context.ts'
import { costOf, daysOf, daysUsed, monthAfter } from '../../src/licenses/proration.ts'
import { takeLineTurn, takeMonthTurn } from '../../src/modules/charges/turns.ts'
import type { Harness } from '../harness.ts'
import { endLicense, giveLicense, takeChargeTurns } from './charge-world.ts'

// Months of charges that are kept twice: by the server in PostgreSQL, and here in a few lines. However licences come and end, whoever is
// late and however many work at once: lines add up to what was paid, and a month that is closed is what it was.

export type Step =
  | { readonly do: 'buy'; readonly amount: bigint; readonly daysAgo: number; readonly isOnce: boolean }
  | { readonly do: 'end'; readonly which: number; readonly percent: number; readonly daysAgo: number }
  | { readonly do: 'wait'; readonly hours: number; readonly works: 'nobody' | 'one' | 'two' }

const pick = fc.nat({ max: 8 })
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('buy' as const),
        amount: fc.bigInt({ min: 1n, max: 100_000_000n }),
        // A provider may take its time: the period began when it was ordered, maybe in a month that is closed by now.
        daysAgo: fc.constantFrom(0, 0, 0, 1, 5, 40),
        isOnce: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('end' as const),
        ...{ which: pick, percent: fc.nat({ max: 100 }), daysAgo: fc.constantFrom(0, 0, 2) },
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        hours: fc.constantFrom(1, 23, 24, 25, 24 * 7, 24 * 20, 24 * 33),
        works: fc.constantFrom('nobody' as const, 'one' as const, 'two' as const),
      }),
    },
  ),
  { minLength: 4, maxLength: 14 },
)

interface Held {
  readonly instanceId: string
  readonly startsAt: Date
  readonly endsAt: Date | null
  readonly amount: bigint
  refund?: bigint
}

export interface ChargeScene {
  readonly h: Harness
  readonly orgId: string
  readonly tenantId: string
}

const HOUR_MS = 3_600_000

async function work({ h }: ChargeScene, how: 'nobody' | 'one' | 'two'): Promise<void> {
  if (how === 'nobody') return
  const other = async (): Promise<void> => {
    for (const take of [takeMonthTurn, takeLineTurn, takeMonthTurn]) while (await take(h.deps, h.worker));
  }
  await Promise.all([takeChargeTurns(h), ...(how === 'two' ? [other()] : [])])
}

interface Line {
  readonly instance: string
  readonly month: string
  readonly state: string
  readonly kind: string
  readonly amount: string
  readonly corrects: string | null
  readonly line: string
}

const linesOf = ({ h, orgId }: ChargeScene): Promise<Line[]> =>
  inOrg(h.deps, orgId, (db) =>
    db
      .selectFrom('charge_line as l')
      .innerJoin('charge_month as m', (join) =>
        join.onRef('m.org_id', '=', 'l.org_id').onRef('m.month', '=', 'l.month'),
      )
      .select(['l.instance_id as instance', 'l.month', 'm.state', 'l.kind', 'l.amount', 'l.line_id as line'])
      .select('l.corrects_date as corrects')
      .where('l.org_id', '=', orgId)
      .orderBy('l.line_id')
      .execute(),
  )

/** What the lines of a licence must add up to when everything that is due has been written. */
function owed({ startsAt, endsAt, amount, refund }: Held, now: Date): bigint {
  if (refund !== undefined) return amount - refund
  if (now < startsAt) return 0n
  return endsAt === null ? amount : costOf(amount, daysUsed(startsAt, endsAt, now), daysOf(startsAt, endsAt))
}

const closedText = (lines: readonly Line[]): ReadonlyMap<string, string> => {
  const months = [...new Set(lines.filter(({ state }) => state === 'final').map(({ month }) => month))]
  return new Map(months.map((month) => [month, JSON.stringify(lines.filter((line) => line.month === month))]))
}

/** Undefined if all is as it must be; otherwise what is not. */
function wrongIn(held: readonly Held[], lines: readonly Line[], now: Date): string | undefined {
  for (const one of held) {
    const sum = lines.filter(({ instance }) => instance === one.instanceId).reduce((a, l) => a + BigInt(l.amount), 0n)
    if (sum !== owed(one, now)) return `${one.instanceId} has lines of ${sum}, not of ${owed(one, now)}`
  }
  const moved = lines.find(({ kind, corrects, month }) => kind === 'recurring' && corrects !== null && corrects > month)
  return moved && `${moved.line} corrects and says recurring`
}

async function take(scene: ChargeScene, held: Held[], step: Step): Promise<void> {
  const { h, orgId, tenantId } = scene
  if (step.do === 'wait') {
    h.advance(step.hours * HOUR_MS)
    return work(scene, step.works)
  }
  const ago = (days: number): Date => new Date(h.deps.now().getTime() - days * 24 * HOUR_MS)
  if (step.do === 'buy') {
    const startsAt = ago(step.daysAgo)
    const paid = { startsAt, endsAt: step.isOnce ? null : monthAfter(startsAt), amount: step.amount }
    held.push({ ...paid, instanceId: await giveLicense(h, { orgId, tenantId, buyer: 'agent:x', ...paid }) })
    return
  }
  const one = held[step.which % Math.max(held.length, 1)]
  if (!one || one.refund !== undefined) return
  one.refund = (one.amount * BigInt(step.percent)) / 100n
  await endLicense(h, orgId, one.instanceId, { until: ago(step.daysAgo), refund: one.refund })
}

/** Runs a sequence; undefined if all was as it must be after each step. */
export async function differenceIn(scene: ChargeScene, sequence: readonly Step[]): Promise<string | undefined> {
  const held: Held[] = []
  let closed: ReadonlyMap<string, string> = new Map()
  const last = { do: 'wait', hours: 24 * 75, works: 'two' } as const
  for (const step of [...sequence, last]) {
    await take(scene, held, step)
    const lines = await linesOf(scene)
    const now = closedText(lines)
    for (const [month, text] of closed) if (now.get(month) !== text) return `${month} was closed and has changed`
    closed = now
    const isWritten = step.do === 'wait' && step.works !== 'nobody'
    const wrong = isWritten ? wrongIn(held, lines, scene.h.deps.now()) : undefined
    if (wrong !== undefined) return wrong
  }
  return undefined
}
