import type { CreditTransaction } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { MonoId } from '../../ui/copy.tsx'
import type { Column } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { MoneyAmount, Movement } from './money.tsx'

const TYPES: Record<CreditTransaction['type'], string> = {
  funding: 'paid in',
  hold: 'held for a purchase',
  capture: 'taken from what was held',
  release: 'given free again',
  charge: 'charged',
  refund: 'given back',
  grant: 'granted',
  expiry: 'expired',
  adjustment: 'corrected',
}

const typeWord = ({ type }: Pick<CreditTransaction, 'type'>): string => TYPES[type]

const REFS: Readonly<Record<string, string>> = {
  license_purchase: 'purchase',
  license_termination: 'termination',
  license_renewal: 'renewal',
  funding_intent: 'payment',
  grant: 'test credit',
}

/** What it was for, with the way to its page where it has one. */
function Reference({ of: { type, id } }: { readonly of: CreditTransaction['ref'] }) {
  const word = REFS[type] ?? type.replaceAll('_', ' ')
  if (type === 'license_purchase')
    return (
      <Link to="/licenses/purchases/$purchaseId" params={{ purchaseId: id }}>
        {word}
      </Link>
    )
  if (type === 'funding_intent')
    return (
      <Link to="/billing/funding" search={{ intent: id }}>
        {word}
      </Link>
    )
  if (type === 'grant') return word
  return (
    <span>
      {word} <MonoId id={id} keep={4} />
    </span>
  )
}

export const TRANSACTION_COLUMNS: readonly Column<CreditTransaction>[] = [
  { id: 'when', header: 'When', cell: ({ occurredAt }) => <When at={occurredAt} /> },
  { id: 'what', header: 'What', grows: true, cell: typeWord },
  { id: 'for', header: 'For', cell: ({ ref }) => <Reference of={ref} /> },
  { id: 'amount', header: 'Amount', align: 'right', cell: ({ amount }) => <Movement of={amount} /> },
  {
    id: 'available',
    header: 'Available after',
    align: 'right',
    cell: ({ availableAfter }) => <MoneyAmount of={availableAfter} />,
  },
]
