import type { EventType } from '@strongroom/contract'
import { money } from '@strongroom/contract'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { emit } from '../../outbox/outbox.ts'
import { type IntentStanding, type IntentStatus, standingOf } from './status.ts'
import * as store from './store.ts'

// The stored status follows the deposits: whoever changes one of the two folds the intent again, in the same transaction.

export type Folding = Pick<Deps, 'now' | 'newId'>

export const standingNow = (row: store.IntentRow, now: Date): IntentStanding =>
  standingOf(
    {
      target: BigInt(row.target),
      expiresAt: row.expiresAt,
      cancelledAt: row.cancelledAt,
      deposits: row.deposits.map(({ state, amount, paidAt, contract }) => ({
        state,
        amount: BigInt(amount),
        paidAt: new Date(paidAt),
        isOtherAsset: contract !== row.contract,
      })),
    },
    now,
  )

const TOLD: Readonly<Partial<Record<IntentStatus, EventType>>> = {
  processing: 'billing.funding_intent.processing',
  partially_funded: 'billing.funding_intent.partially_funded',
  funded: 'billing.funding_intent.funded',
  expired: 'billing.funding_intent.expired',
  in_review: 'billing.funding_intent.in_review',
}

export const tellIntent = (
  deps: Folding,
  db: Db,
  orgId: string,
  type: EventType,
  intent: { readonly row: store.IntentRow; readonly standing: IntentStanding; readonly version: number },
): Promise<string> => {
  const { row, standing, version } = intent
  const { status, exceptions, credited } = standing
  return emit(deps, db, orgId, {
    type,
    object: {
      type: 'funding_intent',
      id: row.intentId,
      status,
      exceptions,
      version,
      target: money(row.target),
      credited: money(credited),
    },
    ...(row.status !== status && { previous: { status: row.status } }),
    self: `/api/v1/machine/billing/crypto-funding-intents/${row.intentId}`,
  })
}

/** Under the lock of the intent. Writes the status down if it is another one, and tells of it. */
export async function foldIntent(deps: Folding, db: Db, orgId: string, intentId: string, cause: string): Promise<void> {
  const row = await store.lockIntent(db, orgId, intentId)
  if (!row) throw new Error('there is no such intent')
  const standing = standingNow(row, deps.now())
  const { status, exceptions } = standing
  if (status === row.status && exceptions.join() === row.exceptions.join()) return
  if (!(await store.keepStanding(db, orgId, row, standing))) throw new Error('the intent changed under its lock')
  const told = { row, standing, version: row.version + 1 }
  const type = status === row.status ? undefined : TOLD[status]
  if (type) await tellIntent(deps, db, orgId, type, told)
  if (exceptions.includes('paid_late') && !row.exceptions.includes('paid_late'))
    await tellIntent(deps, db, orgId, 'billing.funding_intent.paid_late', told)
  if (status === row.status) return
  const at = deps.now()
  await store.insertTransition(db, orgId, { intentId, object: intentId, from: row.status, to: status, cause, at })
}
