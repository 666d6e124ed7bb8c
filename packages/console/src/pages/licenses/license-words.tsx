import type { License } from '@strongroom/contract'
import type { Offer, PurchaseState, TerminationState } from '@strongroom/sdk'
import { Status, type Tone } from '../../ui/status.tsx'
import { MoneyAmount, moneyText } from '../billing/money.tsx'

const TERMS: Record<Offer['term'], string> = { month: 'a month', once: 'once' }
type Priced = Pick<Offer, 'price' | 'term'>

export const priceText = ({ price, term }: Priced): string => `${moneyText(price)} ${TERMS[term]}`

export function Price({ of: { price, term } }: { readonly of: Priced }) {
  return (
    <span className="whitespace-nowrap">
      <MoneyAmount of={price} /> {TERMS[term]}
    </span>
  )
}

export const PURCHASE_WORDS: Record<PurchaseState, { readonly word: string; readonly tone: Tone }> = {
  reserved: { word: 'price held', tone: 'money' },
  provisioning: { word: 'ordered', tone: 'money' },
  provider_pending: { word: 'with the provider', tone: 'money' },
  awaiting_handoff: { word: 'waits for its vault', tone: 'warn' },
  completed: { word: 'handed over', tone: 'good' },
  failed: { word: 'failed', tone: 'bad' },
  compensating: { word: 'being undone', tone: 'warn' },
  cancelled: { word: 'cancelled', tone: 'quiet' },
  in_review: { word: 'with the operator', tone: 'warn' },
}

export const TERMINATION_WORDS: Record<TerminationState, string> = {
  requested: 'asked for',
  cancelling: 'the provider is asked',
  cancel_pending: 'scheduled by the provider',
  settling: 'ended at the provider, being settled',
  completed: 'settled',
  failed: 'failed',
  in_review: 'with the operator',
}

const LICENSE_TONES: Record<License['status'], Tone> = {
  active: 'good',
  terminating: 'warn',
  terminated: 'quiet',
  expired: 'quiet',
}

export function LicenseStatus({ of: { status, itemId } }: { readonly of: Pick<License, 'status' | 'itemId'> }) {
  if (status === 'active' && itemId === null) return <Status tone="warn">waits for its vault</Status>
  return <Status tone={LICENSE_TONES[status]}>{status}</Status>
}
