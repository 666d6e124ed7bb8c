import {
  type AssetContent,
  assetRowOf,
  makeAssetCheckpoint,
  type VerifiedAsset,
  verifyAsset,
} from '../../src/attachments/checkpoint.ts'
import type { AssetPlace } from '../../src/attachments/content-key.ts'
import { encryptAttachment } from '../../src/attachments/transfer.ts'
import type { Bytes } from '../../src/encoding/bytes.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import type { Dek } from '../../src/values/dek.ts'
import { chunked, collect } from './streams.ts'

export const ORG = 'org_acme'
export const VAULT = `v${'a'.repeat(32)}`
export const OTHER_VAULT = `v${'b'.repeat(32)}`
export const ITEM = 'itm_database'
export const PLACE: AssetPlace = { org: ORG, vaultId: VAULT, assetId: 'ast_certificate', assetVersion: 3 }
export const NAME = { name: 'Schlüssel.pem', mediaType: 'application/x-pem-file' }

export interface Sealed {
  readonly ciphertext: Bytes
  readonly content: AssetContent
}

export async function sealAttachment(dek: Dek, plaintext: Uint8Array, place: AssetPlace = PLACE): Promise<Sealed> {
  const attachment = await encryptAttachment({ dek, place, source: chunked(plaintext), ...NAME })
  const ciphertext = await collect(attachment.ciphertext)
  return { ciphertext, content: attachment.content() }
}

/** Signs `content` and verifies it as a reader does: also content that a dishonest writer made up. */
export async function attest(signer: Signer, content: AssetContent, place: AssetPlace = PLACE): Promise<VerifiedAsset> {
  const envelope = await makeAssetCheckpoint({ place, itemId: ITEM, content, at: 1_700_000_000_000 }, signer)
  return verifyAsset({
    row: assetRowOf(envelope, { place, itemId: ITEM }),
    envelope,
    keyOf: (kid) => (kid === signer.kid ? signer.key : undefined),
    authorise: () => true,
    org: place.org,
    vaultId: place.vaultId,
  })
}
