import type { Row, Slot } from './oracle.ts'
import { commitTo, SECRETS, vaultFor, WRITING, within } from './rows-vaults.ts'

// Attachments (decisions.md 4 and 7): uploads want `machine.vault.write` and the role WRITE, a ticket `machine.vault.secret.read`. An
// upload is its starter's alone. A finished attachment and its ticket need bytes in storage: modules/attachments tests those.

const BASE = '/machine/attachments/:vaultId'
const vaultId = vaultFor('write')
const uploadId: Slot = {
  kind: 'upload',
  within: 'vaultId',
  refuses: (_, { relation, place }, { vaultId }) =>
    relation === vaultId?.relation && place === vaultId?.place ? undefined : 'upload_not_found',
  except: ['writer', 'reader'],
}
const itemId = within('vaultId', 'vaultItem', 'vault_item_not_found')
const part = { partNumber: 2, size: 10, etag: 'x', sha256: 'A'.repeat(43) }

export const ATTACHMENTS: readonly Row[] = [
  { route: `GET ${BASE}/initialize-multipart-upload`, may: WRITING, ids: { vaultId }, changes: true },
  {
    route: `POST ${BASE}/get-multipart-pre-signed-urls`,
    may: WRITING,
    ids: { vaultId, uploadId },
    body: ({ uploadId }) => ({ uploadId, parts: [{ partNumber: 1, size: 10 }] }),
  },
  { route: `GET ${BASE}/uploads/:uploadId`, may: WRITING, ids: { vaultId, uploadId } },
  { route: `DELETE ${BASE}/uploads/:uploadId`, may: WRITING, ids: { vaultId, uploadId } },
  {
    route: `POST ${BASE}/finalize-multipart-upload`,
    may: WRITING,
    ids: { vaultId, uploadId },
    body: ({ uploadId }) => ({ uploadId, parts: [part] }),
    ends: 'upload_parts_refused',
  },
  {
    route: `POST ${BASE}/create`,
    may: WRITING,
    ids: { vaultId, uploadId, itemId },
    body: ({ uploadId, itemId }, { name }) => ({
      uploadId,
      itemId,
      assetId: `ast_${name().replaceAll(' ', '_')}`,
      assetVersion: 1,
    }),
  },
  {
    route: `PATCH ${BASE}/assets/:assetId/finish-upload`,
    may: WRITING,
    ids: { vaultId: vaultFor('write', 'attachment_not_found') },
    path: { assetId: 'ast_none' },
    body: ({ vaultId = '' }, material) => ({ commit: commitTo(material, vaultId) }),
    ends: 'invalid_document',
  },
  { route: `GET ${BASE}/items/:itemId`, may: SECRETS, ids: { vaultId: vaultFor('read'), itemId } },
  {
    route: `GET ${BASE}/assets/:assetId/download-ticket`,
    may: SECRETS,
    ids: { vaultId: vaultFor('read', 'attachment_not_found') },
    path: { assetId: 'ast_none' },
    ends: 'attachment_not_found',
  },
]
