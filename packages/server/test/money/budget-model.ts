import fc from 'fast-check'
import { inOrg } from '../../src/context.ts'
import { ApiError } from '../../src/errors.ts'
import {
  budgetDifferences,
  type Reached,
  refund,
  reserve,
  type Subject,
  settle,
} from '../../src/modules/budgets/reserve.ts'
import type { Harness } from '../harness.ts'
import { SPAN, ZONES } from './asked-windows.ts'
import { type PlantedRule, plantBudget } from './plant-budget.ts'
import { windowAt } from './window-model.ts'

// Budgets that are kept twice: by the server in PostgreSQL, and here in a few lines. Two subjects, each with windows of several kinds; any
// sequence of promises, settlements, refunds and repetitions, with hours or months between them, must be taken or refused alike, with the
// same room left and the same thresholds told.

type Step =
  | { readonly do: 'hold'; readonly amount: number; readonly by: 'agent' | 'tenant' | 'both' }
  | { readonly do: 'settle' | 'refund'; readonly which: number; readonly percent: number }
  /** A promise that was asked for before, asked for again. */
  | { readonly do: 'again'; readonly which: number }
  | { readonly do: 'wait'; readonly minutes: number }

const rule: fc.Arbitrary<PlantedRule> = fc.record({
  kind: fc.constantFrom('daily', 'weekly', 'monthly', 'total', 'rolling'),
  limit: fc.bigInt({ min: 50n, max: 600n }),
  timezone: fc.constantFrom(...ZONES),
  weekStart: fc.integer({ min: 1, max: 7 }),
  anchorDay: fc.constantFrom(1, 15, 28, 29, 30, 31),
  hours: fc.constantFrom(1, 24, 24 * 30),
})
const rules = fc.array(rule, { minLength: 1, maxLength: 3 })
const which = fc.nat({ max: 12 })
const HOUR = 60
const DAY = 24 * HOUR
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('hold' as const),
      amount: fc.integer({ min: 1, max: 120 }),
      by: fc.constantFrom('agent' as const, 'tenant' as const, 'both' as const, 'both' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('settle' as const, 'refund' as const),
      ...{ which, percent: fc.nat({ max: 100 }) },
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      minutes: fc.constantFrom(1, 59, HOUR, 23 * HOUR, DAY, 25 * HOUR, 7 * DAY, 28 * DAY, 31 * DAY),
    }),
  },
)

export interface BudgetPlay {
  readonly start: number
  readonly agent: readonly PlantedRule[]
  readonly tenant: readonly PlantedRule[]
  readonly steps: readonly Step[]
}

export const budgetPlays: fc.Arbitrary<BudgetPlay> = fc.record({
  start: fc.integer(SPAN),
  agent: rules,
  tenant: rules,
  steps: fc.array(step, { minLength: 5, maxLength: 25 }),
})

interface Held {
  readonly owner: string
  readonly amount: bigint
  readonly at: number
  readonly by: readonly Level[]
  /** What counts now. */
  counts: bigint
  state: 'held' | 'committed' | 'released'
}
type Level = 'agent' | 'tenant'
const LEVELS: readonly Level[] = ['agent', 'tenant']
const THRESHOLDS = [50, 100] as const

/** Where a promise of this moment counts; all promises of a rolling or a total one stand in one row. */
const windowName = (rule: PlantedRule, at: number): string =>
  rule.kind === 'total' || rule.kind === 'rolling'
    ? 'all'
    : String(windowAt(at, { timezone: 'UTC', weekStart: 1, anchorDay: 1, ...rule, kind: rule.kind })[0])

function counted(rule: PlantedRule, level: Level, held: readonly Held[], at: number): bigint {
  const reach = (rule.hours ?? 24) * 3_600_000
  return held
    .filter(({ by }) => by.includes(level))
    .filter((one) =>
      rule.kind === 'rolling' ? one.at > at - reach : windowName(rule, one.at) === windowName(rule, at),
    )
    .reduce((sum, { counts }) => sum + counts, 0n)
}

type Outcome = { readonly remaining: bigint } | { readonly reached: readonly string[] }

/** What the promise must come to. `told` learns of the thresholds. */
function decide(play: BudgetPlay, held: readonly Held[], told: Set<string>, asked: Held): Outcome {
  const reached: string[] = []
  for (const level of LEVELS.filter((one) => asked.by.includes(one)))
    for (const [ruleNo, rule] of play[level].entries()) {
      const used = counted(rule, level, held, asked.at)
      if (used + asked.amount > rule.limit) return { remaining: rule.limit > used ? rule.limit - used : 0n }
      if (rule.kind === 'rolling') continue
      const isReached = (percent: number): boolean => (used + asked.amount) * 100n >= rule.limit * BigInt(percent)
      for (const threshold of THRESHOLDS.filter(isReached)) {
        const name = `${level} ${ruleNo} ${windowName(rule, asked.at)} ${threshold}`
        if (!told.has(name)) reached.push(name)
      }
    }
  for (const name of reached) told.add(name)
  return { reached }
}

const outcomeText = (outcome: Outcome): string =>
  'reached' in outcome ? `taken, ${outcome.reached.toSorted().join()}` : `refused, ${outcome.remaining} left`

/** Plays a sequence on a new organisation; throws where the books part. */
export async function playBudgets(h: Harness, play: BudgetPlay): Promise<void> {
  const { orgId } = await h.org('budgets')
  const subjects = { agent: subject('agent'), tenant: subject('tenant') }
  // In the order in which they are locked and looked at.
  const budgets = { agent: `bud_1_${subjects.agent.id}`, tenant: `bud_2_${subjects.agent.id}` }
  function subject(type: Level): Subject {
    return { type, id: h.deps.newId('sub') }
  }
  const inBook = <T>(work: Parameters<typeof inOrg<T>>[2]): Promise<T> => inOrg(h.deps, orgId, work)
  await inBook(async (db) => {
    for (const level of LEVELS)
      await plantBudget(db, {
        ...{ orgId, budgetId: budgets[level], subject: subjects[level], rules: play[level] },
        ...{ thresholds: THRESHOLDS, at: new Date(play.start) },
      })
  })

  const namesOf = (reached: readonly Reached[]): readonly string[] =>
    reached.map(({ budgetId, ruleNo, startsAt, threshold }) => {
      const level = budgetId === budgets.agent ? 'agent' : 'tenant'
      const rule = play[level][ruleNo] as PlantedRule
      const isOne = rule.kind === 'total' || rule.kind === 'rolling'
      return `${level} ${ruleNo} ${isOne ? 'all' : Date.parse(startsAt)} ${threshold}`
    })
  const ask = ({ owner, amount, by, at }: Held): Promise<Outcome> =>
    inBook((db) => reserve(db, orgId, { owner, amount, subjects: by.map((one) => subjects[one]) }, new Date(at))).then(
      (reached) => ({ reached: namesOf(reached) }),
      (error: unknown) => {
        if (error instanceof ApiError && error.code === 'budget_exceeded')
          return { remaining: BigInt(String(error.details?.remaining)) }
        throw error
      },
    )

  const held: Held[] = []
  const told = new Set<string>()
  let now = play.start
  for (const [number, one] of play.steps.entries()) {
    if (one.do === 'wait') now += one.minutes * 60_000
    else if (one.do === 'hold') {
      const by = one.by === 'both' ? LEVELS : [one.by]
      const amount = BigInt(one.amount)
      const owner = h.deps.newId('pur')
      const asked: Held = { owner, amount, by, at: now, counts: amount, state: 'held' }
      const expected = decide(play, held, told, asked)
      same(number, one, await ask(asked), expected)
      if ('reached' in expected) held.push(asked)
    } else {
      const target = held[one.which % Math.max(held.length, 1)]
      if (!target) continue
      if (one.do === 'again') {
        if (target.state === 'held') same(number, one, await ask(target), { reached: [] })
      } else await end(target, one.do, one.percent)
    }
  }
  const differences = await inBook((db) => budgetDifferences(db, orgId))
  if (differences.length > 0) throw new Error(`windows are not the sum of what counts in them: ${differences.join()}`)

  async function end(target: Held, how: 'settle' | 'refund', percent: number): Promise<void> {
    const part = (target.counts * BigInt(percent)) / 100n
    if (how === 'settle' && target.state === 'held') {
      await inBook((db) => settle(db, orgId, target.owner, part, new Date(now)))
      target.state = part === 0n ? 'released' : 'committed'
      target.counts = part
    }
    if (how === 'refund' && target.state === 'committed' && part > 0n) {
      const asked = { owner: target.owner, name: h.deps.newId('ref'), amount: part }
      // Asked twice, it is given back once.
      for (let i = 0; i < 2; i++) await inBook((db) => refund(db, orgId, asked, new Date(now)))
      target.counts -= part
    }
  }
}

function same(number: number, step: Step, was: Outcome, expected: Outcome): void {
  if (outcomeText(was) !== outcomeText(expected))
    throw new Error(`step ${number} (${step.do}) was ${outcomeText(was)}, not ${outcomeText(expected)}`)
}
