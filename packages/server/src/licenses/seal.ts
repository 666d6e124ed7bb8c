import {
  decodePem,
  documentHash,
  type HandoffLabel,
  openKeys,
  provisionerOf,
  type Signer,
  sealHandoff,
} from '@strongroom/protocol'
import type { LicenseOrder, SealedCredential } from './provider.ts'

// The moment in which a secret of a licence is in the clear ends here.

/** Bytes of text; wiped when they are sealed. */
export interface SecretField extends HandoffLabel {
  readonly bytes: Uint8Array<ArrayBuffer>
}

export type Seal = (
  order: LicenseOrder,
  sealing: SealedCredential['sealing'],
  fields: readonly SecretField[],
) => Promise<SealedCredential>

async function sealOnce(
  signer: Signer,
  at: number,
  { orgId, purchaseId, instanceId, destination, recipient }: LicenseOrder,
  sealing: SealedCredential['sealing'],
  fields: readonly SecretField[],
): Promise<SealedCredential> {
  const place = { org: orgId, purchaseId, licenseInstanceId: instanceId, destination, sealing }
  const values = fields.map(({ label, env, bytes }) => ({ label, env, value: { type: 1, value: bytes } as const }))
  const envelope = await sealHandoff(place, values, recipient, signer, at)
  return { envelope, docHash: documentHash(envelope), sealing } as unknown as SealedCredential
}

/** Seals to the buyer and wipes: nothing that comes after this can see what it was. */
export const makeSealer =
  (signer: Signer, now: () => Date): Seal =>
  async (order, sealing, fields) => {
    try {
      return await sealOnce(signer, now().getTime(), order, sealing, fields)
    } finally {
      for (const { bytes } of fields) bytes.fill(0)
    }
  }

/** The key that signs what is sealed: it is named by itself. */
export async function openProvisioner(pem: string): Promise<Signer> {
  const material = decodePem(pem)
  const { key } = await openKeys('agent:provisioner', material)
  return openKeys(provisionerOf(key.bundle), material)
}
