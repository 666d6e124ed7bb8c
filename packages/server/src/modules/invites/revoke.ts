import type { Db } from '../../db/database.ts'
import * as store from './store.ts'

/** Whoever is removed before they came cannot come any more. */
export const revokeInvitesOf = (db: Db, owner: { readonly orgId: string; readonly userId: string }): Promise<void> =>
  store.revokeOf(db, owner)
