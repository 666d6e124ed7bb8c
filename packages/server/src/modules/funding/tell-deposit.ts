import { type EventType, money } from '@strongroom/contract'
import type { Db } from '../../db/database.ts'
import { emit } from '../../outbox/outbox.ts'
import type { DepositKey } from './deposit-store.ts'
import type { Folding } from './fold.ts'
import type { DepositState } from './status.ts'
import { insertTransition } from './store.ts'

const TOLD: Readonly<Record<DepositState, EventType | undefined>> = {
  seen: 'billing.deposit.seen',
  credited: 'billing.deposit.credited',
  orphaned: 'billing.deposit.orphaned',
  reversed: 'billing.deposit.orphaned',
  held: undefined,
}

export interface DepositChange extends DepositKey {
  readonly intentId: string
  readonly amount: string
  readonly from: DepositState | null
  readonly to: DepositState
  readonly cause: string
}

/** Writes the change of a deposit down, and tells of it. */
export async function tellDeposit(deps: Folding, db: Db, change: DepositChange): Promise<void> {
  const { orgId, intentId, chainId, txHash, ordinal, amount, from, to, cause } = change
  const object = `${txHash}.${ordinal}`
  await insertTransition(db, orgId, { intentId, object, from, to, cause, at: deps.now() })
  const type = TOLD[to]
  if (!type) return
  await emit(deps, db, orgId, {
    type,
    object: { type: 'deposit', id: object, status: to, intentId, chainId, amount: money(amount) },
    ...(from !== null && { previous: { status: from } }),
    self: `/api/v1/machine/billing/crypto-funding-intents/${intentId}`,
  })
}
