import type { Budget } from '@strongroom/contract'
import { type Bar, Bars } from '../../plot/bars.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { drawn, evenPace, say, sentenceOf } from './spend.ts'

const PARTS = [
  { label: 'spent', mark: { colour: 'money', texture: 'solid' } },
  { label: 'reserved', mark: { colour: 'money', texture: 'hatch' } },
] as const

const SHOWN = 8

function barOf({ budgetId, name, subjectType, subjectId, activeWindows: [window] }: Budget, names: Names): Bar[] {
  if (!window) return []
  const subject = subjectType === 'org' ? 'organisation' : names.subject({ type: subjectType, id: subjectId })
  const pace = evenPace(window)
  return [
    {
      id: budgetId,
      name: `${name || subject} (${window.kind})`,
      label: name || subject,
      values: [drawn(window.spent), drawn(window.reserved)],
      of: drawn(window.limit),
      ticks: pace === undefined ? [] : [{ at: pace, label: 'an even pace would be here' }],
      says: <span className="text-money">{say(window.remaining)} left</span>,
      sentence: sentenceOf(window),
    },
  ]
}

/** Spent, held and left of each budget; the line across is where an even pace would be by now. */
export function BudgetBars({ budgets, names }: { readonly budgets: readonly Budget[]; readonly names: Names }) {
  const bars = budgets.flatMap((budget) => barOf(budget, names))
  const tight = bars.filter(({ values, of = 0 }) => of > 0 && values.reduce((sum, value) => sum + value, 0) >= of * 0.9)
  const summary =
    tight.length === 0
      ? `${bars.length} ${bars.length === 1 ? 'budget has' : 'budgets have'} room.`
      : `${tight.map(({ name }) => name).join(', ')}: less than a tenth is left.`
  return (
    <Bars name="Spent of budgets" summary={summary} parts={PARTS} bars={bars.slice(0, SHOWN)} tickLabel="even pace" />
  )
}
