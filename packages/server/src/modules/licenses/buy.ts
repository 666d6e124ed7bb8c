import { holds, type Input, type licenses, money, type Purchase } from '@strongroom/contract'
import { auditing, auditRow } from '../../audit/record.ts'
import { type Ctx, refused, translating, unlessAnswered } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { readyJson } from '../../http/one-trip.ts'
import { ledgerRefusal, transferJson } from '../../ledger/ledger.ts'
import type { LicenseOffer } from '../../licenses/catalogue.ts'
import { tellingExceeded } from '../../outbox/budget-events.ts'
import { bodyOf, type DomainEvent, EVENT_API_VERSION } from '../../outbox/outbox.ts'
import { asSeenBy, budgetRefusal } from '../budgets/reserve.ts'
import { isTestOffer, offerFor } from '../catalogue/offers.ts'
import { type BeginAsk, type Begun, beginPurchase, type Facts, type Outcome, type ToldEvent } from './begin-store.ts'
import { beginTogether } from './begin-together.ts'
import { type Buyer, decideBuyer, knownBuyer } from './buyer.ts'
import { inLine } from './line.ts'
import { holdEvent, holdTransfer, ownerOf } from './money.ts'
import type { NewPurchase, PurchaseRow } from './purchase-store.ts'
import { GRANT } from './sandbox.ts'
import { schemaOf, showBegun } from './show.ts'
import { purchaseEvent } from './tell.ts'

// A purchase begins with everything it could be refused for, and with the money: after that it goes on by itself. All of it is one
// statement; what is decided before it over signed documents holds for those, and is decided again where there are others.

const QUOTE_MS = 24 * 3_600_000

const fieldsOf = ({ fields }: LicenseOffer): PurchaseRow['fields'] =>
  fields.map(({ label, isEnvironmentVariable }) => ({ label, env: isEnvironmentVariable }))

export const quote: Handler<typeof licenses.quote> = async (ctx, { body: { licenseId, quantity = 1 } }) => {
  const offer = await offerFor(ctx, licenseId)
  const { name, description, provider, price, term } = offer
  return {
    licenseId,
    name,
    description,
    provider,
    quantity,
    price: money(price * BigInt(quantity)),
    term,
    schema: schemaOf(fieldsOf(offer)),
    validUntil: new Date(ctx.now().getTime() + QUOTE_MS).toISOString(),
  }
}

type Body = Input<typeof licenses.purchase>['body']
type Wanted = Omit<NewPurchase, 'recipientKid' | 'recipientKey' | 'subjects'>

/** Putting it into a vault is the last step of buying it. */
function ensureMayTake({ principal }: Ctx): void {
  const permission = 'machine.vault.write'
  if (!holds(principal.permissions, permission))
    throw new ApiError('machine_permission_denied', { details: { permission } })
}

/** What is asked for, as it is on sale now. */
async function wantedBy(ctx: Ctx, { licenseId, vault, quantity = 1, maxPrice }: Body): Promise<Wanted> {
  ensureMayTake(ctx)
  const offer = await offerFor(ctx, licenseId)
  const amount = offer.price * BigInt(quantity)
  if (maxPrice && amount > BigInt(maxPrice.amount))
    throw new ApiError('quote_expired', { details: { price: amount.toString() } })
  const { slug, name, provider, sku, term } = offer
  const { orgId, tenantId, id } = ctx.principal
  return {
    ...('name' in vault
      ? { vaultMode: 'new', vaultName: vault.name, vaultId: null }
      : { vaultMode: 'existing', vaultName: null, vaultId: vault.vaultId }),
    ...{ orgId, tenantId: tenantId ?? '', principal: id, purchaseId: ctx.newId('pur'), instanceId: ctx.newId('lic') },
    ...{ slug, name, provider, sku, term, quantity, amount: amount.toString() },
    fields: fieldsOf(offer),
    quoteValidUntil: new Date(ctx.now().getTime() + QUOTE_MS),
  }
}

const BEFORE = { reason: null, attempts: 0, reminders: 0, providerRef: null, instanceRef: null, sealing: null } as const
const LATER = { resumableUntil: null, handoffDigest: null, handoffIndex: null, itemId: null } as const

const rowOf = (wanted: Wanted, { recipientKid, recipientKey }: Buyer, at: Date): PurchaseRow => ({
  ...wanted,
  ...{ recipientKid, recipientKey, state: 'reserved', version: 1, holdNo: 1, money: 'held', ...BEFORE, ...LATER },
  // Whose budgets it counts in is looked up where it is written.
  ...{ subjects: [], createdAt: at, updatedAt: at },
})

const told = (ctx: Ctx, event: DomainEvent, at: Date): ToldEvent => {
  const id = ctx.newId('evt')
  // The first that is told of it: what it is about is new.
  const body = bodyOf(ctx.principal.orgId, { ...event, id, at, sequence: 1 })
  return { id, type: event.type, objectType: event.object.type, body }
}

const begunBy = (ctx: Ctx, row: PurchaseRow, { documents }: Buyer): Begun => ({
  documents,
  purchase: row,
  events: [purchaseEvent(row, row.state, 'license.purchase.reserved'), holdEvent(row, false)].map((event) =>
    told(ctx, event, row.createdAt),
  ),
  audit: auditRow(ctx, {
    action: 'license.purchase',
    targets: [
      { type: 'license_purchase', id: row.purchaseId },
      { type: 'license', id: row.instanceId },
    ],
    metadata: { licenseId: row.slug, quantity: row.quantity, amount: row.amount },
  }),
  transfers: [transferJson(holdTransfer(row))],
  endsGrant: isTestOffer(ctx, row.slug) ? null : GRANT.toString(),
  apiVersion: EVENT_API_VERSION,
})

function askedBy({ principal, idempotent }: Ctx, { vaultId }: Wanted, at: Date) {
  const { id, tenantId, agentId, userId } = principal
  const request = idempotent && {
    keyHash: idempotent.keyHash.toString('hex'),
    requestHash: idempotent.requestHash.toString('hex'),
    status: idempotent.status,
  }
  return { principal: id, tenantId, agentId, userId, at, vaultId, request: request ?? null }
}

type Answered = Awaited<ReturnType<Handler<typeof licenses.purchase>>>

/** What the statement has refused; that a budget had no room is told once for each window. */
function refuse(ctx: Ctx, wanted: Wanted, outcome: Exclude<Outcome, { begun: true } | { facts: Facts }>) {
  if ('stored' in outcome) {
    const { requestHash, body } = outcome.stored
    if (requestHash !== ctx.idempotent?.requestHash.toString('hex')) throw new ApiError('idempotency_key_reused')
    return body as Answered
  }
  if ('inProgress' in outcome) throw new ApiError('idempotency_in_progress', { headers: { 'retry-after': '1' } })
  if ('ledger' in outcome) throw ledgerRefusal(outcome.ledger)
  const owner = ownerOf({ purchaseId: wanted.purchaseId, holdNo: 1 })
  const refusal = budgetRefusal({ owner, amount: BigInt(wanted.amount) }, outcome.budget)
  if (outcome.isTold) throw asSeenBy(ctx.principal, refusal)
  return tellingExceeded<Answered>(ctx, () => Promise.reject(refusal))
}

/** Keys and policies change seldom: whoever meets three changes in a row comes again. */
const MOST_TRIES = 3

interface Prepared {
  readonly ask: BeginAsk
  /** What is answered if it begins; null where who buys has not been decided yet. */
  readonly shown: Purchase | null
}

const undecided = (ctx: Ctx, wanted: Wanted, at: Date): Prepared => ({
  ask: { ...askedBy(ctx, wanted, at), documents: null },
  shown: null,
})

function decided(ctx: Ctx, wanted: Wanted, buyer: Buyer, at: Date) {
  const row = rowOf(wanted, buyer, at)
  return { ask: { ...askedBy(ctx, wanted, at), ...begunBy(ctx, row, buyer) }, shown: showBegun(row) }
}

async function begin(ctx: Ctx, wanted: Wanted, first: Prepared, at: Date): Promise<Answered> {
  const { orgId, vaultMode } = wanted
  let { ask, shown } = first
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const outcome = await translating(() => auditing(ctx, () => beginPurchase(ctx.database, orgId, ask, shown)))
    if ('begun' in outcome) return readyJson(shown)
    if (!('facts' in outcome)) return refuse(ctx, wanted, outcome)
    ;({ ask, shown } = decided(ctx, wanted, await decideBuyer(ctx, vaultMode, outcome.facts), at))
  }
  throw new ApiError('overloaded', { headers: { 'retry-after': '1' } })
}

export const purchase: Handler<typeof licenses.purchase> = async (ctx, { body }) => {
  const wanted = await wantedBy(ctx, body).catch(refused)
  if ('refusal' in wanted) return unlessAnswered(ctx, wanted)
  const [at, since] = [ctx.now(), performance.now()]
  const alone = (prepared: Prepared) => inLine(ctx, since, () => begin(ctx, wanted, prepared, at))
  const buyer = knownBuyer(ctx, wanted.vaultMode)
  if (!buyer) return alone(undecided(ctx, wanted, at))
  const prepared = decided(ctx, wanted, buyer, at)
  const { ask, shown } = prepared
  return translating(() => beginTogether(ctx, ask, shown, () => alone(prepared)))
}
