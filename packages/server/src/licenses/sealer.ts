import { encodePem, makeKeys, type Signer } from '@strongroom/protocol'
import type { Deps } from '../context.ts'
import type { Database } from '../db/database.ts'
import { provideServerSecret } from '../secrets/server-secrets.ts'
import { openProvisioner } from './seal.ts'

// The provisioning key of this server: it signs what licences bring, and organisations name it in their policy (docs/reference/protocol.md 6.5).

const PROVISIONING_KEY = 'provisioning-key'

type Keeper = Pick<Deps, 'database' | 'rootKey' | 'now'>

const opened = new WeakMap<Database, Promise<Signer>>()

const isThere = async ({ database }: Keeper): Promise<boolean> =>
  (await database.kysely
    .selectFrom('server_secret')
    .select('name')
    .where('name', '=', PROVISIONING_KEY)
    .executeTakeFirst()) !== undefined

/** The private key itself, for the process that seals. */
export async function provisioningPem(keeper: Keeper): Promise<string> {
  // Made before it is offered, since making one takes a while; of several processes one is first.
  const made = (await isThere(keeper)) ? '' : encodePem(await makeKeys({ rsaBits: 2048 }))
  return (await provideServerSecret(keeper, PROVISIONING_KEY, () => Buffer.from(made))).toString()
}

const open = async (keeper: Keeper): Promise<Signer> => openProvisioner(await provisioningPem(keeper))

/** The same for every process on this database. */
export function provisioningKey(keeper: Keeper): Promise<Signer> {
  const known = opened.get(keeper.database)
  if (known) return known
  const opening = open(keeper)
  opened.set(keeper.database, opening)
  opening.catch(() => opened.delete(keeper.database))
  return opening
}

/** Where a buyer said it goes, as it is signed. */
export const destinationOf = ({
  vaultName,
  vaultId,
}: {
  readonly vaultName: string | null
  readonly vaultId: string | null
}): string => (vaultName === null ? `existing:${vaultId}` : `new:${vaultName}`)
