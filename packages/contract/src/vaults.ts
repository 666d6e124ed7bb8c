import { Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, NoPage, SignedDocument } from './shapes.ts'
import {
  Ciphertext,
  CommitBody,
  CommitReceipt,
  commitErrors,
  EnvRowShape,
  Hash,
  SignedVault,
  Vault,
  VaultId,
  Version,
  vaultParams,
} from './vault-shapes.ts'

const reading = { kind: 'permission', permission: 'machine.vault.read' } as const satisfies Access
const secrets = { kind: 'permission', permission: 'machine.vault.secret.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.vault.write' } as const satisfies Access

const commit = closed({ commit: CommitBody })
const COMMIT_LIMIT = 4_194_304

const EnvironmentField = closed({ row: EnvRowShape, value: Ciphertext })
const WrappedKeys = Type.Array(SignedDocument, { description: 'One for each version of the vault key in use' })

export const vaults = {
  create: {
    api: 'machine',
    method: 'POST',
    path: '/vault',
    summary: 'Create a vault: its signed creation, access list, first key for everybody on the list, and empty head',
    access: writing,
    body: commit,
    bodyLimit: COMMIT_LIMIT,
    status: 201,
    response: CommitReceipt,
    errors: commitErrors,
  },
  list: {
    api: 'machine',
    method: 'GET',
    path: '/vault',
    summary: 'Every vault the caller is on the access list of, also archived ones; never paginated',
    access: reading,
    query: closed(NoPage),
    response: closed({ data: Type.Array(Vault) }),
  },
  get: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId',
    summary: 'One vault, with everything that proves what it says',
    access: reading,
    params: vaultParams,
    response: closed({ vault: Vault, signed: SignedVault }),
    errors: ['vault_not_found'],
  },
  update: {
    api: 'machine',
    method: 'PATCH',
    path: '/vault/:id/update',
    summary: 'Rename or reclassify a vault: a head with other meta and the same content',
    access: writing,
    params: closed({ id: VaultId }),
    body: commit,
    response: CommitReceipt,
    errors: commitErrors,
  },
  archive: {
    api: 'machine',
    method: 'DELETE',
    path: '/vault/:vaultId',
    summary:
      'Archive a vault: a head with the status `archived`; nothing is removed, and nothing changes until it is restored',
    access: writing,
    params: vaultParams,
    body: commit,
    response: CommitReceipt,
    errors: commitErrors,
  },
  restore: {
    api: 'machine',
    method: 'POST',
    path: '/vault/:vaultId/restore',
    summary: 'Make an archived vault active again: a head with the status `active` and nothing else changed',
    access: writing,
    params: vaultParams,
    body: commit,
    response: CommitReceipt,
    errors: [...commitErrors, 'vault_not_archived'],
  },
  commit: {
    api: 'machine',
    method: 'POST',
    path: '/vault/:vaultId/commits',
    summary:
      'Any change of a vault in one commit: several items, a new vault key, re-encryption. The routes beside it take one kind each',
    access: writing,
    params: vaultParams,
    body: commit,
    bodyLimit: 16_777_216,
    status: 201,
    response: CommitReceipt,
    errors: [...commitErrors, 'attachment_mismatch'],
  },
  wrappedKey: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/wrapped-key',
    summary: 'The vault key wrapped for the caller’s current key, with the grants that prove it',
    access: { kind: 'principal' },
    params: vaultParams,
    query: closed(NoPage),
    response: closed({ wrappedKeys: WrappedKeys, signed: SignedVault }),
    errors: ['vault_not_found', 'wrapped_key_missing'],
  },
  publicKeys: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/public-keys',
    summary: 'The signer directory of a vault: whose signatures count, and why',
    access: reading,
    params: vaultParams,
    query: closed(NoPage),
    response: closed({ signed: SignedVault }),
    errors: ['vault_not_found'],
  },
  environmentFields: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/environment-fields',
    summary:
      'The fields marked for environment export. With `include=wrapped-key,signers` everything a client without memory needs, of one moment',
    access: secrets,
    params: vaultParams,
    query: closed({
      include: Type.Optional(
        Type.String({ pattern: '^(?:wrapped-key|signers)(?:,(?:wrapped-key|signers))?$', maxLength: 32 }),
      ),
      ...NoPage,
    }),
    response: closed({
      data: Type.Array(EnvironmentField),
      headVersion: Version,
      headHash: Hash,
      signed: Type.Optional(SignedVault),
      wrappedKeys: Type.Optional(WrappedKeys),
    }),
    errors: ['vault_not_found', 'wrapped_key_missing'],
  },
} as const satisfies Routes
