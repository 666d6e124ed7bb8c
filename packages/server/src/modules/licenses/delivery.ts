import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { monthAfter } from '../../licenses/proration.ts'
import type { OrderOutcome } from '../../licenses/provider.ts'
import { insertPeriod } from '../charges/period-store.ts'
import { chargeLicense } from '../charges/write.ts'
import { insertInstance } from './instance-store.ts'
import { captureId, ownerOf } from './money.ts'
import { type PurchaseRow, putSealed } from './purchase-store.ts'
import { tellLicense } from './tell.ts'

// What was delivered becomes a licence, with the period that is paid for by the same transaction.

type Delivered = OrderOutcome & { readonly kind: 'active' }

export interface Period {
  readonly startsAt: Date
  /** Null: it never ends. */
  readonly endsAt: Date | null
}

/** From delivery on, where what is delivered does not say itself when it began. Undefined if it is over by then: that is no period. */
export function periodOf({ term }: PurchaseRow, { periodStart, periodEnd }: Delivered, at: Date): Period | undefined {
  const startsAt = periodStart ?? at
  const endsAt = periodEnd ?? (term === 'month' ? monthAfter(startsAt) : null)
  return endsAt !== null && endsAt <= at ? undefined : { startsAt, endsAt }
}

/** In the transaction that takes the money for it. */
export async function deliver(
  deps: Pick<Deps, 'now' | 'newId'>,
  db: Db,
  row: PurchaseRow,
  { instanceRef, sealed, period }: Pick<Delivered, 'instanceRef' | 'sealed'> & { readonly period: Period },
  at: Date,
): Promise<void> {
  const { orgId, tenantId, principal: buyer, instanceId, amount } = row
  const { startsAt, endsAt } = period
  await insertInstance(db, row, { instanceRef, periodStart: startsAt, periodEnd: endsAt, at })
  const paid = { amount, transferId: captureId(row), owner: ownerOf(row) }
  await insertPeriod(db, { orgId, instanceId, periodNo: 1, startsAt, endsAt, ...paid }, at)
  await chargeLicense(deps, db, orgId, instanceId)
  await putSealed(db, row, sealed, at)
  await tellLicense(deps, db, { orgId, tenantId, buyer, id: instanceId, status: 'active' }, 'license.activated')
}
