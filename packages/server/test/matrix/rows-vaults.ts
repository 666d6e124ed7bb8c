import type { ErrorCode } from '@strongroom/contract'
import { anyone, type Material, permitted, type Row, type Slot } from './oracle.ts'
import { type Caller, holdsPermission, type Relation, type Thing } from './relations.ts'
import { SEEN } from './vault-set.ts'

// Vaults and items (decisions.md 4): lists and metadata want `machine.vault.read`, whatever answers with a ciphertext or a wrapped
// key `machine.vault.secret.read`, writes `machine.vault.write`. Then the access list decides, and nothing else: no role of people
// and no key of the operator opens a vault whose list does not name them.

export const READING = permitted('machine.vault.read')
export const SECRETS = permitted('machine.vault.secret.read')
export const WRITING = permitted('machine.vault.write')

type Role = 'read' | 'write' | 'admin'
const RANK: Readonly<Record<Role, number>> = { read: 0, write: 1, admin: 2 }
const ROLE: Partial<Record<Relation, Role>> = {
  own: 'admin',
  'parent-mismatch': 'admin',
  archived: 'admin',
  writer: 'write',
  reader: 'read',
}

/** Operators are on no list: lists name people and agents. */
export const roleIn = (caller: Caller, { relation }: Thing): Role | undefined =>
  caller.type === 'operator' ? undefined : ROLE[relation]

/** Off the list it does not exist; below the needed role it is denied; archived it changes no more. */
const decide =
  (needs: Role, notFound: ErrorCode): Slot['refuses'] =>
  (caller, thing) => {
    const role = roleIn(caller, thing)
    if (role === undefined) return notFound
    if (RANK[role] < RANK[needs]) return 'vault_access_denied'
    return needs !== 'read' && thing.relation === 'archived' ? 'vault_archived' : undefined
  }

export const vaultFor = (needs: Role, notFound: ErrorCode = 'vault_not_found'): Slot => ({
  kind: 'vault',
  refuses: decide(needs, notFound),
})

/** Only what is archived is restored. */
const restorable: Slot = {
  kind: 'vault',
  refuses: (caller, thing) => {
    const role = roleIn(caller, thing)
    if (role === undefined) return 'vault_not_found'
    if (role !== 'admin') return 'vault_access_denied'
    return thing.relation === 'archived' ? undefined : 'vault_not_archived'
  },
}

/** An item that is named without its vault. */
export const itemFor = (needs: Role): Slot => ({
  kind: 'vaultItem',
  refuses: decide(needs, 'vault_item_not_found'),
  except: ['parent-mismatch'],
})

/** What is in the vault of the path and in no other; roles elsewhere open nothing here. */
export const within = (vault: string, kind: 'vaultItem' | 'vaultField', notFound: ErrorCode): Slot => ({
  kind,
  within: vault,
  refuses: (_, { relation, place }, others) =>
    relation === others[vault]?.relation && place === others[vault]?.place ? undefined : notFound,
  except: ['writer', 'reader'],
})
const item = within('vaultId', 'vaultItem', 'vault_item_not_found')
const field = within('vaultId', 'vaultField', 'field_not_found')

/** By somebody who has not signed it: that is found out after everything about access. */
export const commitTo = ({ head }: Material, vaultId: string) => ({
  expect: { headVersion: 1, headHash: 'A'.repeat(43) },
  head: head(vaultId),
  docs: [],
  values: {},
})

const write = (route: string, needs: Role): Row => ({
  route,
  may: WRITING,
  ids: { [route.includes(':vaultId') ? 'vaultId' : 'id']: vaultFor(needs) },
  body: ({ vaultId, id }, material) => ({ commit: commitTo(material, vaultId ?? id ?? '') }),
  ends: 'signer_not_authorised',
})

const atHome = (caller: Caller): readonly string[] => (caller.type === 'operator' ? [] : [caller.home.vaultCanary])

/** The vault that the head names; one of the path and another of the head are refused whichever that is. */
const sameVault: Slot = {
  kind: 'vault',
  within: 'vaultId',
  refuses: (_, { relation }, { vaultId }) => (relation === vaultId?.relation ? undefined : 'invalid_document'),
  except: ['malformed'],
}

const vaults: readonly Row[] = [
  { route: 'GET /machine/vault', may: READING, shows: atHome },
  { route: 'GET /machine/vault/:vaultId', may: READING, ids: { vaultId: vaultFor('read') }, shows: atHome },
  { route: 'GET /machine/vault/:vaultId/public-keys', may: READING, ids: { vaultId: vaultFor('read') } },
  {
    route: 'GET /machine/vault/:vaultId/wrapped-key',
    may: anyone,
    ids: { vaultId: vaultFor('read') },
    ends: 'wrapped_key_missing',
  },
  {
    route: 'GET /machine/vault/:vaultId/environment-fields',
    may: SECRETS,
    ids: { vaultId: vaultFor('read') },
    query: () => ({ include: 'wrapped-key,signers' }),
    ends: 'wrapped_key_missing',
  },
  {
    route: 'GET /machine/vault/:vaultId/environment-fields',
    may: SECRETS,
    ids: { vaultId: vaultFor('read') },
    query: () => ({ include: 'signers' }),
    secret: true,
  },
  {
    route: 'POST /machine/vault',
    may: WRITING,
    body: (_, material) => ({ commit: commitTo(material, `v${'b'.repeat(32)}`) }),
    ends: 'signer_not_authorised',
  },
  write('PATCH /machine/vault/:id/update', 'write'),
  write('DELETE /machine/vault/:vaultId', 'admin'),
  { ...write('POST /machine/vault/:vaultId/restore', 'admin'), ids: { vaultId: restorable } },
  {
    route: 'POST /machine/vault/:vaultId/commits',
    may: WRITING,
    ids: {
      vaultId: vaultFor('write'),
      head: sameVault,
    },
    body: ({ head = '' }, material) => ({ commit: commitTo(material, head) }),
    ends: 'signer_not_authorised',
  },
]

const items: readonly Row[] = [
  { route: 'GET /machine/vault/:vaultId/items', may: READING, ids: { vaultId: vaultFor('read') } },
  {
    route: 'GET /machine/vault/:vaultId/items/:itemId',
    may: SECRETS,
    ids: { vaultId: vaultFor('read'), itemId: item },
    secret: true,
  },
  {
    route: 'GET /machine/vault/:vaultId/items/:itemId/versions',
    may: SECRETS,
    ids: { vaultId: vaultFor('read'), itemId: item },
    secret: true,
  },
  {
    route: 'GET /machine/vault/:vaultId/items/:itemId/versions/:itemVersion',
    may: SECRETS,
    ids: { vaultId: vaultFor('read'), itemId: item },
    path: { itemVersion: '1' },
    secret: true,
  },
  {
    route: 'GET /machine/vault/:vaultId/fields/:fieldId',
    may: SECRETS,
    ids: { vaultId: vaultFor('read'), fieldId: field },
    secret: true,
  },
  write('POST /machine/vault/:vaultId/items', 'write'),
  write('POST /machine/vault/:vaultId/import', 'write'),
  {
    route: 'DELETE /machine/vault/:vaultId/items/:itemId',
    may: WRITING,
    ids: { vaultId: vaultFor('write'), itemId: item },
    body: ({ vaultId = '' }, material) => ({ commit: commitTo(material, vaultId) }),
    ends: 'signer_not_authorised',
  },
  {
    route: 'PATCH /machine/vault-item/:id/update',
    may: WRITING,
    ids: { id: itemFor('write') },
    body: ({ id = '' }, material) => ({ commit: commitTo(material, vaultOf(id)) }),
    ends: 'signer_not_authorised',
  },
  {
    route: 'PATCH /machine/vault-item/:id/move',
    may: WRITING,
    ids: { id: itemFor('write'), target: { ...vaultFor('write'), kind: 'vaultBeside', except: ['malformed'] } },
    body: ({ id = '', target = '' }, material) => ({
      from: commitTo(material, vaultOf(id)),
      to: commitTo(material, target),
    }),
    ends: 'signer_not_authorised',
  },
]

/** The id of an item follows from its vault's. */
const vaultOf = (itemId: string): string => `v${itemId.slice('itm_'.length).padEnd(32, 'c').slice(0, 32)}`

/** How many there are is told to those who may list them. */
export const countsOf = (caller: Caller): readonly string[] => {
  if (!holdsPermission(caller.permissions, 'machine.vault.read')) return []
  const count = caller.type === 'operator' ? 0 : SEEN
  return ['vaults', 'items'].map((type) => `{"type":"${type}","count":${count}}`)
}

export const VAULTS: readonly Row[] = [...vaults, ...items]
