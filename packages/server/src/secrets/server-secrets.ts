import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Database } from '../db/database.ts'
import { StartError } from '../errors.ts'
import type { RootKey } from './root-key.ts'

// Random secrets of the server itself, sealed under the root key and kept in `server_secret`. What has to outlive a change of
// the root key is kept here rather than derived from it: rotating the root key then means sealing these rows anew.

export interface SecretKeeper {
  readonly database: Pick<Database, 'kysely'>
  readonly rootKey: RootKey
  now(): Date
}

/** The secret of that name, made by the first process that asks; every process gets the same one. */
export async function provideServerSecret(
  { database, rootKey, now }: SecretKeeper,
  name: string,
  make: () => Uint8Array,
): Promise<Buffer> {
  await database.kysely
    .insertInto('server_secret')
    .values({ name, sealed: rootKey.seal(name, make()), created_at: now() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { sealed } = await database.kysely
    .selectFrom('server_secret')
    .select('sealed')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  const secret = rootKey.open(name, sealed)
  if (!secret)
    throw new StartError(
      'root_key_wrong',
      `the root key does not open the secret ${name} in the database`,
      'start with the root key this database was last used with; where a change of it was cut short: strongroom admin rotate-root-key',
    )
  return secret
}

export const PEPPER = 'api-key-pepper'

/** What API keys are hashed with: not in the database in any form it alone could open. Loaded once, at start. */
export type Pepper = KeyObject

export const loadPepper = async (keeper: SecretKeeper): Promise<Pepper> =>
  createSecretKey(await provideServerSecret(keeper, PEPPER, () => randomBytes(32)))

export const hashWithPepper = (pepper: Pepper, secret: string): Buffer =>
  createHmac('sha256', pepper).update(secret).digest()
