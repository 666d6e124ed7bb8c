import { holds } from '@strongroom/contract'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import { BUILT_IN, type LicenseOffer } from '../../licenses/catalogue.ts'
import * as store from './store.ts'

// What is on sale for whom: the file of the operator, then what was added over the API. One rule decides for quotes, purchases and search.

/** The file wins: whoever wrote it last did so on purpose. */
async function offerNamed(ctx: Ctx, slug: string): Promise<LicenseOffer | undefined> {
  const inFile = ctx.config.catalogue.offers.get(slug)
  return inFile ?? transact({ ...ctx, idempotent: undefined }, ({ db }) => store.offer(db, slug))
}

const isFor = ({ tenants }: LicenseOffer, tenantId: string | null): boolean =>
  tenants === undefined || (tenantId !== null && tenants.includes(tenantId))

/** Somebody sells it: the file may have lost a provider since. */
const isSold = ({ config }: Ctx, { provider, isAvailable }: LicenseOffer): boolean =>
  isAvailable && (provider === BUILT_IN || config.catalogue.providers.has(provider))

/** What the caller could buy under this name. */
export async function offerFor(ctx: Ctx, slug: string): Promise<LicenseOffer> {
  const offer = found(await offerNamed(ctx, slug), 'license_not_found')
  if (!isFor(offer, ctx.principal.tenantId)) throw new ApiError('license_not_eligible')
  if (!isSold(ctx, offer)) throw new ApiError('license_unavailable')
  return offer
}

/** Every offer, those of the file first. */
export async function allOffers({ config, db }: TxCtx): Promise<readonly LicenseOffer[]> {
  const { offers } = config.catalogue
  return [...offers.values(), ...(await store.offers(db)).filter(({ slug }) => !offers.has(slug))]
}

/** Whatever `offerFor` would give the caller; nothing to who could not even ask for a price. */
export async function eligibleOffers(ctx: TxCtx): Promise<readonly LicenseOffer[]> {
  const { permissions, tenantId } = ctx.principal
  if (!holds(permissions, 'machine.license.read')) return []
  return (await allOffers(ctx)).filter((offer) => isFor(offer, tenantId) && isSold(ctx, offer))
}

/** Costs test credit and opens nothing. */
export const isTestOffer = ({ config }: Ctx, slug: string): boolean =>
  config.catalogue.isSandbox && config.catalogue.offers.has(slug)
