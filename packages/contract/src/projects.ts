import { type Static, Type } from 'typebox'
import { AccessList, AllowSelfRemoval, Etag } from './access-lists.ts'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, NoPage, Nullable, Page, SignedDocument, Time } from './shapes.ts'
import { TransparencyObject } from './transparency.ts'
import { Role, SignedVault, STATUS, VaultId, Version } from './vault-shapes.ts'
import { vaults } from './vaults.ts'

// A project names its vaults under the signature of its admins (docs/reference/protocol.md 4.7), so that nobody can answer for it with
// the secrets of other vaults.

const reading = { kind: 'permission', permission: 'machine.project.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.project.write' } as const satisfies Access

const ProjectId = Type.String({ pattern: '^p[a-z2-7]{32}$', description: 'Hash of the project’s creation' })
const ProjectRef = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$',
  description: 'The id of a project, or the slug of an active one',
})
const byId = closed({ id: ProjectRef })

export const Project = closed({
  projectId: ProjectId,
  domainTenantId: Id,
  slug: Type.String(),
  name: Type.String({ description: 'Not encrypted' }),
  status: STATUS,
  role: Nullable(Role),
  vaults: Type.Array(VaultId),
  projectVersion: Version,
  createdBy: Type.String(),
  createdAt: Time,
  updatedAt: Time,
})
export type Project = Static<typeof Project>

/** Enough to verify a project without anything else: what is signed, who signed it, and that it is current. */
export const SignedProject = closed({
  projectId: ProjectId,
  genesis: SignedDocument,
  policies: Type.Array(SignedDocument),
  records: Type.Array(SignedDocument),
  capSets: Type.Array(SignedDocument),
  create: SignedDocument,
  adminsChain: Type.Array(SignedDocument),
  set: SignedDocument,
  transparency: TransparencyObject,
})
export type SignedProject = Static<typeof SignedProject>

const Receipt = closed({ index: Type.Integer({ minimum: 0 }), project: Project, signed: SignedProject })
const Permissions = closed({ data: AccessList, etag: Etag, signed: SignedProject })

const documents = (count: number) => Type.Array(SignedDocument, { minItems: count, maxItems: count })
const documentErrors = [
  'vault_not_found',
  'slug_taken',
  'log_conflict',
  'invalid_document',
  'invalid_signature',
  'signer_not_authorised',
] as const
const changeErrors = [
  'project_not_found',
  'project_access_denied',
  'project_archived',
  'project_conflict',
  ...documentErrors,
] as const

const { data, headVersion, headHash, wrappedKeys } = vaults.environmentFields.response.properties

export const projects = {
  list: {
    api: 'machine',
    method: 'GET',
    path: '/project',
    summary: 'The projects the caller is on the access list of, also archived ones',
    access: reading,
    query: closed(Page),
    response: listOf('data', Project),
  },
  create: {
    api: 'machine',
    method: 'POST',
    path: '/project',
    summary: 'Create a project: project.create and its first project.set, signed by one of its admins',
    access: writing,
    body: closed({ docs: documents(2) }),
    status: 201,
    response: Receipt,
    errors: [...documentErrors, 'key_kind_refused'],
  },
  get: {
    api: 'machine',
    method: 'GET',
    path: '/project/:id',
    summary: 'One project, with everything that proves what it says',
    access: reading,
    params: byId,
    response: closed({ project: Project, signed: SignedProject }),
    errors: ['project_not_found'],
  },
  update: {
    api: 'machine',
    method: 'PATCH',
    path: '/project/:id',
    summary:
      'Change slug, name or vaults of a project: the next project.set. A vault that joins must be one the caller reads',
    access: writing,
    params: byId,
    body: closed({ docs: documents(1) }),
    response: Receipt,
    errors: changeErrors,
  },
  archive: {
    api: 'machine',
    method: 'DELETE',
    path: '/project/:id',
    summary: 'Archive a project: a project.set with the status `archived`; its slug is free again',
    access: writing,
    params: byId,
    body: closed({ docs: documents(1) }),
    response: Receipt,
    errors: changeErrors,
  },
  permissions: {
    api: 'machine',
    method: 'GET',
    path: '/project/:id/permissions',
    summary: 'Who is shown a project. ADMIN are its signed admins, who alone change it; READ and WRITE see it',
    access: { kind: 'permission', permission: 'machine.permissions.read' },
    params: byId,
    response: Permissions,
    errors: ['project_not_found'],
  },
  setPermissions: {
    api: 'machine',
    method: 'PUT',
    path: '/project/:id/permissions',
    summary:
      'Replace the access list of a project. If the list has other ADMINs, `docs` brings the signed project.admins, and the next project.set with the same content',
    access: { kind: 'permission', permission: 'machine.permissions.write' },
    params: byId,
    query: AllowSelfRemoval,
    body: closed({ entries: AccessList, docs: Type.Optional(documents(2)) }),
    bodyLimit: 524_288,
    response: Permissions,
    errors: ['self_lockout', 'last_admin', 'etag_mismatch', 'user_not_found', 'agent_not_found', ...changeErrors],
  },
  environment: {
    api: 'machine',
    method: 'GET',
    path: '/vault/env/:projectId',
    summary:
      'The environment of a project: the signed project and, of exactly its vaults, fields, proofs and wrapped keys, all of one moment',
    access: { kind: 'permission', permission: 'machine.vault.secret.read' },
    params: closed({ projectId: ProjectRef }),
    query: closed(NoPage),
    response: closed({
      project: Project,
      signed: SignedProject,
      vaults: Type.Array(closed({ vaultId: VaultId, data, headVersion, headHash, signed: SignedVault, wrappedKeys })),
    }),
    errors: ['project_not_found', 'project_access_incomplete', 'wrapped_key_missing'],
  },
} as const satisfies Routes
