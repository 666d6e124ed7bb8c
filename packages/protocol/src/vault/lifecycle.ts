import { compareText } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { documentHash, type Envelope, makeDocument } from '../identity/document.ts'
import { type CheckedKey, mayHoldAuthority } from '../identity/key-bundle.ts'
import type { Signer } from '../identity/private-keys.ts'
import { type Dek, makeDek } from '../values/dek.ts'
import { wrapDek } from '../wraps/wrapped-key.ts'
import { deriveVaultId } from './authority.ts'
import { type BuiltCommit, buildCommit, type HeadTerms, termsOf } from './commit.ts'
import { EMPTY_CONTENT, type VaultContent } from './content.ts'
import { type AclEntry, aclSet, epochNew, type VaultMeta, vaultAdmins, vaultCreate } from './documents.ts'
import { makeSalt } from './edit.ts'
import type { VerifiedHead } from './vault.ts'

// Sections 3.6, 4.7 and 6.3: the commits that change who can read a vault. Each carries its documents, its grants and a head.

const sortAcl = (acl: readonly AclEntry[]): readonly AclEntry[] => [...acl].sort((a, b) => compareText(a.p, b.p))
const adminsIn = (acl: readonly AclEntry[]): string[] =>
  acl
    .filter((entry) => entry.role === 'admin')
    .map((entry) => entry.p)
    .sort(compareText)

interface EpochInput {
  readonly org: string
  readonly vaultId: string
  readonly previous: number
  readonly reason: 'create' | 'member-removed' | 'key-compromised' | 'scheduled' | 'repair'
  readonly aclVersion: number
  readonly aclHash: string
  /** Every active key of everyone on the access list: the log accepts no more and no less. */
  readonly recipients: readonly CheckedKey[]
  readonly at: number
}

/** A new vault key, its announcement, and one wrap for each recipient. */
async function makeEpoch(input: EpochInput, signer: Signer): Promise<{ dek: Dek; docs: Envelope[] }> {
  const { org, vaultId, previous, reason, aclVersion, aclHash, recipients, at } = input
  ensure(mayHoldAuthority(signer.key), 'not_authorised', 'an RSA-only key cannot rotate a vault key')
  const dek = makeDek({ org, vaultId, dekVersion: previous + 1 })
  const epoch = {
    org,
    at,
    vaultId,
    dekVersion: dek.dekVersion,
    dekCommit: dek.dekCommit,
    prevDekVersion: previous,
    reason,
    aclVersion,
    aclHash,
  }
  const docs = [await makeDocument(epochNew, epoch, [signer])]
  for (const recipient of recipients) docs.push(await wrapDek(dek, recipient, signer, at))
  return { dek, docs }
}

export interface CreateVaultInput {
  readonly org: string
  readonly meta: VaultMeta
  /** The creator must be among the admins. */
  readonly acl: readonly AclEntry[]
  readonly recipients: readonly CheckedKey[]
  readonly at: number
}

export interface VaultChange extends BuiltCommit {
  readonly vaultId: string
  /** The vault key this commit introduces, if it does. */
  readonly dek: Dek | undefined
}

/** A vault, its first access list, its first key and its empty head, in one commit. */
export async function createVault(
  input: CreateVaultInput,
  signer: Signer,
): Promise<VaultChange & { readonly dek: Dek }> {
  const { org, at, meta, recipients } = input
  const acl = sortAcl(input.acl)
  const create = await makeDocument(vaultCreate, { org, at, admins: adminsIn(acl), salt: makeSalt() }, [signer])
  const vaultId = deriveVaultId(documentHash(create))
  const list = await makeDocument(aclSet, { org, at, vaultId, aclVersion: 1, prev: '', acl }, [signer])
  const access = { aclVersion: 1, aclHash: documentHash(list) }
  const { dek, docs } = await makeEpoch(
    { org, vaultId, previous: 0, reason: 'create', ...access, recipients, at },
    signer,
  )
  const terms: HeadTerms = { meta, ...access, dekVersion: 1, dekCommit: dek.dekCommit, oldestDek: 1 }
  const built = await buildCommit(
    { org, vaultId, base: undefined, content: EMPTY_CONTENT, terms, docs: [create, list, ...docs], at },
    signer,
  )
  return { ...built, vaultId, dek }
}

export interface ChangeAccessInput {
  readonly head: VerifiedHead
  readonly content: VaultContent
  /** The complete new list; absent for a rotation that changes nobody's access. */
  readonly acl?: readonly AclEntry[]
  /** A new vault key. Needed when a reader leaves, unless the rotation is openly deferred. */
  readonly rotate?: {
    readonly reason: Exclude<EpochInput['reason'], 'create'>
    readonly recipients: readonly CheckedKey[]
  }
  readonly deferRotation?: boolean
  /** Names the admins anew, also if they stay: whoever named them last is not to be believed any more (4.4). */
  readonly renewAdmins?: boolean
  /** Wraps of keys in use for readers who join. */
  readonly grants?: readonly { readonly dek: Dek; readonly to: CheckedKey }[]
  readonly at: number
}

/** Replaces the access list, the vault key, or both, in one commit with a new head. */
export async function changeAccess(input: ChangeAccessInput, signer: Signer): Promise<VaultChange> {
  const { head, content, rotate, grants = [], at } = input
  const { vault, payload } = head
  const { vaultId, directory } = vault
  const { org } = directory
  const access = input.acl
    ? await makeAccess(input, input.acl, signer)
    : { docs: [], aclVersion: payload.aclVersion, aclHash: payload.aclHash }
  const { aclVersion, aclHash } = access
  const epoch =
    rotate &&
    (await makeEpoch({ org, vaultId, previous: payload.dekVersion, ...rotate, aclVersion, aclHash, at }, signer))
  const wraps = await Promise.all(grants.map(({ dek, to }) => wrapDek(dek, to, signer, at)))
  const dek = epoch && { dekVersion: epoch.dek.dekVersion, dekCommit: epoch.dek.dekCommit }
  const terms: HeadTerms = { ...termsOf(payload), aclVersion, aclHash, ...dek }
  const docs = [...access.docs, ...(epoch?.docs ?? []), ...wraps]
  const built = await buildCommit({ org, vaultId, base: head, content, terms, docs, at }, signer)
  return { ...built, vaultId, dek: epoch?.dek }
}

async function makeAccess(input: ChangeAccessInput, list: readonly AclEntry[], signer: Signer) {
  const { head, deferRotation, renewAdmins, at } = input
  const { vault, payload } = head
  const { vaultId, state } = vault
  const { org } = vault.directory
  const acl = sortAcl(list)
  const admins = adminsIn(acl)
  const changed = admins.join() !== adminsIn(vault.acl.acl).join()
  const docs: Envelope[] = []
  if (changed || renewAdmins) {
    const members = { org, at, vaultId, adminsVersion: state.adminsIndexes.length + 1, admins, prev: state.adminsHash }
    docs.push(await makeDocument(vaultAdmins, members, [signer]))
  }
  const aclVersion = payload.aclVersion + 1
  const members = { org, at, vaultId, aclVersion, prev: payload.aclHash, acl, ...(deferRotation && { deferRotation }) }
  const envelope = await makeDocument(aclSet, members, [signer])
  return { docs: [...docs, envelope], aclVersion, aclHash: documentHash(envelope) }
}
