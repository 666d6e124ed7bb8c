import { useId } from 'react'
import { colourOf, fillOf, type Mark, Textures } from '../../plot/marks.tsx'
import { usePlotWidth } from '../../plot/plot-width.ts'
import { type ActiveWindow, elapsedOf } from './budget-windows.ts'

export const BUDGET_PARTS: readonly { readonly label: string; readonly mark: Mark }[] = [
  { label: 'spent', mark: { colour: 'money', texture: 'solid' } },
  { label: 'reserved', mark: { colour: 'money', texture: 'hatch' } },
  { label: 'left', mark: { colour: 'money', texture: 'outline' } },
]

const HEIGHT = 12

/** Spent solid, reserved hatched, left an outline; the tick is how much of the time is over. The sentence above says the same. */
export function BudgetBar({ window }: { readonly window: ActiveWindow }) {
  const scope = useId()
  const [room, width] = usePlotWidth()
  const limit = Math.max(1, Number(window.limit.amount))
  const x = (amount: number): number => 0.5 + (Math.min(amount, limit) / limit) * Math.max(0, width - 1)
  const spent = Number(window.spent.amount)
  const reserved = Number(window.reserved.amount)
  const elapsed = elapsedOf(window, new Date())
  const part = (at: number, from: number, to: number) => {
    const mark = BUDGET_PARTS[at]?.mark
    return mark && to > from ? (
      <rect
        x={x(from)}
        y="4"
        width={Math.max(1, x(to) - x(from))}
        height={HEIGHT - 1}
        fill={fillOf(scope, at, mark)}
        stroke={colourOf(mark)}
        strokeWidth="0.8"
      />
    ) : null
  }
  return (
    <div ref={room} className="min-w-0">
      <svg aria-hidden="true" width={width} height={HEIGHT + 6} className="block">
        <Textures scope={scope} marks={BUDGET_PARTS.map(({ mark }) => mark)} />
        <rect x="0.5" y="3.5" width={Math.max(0, width - 1)} height={HEIGHT} className="fill-none stroke-edge" />
        {part(0, 0, spent)}
        {part(1, spent, spent + reserved)}
        {elapsed !== undefined && (
          <path d={`M${x(elapsed * limit)} 0 v${HEIGHT + 6}`} className="stroke-ink" strokeWidth="1.5">
            <title>{`${Math.round(elapsed * 100)} % of the time is over`}</title>
          </path>
        )}
      </svg>
    </div>
  )
}
