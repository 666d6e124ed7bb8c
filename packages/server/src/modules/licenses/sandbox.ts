import { type licenses, money } from '@strongroom/contract'
import { sql } from 'kysely'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { applyTransfers, creditOf } from '../../ledger/ledger.ts'
import { emit } from '../../outbox/outbox.ts'

/** Enough for a few licences of the sandbox, and for nothing else: with a catalogue of the operator there is none. */
const GRANT = 100_000_000n
const ABOUT = { group: 'promo:sandbox', refType: 'grant', refId: 'sandbox' } as const

export const sandboxCredit: Handler<typeof licenses.sandboxCredit> = (ctx) =>
  transact(ctx, async (ctx) => {
    const { db, principal, config } = ctx
    const { orgId } = principal
    if (!config.catalogue.isSandbox) throw new ApiError('sandbox_not_on')
    await record(ctx, { action: 'billing.sandbox-credit', metadata: { amount: GRANT.toString() } })
    await emit(ctx, db, orgId, {
      type: 'billing.balance.credited',
      object: { type: 'balance', id: orgId, amount: GRANT.toString() },
    })
    // Its name is the same for ever: a second grant is the first one.
    const named = { ...ABOUT, id: 'promo:sandbox', code: 'promo' } as const
    const grant = { ...named, phase: 'single', dr: 'promo', cr: 'credit', amount: GRANT } as const
    const { applied } = await applyTransfers(db, orgId, [grant], ctx.now())
    if (applied === 0) throw new ApiError('sandbox_credit_granted')
    return { granted: money(GRANT), available: money((await creditOf(db, orgId)).available) }
  })

const testCredit = (db: TxCtx['db'], orgId: string) =>
  sql<{ available: string; used: string }>`
    select (c.cr_posted - c.dr_posted - c.dr_pending)::text as available,
      coalesce((select p.cr_posted - p.dr_posted from ledger_account p
        where p.org_id = c.org_id and p.account = 'payable:builtin'), 0)::text as used
    from ledger_account c
    where c.org_id = ${orgId} and c.account = 'credit'
      and exists (select 1 from ledger_transfer t where t.org_id = c.org_id and t.transfer_id = 'promo:sandbox')
      and not exists (select 1 from ledger_transfer t where t.org_id = c.org_id and t.transfer_id = 'expiry:sandbox')`
    .execute(db)
    .then(({ rows: [left] }) => left)

/**
 * Test credit buys nothing that somebody has to be paid for: what is left of it goes with the first purchase of what an operator sells.
 * It takes the lock of the credit, so call it where the ledger's turn is.
 */
export async function endTestCredit({ db, principal, now }: TxCtx): Promise<void> {
  const { orgId } = principal
  if (!(await testCredit(db, orgId))) return
  await sql`select 1 from ledger_account where org_id = ${orgId} and account = 'credit' for update`.execute(db)
  // Looked at again by a statement of its own: who waited for the lock has not seen what was done under it.
  const left = await testCredit(db, orgId)
  if (!left) return
  const [available, unused] = [BigInt(left.available), GRANT - BigInt(left.used)]
  const amount = available < unused ? available : unused
  if (amount <= 0n) return
  const named = { ...ABOUT, id: 'expiry:sandbox', code: 'expiry' } as const
  await applyTransfers(db, orgId, [{ ...named, phase: 'single', dr: 'credit', cr: 'promo', amount }], now())
}
