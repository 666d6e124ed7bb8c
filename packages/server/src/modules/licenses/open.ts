import { managesMoney } from '../../access/roles.ts'
import type { TxCtx } from '../../context.ts'
import { found } from '../../errors.ts'
import { type InstanceRow, instance } from './instance-store.ts'
import { type PurchaseRow, purchase } from './purchase-store.ts'
import { type TerminationRow, termination } from './termination-store.ts'

// Who sees what was bought: the buyer, and whoever manages the money of the organisation. For everybody else it does not exist.

const sees = ({ principal }: TxCtx, buyer: string): boolean => buyer === principal.id || managesMoney(principal)

export async function openPurchase(ctx: TxCtx, purchaseId: string): Promise<PurchaseRow> {
  const row = await purchase(ctx.db, ctx.principal.orgId, purchaseId)
  return found(row && sees(ctx, row.principal) ? row : undefined, 'purchase_not_found')
}

export async function openInstance(ctx: TxCtx, instanceId: string): Promise<InstanceRow> {
  const row = await instance(ctx.db, ctx.principal.orgId, instanceId)
  return found(row && sees(ctx, row.buyer) ? row : undefined, 'license_instance_not_found')
}

export async function openTermination(
  ctx: TxCtx,
  terminationId: string,
): Promise<{ readonly row: TerminationRow; readonly license: InstanceRow }> {
  const { db, principal } = ctx
  const row = found(await termination(db, principal.orgId, terminationId), 'termination_not_found')
  const license = await instance(db, principal.orgId, row.instanceId)
  return { row, license: found(license && sees(ctx, license.buyer) ? license : undefined, 'termination_not_found') }
}
