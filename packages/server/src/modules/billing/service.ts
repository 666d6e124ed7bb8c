import { type billing, money, type Output } from '@strongroom/contract'
import { transact } from '../../context.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { creditOf } from '../../ledger/ledger.ts'
import { incomingOf } from '../funding/store.ts'
import { readinessOf } from './readiness.ts'
import * as store from './store.ts'

export const balance: Handler<typeof billing.balance> = (ctx) =>
  transact(ctx, async ({ db, principal }) => {
    const { posted, held, available } = await creditOf(db, principal.orgId)
    const incoming = await incomingOf(db, principal.orgId)
    return { posted: money(posted), held: money(held), available: money(available), incoming: money(incoming) }
  })

type CreditTransaction = Output<typeof billing.creditTransactions>['data'][number]

/** What a movement is to whoever owns the credit. */
function typeOf({ code, phase }: store.CreditRow): CreditTransaction['type'] {
  if (phase === 'pending') return 'hold'
  if (phase === 'post') return 'capture'
  if (phase === 'void') return 'release'
  if (code === 'funding' || code === 'charge' || code === 'refund' || code === 'expiry') return code
  return code === 'promo' ? 'grant' : 'adjustment'
}

const show = (row: store.CreditRow): CreditTransaction => {
  const { id, isDebit, amount, postedAfter, availableAfter, refType, refId, occurredAt } = row
  const isSpent = isDebit && row.phase !== 'void'
  return {
    id,
    type: typeOf(row),
    amount: money(isSpent ? -BigInt(amount) : BigInt(amount)),
    balanceAfter: money(postedAfter),
    availableAfter: money(availableAfter),
    ref: { type: refType, id: refId },
    occurredAt: occurredAt.toISOString(),
  }
}

export const creditTransactions: Handler<typeof billing.creditTransactions> = (ctx, { query }) =>
  transact(ctx, async ({ db, principal }) =>
    listAnswer('data', await store.creditTransactions(db, principal.orgId, query), show),
  )

export const readiness: Handler<typeof billing.readiness> = (ctx) =>
  transact(ctx, async (ctx) => {
    const checks = await readinessOf(ctx)
    return { ready: checks.every(({ ok }) => ok), checks }
  })
