import type { VerifiedDirectory } from '../directory/resolve.ts'
import { ensure } from '../errors.ts'
import { type Envelope, verifyDocument } from '../identity/document.ts'
import { principalOf } from '../identity/identifiers.ts'
import { projectName, projectState } from '../log/state.ts'
import { stateOf } from '../log/transparency.ts'
import {
  adminsBefore,
  type ChainKinds,
  type ChainPin,
  continues,
  deriveProjectId,
  ensureAuthority,
  verifyAdminChain,
} from './authority.ts'
import { type ProjectSetPayload, projectAdmins, projectCreate, projectSet } from './documents.ts'

// Section 4.7: without a signed association a server could answer for a project with the wrong vault's valid secrets.

const PROJECT_CHAIN: ChainKinds<'project.create', 'project.admins'> = {
  create: projectCreate,
  admins: projectAdmins,
  idOf: (payload) => (payload as { projectId: string }).projectId,
  deriveId: deriveProjectId,
}

export interface ProjectResponse {
  readonly projectId: string
  readonly create: Envelope
  readonly adminsChain: readonly Envelope[]
  readonly set: Envelope
}

/** What a client remembers of a project it has verified. */
export interface ProjectPin extends ChainPin {
  readonly projectVersion: number
  readonly docHash: string
  /** The leaf of the document. */
  readonly at?: number
}

declare const verifiedProject: unique symbol
export interface VerifiedProject {
  readonly [verifiedProject]: true
  readonly projectId: string
  readonly docHash: string
  readonly payload: ProjectSetPayload
  /** What a client remembers of it. */
  readonly pin: ProjectPin
}

export async function verifyProject(
  directory: VerifiedDirectory,
  response: ProjectResponse,
  pin?: ProjectPin,
): Promise<VerifiedProject> {
  const { projectId } = response
  const state = stateOf(directory.view, projectName(projectId), projectState)
  ensure(state && state.projectId === projectId, 'bad_map_proof', 'the state of the project is not proven', {
    projectId,
  })
  if (pin) {
    ensure(
      state.projectVersion >= pin.projectVersion,
      'project_rollback',
      'the project is older than one already seen',
      { projectId },
    )
    const isSeen = state.docHash === pin.docHash && state.index === (pin.at ?? state.index)
    const same = state.projectVersion !== pin.projectVersion || isSeen
    ensure(same, 'project_mismatch', 'the project has a known version with other content', { projectId })
    // Version 0: what was seen of it was given up with the log it was in (9.4).
    const isLater = [0, state.projectVersion].includes(pin.projectVersion) || state.index >= pin.size
    ensure(isLater, 'project_mismatch', 'a change of the project claims to be older than one without it', { projectId })
  }
  const chain = await verifyAdminChain(
    directory,
    PROJECT_CHAIN,
    projectId,
    state,
    response.create,
    response.adminsChain,
  )
  const isKnown = !pin || continues(chain, pin)
  ensure(isKnown, 'project_mismatch', 'the admin chain is not the one already seen', { projectId })
  // As with vaults: admins change with the document, so one that is older than they are was dated back to where its signer was one.
  const isOrdered = (state.adminsIndexes.at(-1) ?? 0) <= state.index
  ensure(isOrdered, 'bad_transition', 'the project is older than its admins', { projectId })
  const { payload, hash } = await verifyDocument(projectSet, response.set, directory.org, directory.keyOf)
  ensure(
    hash === state.docHash && payload.projectVersion === state.projectVersion,
    'project_mismatch',
    'the project is not the logged one',
    { projectId },
  )
  ensure(payload.projectId === projectId, 'project_mismatch', 'the document is of another project', { projectId })
  ensureAuthority(await directory.signerAt(payload.by, state.index))
  const entitled = adminsBefore(chain, state.index).has(principalOf(payload.by))
  ensure(entitled, 'not_authorised', 'the project is not signed by one of its admins', { projectId, by: payload.by })
  const { projectVersion, adminsHash } = state
  const { size } = directory.view.checkpoint
  const sets = chain.sets.map((set) => ({ index: set.index, hash: set.hash }))
  const seen: ProjectPin = { projectVersion, docHash: hash, adminsHash, size, chain: sets, at: state.index }
  return { projectId, docHash: hash, payload, pin: seen } as unknown as VerifiedProject
}

/** The vaults a bundle must consist of: exactly those of the verified project. */
export function ensureProjectVaults(project: VerifiedProject, vaultIds: readonly string[]): void {
  const expected = project.payload.vaults
  const offered = [...vaultIds].sort()
  const same = expected.length === offered.length && expected.every((vaultId, i) => vaultId === offered[i])
  ensure(same, 'project_mismatch', 'the answer is not of exactly the vaults of the project', {
    projectId: project.projectId,
  })
}
