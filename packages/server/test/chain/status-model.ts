import fc from 'fast-check'
import { type KnownDeposit, onArrival, onDeparture } from '../../src/modules/funding/deposits.ts'
import {
  type DepositFacts,
  type IntentFacts,
  type IntentStanding,
  standingOf,
} from '../../src/modules/funding/status.ts'

// An intent through any sequence of what can happen to it. After each step its standing is compared with the table of the design,
// written down here a second time, and with what must hold along the way.

export type Step =
  | { readonly kind: 'arrive' | 'depart' | 'credit'; readonly which: number; readonly isSame: boolean }
  | { readonly kind: 'pass'; readonly hours: number }
  | { readonly kind: 'cancel' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'arrive' as const,
        'arrive' as const,
        'credit' as const,
        'credit' as const,
        'depart' as const,
      ),
      which: fc.nat(3),
      isSame: fc.integer({ min: 0, max: 9 }).map((dice) => dice > 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancel' as const }) },
)

export interface Play {
  readonly target: bigint
  /** What each of the four deposits is worth, and whether it is of another token. */
  readonly deposits: readonly { readonly amount: bigint; readonly isOtherAsset: boolean }[]
  readonly steps: readonly Step[]
}

export const plays: fc.Arbitrary<Play> = fc.record({
  target: fc.bigInt({ min: 1n, max: 10n }),
  deposits: fc.array(
    fc.record({
      amount: fc.bigInt({ min: 1n, max: 8n }),
      isOtherAsset: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
    }),
    { minLength: 4, maxLength: 4 },
  ),
  steps: fc.array(step, { maxLength: 30 }),
})

type Row = KnownDeposit & DepositFacts

/** The table of the design, from the top: the first line that fits. */
function expected(facts: IntentFacts, now: Date): string {
  const worth = (state: string): bigint =>
    facts.deposits.reduce((total, deposit) => (deposit.state === state ? total + deposit.amount : total), 0n)
  const heldOwn = facts.deposits.some(({ state, isOtherAsset }) => state === 'held' && !isOtherAsset)
  if (worth('reversed') > 0n || heldOwn) return 'in_review'
  if (worth('credited') >= facts.target) return 'funded'
  if (worth('held') > 0n) return 'in_review'
  if (worth('seen') > 0n) return 'processing'
  if (worth('credited') > 0n) return 'partially_funded'
  if (facts.cancelledAt) return 'cancelled'
  return now.getTime() >= facts.expiresAt.getTime() ? 'expired' : 'requires_payment'
}

const HOUR = 3_600_000

/** What went wrong; undefined if nothing did. */
export function playIntent({ target, deposits, steps }: Play): string | undefined {
  const rows = new Map<number, Row>()
  let [now, cancelledAt, hasReorganised]: [Date, Date | null, boolean] = [new Date(0), null, false]
  const expiresAt = new Date(24 * HOUR)
  let before: IntentStanding | undefined
  for (const one of steps) {
    if (one.kind === 'pass') now = new Date(now.getTime() + one.hours * HOUR)
    else if (one.kind === 'cancel') cancelledAt ??= before?.status === 'requires_payment' ? now : null
    else {
      const known = rows.get(one.which)
      const { amount, isOtherAsset } = deposits[one.which] ?? { amount: 1n, isOtherAsset: false }
      const next = nextRow(known, one, { amount, isOtherAsset, paidAt: now })
      hasReorganised ||= one.kind === 'depart' || (one.kind === 'arrive' && !one.isSame)
      if (next) rows.set(one.which, next)
    }
    const facts: IntentFacts = { target, expiresAt, cancelledAt, deposits: [...rows.values()] }
    const standing = standingOf(facts, now)
    const wrong = judge(facts, now, standing) ?? (hasReorganised ? undefined : judgeProgress(before, standing))
    if (wrong) return wrong
    before = standing
  }
  return undefined
}

function nextRow(
  known: Row | undefined,
  { kind, isSame }: Extract<Step, { isSame: boolean }>,
  fresh: Pick<Row, 'amount' | 'isOtherAsset' | 'paidAt'>,
): Row | undefined {
  if (kind === 'arrive')
    return {
      ...(known ?? fresh),
      state: onArrival(known, { isSame, isOtherAsset: fresh.isOtherAsset }),
      wasCredited: known?.wasCredited ?? false,
    }
  if (!known) return undefined
  if (kind === 'depart') return { ...known, state: onDeparture(known) }
  return known.state === 'seen' ? { ...known, state: 'credited', wasCredited: true } : known
}

function judge(facts: IntentFacts, now: Date, standing: IntentStanding): string | undefined {
  const { status, exceptions, credited, incoming } = standing
  if (status !== expected(facts, now)) return `${status} instead of ${expected(facts, now)}`
  const backwards = standingOf({ ...facts, deposits: [...facts.deposits].reverse() }, now)
  if (backwards.status !== status || backwards.credited !== credited) return 'the order of deposits matters'
  if (exceptions.includes('underpaid') && exceptions.includes('overpaid')) return 'too little and too much'
  if (exceptions.includes('overpaid') !== credited > facts.target) return 'overpaid'
  if (exceptions.includes('underpaid') !== (credited > 0n && credited < facts.target)) return 'underpaid'
  if (credited < 0n || incoming < 0n) return 'less than nothing'
  if (status === 'funded' && credited < facts.target) return 'funded too early'
  const isQuiet = !facts.deposits.some(({ state }) => state === 'reversed' || state === 'held')
  return isQuiet && status === 'in_review' ? 'in review without a reason' : undefined
}

/** While the chain stays as it is, nothing that was reached is lost. */
function judgeProgress(before: IntentStanding | undefined, after: IntentStanding): string | undefined {
  if (!before) return undefined
  if (after.credited < before.credited) return 'credit was lost'
  if (before.status === 'funded' && after.status !== 'funded') return 'funded no longer'
  if (before.status === 'expired' && after.status === 'requires_payment') return 'expired no longer'
  return before.exceptions.includes('paid_late') && !after.exceptions.includes('paid_late')
    ? 'late no longer'
    : undefined
}
