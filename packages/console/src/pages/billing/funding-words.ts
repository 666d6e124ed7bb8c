import type { FundingIntent } from '@strongroom/sdk'
import type { Tone } from '../../ui/status.tsx'
import { moneyText } from './money.tsx'

type Status = FundingIntent['status']

export const FUNDING_WORDS: Record<Status, { readonly word: string; readonly tone: Tone }> = {
  requires_payment: { word: 'waits for the payment', tone: 'money' },
  processing: { word: 'being confirmed', tone: 'money' },
  partially_funded: { word: 'partly credited', tone: 'warn' },
  funded: { word: 'credited', tone: 'good' },
  expired: { word: 'expired', tone: 'quiet' },
  cancelled: { word: 'cancelled', tone: 'quiet' },
  in_review: { word: 'with the operator', tone: 'warn' },
}

export interface FundingStep {
  readonly name: 'Asked for' | 'Seen' | 'Confirmed' | 'Credited'
  readonly isDone: boolean
  readonly says: string
}

const isSome = (amount: string): boolean => /[1-9]/.test(amount)

/** How far a payment is: seen, so many of so many confirmations, credited. */
export function stepsOf(intent: FundingIntent): readonly FundingStep[] {
  const { deposits, confirmationsRequired, credited, incoming, target, status } = intent
  const good = deposits.filter(({ state }) => state === 'seen' || state === 'credited')
  const waiting = good.filter(({ state }) => state === 'seen').map(({ confirmations }) => confirmations)
  const least = Math.min(confirmationsRequired, ...waiting)
  const isSeen = good.length > 0
  return [
    { name: 'Asked for', isDone: true, says: moneyText(target) },
    {
      name: 'Seen',
      isDone: isSeen,
      says: isSeen ? `${moneyText(isSome(incoming.amount) ? incoming : credited)} on the chain` : 'not yet',
    },
    {
      name: 'Confirmed',
      isDone: isSeen && waiting.length === 0,
      says: isSeen ? `${least} of ${confirmationsRequired} confirmations` : `after ${confirmationsRequired} blocks`,
    },
    {
      name: 'Credited',
      isDone: status === 'funded',
      says: isSome(credited.amount) ? `${moneyText(credited)} of ${moneyText(target)}` : 'not yet',
    },
  ]
}
