import type { FundingIntent, funding } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { addressAt } from '../../chain/addresses.ts'
import type { ChainAsset, ChainConfig } from '../../chain/chain-config.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { foldIntent, standingNow, tellIntent } from './fold.ts'
import { showIntent } from './show.ts'
import * as store from './store.ts'

// Asking for an address to pay to. The credit is of the organisation: whoever may read its billing sees every intent.

const LEAST = 1_000_000n
const MOST = 1_000_000_000_000n
const MAX_WAITING = 50
/** Each is watched for ever. */
const MAX_A_DAY = 200
const DAY_S = 86_400

function chainOf({ config }: Ctx): ChainConfig {
  if (!config.chain) throw new ApiError('billing_rail_not_configured')
  return config.chain
}

function assetOf({ assets }: ChainConfig, symbol: string | undefined): ChainAsset {
  const [only, ...others] = assets
  const asset = symbol === undefined && others.length === 0 ? only : assets.find((known) => known.symbol === symbol)
  if (asset) return asset
  throw new ApiError('funding_asset_unsupported', { details: { assets: assets.map((known) => known.symbol) } })
}

function ensureInRange(amount: bigint): void {
  if (amount < LEAST || amount > MOST)
    throw new ApiError('funding_amount_out_of_range', { details: { least: String(LEAST), most: String(MOST) } })
}

const show = (ctx: Ctx, row: store.IntentRow): FundingIntent =>
  showIntent(row, ctx.config.chain?.confirmations ?? 0, ctx.now())

const openIntent = async ({ db, principal }: TxCtx, id: string): Promise<store.IntentRow> =>
  found(await store.intent(db, principal.orgId, id), 'funding_intent_not_found')

export const createIntent: Handler<typeof funding.createIntent> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { orgId } = principal
    const chain = chainOf(ctx)
    const asset = assetOf(chain, body.asset)
    ensureInRange(BigInt(body.amount.amount))
    // Nobody is sent to an address that nobody reads yet.
    if (!(await store.isChecked(db, chain.chainId, asset)))
      throw new ApiError('chain_unavailable', { headers: { 'retry-after': '15' } })
    const at = ctx.now()
    const { waiting, madeInADay } = await store.countIntents(db, orgId, at)
    if (waiting >= MAX_WAITING || madeInADay >= MAX_A_DAY)
      throw new ApiError('funding_intent_limit', { details: { waiting: MAX_WAITING, aDay: MAX_A_DAY } })
    const addressIndex = await store.nextAddressIndex(db)
    const intentId = ctx.newId('fin')
    await store.insertIntent(db, orgId, {
      ...asset,
      intentId,
      addressIndex,
      address: addressAt(chain.watchKey, addressIndex),
      chainId: chain.chainId,
      target: body.amount.amount,
      expiresAt: new Date(at.getTime() + (body.expiresInSeconds ?? DAY_S) * 1000),
      createdBy: principal.id,
      createdAt: at,
    })
    const row = await openIntent(ctx, intentId)
    const state = { intentId, object: intentId, from: null, to: row.status, cause: 'created', at }
    await store.insertTransition(db, orgId, state)
    await record(ctx, {
      action: 'funding_intent.create',
      targets: [{ type: 'funding_intent', id: intentId }],
      metadata: { amount: body.amount.amount, asset: asset.symbol, chain: `eip155:${chain.chainId}` },
    })
    const standing = standingNow(row, at)
    await tellIntent(ctx, db, orgId, 'billing.funding_intent.created', { row, standing, version: row.version })
    return show(ctx, row)
  })

export const listIntents: Handler<typeof funding.listIntents> = (ctx, { query }) =>
  transact(ctx, async (ctx) =>
    listAnswer('data', await store.list(ctx.db, ctx.principal.orgId, query), (row) => show(ctx, row)),
  )

export const getIntent: Handler<typeof funding.getIntent> = (ctx, { params }) =>
  transact(ctx, async (ctx) => show(ctx, await openIntent(ctx, params.id)))

export const cancelIntent: Handler<typeof funding.cancelIntent> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { orgId } = principal
    const row = found(await store.lockIntent(db, orgId, params.id), 'funding_intent_not_found')
    const { status } = standingNow(row, ctx.now())
    if (status === 'cancelled') return show(ctx, row)
    if (status !== 'requires_payment') throw new ApiError('funding_intent_not_cancellable', { details: { status } })
    await store.cancel(db, orgId, params.id, ctx.now())
    await foldIntent(ctx, db, orgId, params.id, 'cancelled')
    await record(ctx, { action: 'funding_intent.cancel', targets: [{ type: 'funding_intent', id: params.id }] })
    return show(ctx, await openIntent(ctx, params.id))
  })

/** There is no rail for cards here. */
const noCards = async (): Promise<never> => {
  throw new ApiError('billing_rail_not_configured')
}
export const listPaymentMethods: Handler<typeof funding.listPaymentMethods> = noCards
export const removePaymentMethod: Handler<typeof funding.removePaymentMethod> = noCards
export const createSetupIntent: Handler<typeof funding.createSetupIntent> = noCards
