import { Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, Id, NoPage, SignedDocument } from './shapes.ts'
import {
  AssetRowShape,
  Ciphertext,
  CommitBody,
  CommitReceipt,
  commitErrors,
  EnvRowShape,
  ItemRowShape,
  MapProof,
  SignedVault,
  VaultId,
  Version,
  vaultParams,
} from './vault-shapes.ts'

const reading = { kind: 'permission', permission: 'machine.vault.read' } as const satisfies Access
const secrets = { kind: 'permission', permission: 'machine.vault.secret.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.vault.write' } as const satisfies Access

const itemParams = closed({ vaultId: VaultId, itemId: Id })
const commit = closed({ commit: CommitBody })
const COMMIT_LIMIT = 4_194_304

/** One item with the path of its row in the signed head, and its signed detail. */
const ItemProof = {
  row: ItemRowShape,
  proof: MapProof,
  detail: SignedDocument,
  signed: SignedVault,
}

/** Each is named by the one before it in the list, and the first by the current detail. */
const Former = Type.Array(SignedDocument, { description: 'The newest first' })

export const items = {
  create: {
    api: 'machine',
    method: 'POST',
    path: '/vault/:vaultId/items',
    summary: 'Create an item with fields the client has encrypted: a commit that brings exactly one new item',
    access: writing,
    params: vaultParams,
    body: commit,
    bodyLimit: COMMIT_LIMIT,
    status: 201,
    response: CommitReceipt,
    errors: commitErrors,
  },
  list: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/items',
    summary:
      'Every item of a vault, archived ones too, with the environment and attachment rows: with the signed head they are complete. Never paginated',
    access: reading,
    params: vaultParams,
    query: closed(NoPage),
    response: closed({
      data: Type.Array(ItemRowShape),
      environment: Type.Array(EnvRowShape),
      assets: Type.Array(AssetRowShape),
      signed: SignedVault,
    }),
    errors: ['vault_not_found'],
  },
  get: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/items/:itemId',
    summary: 'One item: the ciphertext of its fields and its signed detail',
    access: secrets,
    params: itemParams,
    response: closed({ ...ItemProof, values: Type.Record(Type.String(), Ciphertext) }),
    errors: ['vault_not_found', 'vault_item_not_found'],
  },
  versions: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/items/:itemId/versions',
    summary:
      'The signed details of the versions of an item that are kept: the current one, and each that was before it',
    access: secrets,
    params: itemParams,
    response: closed({ ...ItemProof, former: Former }),
    errors: ['vault_not_found', 'vault_item_not_found'],
  },
  version: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/items/:itemId/versions/:itemVersion',
    summary:
      'One version of an item: the ciphertext its fields had then, and every signed detail from the current one back to it',
    access: secrets,
    params: closed({ vaultId: VaultId, itemId: Id, itemVersion: Version }),
    response: closed({ ...ItemProof, former: Former, values: Type.Record(Type.String(), Ciphertext) }),
    errors: ['vault_not_found', 'vault_item_not_found', 'item_version_not_found'],
  },
  field: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/fields/:fieldId',
    summary: 'One field: its ciphertext and the signed detail of its item',
    access: secrets,
    params: closed({ vaultId: VaultId, fieldId: Id }),
    response: closed({ ...ItemProof, fieldId: Id, value: Ciphertext }),
    errors: ['vault_not_found', 'field_not_found'],
  },
  update: {
    api: 'machine',
    method: 'PATCH',
    path: '/vault-item/:id/update',
    summary: 'Add, edit or delete fields of an item, or rename it: a commit that changes exactly this item',
    access: writing,
    params: closed({ id: Id }),
    body: commit,
    bodyLimit: COMMIT_LIMIT,
    response: CommitReceipt,
    errors: ['vault_item_not_found', ...commitErrors],
  },
  move: {
    api: 'machine',
    method: 'PATCH',
    path: '/vault-item/:id/move',
    summary:
      'Move an item to another vault: two commits in one leaf; its fields are encrypted anew for the other vault',
    access: writing,
    params: closed({ id: Id }),
    body: closed({ from: CommitBody, to: CommitBody }),
    bodyLimit: COMMIT_LIMIT,
    response: closed({ index: CommitReceipt.properties.index, from: CommitReceipt, to: CommitReceipt }),
    errors: ['vault_item_not_found', 'attachment_mismatch', ...commitErrors],
  },
  archive: {
    api: 'machine',
    method: 'DELETE',
    path: '/vault/:vaultId/items/:itemId',
    summary:
      'Archive an item: a commit that gives exactly this item the status `archived`, and changes nothing else of it',
    access: writing,
    params: itemParams,
    body: commit,
    bodyLimit: COMMIT_LIMIT,
    response: CommitReceipt,
    errors: ['vault_item_not_found', 'item_archived', ...commitErrors],
  },
  import: {
    api: 'machine',
    method: 'POST',
    path: '/vault/:vaultId/import',
    summary: 'Up to 500 new items in one commit',
    access: writing,
    params: vaultParams,
    body: commit,
    bodyLimit: 16_777_216,
    status: 201,
    response: CommitReceipt,
    errors: commitErrors,
  },
} as const satisfies Routes
