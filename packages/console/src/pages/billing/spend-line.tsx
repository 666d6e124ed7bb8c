import type { Budget } from '@strongroom/contract'
import { useQuery } from '@tanstack/react-query'
import { type Line, StepLine } from '../../plot/step-line.tsx'
import { useStrongroom } from '../../session/session.ts'
import { ProblemNote } from '../../ui/states.tsx'
import { licensesQuery } from '../licenses/queries.ts'
import { type ActiveWindow, elapsedOf } from './budget-windows.ts'
import { moneyText } from './money.tsx'
import { movementsSinceQuery } from './queries.ts'
import { type SpendStep, spendSteps } from './spend-over-time.ts'

const MICRO = 1_000_000
/** Numbers are only what a line is drawn by. */
const drawn = (micros: bigint | number): number => Number(micros) / MICRO

function linesOf(steps: readonly SpendStep[], { startsAt, endsAt, resetsAt, limit }: ActiveWindow): readonly Line[] {
  const until = endsAt ?? resetsAt
  const spent: Line = {
    label: 'spent',
    mark: { colour: 'money', texture: 'solid' },
    points: steps.map(({ at, amount }) => ({ at, value: drawn(amount) })),
  }
  if (until === null) return [spent]
  const pace: Line = {
    label: 'an even pace to the limit',
    mark: { colour: 'chart-6', texture: 'hatch' },
    isStraight: true,
    points: [
      { at: new Date(startsAt), value: 0 },
      { at: new Date(until), value: drawn(Number(limit.amount)) },
    ],
  }
  return [spent, pace]
}

function summaryOf(window: ActiveWindow, now: Date): string {
  const elapsed = elapsedOf(window, now)
  const said = `${moneyText(window.spent)} of ${moneyText(window.limit)} spent`
  if (elapsed === undefined) return `${said}.`
  const pace = BigInt(Math.round(Number(window.limit.amount) * elapsed))
  // To the cent: an even pace is no sum of the ledger.
  const even = moneyText({ ...window.limit, amount: String((pace / 10_000n) * 10_000n) })
  return `${said}; an even pace would be at ${even} by now.`
}

interface Members {
  readonly name: string
  readonly budget: Pick<Budget, 'subjectType' | 'subjectId'>
  readonly window: ActiveWindow
}

/** How what is spent has grown in a window, beside an even pace to its limit. */
export function SpendLine({ name, budget, window }: Members) {
  const strongroom = useStrongroom()
  const movements = useQuery(movementsSinceQuery(strongroom, window.startsAt))
  const licenses = useQuery(licensesQuery(strongroom))
  const error = movements.error ?? licenses.error
  if (error)
    return <ProblemNote error={error} onRetry={() => void Promise.all([movements.refetch(), licenses.refetch()])} />
  // As high as the plot will be: nothing shifts.
  if (!movements.data || !licenses.data) return <div className="h-44" />
  const now = new Date()
  const steps = spendSteps({ subject: budget, window, transactions: movements.data, licenses: licenses.data, now })
  return (
    <StepLine
      name={name}
      summary={summaryOf(window, now)}
      lines={linesOf(steps, window)}
      format={(value) => value.toFixed(value % 1 === 0 ? 0 : 2)}
    />
  )
}
