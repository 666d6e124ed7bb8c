import { type CatalogueOffer, type catalogue, type Input, money } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { BUILT_IN, type LicenseOffer } from '../../licenses/catalogue.ts'
import { allOffers } from './offers.ts'
import * as store from './store.ts'

const show = ({ config }: Ctx, { slug, price, tenants, isAvailable, ...offer }: LicenseOffer): CatalogueOffer => ({
  licenseId: slug,
  ...offer,
  price: money(price),
  fields: [...offer.fields],
  ...(tenants && { tenants: [...tenants] }),
  status: isAvailable ? 'available' : 'unavailable',
  source: config.catalogue.offers.has(slug) ? 'file' : 'api',
})

export const list: Handler<typeof catalogue.list> = (ctx) =>
  transact(ctx, async (ctx) => ({ data: (await allOffers(ctx)).map((offer) => show(ctx, offer)) }))

/** What the file says is changed in the file: otherwise nobody could tell which of the two holds. */
function ensureNotInFile({ config }: Ctx, slug: string): void {
  if (config.catalogue.offers.has(slug)) throw new ApiError('catalogue_offer_in_file')
}

type Body = Input<typeof catalogue.put>['body']

function ensureSellable({ config }: Ctx, { provider, fields }: Body): void {
  const refuse = (problem: string): ApiError => new ApiError('catalogue_offer_invalid', { details: { problem } })
  if (provider !== BUILT_IN && !config.catalogue.providers.has(provider)) throw refuse('provider_unknown')
  if (new Set(fields.map(({ label }) => label)).size < fields.length) throw refuse('two_fields_of_one_label')
}

const recordChange = (ctx: TxCtx, action: 'put' | 'remove', slug: string, metadata: Record<string, unknown> = {}) =>
  record(ctx, { action: `catalogue.${action}`, targets: [{ type: 'catalogue_offer', id: slug }], metadata })

export const put: Handler<typeof catalogue.put> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { licenseId: slug } = params
    ensureNotInFile(ctx, slug)
    ensureSellable(ctx, body)
    const { price, tenants, status = 'available', ...rest } = body
    const isAvailable = status === 'available'
    const offer: LicenseOffer = { ...rest, slug, price: BigInt(price.amount), tenants, isAvailable }
    await store.putOffer(ctx.db, offer, ctx.now())
    await recordChange(ctx, 'put', slug, { provider: offer.provider, price: price.amount, status })
    return show(ctx, offer)
  })

export const remove: Handler<typeof catalogue.remove> = (ctx, { params: { licenseId } }) =>
  transact(ctx, async (ctx) => {
    ensureNotInFile(ctx, licenseId)
    if (!(await store.deleteOffer(ctx.db, licenseId))) throw new ApiError('license_not_found')
    await recordChange(ctx, 'remove', licenseId)
    return { licenseId }
  })
