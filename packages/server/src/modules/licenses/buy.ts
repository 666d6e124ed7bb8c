import { holds, type Input, type licenses, money } from '@strongroom/contract'
import { claimedKind, type Envelope, orgGenesis, peekDocument, policySet } from '@strongroom/protocol'
import { ensureWritable, openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import type { LicenseOffer } from '../../licenses/catalogue.ts'
import { provisioningKey } from '../../licenses/sealer.ts'
import { keyIn } from '../../log/signers.ts'
import { tellingExceeded } from '../../outbox/budget-events.ts'
import { readinessOf } from '../billing/readiness.ts'
import { subjectsOf, subjectText } from '../budgets/reserve.ts'
import { isTestOffer, offerFor } from '../catalogue/offers.ts'
import { hold, promise } from './money.ts'
import { buyerOf, insertPurchase, type NewPurchase, type PurchaseRow } from './purchase-store.ts'
import { endTestCredit } from './sandbox.ts'
import { schemaOf, showPurchase } from './show.ts'
import { tellPurchase } from './tell.ts'

// A purchase begins with everything it could be refused for, and with the money: after that it goes on by itself.

const QUOTE_MS = 24 * 3_600_000

const fieldsOf = ({ fields }: LicenseOffer): PurchaseRow['fields'] =>
  fields.map(({ label, isEnvironmentVariable }) => ({ label, env: isEnvironmentVariable }))

export const quote: Handler<typeof licenses.quote> = async (ctx, { body: { licenseId, quantity = 1 } }) => {
  const offer = await transact({ ...ctx, idempotent: undefined }, (ctx) => offerFor(ctx, licenseId))
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
type Destination = Pick<NewPurchase, 'vaultMode' | 'vaultName' | 'vaultId'>

/** A vault that is there must be one that the buyer may write to, now and again when the item comes. */
async function destinationFor(ctx: TxCtx, vault: Body['vault']): Promise<Destination> {
  if ('name' in vault) return { vaultMode: 'new', vaultName: vault.name, vaultId: null }
  const { vaultId } = ensureWritable(await openVault(ctx, vault.vaultId))
  return { vaultMode: 'existing', vaultName: null, vaultId }
}

/** Whose hand-offs the organisation takes. */
function provisionersIn(policy: Envelope | null): readonly string[] {
  if (!policy) return []
  return claimedKind(policy) === 'org.genesis'
    ? peekDocument(orgGenesis, policy).payload.policy.provisioners
    : peekDocument(policySet, policy).payload.policy.provisioners
}

type Buyer = Pick<NewPurchase, 'orgId' | 'tenantId' | 'principal' | 'recipientKid' | 'recipientKey'>

/** Refuses whoever could not take what they buy: that is worse to find out afterwards. */
async function buyerFor(ctx: TxCtx, { vaultMode }: Destination): Promise<Buyer> {
  const { db, principal } = ctx
  const { orgId, tenantId, id } = principal
  const { isTenantActive, kid, record: keyRecord, policy } = await buyerOf(db, orgId, tenantId, id)
  if (tenantId === null || !isTenantActive)
    throw new ApiError('billing_not_ready', { details: { checks: await readinessOf(ctx) } })
  if (kid === null || keyRecord === null) throw new ApiError('recipient_key_missing')
  const provisioner = (await provisioningKey(ctx)).key.principal
  if (!provisionersIn(policy).includes(provisioner))
    throw new ApiError('provisioner_not_named', { details: { provisioner } })
  const { bundle } = keyIn(keyRecord, kid)
  // An RSA-only key holds no authority over a vault, so it can make none.
  if (vaultMode === 'new' && bundle.sigAlg !== 'EdDSA') throw new ApiError('vault_destination_invalid')
  return { orgId, tenantId, principal: id, recipientKid: kid, recipientKey: bundle }
}

async function draft(ctx: TxCtx, { licenseId, vault, quantity = 1, maxPrice }: Body): Promise<NewPurchase> {
  const offer = await offerFor(ctx, licenseId)
  const amount = offer.price * BigInt(quantity)
  if (maxPrice && amount > BigInt(maxPrice.amount))
    throw new ApiError('quote_expired', { details: { price: amount.toString() } })
  const { slug, name, provider, sku, term } = offer
  const destination = await destinationFor(ctx, vault)
  return {
    ...destination,
    ...(await buyerFor(ctx, destination)),
    purchaseId: ctx.newId('pur'),
    instanceId: ctx.newId('lic'),
    slug,
    name,
    provider,
    sku,
    term,
    quantity,
    amount: amount.toString(),
    fields: fieldsOf(offer),
    subjects: (await subjectsOf(ctx)).map(subjectText),
    quoteValidUntil: new Date(ctx.now().getTime() + QUOTE_MS),
  }
}

/** Putting it into a vault is the last step of buying it. */
function ensureMayTake({ principal }: Ctx): void {
  const permission = 'machine.vault.write'
  if (!holds(principal.permissions, permission))
    throw new ApiError('machine_permission_denied', { details: { permission } })
}

export const purchase: Handler<typeof licenses.purchase> = (ctx, { body }) => tellingExceeded(ctx, () => buy(ctx, body))

const buy = (ctx: Ctx, body: Body): ReturnType<Handler<typeof licenses.purchase>> =>
  transact(ctx, async (ctx) => {
    const { db } = ctx
    ensureMayTake(ctx)
    const wanted = await draft(ctx, body)
    const priced = { ...wanted, holdNo: 1 }
    await promise(ctx, db, priced)
    const row = await insertPurchase(db, wanted, ctx.now())
    await tellPurchase(ctx, db, row, row.state)
    await record(ctx, {
      action: 'license.purchase',
      targets: [
        { type: 'license_purchase', id: row.purchaseId },
        { type: 'license', id: row.instanceId },
      ],
      metadata: { licenseId: row.slug, quantity: row.quantity, amount: row.amount },
    })
    const shown = await showPurchase(ctx, row)
    if (!isTestOffer(ctx, row.slug)) await endTestCredit(ctx)
    await hold(ctx, db, priced)
    return shown
  })
