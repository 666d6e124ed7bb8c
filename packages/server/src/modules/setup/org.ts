import { formatTrustAnchor } from '@strongroom/protocol'
import type { Db } from '../../db/database.ts'
import { logAnchor } from '../../log/transparency.ts'
import * as store from './store.ts'

// What people are told of their organisation when they come in.

export const nameOfOrg = async (db: Db, orgId: string): Promise<string> => (await store.org(db, orgId)).name

/** Whether others than the caller's have their data on this server. */
export const hasSeveralOrgs = (db: Db): Promise<boolean> => store.severalOrgs(db)

/** C2SP tlog-policy text of a log without witnesses. */
const NO_WITNESSES = 'quorum none\n'

/** docs/reference/protocol.md 9.2. Only as trustworthy as this server; a client that was given one before compares. */
export async function trustAnchorOf(db: Db, orgId: string): Promise<string> {
  const anchor = await logAnchor(db, orgId)
  if (!anchor) throw new Error('the organisation has no log')
  const { genesis, origin, vkey } = anchor
  return formatTrustAnchor({ org: orgId, genesis, origin, logVkeys: [vkey], tlogPolicy: NO_WITNESSES })
}
