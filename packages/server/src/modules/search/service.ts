import type { search } from '@strongroom/contract'
import { transact } from '../../context.ts'
import type { Handler } from '../../http/mount.ts'
import { findNames } from './store.ts'

const ALL = ['vault', 'item', 'field', 'license'] as const
const DEFAULT_LIMIT = 20

/** A search changes nothing, so it is not kept for its idempotency key. */
export const query: Handler<typeof search.query> = (ctx, { body }) =>
  transact({ ...ctx, idempotent: undefined }, async ({ db, principal }) => {
    const { query, kinds = ALL, limit = DEFAULT_LIMIT } = body
    return { data: await findNames(db, principal.orgId, principal.id, { query, kinds, limit }) }
  })
