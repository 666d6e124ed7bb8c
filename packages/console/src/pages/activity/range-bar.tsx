import { X } from 'lucide-react'
import { sayTime } from '../../plot/axes.tsx'
import { SelectField } from '../../ui/field.tsx'

const HOUR = 3_600_000
const SPANS = [
  ['1', 'the last hour'],
  ['24', 'the last 24 hours'],
  ['168', 'the last 7 days'],
  ['720', 'the last 30 days'],
] as const

interface RangeMembers {
  readonly from: Date | undefined
  readonly to: Date | undefined
  onRange(range: { readonly from?: string; readonly to?: string }): void
}

/** The stretch of time that is shown: chosen here, or by dragging over the plot. */
export function RangeBar({ from, to, onRange }: RangeMembers) {
  if (from || to)
    return (
      <button
        type="button"
        aria-label="Take away the range of time"
        onClick={() => onRange({})}
        className="flex min-h-8 cursor-pointer items-center gap-1.5 rounded-control border border-rule bg-raised px-2.5 text-label hover:border-edge"
      >
        {from ? sayTime(from) : 'the beginning'} – {to ? sayTime(to) : 'now'}
        <X aria-hidden="true" size={12} strokeWidth={1.5} />
      </button>
    )
  return (
    <div className="w-44 [&_label]:sr-only">
      <SelectField
        label="Range of time"
        value=""
        onChange={({ target: { value } }) =>
          value !== '' && onRange({ from: new Date(Date.now() - Number(value) * HOUR).toISOString() })
        }
      >
        <option value="">all that is loaded</option>
        {SPANS.map(([hours, label]) => (
          <option key={hours} value={hours}>
            {label}
          </option>
        ))}
      </SelectField>
    </div>
  )
}
