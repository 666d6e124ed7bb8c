import type { ErrorCode } from '@strongroom/contract'
import { permitted, type Row, type Slot, slot } from './oracle.ts'
import { type Caller, type Relation, worksIn } from './relations.ts'
import { itemFor, READING, vaultFor, WRITING } from './rows-vaults.ts'

// Projects, vault groups and shared items (decisions.md 4 and 6). What is signed is tried by the tests of the modules.

/** The operator works in no tenant, so that nothing can be made there. */
const tenantless = ({ type }: Caller): ErrorCode | undefined => (type === 'operator' ? 'key_kind_refused' : undefined)
/** Access lists name people and agents. */
const isListed = ({ type }: Caller): boolean => type !== 'operator'

const LISTED: readonly string[] = ['own', 'writer', 'reader', 'archived'] satisfies Relation[]

const listed = (archived?: ErrorCode): Slot =>
  slot(
    'project',
    'project_not_found',
    (caller, { relation }) => isListed(caller) && LISTED.includes(relation),
    archived ? { archived } : {},
  )
/** Every change is signed by an ADMIN. */
const administered: Slot = {
  kind: 'project',
  refuses: (caller, thing, others) =>
    listed('project_archived').refuses(caller, thing, others) ??
    (thing.relation === 'own' ? undefined : 'project_access_denied'),
}
const document = (kind: string) => ({
  payload: '',
  payloadType: `application/vnd.vault.v3.${kind}+json`,
  signatures: [],
})
const set = () => ({ docs: [document('project.set')] })

const projects: readonly Row[] = [
  { route: 'GET /machine/project', may: permitted('machine.project.read') },
  {
    route: 'POST /machine/project',
    may: permitted('machine.project.write'),
    also: tenantless,
    body: () => ({ docs: [document('project.create'), document('project.set')] }),
    ends: 'invalid_document',
  },
  { route: 'GET /machine/project/:id', may: permitted('machine.project.read'), ids: { id: listed() } },
  {
    route: 'PATCH /machine/project/:id',
    may: permitted('machine.project.write'),
    ids: { id: administered },
    body: set,
    ends: 'invalid_document',
  },
  {
    route: 'DELETE /machine/project/:id',
    may: permitted('machine.project.write'),
    ids: { id: administered },
    body: set,
    ends: 'invalid_document',
  },
  {
    route: 'GET /machine/project/:id/permissions',
    may: permitted('machine.permissions.read'),
    ids: { id: listed() },
  },
  {
    route: 'PUT /machine/project/:id/permissions',
    may: permitted('machine.permissions.write'),
    ids: { id: administered },
    query: () => ({ allowSelfRemoval: 'true' }),
    body: () => ({ entries: [{ principal: 'user:somebody', role: 'ADMIN' }] }),
    ends: 'user_not_found',
    takes: ['role'],
  },
  {
    route: 'GET /machine/vault/env/:projectId',
    may: permitted('machine.vault.secret.read'),
    ids: { projectId: listed('project_not_found') },
    secret: true,
  },
]

const groupHere = slot('vaultGroup', 'vault_group_not_found', (caller, { place }) => worksIn(caller, place))

const vaultGroups: readonly Row[] = [
  { route: 'GET /machine/vault-group', may: READING },
  {
    route: 'POST /machine/vault-group',
    may: WRITING,
    also: tenantless,
    ids: { vault: vaultFor('read') },
    body: ({ vault }, { name }) => ({ name: name(), vaults: [vault] }),
  },
  { route: 'GET /machine/vault-group/:id', may: READING, ids: { id: groupHere } },
  {
    route: 'PATCH /machine/vault-group/:id',
    may: WRITING,
    ids: { id: groupHere, vault: vaultFor('read') },
    body: ({ vault }, { name }) => ({ name: name(), vaults: [vault] }),
  },
  { route: 'DELETE /machine/vault-group/:id', may: WRITING, ids: { id: groupHere } },
]

const ownShare = slot('sharedItem', 'shared_item_not_found', (_, { relation }) => relation === 'own', {
  except: ['archived'],
})
/** A view that succeeds is counted, so that no reading of it leaves everything as it was. */
const overShare = slot('sharedItem', 'shared_item_not_found', () => false, {
  except: ['own', 'no-access', 'other-org'],
})

const sharedItems: readonly Row[] = [
  { route: 'GET /machine/shared-item', may: READING },
  {
    route: 'POST /machine/shared-item',
    may: WRITING,
    ids: { item: itemFor('read') },
    body: ({ item }) => ({
      sealed: 'AAAA',
      maxViews: 1,
      expiresAt: new Date(Date.now() + 20 * 86_400_000).toISOString(),
      itemId: item,
    }),
  },
  { route: 'GET /machine/shared-item/:id', may: 'everybody', ids: { id: overShare } },
  { route: 'DELETE /machine/shared-item/:id', may: WRITING, ids: { id: ownShare } },
]

export const PROJECTS: readonly Row[] = [...projects, ...vaultGroups, ...sharedItems]
