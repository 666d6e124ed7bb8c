import { Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, Id } from './shapes.ts'
import { CommitBody, CommitReceipt, commitErrors, Role, SignedVault, vaultParams } from './vault-shapes.ts'

// Who is on which access list. A list is replaced as a whole; for a vault by a signed commit, since it decides who gets the key.

const reading = { kind: 'permission', permission: 'machine.permissions.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.permissions.write' } as const satisfies Access

export const AccessEntry = closed({
  principal: Type.String({ maxLength: 80, pattern: '^(?:user|agent):[A-Za-z0-9_-]{4,64}$' }),
  role: Role,
})
export const AccessList = Type.Array(AccessEntry, { maxItems: 2000, uniqueItems: true })
/** Of the list as it was read; sent back in `If-Match` it keeps two editors from overwriting each other. */
export const Etag = Type.String({ description: 'Also in the ETag header' })
export const AllowSelfRemoval = closed({
  allowSelfRemoval: Type.Optional(
    Type.Boolean({ description: 'Without it, a list that no longer names the caller as ADMIN is refused' }),
  ),
})

export const permissions = {
  vault: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/permissions',
    summary: 'The access list of a vault',
    access: reading,
    params: vaultParams,
    response: closed({ data: AccessList, etag: Etag, signed: SignedVault }),
    errors: ['vault_not_found'],
  },
  setVault: {
    api: 'machine',
    method: 'PUT',
    path: '/vault/:vaultId/permissions',
    summary:
      'Replace the access list of a vault: a commit with acl.set, the keys for who joins, and a new vault key when a reader leaves',
    access: writing,
    params: vaultParams,
    query: AllowSelfRemoval,
    body: closed({ commit: CommitBody }),
    bodyLimit: 4_194_304,
    response: CommitReceipt,
    errors: ['self_lockout', 'last_admin', 'etag_mismatch', ...commitErrors],
  },
  item: {
    api: 'machine',
    method: 'GET',
    path: '/vault-item/:id/permissions',
    summary: 'Who is shown an item: its own entries, or those of its vault if it has none',
    access: reading,
    params: closed({ id: Id }),
    response: closed({ data: AccessList, etag: Etag, inherited: Type.Boolean() }),
    errors: ['vault_item_not_found'],
  },
  setItem: {
    api: 'machine',
    method: 'PUT',
    path: '/vault-item/:id/permissions',
    summary:
      'Narrow who is shown an item in search and lists; an empty list inherits again. It hides, it does not encrypt: the vault key opens the whole vault',
    access: writing,
    params: closed({ id: Id }),
    query: AllowSelfRemoval,
    body: closed({ entries: AccessList }),
    response: closed({ data: AccessList, etag: Etag, inherited: Type.Boolean() }),
    errors: [
      'vault_item_not_found',
      'vault_access_denied',
      'vault_archived',
      'self_lockout',
      'etag_mismatch',
      'wider_than_vault',
    ],
  },
} as const satisfies Routes
