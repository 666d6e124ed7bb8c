import { ensure } from '../errors.ts'
import { type Envelope, peekDocument } from '../identity/document.ts'
import { type ProjectState, projectName, projectState } from '../log/state.ts'
import { deriveProjectId, ensureAuthority } from '../vault/authority.ts'
import { projectAdmins, projectCreate, projectSet } from '../vault/documents.ts'
import { accept, acceptedPayload, type Draft, untaintedSigner } from './draft.ts'
import { readVault } from './grants.ts'

// Section 5.7, `project.commit`: a project names its vaults under the signature of its admins.

export interface ProjectCommit {
  readonly set: Envelope
  readonly create: Envelope | undefined
  readonly admins: Envelope | undefined
}

interface Chain {
  /** Those whose signature counts in this leaf. */
  readonly admins: ReadonlySet<string>
  readonly createIndex: number
  readonly adminsHash: string
  readonly adminsIndexes: readonly number[]
}

export async function applyProjectCommit(draft: Draft, commit: ProjectCommit): Promise<void> {
  const { projectId } = peekDocument(projectSet, commit.set).payload
  const before = await draft.read(projectName(projectId), projectState)
  const start = commit.create
    ? await create(draft, commit.create, projectId, before)
    : await current(draft, projectId, before)
  const chain = commit.admins ? await changeAdmins(draft, commit.admins, projectId, start) : start
  const { payload, hash } = await accept(draft, projectSet, commit.set)
  const follows =
    payload.projectVersion === (before?.projectVersion ?? 0) + 1 && payload.prev === (before?.docHash ?? '')
  ensure(follows, 'bad_transition', 'a project does not follow its predecessor', { projectId })
  await ensureAdmin(draft, payload.by, start.admins, projectId)
  for (const vaultId of payload.vaults) await readVault(draft, vaultId)
  const { createIndex, adminsHash, adminsIndexes } = chain
  draft.write(projectName(projectId), {
    projectId,
    createIndex,
    adminsHash,
    adminsIndexes,
    projectVersion: payload.projectVersion,
    docHash: hash,
    index: draft.index,
  })
}

async function ensureAdmin(draft: Draft, by: string, admins: ReadonlySet<string>, projectId: string): Promise<void> {
  const key = await untaintedSigner(draft, by)
  ensure(admins.has(key.principal), 'not_authorised', 'not signed by an admin of the project', { projectId, by })
  ensureAuthority(key)
}

async function create(
  draft: Draft,
  envelope: Envelope,
  projectId: string,
  before: ProjectState | undefined,
): Promise<Chain> {
  ensure(before === undefined, 'bad_transition', 'a project cannot be created twice', { projectId })
  const { payload, hash } = await accept(draft, projectCreate, envelope)
  ensure(deriveProjectId(hash) === projectId, 'vault_swap', 'a creation document does not hash to the project id', {
    projectId,
  })
  const admins = new Set(payload.admins)
  await ensureAdmin(draft, payload.by, admins, projectId)
  return { admins, createIndex: draft.index, adminsHash: hash, adminsIndexes: [draft.index] }
}

async function current(draft: Draft, projectId: string, before: ProjectState | undefined): Promise<Chain> {
  ensure(before, 'bad_transition', 'there is no such project', { projectId })
  const kind = before.adminsIndexes.length === 1 ? projectCreate : projectAdmins
  const { admins } = await acceptedPayload(draft, kind as typeof projectCreate, before.adminsHash)
  return { ...before, admins: new Set(admins) }
}

async function changeAdmins(draft: Draft, envelope: Envelope, projectId: string, start: Chain): Promise<Chain> {
  const { payload, hash } = await accept(draft, projectAdmins, envelope)
  ensure(payload.projectId === projectId, 'vault_swap', 'an admin document is of another project', { projectId })
  const follows = payload.adminsVersion === start.adminsIndexes.length + 1 && payload.prev === start.adminsHash
  ensure(follows, 'bad_transition', 'an admin document does not follow its predecessor', { projectId })
  ensure(payload.admins.length > 0, 'bad_transition', 'a project keeps at least one admin', { projectId })
  await ensureAdmin(draft, payload.by, start.admins, projectId)
  return { ...start, adminsHash: hash, adminsIndexes: [...start.adminsIndexes, draft.index] }
}
