import type { search } from '@strongroom/contract'
import { transact } from '../../context.ts'
import type { Handler } from '../../http/mount.ts'
import { eligibleOffers } from '../catalogue/offers.ts'
import { findNames } from './store.ts'

const ALL = ['vault', 'item', 'field', 'license'] as const
const DEFAULT_LIMIT = 20

/** A search changes nothing, so it is not kept for its idempotency key. */
export const query: Handler<typeof search.query> = (ctx, { body }) =>
  transact({ ...ctx, idempotent: undefined }, async (ctx) => {
    const { query, kinds = ALL, limit = DEFAULT_LIMIT } = body
    const { orgId, id } = ctx.principal
    // What the caller could not buy is never compared either.
    const licenses = kinds.includes('license') ? await eligibleOffers(ctx) : []
    return { data: await findNames(ctx.db, orgId, id, { query, kinds, limit, licenses }) }
  })
