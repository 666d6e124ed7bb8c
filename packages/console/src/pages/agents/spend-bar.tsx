import type { Budget } from '@strongroom/contract'
import { formatAmount } from '../../ui/amount.tsx'
import { decimalOf } from '../../ui/decimal.ts'

type Window = Budget['activeWindows'][number]

const share = (part: string, whole: string): number =>
  Number(whole) === 0 ? 0 : Math.min(100, Math.max(0, (Number(part) / Number(whole)) * 100))

/** Spent is solid, reserved is hatched, what is left is the outline. The words beside it say the same. */
export function SpendBar({ window, wide = false }: { readonly window: Window; readonly wide?: boolean }) {
  const { spent, reserved, limit } = window
  const taken = share(spent.amount, limit.amount)
  const held = Math.min(100 - taken, share(reserved.amount, limit.amount))
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      className={`${wide ? 'h-3 w-full' : 'h-2 w-20'} shrink-0 border border-edge text-money`}
    >
      <rect x="0" y="0" width={taken} height="8" fill="currentColor" />
      <rect x={taken} y="0" width={held} height="8" fill="currentColor" opacity="0.4" />
    </svg>
  )
}

export const spendWords = ({ spent, limit }: Window): string =>
  `${decimalOf(spent).replace(/(\.\d\d)0+$/, '$1')} of ${formatAmount(decimalOf(limit), limit.currency)}`
