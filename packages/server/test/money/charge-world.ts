import { inOrg } from '../../src/context.ts'
import { endPeriod, insertPeriod, lockPeriods } from '../../src/modules/charges/period-store.ts'
import { takeLineTurn, takeMonthTurn } from '../../src/modules/charges/turns.ts'
import { chargePeriod } from '../../src/modules/charges/write.ts'
import type { Harness } from '../harness.ts'

// Licences that were paid for, without anybody selling them: what charges are made from.

export interface PaidLicense {
  readonly orgId: string
  readonly tenantId: string
  readonly buyer: string
  readonly startsAt: Date
  readonly endsAt: Date | null
  readonly amount: bigint
}

/** Gives the id of the licence. */
export async function giveLicense({ deps }: Harness, paid: PaidLicense): Promise<string> {
  const { orgId, tenantId, buyer, startsAt, endsAt } = paid
  const [purchaseId, instanceId, at] = [deps.newId('pur'), deps.newId('lic'), deps.now()]
  const amount = paid.amount.toString()
  const common = { org_id: orgId, purchase_id: purchaseId, instance_id: instanceId, tenant_id: tenantId }
  const offer = { slug: 'mail-pro', name: 'Mail', provider: 'acme', sku: 'MP1', quantity: 1, amount }
  const term = endsAt === null ? 'once' : 'month'
  await inOrg(deps, orgId, async (db) => {
    await db
      .insertInto('license_purchase')
      .values({
        ...common,
        ...offer,
        ...{ term, principal: buyer, fields: JSON.stringify([]), vault_mode: 'new', vault_name: 'x', vault_id: null },
        ...{ recipient_kid: '', recipient_key: JSON.stringify({}), subjects: [], state: 'completed', reason: null },
        ...{
          provider_ref: null,
          instance_ref: instanceId,
          sealing: null,
          quote_valid_until: at,
          resumable_until: null,
        },
        ...{ period_start: startsAt, period_end: endsAt, handoff_digest: null, handoff_index: null, item_id: null },
        ...{ handoff_receipt: null, next_at: null, lease_until: null, created_at: at, updated_at: at },
      })
      .execute()
    await db
      .insertInto('license_instance')
      .values({
        ...common,
        ...offer,
        ...{ term, principal: buyer, instance_ref: instanceId, status: 'active', period_start: startsAt },
        ...{ period_end: endsAt, vault_id: null, item_id: null, created_at: at, terminated_at: null },
      })
      .execute()
    const period = { orgId, instanceId, periodNo: 1, startsAt, endsAt, amount }
    await insertPeriod(db, { ...period, transferId: `capture:${purchaseId}:1`, owner: `purchase:${purchaseId}` }, at)
  })
  return instanceId
}

/** Ends it as a settlement does, without the money. */
export const endLicense = (
  { deps }: Harness,
  orgId: string,
  instanceId: string,
  { until, refund }: { readonly until: Date; readonly refund: bigint },
): Promise<void> =>
  inOrg(deps, orgId, async (db) => {
    for (const period of await lockPeriods(db, orgId, instanceId))
      await endPeriod(db, period, { at: until, refund, refundId: refund > 0n ? `refund:${instanceId}` : null })
    for (const period of await lockPeriods(db, orgId, instanceId)) await chargePeriod(deps, db, period)
  })

/** Every turn that is due. */
export async function takeChargeTurns({ deps, worker }: Harness): Promise<void> {
  for (const take of [takeLineTurn, takeMonthTurn]) while (await take(deps, worker));
}
