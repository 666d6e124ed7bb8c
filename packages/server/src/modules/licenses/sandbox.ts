import { type licenses, money } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { applyTransfers, creditOf } from '../../ledger/ledger.ts'
import { emit } from '../../outbox/outbox.ts'

/**
 * Enough for a few licences of the sandbox, and for nothing else: with a catalogue of the operator there is none, and what is left of it ends
 * with the first purchase of what an operator sells (`end_test_credit`).
 */
export const GRANT = 100_000_000n
const ABOUT = { group: 'promo:sandbox', refType: 'grant', refId: 'sandbox' } as const

export const sandboxCredit: Handler<typeof licenses.sandboxCredit> = (ctx) =>
  transact(ctx, async (ctx) => {
    const { db, principal, config } = ctx
    const { orgId } = principal
    if (!config.catalogue.isSandbox) throw new ApiError('sandbox_not_on')
    await record(ctx, { action: 'billing.sandbox-credit', metadata: { amount: GRANT.toString() } })
    await emit(ctx, db, orgId, {
      type: 'billing.balance.credited',
      object: { type: 'balance', id: orgId, amount: money(GRANT) },
    })
    // Its name is the same for ever: a second grant is the first one.
    const named = { ...ABOUT, id: 'promo:sandbox', code: 'promo' } as const
    const grant = { ...named, phase: 'single', dr: 'promo', cr: 'credit', amount: GRANT } as const
    const { applied } = await applyTransfers(db, orgId, [grant], ctx.now())
    if (applied === 0) throw new ApiError('sandbox_credit_granted')
    return { granted: money(GRANT), available: money((await creditOf(db, orgId)).available) }
  })
