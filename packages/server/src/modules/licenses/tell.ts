import type { EventType } from '@strongroom/contract'
import type { Deps } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { type DomainEvent, emit } from '../../outbox/outbox.ts'
import type { InstanceRow } from './instance-store.ts'
import type { PurchaseRow, PurchaseState } from './purchase-store.ts'
import type { TerminationRow, TerminationState } from './termination-store.ts'

// What is told of licences, to who sees them: the buyer, and whoever manages the money of the organisation. Ids, states and amounts; never
// a label or a ciphertext.

type Maker = Pick<Deps, 'now' | 'newId'>

/** Compensating is told when it has ended. */
const PURCHASE_EVENTS: Readonly<Record<PurchaseState, EventType | undefined>> = {
  reserved: 'license.purchase.reserved',
  provisioning: 'license.purchase.provisioning',
  provider_pending: 'license.purchase.provider_pending',
  awaiting_handoff: 'license.purchase.awaiting_handoff',
  completed: 'license.purchase.completed',
  failed: 'license.purchase.failed',
  compensating: undefined,
  cancelled: 'license.purchase.cancelled',
  in_review: 'license.purchase.in_review',
}

type Bought = Pick<
  PurchaseRow,
  'orgId' | 'purchaseId' | 'instanceId' | 'tenantId' | 'principal' | 'slug' | 'version' | 'state'
>

export function purchaseEvent(before: Bought, status: PurchaseState, type: EventType): DomainEvent {
  const { purchaseId, instanceId, tenantId, principal, slug, version, state } = before
  const isNew = state === status
  return {
    type,
    object: {
      type: 'license_purchase',
      id: purchaseId,
      status,
      version: isNew ? version : version + 1,
      licenseId: slug,
      licenseInstanceId: instanceId,
    },
    ...(!isNew && { previous: { status: state } }),
    self: `/api/v1/machine/licenses/purchases/${purchaseId}/status`,
    tenantId,
    principal,
  }
}

export async function tellPurchase(
  maker: Maker,
  db: Db,
  before: Bought,
  status: PurchaseState,
  type: EventType | undefined = PURCHASE_EVENTS[status],
): Promise<void> {
  if (type !== undefined) await emit(maker, db, before.orgId, purchaseEvent(before, status, type))
}

/** Where it was bought, and by whom. */
export interface Whose {
  readonly tenantId: string
  readonly buyer: string
}

export const whoseOf = ({ domainTenantId: tenantId, buyer }: Pick<InstanceRow, 'domainTenantId' | 'buyer'>): Whose => ({
  tenantId,
  buyer,
})

export interface LicenseNews extends Whose {
  readonly orgId: string
  readonly id: string
  readonly status: string
  readonly periodEnd?: string
  /** A code: why it ends. */
  readonly reason?: string
}

export const tellLicense = (
  maker: Maker,
  db: Db,
  { orgId, tenantId, buyer, ...about }: LicenseNews,
  type: `license.${'activated' | 'terminated' | 'renewed' | 'expiring' | 'expired'}`,
): Promise<string> =>
  emit(maker, db, orgId, { type, object: { type: 'license', ...about }, tenantId, principal: buyer })

const TERMINATION_EVENTS: Readonly<Record<TerminationState, EventType | undefined>> = {
  requested: 'license.termination.requested',
  cancelling: undefined,
  cancel_pending: 'license.termination.cancel_pending',
  settling: undefined,
  completed: 'license.termination.completed',
  failed: 'license.termination.failed',
  in_review: 'license.termination.in_review',
}

export async function tellTermination(
  maker: Maker,
  db: Db,
  { orgId, terminationId, instanceId, version, state }: TerminationRow,
  { tenantId, buyer }: Whose,
  status: TerminationState,
  type: EventType | undefined = TERMINATION_EVENTS[status],
): Promise<void> {
  if (type === undefined) return
  const isNew = state === status
  await emit(maker, db, orgId, {
    type,
    object: {
      type: 'license_termination',
      id: terminationId,
      status,
      version: isNew ? version : version + 1,
      licenseInstanceId: instanceId,
    },
    ...(!isNew && { previous: { status: state } }),
    self: `/api/v1/machine/licenses/terminations/${terminationId}/status`,
    tenantId,
    principal: buyer,
  })
}
