import { type Static, Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, Id, OneOf, SignedDocument, Time } from './shapes.ts'
import {
  AssetRowShape,
  CommitBody,
  CommitReceipt,
  commitErrors,
  Hash,
  ItemRowShape,
  MapProof,
  SignedVault,
  VaultId,
  Version,
  vaultParams,
} from './vault-shapes.ts'

const secrets = { kind: 'permission', permission: 'machine.vault.secret.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.vault.write' } as const satisfies Access

/** As the protocol cuts ciphertexts (docs/reference/protocol.md 7). */
export const PART_BYTES = 8_388_608
export const MAX_PARTS = 10_000

const assetParams = closed({ vaultId: VaultId, assetId: Id })
const uploadParams = closed({ vaultId: VaultId, uploadId: Id })
const PartNumber = Type.Integer({ minimum: 1, maximum: MAX_PARTS })
const PartSize = Type.Integer({ minimum: 1, maximum: PART_BYTES })
const Etag = Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9"._-]+$' })
const ByteCount = Type.Integer({ minimum: 0, maximum: PART_BYTES * MAX_PARTS })
const SignedUrl = Type.String({
  description: 'Absolute, or beginning with `/` and then on this server. It needs no credential: send none with it',
})

export const Attachment = closed({
  assetId: Id,
  assetVersion: Version,
  vaultId: VaultId,
  itemId: Id,
  status: OneOf(['uploading', 'stored']),
  createdAt: Time,
})
export type Attachment = Static<typeof Attachment>

const uploading = ['vault_not_found', 'vault_access_denied', 'vault_archived', 'upload_not_found'] as const
const COMMIT_LIMIT = 4_194_304

export const attachments = {
  initialize: {
    api: 'machine',
    method: 'GET',
    path: '/attachments/:vaultId/initialize-multipart-upload',
    summary: 'Start an upload. It ends by itself a day after the last address was asked for',
    access: writing,
    params: vaultParams,
    response: closed({
      uploadId: Id,
      partSize: Type.Integer({ description: 'Every part but the last has exactly so many bytes' }),
      maxParts: Type.Integer(),
      maxSize: Type.Integer({ description: 'The most bytes one attachment may have, encrypted' }),
    }),
    errors: ['vault_not_found', 'vault_access_denied', 'vault_archived', 'attachment_quota_exceeded'],
  },
  presign: {
    api: 'machine',
    method: 'POST',
    path: '/attachments/:vaultId/get-multipart-pre-signed-urls',
    summary: 'Addresses to PUT parts to, for some minutes; each takes one part of exactly the size named here',
    access: writing,
    params: vaultParams,
    body: closed({
      uploadId: Id,
      parts: Type.Array(closed({ partNumber: PartNumber, size: PartSize }), { minItems: 1, maxItems: 100 }),
    }),
    response: closed({
      data: Type.Array(closed({ partNumber: PartNumber, url: SignedUrl })),
      expiresAt: Time,
    }),
    errors: [...uploading, 'upload_finalized', 'attachment_too_large', 'attachment_quota_exceeded'],
  },
  upload: {
    api: 'machine',
    method: 'GET',
    path: '/attachments/:vaultId/uploads/:uploadId',
    summary: 'Which parts are there, to go on with an upload that was interrupted. A part may be sent again',
    access: writing,
    params: uploadParams,
    response: closed({
      uploadId: Id,
      status: OneOf(['open', 'finalized']),
      data: Type.Array(closed({ partNumber: PartNumber, size: PartSize, etag: Etag })),
    }),
    errors: uploading,
  },
  abort: {
    api: 'machine',
    method: 'DELETE',
    path: '/attachments/:vaultId/uploads/:uploadId',
    summary:
      'End an upload that nobody will go on with; the room it takes is given back when its parts are cleared away',
    access: writing,
    params: uploadParams,
    response: closed({ uploadId: Id }),
    errors: uploading,
  },
  finalize: {
    api: 'machine',
    method: 'POST',
    path: '/attachments/:vaultId/finalize-multipart-upload',
    summary: 'Put the parts together. Every part is read and compared; the answer says what lies in storage',
    access: writing,
    params: vaultParams,
    body: closed({
      uploadId: Id,
      parts: Type.Array(
        closed({
          partNumber: PartNumber,
          etag: Etag,
          size: PartSize,
          sha256: Hash,
        }),
        { minItems: 1, maxItems: MAX_PARTS },
      ),
    }),
    bodyLimit: 3_145_728,
    response: closed({ uploadId: Id, ciphertextSize: ByteCount, ciphertextHash: Hash }),
    errors: [...uploading, 'upload_parts_refused', 'upload_spoiled', 'upload_being_read'],
  },
  create: {
    api: 'machine',
    method: 'POST',
    path: '/attachments/:vaultId/create',
    summary:
      'The placeholder of an attachment, under the id its content is encrypted for. Asked again, it takes another upload',
    access: writing,
    params: vaultParams,
    body: closed({ uploadId: Id, assetId: Id, assetVersion: Version, itemId: Id }),
    status: 201,
    response: closed({ attachment: Attachment }),
    errors: [...uploading, 'vault_item_not_found', 'attachment_version_conflict', 'id_conflict'],
  },
  finish: {
    api: 'machine',
    method: 'PATCH',
    path: '/attachments/:vaultId/assets/:assetId/finish-upload',
    summary:
      'Attach: a commit that brings the signed checkpoint of exactly this attachment, and the detail of its item that lists it',
    access: writing,
    params: assetParams,
    body: closed({ commit: CommitBody }),
    bodyLimit: COMMIT_LIMIT,
    response: closed({ ...CommitReceipt.properties, attachment: Attachment }),
    errors: [
      'attachment_not_found',
      'attachment_stored',
      'upload_not_finalized',
      'attachment_mismatch',
      'attachment_quota_exceeded',
      ...commitErrors,
    ],
  },
  list: {
    api: 'machine',
    method: 'GET',
    path: '/attachments/:vaultId/items/:itemId',
    summary:
      'Every attachment of an item, those it no longer lists too: the signed checkpoint of each with the path of its row in the head',
    access: secrets,
    params: closed({ vaultId: VaultId, itemId: Id }),
    response: closed({
      data: Type.Array(closed({ row: AssetRowShape, proof: MapProof, checkpoint: SignedDocument })),
      item: closed({ row: ItemRowShape, proof: MapProof, detail: SignedDocument }),
      signed: SignedVault,
    }),
    errors: ['vault_not_found', 'vault_item_not_found'],
  },
  ticket: {
    api: 'machine',
    method: 'GET',
    path: '/attachments/:vaultId/assets/:assetId/download-ticket',
    summary:
      'An address to fetch the ciphertext from, for some minutes, and the signed checkpoint with the path of its row in the head',
    access: secrets,
    params: assetParams,
    response: closed({
      url: SignedUrl,
      expiresAt: Time,
      row: AssetRowShape,
      proof: MapProof,
      checkpoint: SignedDocument,
      signed: SignedVault,
    }),
    errors: ['vault_not_found', 'attachment_not_found'],
  },
} as const satisfies Routes
