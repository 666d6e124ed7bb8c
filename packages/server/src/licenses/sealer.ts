import {
  decodePem,
  documentHash,
  encodePem,
  type HandoffLabel,
  makeKeys,
  openKeys,
  type PrivateKeyMaterial,
  provisionerOf,
  type Signer,
  sealHandoff,
} from '@strongroom/protocol'
import type { Deps } from '../context.ts'
import type { Database } from '../db/database.ts'
import { provideServerSecret } from '../secrets/server-secrets.ts'
import type { LicenseOrder, SealedCredential } from './provider.ts'

// The provisioning key of this server: it signs what licences bring, and organisations name it in their policy (docs/reference/protocol.md 6.3).

const PROVISIONING_KEY = 'provisioning-key'

type Keeper = Pick<Deps, 'database' | 'rootKey' | 'now'>

const opened = new WeakMap<Database, Promise<Signer>>()

const isThere = async ({ database }: Keeper): Promise<boolean> =>
  (await database.kysely
    .selectFrom('server_secret')
    .select('name')
    .where('name', '=', PROVISIONING_KEY)
    .executeTakeFirst()) !== undefined

async function open(keeper: Keeper): Promise<Signer> {
  // Made before it is offered, since making one takes a while; of several processes one is first.
  const made = (await isThere(keeper)) ? '' : encodePem(await makeKeys({ rsaBits: 2048 }))
  const pem = await provideServerSecret(keeper, PROVISIONING_KEY, () => Buffer.from(made))
  const material: PrivateKeyMaterial = decodePem(pem.toString())
  const { key } = await openKeys('agent:provisioner', material)
  return openKeys(provisionerOf(key.bundle), material)
}

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

/** Bytes of text; wiped when they are sealed. */
export interface SecretField extends HandoffLabel {
  readonly bytes: Uint8Array<ArrayBuffer>
}

export type Seal = (
  order: LicenseOrder,
  sealing: SealedCredential['sealing'],
  fields: readonly SecretField[],
) => Promise<SealedCredential>

const sealOnce = async (
  keeper: Keeper,
  { orgId, purchaseId, instanceId, destination, recipient }: LicenseOrder,
  sealing: SealedCredential['sealing'],
  fields: readonly SecretField[],
): Promise<SealedCredential> => {
  const place = { org: orgId, purchaseId, licenseInstanceId: instanceId, destination, sealing }
  const values = fields.map(({ label, env, bytes }) => ({ label, env, value: { type: 1, value: bytes } as const }))
  const signer = await provisioningKey(keeper)
  const envelope = await sealHandoff(place, values, recipient, signer, keeper.now().getTime())
  return { envelope, docHash: documentHash(envelope), sealing } as unknown as SealedCredential
}

/** Seals to the buyer and wipes: nothing that comes after this can see what it was. */
export const makeSealer =
  (keeper: Keeper): Seal =>
  async (order, sealing, fields) => {
    try {
      return await sealOnce(keeper, order, sealing, fields)
    } finally {
      for (const { bytes } of fields) bytes.fill(0)
    }
  }
