import type { License } from '@strongroom/contract'
import type { CreditTransaction, Purchase, PurchaseState, Termination } from '@strongroom/sdk'
import { moneyText } from '../billing/money.tsx'
import { TERMINATION_WORDS } from './license-words.tsx'

// The life of a licence as a rail: what happened, when, and which money moved with it.

export interface RailNode {
  readonly name: string
  readonly state: 'done' | 'now' | 'open' | 'failed'
  readonly at?: Date | undefined
  readonly says?: string | undefined
  /** Such as `12.50 USD held`. */
  readonly money: readonly string[]
}

export interface Life {
  readonly purchase: Purchase
  readonly license: License | undefined
  readonly termination: Termination | undefined
  readonly movements: readonly CreditTransaction[]
}

const MONEY_WORDS: Partial<Record<CreditTransaction['type'], string>> = {
  hold: 'held',
  capture: 'taken',
  release: 'free again',
  refund: 'given back',
}

const moneyOf = (movements: readonly CreditTransaction[], ...types: readonly CreditTransaction['type'][]): string[] =>
  movements
    .filter(({ type }) => types.includes(type))
    .map(
      ({ type, amount }) =>
        `${moneyText({ ...amount, amount: amount.amount.replace('-', '') })} ${MONEY_WORDS[type] ?? type}`,
    )

const STEPS: readonly {
  readonly name: string
  readonly reached: readonly PurchaseState[]
  readonly types: readonly CreditTransaction['type'][]
}[] = [
  { name: 'Reserved', reached: ['reserved'], types: ['hold'] },
  { name: 'Ordered', reached: ['provisioning', 'provider_pending'], types: [] },
  { name: 'Provisioned', reached: ['awaiting_handoff'], types: ['capture'] },
  { name: 'Handed over', reached: ['completed'], types: [] },
]

const SAYS: Partial<Record<PurchaseState, string>> = {
  reserved: 'the order is about to be placed',
  provisioning: 'the provider is asked',
  provider_pending: 'the provider needs a while',
  awaiting_handoff: 'sealed to the key of its buyer',
}

const STOPPED: Partial<Record<PurchaseState, string>> = {
  failed: 'Failed',
  in_review: 'In review',
  compensating: 'Being undone',
  cancelled: 'Cancelled',
}

function purchaseNodes({ purchase, movements }: Life): RailNode[] {
  const at = (states: readonly PurchaseState[]): Date | undefined =>
    purchase.history.findLast(({ state }) => states.includes(state))?.at
  const stopped = STOPPED[purchase.state]
  const nodes = STEPS.map(({ name, reached, types }): RailNode => {
    const time = at(reached)
    return { name, at: time, state: time ? 'done' : 'open', money: moneyOf(movements, ...types) }
  })
  const next = nodes.findIndex(({ state }) => state === 'open')
  if (stopped !== undefined) {
    const place = next < 0 ? nodes.length : next
    const failed: RailNode = {
      name: stopped,
      state: 'failed',
      at: purchase.history.at(-1)?.at,
      says: purchase.failure?.message,
      money: moneyOf(movements, 'release', 'refund'),
    }
    return [...nodes.slice(0, place), failed, ...nodes.slice(place)]
  }
  return nodes.map((node, place) => (place === next ? { ...node, state: 'now', says: SAYS[purchase.state] } : node))
}

/** Its period may have begun before it was handed over; until then nobody could use it. */
function activeSince({ history }: Purchase, { periodStart }: License): Date {
  const handedOver = history.findLast(({ state }) => state === 'completed')?.at
  const began = new Date(periodStart)
  return handedOver && handedOver > began ? handedOver : began
}

function lifeNodes({ purchase, license, termination, movements }: Life): RailNode[] {
  const isActive = purchase.state === 'completed' && license !== undefined
  const isEnding = license !== undefined && license.status !== 'active'
  const isOver = license?.status === 'terminated' || license?.status === 'expired'
  const active: RailNode = {
    name: 'Active',
    state: isActive ? 'done' : 'open',
    at: isActive ? activeSince(purchase, license) : undefined,
    money: [],
  }
  const isStopped = termination?.failure !== undefined
  const begun = termination?.history[0]?.at
  const ending: RailNode = {
    name: 'Terminating',
    state: isStopped ? 'failed' : isOver && begun ? 'done' : isEnding && !isOver ? 'now' : 'open',
    at: begun,
    says: termination && !isOver ? (termination.failure?.message ?? TERMINATION_WORDS[termination.state]) : undefined,
    money: [],
  }
  const ended: RailNode = {
    name: license?.status === 'expired' ? 'Expired' : 'Ended',
    state: isOver ? 'done' : 'open',
    at: license?.terminatedAt ? new Date(license.terminatedAt) : (termination?.effectiveAt ?? undefined),
    says: !isOver && termination?.effectiveAt ? 'will end then' : undefined,
    money: moneyOf(movements, 'refund'),
  }
  return [active, ending, ended]
}

const isDead = ({ purchase: { state } }: Life): boolean => state === 'cancelled' || state === 'compensating'

/** From the price that was held to the end. What has not happened is open; where it stopped it says why. */
export const railNodes = (life: Life): readonly RailNode[] =>
  isDead(life) && !life.license
    ? purchaseNodes(life).filter(({ state }) => state !== 'open')
    : [...purchaseNodes(life), ...lifeNodes(life)]
