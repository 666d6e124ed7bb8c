import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { KeyRow as KeyAtTheGate } from '../../http/authenticate.ts'

export interface KeyRow {
  readonly orgId: string
  readonly keyId: string
  readonly accessKey: string
  readonly secretHmac: Buffer
  readonly agentId: string | null
  readonly userId: string | null
  readonly globalAdmin: boolean
  readonly permissions: readonly string[]
  readonly at: Date
}

/** A second active key for one agent is refused by the database itself. */
export async function insertKey(db: Db, row: KeyRow): Promise<void> {
  await db
    .insertInto('api_key')
    .values({
      org_id: row.orgId,
      key_id: row.keyId,
      access_key: row.accessKey,
      secret_hmac: row.secretHmac,
      agent_id: row.agentId,
      user_id: row.userId,
      global_admin: row.globalAdmin,
      permissions: [...row.permissions],
      status: 'active',
      created_at: row.at,
      ended_at: null,
    })
    .execute()
}

/** What the gate knows of a key, of this moment of the transaction. */
export async function keyAtTheGate(db: Db, accessKey: string): Promise<KeyAtTheGate | null> {
  const { rows } = await sql<{ found: KeyAtTheGate }>`select found from authenticate_keys(array[${accessKey}])`.execute(
    db,
  )
  return rows[0]?.found ?? null
}

export type KeysOf =
  | { readonly agentId: string }
  | { readonly userId: string }
  | { readonly globalAdmin: true; readonly accessKey?: string }

export interface GlobalAdminKeyRow {
  readonly keyId: string
  readonly accessKey: string
  readonly createdAt: Date
}

/** Those that work, of the organisation the transaction names. */
export const globalAdminKeys = (db: Db): Promise<readonly GlobalAdminKeyRow[]> =>
  db
    .selectFrom('api_key')
    .select(['key_id as keyId', 'access_key as accessKey', 'created_at as createdAt'])
    .where('global_admin', '=', true)
    .where('status', '=', 'active')
    .orderBy('created_at', 'desc')
    .orderBy('key_id', 'desc')
    .execute()

/** The ids of the keys this ended: those that were active until now. */
export async function endKeys(
  db: Db,
  orgId: string,
  of: KeysOf,
  status: 'rotated' | 'revoked',
  at: Date,
): Promise<string[]> {
  const active = db
    .updateTable('api_key')
    .set({ status, ended_at: at })
    .where('org_id', '=', orgId)
    .where('status', '=', 'active')
  const theirs =
    'agentId' in of
      ? active.where('agent_id', '=', of.agentId)
      : 'userId' in of
        ? active.where('user_id', '=', of.userId)
        : active
            .where('global_admin', '=', true)
            .$if(of.accessKey !== undefined, (some) => some.where('access_key', '=', of.accessKey ?? ''))
  const rows = await theirs.returning('key_id').execute()
  return rows.map(({ key_id }) => key_id)
}
