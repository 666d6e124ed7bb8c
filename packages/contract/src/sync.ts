import { Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, Id, NoPage, SignedDocument } from './shapes.ts'
import { AssetRowShape, Ciphertext, ItemRowShape, SignedVault, Vault, VaultId } from './vault-shapes.ts'

const syncing = { kind: 'permission', permission: 'machine.vault.sync.read' } as const satisfies Access
const secrets = { kind: 'permission', permission: 'machine.vault.secret.read' } as const satisfies Access

const StoredItem = closed({
  row: ItemRowShape,
  detail: SignedDocument,
  values: Type.Record(Type.String(), Ciphertext),
})

const WholeVault = {
  vault: Vault,
  signed: SignedVault,
  wrappedKeys: Type.Array(SignedDocument, { description: 'For the caller’s active keys; empty before a grant' }),
  items: Type.Array(StoredItem),
  assets: Type.Array(AssetRowShape),
}

const SyncedVault = closed({
  ...WholeVault,
  complete: Type.Boolean({
    description: 'True: these are all items. False: those that changed; the others are as the client has them',
  }),
  gone: Type.Array(Id, { description: 'Items that left for another vault' }),
})

export const sync = {
  sync: {
    api: 'machine',
    method: 'GET',
    path: '/vault/sync',
    summary:
      'Every vault the caller can read with all of its content, or with a cursor what changed since. Each vault proves itself; nothing new is a few bytes',
    access: syncing,
    query: closed({
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, pattern: '^[A-Za-z0-9_-]+$' })),
      ...NoPage,
    }),
    response: closed({
      cursor: Type.String({ description: 'Opaque; send it back next time' }),
      full: Type.Boolean({ description: 'True: forget everything that is not in this answer' }),
      removed: Type.Array(VaultId, { description: 'Vaults the caller can no longer read' }),
      vaults: Type.Array(SyncedVault),
    }),
  },
  vaultsData: {
    api: 'machine',
    method: 'GET',
    path: '/vaults-data',
    summary: 'Every vault the caller can read, with items, ciphertexts and proofs, streamed vault by vault',
    access: secrets,
    query: closed(NoPage),
    response: closed({ data: Type.Array(closed(WholeVault)) }),
  },
} as const satisfies Routes
