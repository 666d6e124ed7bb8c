import { type Static, Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, Name, Page, Time } from './shapes.ts'
import { VaultId } from './vault-shapes.ts'

// Named sets of vaults, for lists and for making projects of. A group gives no access: everybody sees in it the vaults that
// they see anyway.

const reading = { kind: 'permission', permission: 'machine.vault.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.vault.write' } as const satisfies Access

const byId = closed({ id: Id })
const Vaults = Type.Array(VaultId, { maxItems: 1000, uniqueItems: true })

export const VaultGroup = closed({
  vaultGroupId: Id,
  domainTenantId: Id,
  name: Type.String(),
  vaults: Type.Array(VaultId, { description: 'Those of its vaults that the caller is on the access list of' }),
  createdBy: Type.String(),
  createdAt: Time,
  updatedAt: Time,
})
export type VaultGroup = Static<typeof VaultGroup>

export const vaultGroups = {
  list: {
    api: 'machine',
    method: 'GET',
    path: '/vault-group',
    summary: 'The vault groups of the tenant the session works in',
    access: reading,
    query: closed(Page),
    response: listOf('data', VaultGroup),
  },
  create: {
    api: 'machine',
    method: 'POST',
    path: '/vault-group',
    summary: 'Name a set of vaults that the caller reads',
    access: writing,
    body: closed({ name: Name, vaults: Vaults }),
    status: 201,
    response: VaultGroup,
    errors: ['vault_not_found', 'name_taken', 'key_kind_refused'],
  },
  get: {
    api: 'machine',
    method: 'GET',
    path: '/vault-group/:id',
    summary: 'One vault group',
    access: reading,
    params: byId,
    response: VaultGroup,
    errors: ['vault_group_not_found'],
  },
  update: {
    api: 'machine',
    method: 'PATCH',
    path: '/vault-group/:id',
    summary: 'Rename a vault group, or replace its vaults. Vaults that the caller does not see stay in it',
    access: writing,
    params: byId,
    body: closed({ name: Type.Optional(Name), vaults: Type.Optional(Vaults) }),
    response: VaultGroup,
    errors: ['vault_group_not_found', 'vault_not_found', 'name_taken'],
  },
  remove: {
    api: 'machine',
    method: 'DELETE',
    path: '/vault-group/:id',
    summary: 'Delete a vault group; its vaults stay as they are',
    access: writing,
    params: byId,
    response: closed({ vaultGroupId: Id }),
    errors: ['vault_group_not_found'],
  },
} as const satisfies Routes
