import { type billing, money } from '@strongroom/contract'
import { transact } from '../../context.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { creditOf } from '../../ledger/ledger.ts'
import { incomingOf } from '../funding/store.ts'
import { readinessOf } from './readiness.ts'
import { showMovement } from './show.ts'
import * as store from './store.ts'

export const balance: Handler<typeof billing.balance> = (ctx) =>
  transact(ctx, async ({ db, principal }) => {
    const { posted, held, available } = await creditOf(db, principal.orgId)
    const incoming = await incomingOf(db, principal.orgId)
    return { posted: money(posted), held: money(held), available: money(available), incoming: money(incoming) }
  })

export const creditTransactions: Handler<typeof billing.creditTransactions> = (ctx, { query }) =>
  transact(ctx, async ({ db, principal }) =>
    listAnswer('data', await store.creditTransactions(db, principal.orgId, query), showMovement),
  )

export const readiness: Handler<typeof billing.readiness> = (ctx) =>
  transact(ctx, async (ctx) => {
    const checks = await readinessOf(ctx)
    return { ready: checks.every(({ ok }) => ok), checks }
  })
