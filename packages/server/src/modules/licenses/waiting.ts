import type { Db } from '../../db/database.ts'
import { keptStep, nextPurchase } from './purchase-machine.ts'
import { dropSealed, movePurchase, type PurchaseRow, purchase, sealedOf } from './purchase-store.ts'
import { tellPurchase } from './tell.ts'
import { later, Overtaken, type Works } from './turns.ts'

// What was delivered and waits for its buyer to take it, and what becomes of that while the end of its licence is asked for.

export const DAY_MS = 86_400_000
/** Since it has begun to wait. */
const REMINDERS_MS: readonly number[] = [3_600_000, DAY_MS, 7 * DAY_MS]

/** When its buyer hears of it next; null when they have heard often enough. */
export function reminderAt({ reminders }: Pick<PurchaseRow, 'reminders'>, since: Date): Date | null {
  const after = REMINDERS_MS[reminders]
  return after === undefined ? null : later(since, after)
}

/** Nobody takes what is being ended. As it is then; undefined if it was taken this very moment. */
export async function stopWaiting(db: Db, row: PurchaseRow, actor: string, at: Date): Promise<PurchaseRow | undefined> {
  const next = nextPurchase(row.state, 'terminated')
  if (!next) return row
  const move = { to: next.to, cause: 'terminated', actor, at }
  if (!(await movePurchase(db, row, move, { next_at: null }))) return undefined
  return { ...row, state: next.to, version: row.version + 1 }
}

/** Its licence runs on, for now or until the period ends, and is paid for: it can be taken as before. */
export async function waitAgain(
  { deps }: Pick<Works, 'deps'>,
  db: Db,
  { orgId, purchaseId }: Pick<PurchaseRow, 'orgId' | 'purchaseId'>,
  at: Date,
): Promise<void> {
  const row = await purchase(db, orgId, purchaseId)
  const next = row && keptStep(row)
  if (!next) return
  // What was being sealed to another key meanwhile is sealed by the next turn.
  const next_at = (await sealedOf(db, orgId, purchaseId)) ? reminderAt(row, at) : at
  const move = { to: next.to, cause: 'kept', actor: 'strongroom', at }
  if (!(await movePurchase(db, row, move, { next_at }))) throw new Overtaken()
  await tellPurchase(deps, db, row, next.to)
}

/** What was never taken ends with its licence; the sealed credential is gone. The purchase first, as for who takes it. */
export async function endPurchase({ deps }: Pick<Works, 'deps'>, db: Db, bought: PurchaseRow, at: Date): Promise<void> {
  // What ends with its period could be taken until now.
  const row = await stopWaiting(db, bought, 'strongroom', at)
  if (!row) throw new Overtaken()
  const next = nextPurchase(row.state, 'undone')
  if (next) {
    const move = { to: next.to, cause: 'undone', actor: 'strongroom', at }
    if (!(await movePurchase(db, row, move, { money: 'refunded', next_at: null }))) throw new Overtaken()
    await tellPurchase(deps, db, row, next.to)
  }
  await dropSealed(db, row.orgId, row.purchaseId)
}
