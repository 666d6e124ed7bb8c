import { inOrg } from '../../src/context.ts'
import { applyTransfers } from '../../src/ledger/ledger.ts'
import type { Kind } from './kinds.ts'
import type { Caller, Place, Relation } from './relations.ts'
import type { World } from './world.ts'

// What was bought: by whoever asks (`own`), by somebody else at home there (`no-access`), and further away.

const RELATIONS = ['own', 'no-access', 'other-tenant', 'other-org'] as const satisfies readonly Relation[]

interface Wanted {
  readonly place: Place
  readonly relation: Relation
  readonly caller: Caller
  readonly label: string
}

const buyerIn = ({ relation, caller }: Wanted): string => (relation === 'own' ? caller.id : 'agent:somebody-else')

async function makePurchase({ h: { deps } }: World, wanted: Wanted) {
  const { place } = wanted
  // Whoever manages money sees what other tenants buy: only what is of another organisation carries its canary.
  const label = wanted.relation === 'other-org' ? wanted.label : 'bought'
  const [purchaseId, instanceId, at] = [deps.newId('pur'), deps.newId('lic'), deps.now()]
  const common = {
    org_id: place.orgId,
    purchase_id: purchaseId,
    instance_id: instanceId,
    tenant_id: place.tenantId,
    principal: buyerIn(wanted),
    slug: 'sandbox-once',
    name: label,
    provider: 'builtin',
    sku: 'sandbox-once',
    term: 'once',
    quantity: 1,
    amount: '2000000',
    created_at: at,
  }
  await inOrg(deps, place.orgId, (db) =>
    db
      .insertInto('license_purchase')
      .values({
        ...common,
        fields: JSON.stringify([{ label: 'SANDBOX_ONCE_KEY', env: true }]),
        vault_mode: 'new',
        vault_name: label,
        vault_id: null,
        recipient_kid: `agent:somebody:${'a'.repeat(32)}`,
        recipient_key: JSON.stringify({}),
        subjects: [],
        state: 'reserved',
        reason: null,
        provider_ref: null,
        instance_ref: null,
        sealing: null,
        quote_valid_until: at,
        resumable_until: null,
        period_start: null,
        period_end: null,
        handoff_digest: null,
        handoff_index: null,
        handoff_receipt: null,
        item_id: null,
        next_at: null,
        lease_until: null,
        updated_at: at,
      })
      .execute(),
  )
  return { purchaseId, instanceId, common, at }
}

async function makeInstance(world: World, wanted: Wanted): Promise<string> {
  const { instanceId, common, at } = await makePurchase(world, wanted)
  await inOrg(world.h.deps, wanted.place.orgId, (db) =>
    db
      .insertInto('license_instance')
      .values({
        ...common,
        instance_ref: instanceId,
        status: 'active',
        period_start: at,
        period_end: null,
        vault_id: null,
        item_id: null,
        terminated_at: null,
      })
      .execute(),
  )
  return instanceId
}

async function makeTermination(world: World, wanted: Wanted): Promise<string> {
  const { deps } = world.h
  const instanceId = await makeInstance(world, wanted)
  const [terminationId, at] = [deps.newId('ter'), deps.now()]
  await inOrg(deps, wanted.place.orgId, (db) =>
    db
      .insertInto('license_termination')
      .values({
        org_id: wanted.place.orgId,
        termination_id: terminationId,
        instance_id: instanceId,
        principal: buyerIn(wanted),
        effective: 'immediate',
        asked: 'immediate',
        fallback: null,
        note: wanted.label,
        state: 'requested',
        reason: null,
        refundable: null,
        refund: null,
        effective_at: null,
        earliest_at: null,
        next_at: null,
        lease_until: null,
        created_at: at,
        updated_at: at,
      })
      .execute(),
  )
  return terminationId
}

const bought = (make: Kind['make'], prefix: string): Kind => ({
  relations: RELATIONS,
  make,
  absent: ({ h }) => h.deps.newId(prefix),
  personal: ['own'],
})

/** No object: that the organisation has had its test credit. */
const hadTestCredit: Kind = {
  relations: ['own'],
  make: async ({ h: { deps } }, { place }) => {
    const named = {
      id: 'promo:sandbox',
      group: 'promo:sandbox',
      code: 'promo',
      refType: 'grant',
      refId: 'sandbox',
    } as const
    const grant = { ...named, phase: 'single', dr: 'promo', cr: 'credit', amount: 100_000_000n } as const
    await inOrg(deps, place.orgId, (db) => applyTransfers(db, place.orgId, [grant], deps.now()))
    return 'granted'
  },
  absent: () => 'none',
}

export const LICENSE_KINDS = {
  purchase: bought(async (world, wanted) => (await makePurchase(world, wanted)).purchaseId, 'pur'),
  license: bought(makeInstance, 'lic'),
  termination: bought(makeTermination, 'ter'),
  hadTestCredit,
} as const satisfies Record<string, Kind>
