import { ensure } from '../errors.ts'
import { type Envelope, peekDocument, type VerifiedDocument } from '../identity/document.ts'
import type { CheckedKey } from '../identity/key-bundle.ts'
import { type VaultState, vaultName, vaultState } from '../log/state.ts'
import { deriveVaultId, ensureAuthority, sameMembers } from '../vault/authority.ts'
import { aclSet, epochNew, type VaultHeadPayload, vaultAdmins, vaultCreate, vaultHead } from '../vault/documents.ts'
import { ensureWithinGrace } from '../vault/grace.ts'
import {
  accept,
  acceptedPayload,
  activeKids,
  activeSigner,
  currentPolicy,
  type Draft,
  untaintedSigner,
} from './draft.ts'
import { adminsOf, applyGrants, dropEndedGrants } from './grants.ts'

// Section 5.7, `vault.commit`: one head, and what may only change together with a head. The rules run in the table's order.

export interface VaultCommit {
  readonly head: Envelope
  readonly create: Envelope | undefined
  readonly admins: Envelope | undefined
  readonly acl: Envelope | undefined
  readonly epoch: Envelope | undefined
  readonly wraps: readonly Envelope[]
}

type Acl = VerifiedDocument<typeof aclSet>['payload']

/** What the rules hand to one another. `state` grows from rule to rule and is written at the end. */
interface Work {
  readonly draft: Draft
  readonly vaultId: string
  /** The state before the leaf; undefined while the vault is being created. */
  readonly before: VaultState | undefined
  /** The admins whose signatures count in this leaf. */
  readonly admins: ReadonlySet<string>
  readonly oldAcl: Acl | undefined
}

export async function applyVaultCommit(draft: Draft, commit: VaultCommit): Promise<void> {
  const { vaultId } = peekDocument(vaultHead, commit.head).payload
  const before = await draft.read(vaultName(vaultId), vaultState)
  const created = commit.create ? await applyCreate(draft, commit, vaultId, before) : undefined
  ensure(before || created, 'bad_transition', 'there is no such vault', { vaultId })
  const admins = before ? await adminsOf(draft, before) : new Set(created?.payload.admins)
  const oldAcl = before && (await acceptedPayload(draft, aclSet, before.aclHash))
  const work: Work = { draft, vaultId, before, admins, oldAcl }

  const chain = await applyAdmins(work, commit, created)
  const access = await applyAcl(work, commit, chain.admins)
  const epoch = await applyEpoch(work, commit, access)
  const head = await applyHead(work, commit, { ...access, ...epoch })
  const state = nextState(work, { chain, access, epoch, head, left: readersLeft(work, access.acl) })
  draft.write(vaultName(vaultId), state)
  const now = { state, readers: new Set(access.acl.acl.map((entry) => entry.p)) }
  await applyGrants(work, commit, now)
  await dropEndedGrants(work, now)
}

async function applyCreate(draft: Draft, commit: VaultCommit, vaultId: string, before: VaultState | undefined) {
  ensure(before === undefined, 'bad_transition', 'a vault cannot be created twice', { vaultId })
  ensure(
    commit.acl && commit.epoch && !commit.admins,
    'bad_transition',
    'a vault is created with its access list and first key',
    { vaultId },
  )
  const document = await accept(draft, vaultCreate, commit.create as Envelope)
  ensure(deriveVaultId(document.hash) === vaultId, 'vault_swap', 'a creation document does not hash to the vault id', {
    vaultId,
  })
  const key = await untaintedSigner(draft, document.payload.by)
  ensure(document.payload.admins.includes(key.principal), 'admin_chain', 'the creator is not among the first admins', {
    vaultId,
  })
  ensureAuthority(key)
  return document
}

/** A signer who administers the vault before this leaf. */
async function adminSigner({ draft, admins, vaultId }: Work, by: string): Promise<CheckedKey> {
  const key = await untaintedSigner(draft, by)
  ensure(admins.has(key.principal), 'not_authorised', 'not signed by an admin of the vault', { vaultId, by })
  ensureAuthority(key)
  return key
}

interface Chain {
  readonly admins: ReadonlySet<string>
  readonly adminsHash: string
  readonly adminsIndexes: readonly number[]
}

async function applyAdmins(
  work: Work,
  commit: VaultCommit,
  created: VerifiedDocument<typeof vaultCreate> | undefined,
): Promise<Chain> {
  const { draft, before, vaultId, admins } = work
  if (created) {
    for (const principal of admins) await ensureMayAdminister(draft, principal)
    return { admins, adminsHash: created.hash, adminsIndexes: [draft.index] }
  }
  const { adminsHash, adminsIndexes } = before as VaultState
  if (!commit.admins) return { admins, adminsHash, adminsIndexes }
  ensure(commit.acl, 'bad_transition', 'admins change only together with the access list', { vaultId })
  const { payload, hash } = await accept(draft, vaultAdmins, commit.admins)
  ensure(payload.vaultId === vaultId, 'vault_swap', 'an admin document is of another vault', { vaultId })
  ensure(
    payload.adminsVersion === adminsIndexes.length + 1 && payload.prev === adminsHash,
    'bad_transition',
    'an admin document does not follow its predecessor',
    { vaultId },
  )
  await adminSigner(work, payload.by)
  ensure(payload.admins.length > 0, 'bad_transition', 'a vault keeps at least one admin', { vaultId })
  for (const principal of payload.admins) if (!admins.has(principal)) await ensureMayAdminister(draft, principal)
  return { admins: new Set(payload.admins), adminsHash: hash, adminsIndexes: [...adminsIndexes, draft.index] }
}

/** 3.5: whoever administers can sign with a key that may hold authority. */
async function ensureMayAdminister(draft: Draft, principal: string): Promise<void> {
  const kids = await activeKids(draft, principal)
  ensure(kids.length > 0, 'signer_not_active', 'an admin has no active key', { principal })
  for (const kid of kids) ensureAuthority(await activeSigner(draft, kid))
}

interface Access {
  readonly acl: Acl
  readonly aclHash: string
  readonly aclVersion: number
  readonly aclIndex: number
}

async function applyAcl(work: Work, commit: VaultCommit, newAdmins: ReadonlySet<string>): Promise<Access> {
  const { draft, before, vaultId, oldAcl } = work
  if (!commit.acl) {
    const { aclHash, aclVersion, aclIndex } = before as VaultState
    return { acl: oldAcl as Acl, aclHash, aclVersion, aclIndex }
  }
  const { payload, hash } = await accept(draft, aclSet, commit.acl)
  ensure(payload.vaultId === vaultId, 'vault_swap', 'an access list is of another vault', { vaultId })
  const follows = payload.aclVersion === (before?.aclVersion ?? 0) + 1 && payload.prev === (before?.aclHash ?? '')
  ensure(follows, 'bad_transition', 'an access list does not follow its predecessor', { vaultId })
  await adminSigner(work, payload.by)
  const shown = new Set(payload.acl.filter((entry) => entry.role === 'admin').map((entry) => entry.p))
  ensure(sameMembers(shown, newAdmins), 'acl_mismatch', 'an access list shows other admins than the admin chain', {
    vaultId,
  })
  const safe = commit.epoch !== undefined || payload.deferRotation === true || readersLeft(work, payload).length === 0
  ensure(safe, 'rotation_due', 'a reader leaves: rotate the vault key in the same commit or defer it openly', {
    vaultId,
  })
  return { acl: payload, aclHash: hash, aclVersion: payload.aclVersion, aclIndex: draft.index }
}

const readersLeft = ({ oldAcl }: Work, acl: Acl): readonly string[] => {
  const staying = new Set(acl.acl.map((entry) => entry.p))
  return (oldAcl?.acl ?? []).map((entry) => entry.p).filter((principal) => !staying.has(principal))
}

interface Epoch {
  readonly dekVersion: number
  readonly dekCommit: string
  readonly epochIndex: number
}

async function applyEpoch(work: Work, commit: VaultCommit, access: Access): Promise<Epoch> {
  const { draft, before, vaultId } = work
  if (!commit.epoch) {
    const { dekVersion, dekCommit, epochIndex } = before as VaultState
    return { dekVersion, dekCommit, epochIndex }
  }
  const { payload } = await accept(draft, epochNew, commit.epoch)
  ensure(payload.vaultId === vaultId, 'vault_swap', 'an epoch is of another vault', { vaultId })
  const previous = before?.dekVersion ?? 0
  ensure(
    payload.prevDekVersion === previous && payload.dekVersion === previous + 1,
    'bad_transition',
    'an epoch does not follow its predecessor',
    { vaultId },
  )
  ensure(
    (payload.reason === 'create') === (before === undefined),
    'bad_transition',
    'an epoch gives the wrong reason',
    { vaultId },
  )
  ensure(
    payload.aclHash === access.aclHash && payload.aclVersion === access.aclVersion,
    'acl_mismatch',
    'an epoch was made for another access list',
    { vaultId },
  )
  await adminSigner(work, payload.by)
  return { dekVersion: payload.dekVersion, dekCommit: payload.dekCommit, epochIndex: draft.index }
}

async function applyHead(
  work: Work,
  commit: VaultCommit,
  now: Access & Epoch,
): Promise<{ payload: VaultHeadPayload; hash: string }> {
  const { draft, before, vaultId, admins } = work
  const { payload, hash } = await accept(draft, vaultHead, commit.head)
  const follows = payload.headVersion === (before?.headVersion ?? 0) + 1 && payload.prev === (before?.headHash ?? '')
  ensure(follows, 'head_conflict', 'a head does not follow the current head', {
    vaultId,
    headVersion: before?.headVersion ?? 0,
    headHash: before?.headHash ?? '',
  })
  ensure(
    payload.aclVersion === now.aclVersion && payload.aclHash === now.aclHash,
    'head_mismatch',
    'a head names another access list',
    { vaultId },
  )
  ensure(
    payload.dekVersion === now.dekVersion && payload.dekCommit === now.dekCommit,
    'head_mismatch',
    'a head names another vault key',
    { vaultId },
  )
  const oldest = before?.oldestDek ?? 1
  ensure(
    payload.oldestDek >= oldest && payload.oldestDek <= now.dekVersion,
    'head_mismatch',
    'a head names an impossible oldest key',
    { vaultId },
  )
  const key = await untaintedSigner(draft, payload.by)
  const role = now.acl.acl.find((entry) => entry.p === key.principal)?.role
  const entitled = role === 'write' || role === 'admin' || (commit.acl !== undefined && admins.has(key.principal))
  ensure(entitled, 'not_authorised', 'a head is not signed by a writer of the vault', { vaultId, by: payload.by })
  await ensureRotated(work, commit)
  return { payload, hash }
}

async function ensureRotated({ draft, before }: Work, commit: VaultCommit): Promise<void> {
  if (before?.rotationDue && !commit.epoch) ensureWithinGrace(before, await currentPolicy(draft.before), draft.at)
}

interface Outcome {
  readonly chain: Chain
  readonly access: Access
  readonly epoch: Epoch
  readonly head: { readonly payload: VaultHeadPayload; readonly hash: string }
  readonly left: readonly string[]
}

function nextState({ draft, before, vaultId }: Work, { chain, access, epoch, head, left }: Outcome): VaultState {
  const rotated = epoch.epochIndex === draft.index
  const replaced = before && rotated ? [{ dekVersion: before.dekVersion, dekCommit: before.dekCommit }] : []
  const due = before?.rotationDue ?? null
  return {
    vaultId,
    createIndex: before?.createIndex ?? draft.index,
    adminsHash: chain.adminsHash,
    adminsIndexes: chain.adminsIndexes,
    headVersion: head.payload.headVersion,
    headHash: head.hash,
    headIndex: draft.index,
    aclVersion: access.aclVersion,
    aclHash: access.aclHash,
    aclIndex: access.aclIndex,
    ...epoch,
    oldestDek: head.payload.oldestDek,
    draining: [...(before?.draining ?? []), ...replaced].filter((old) => old.dekVersion >= head.payload.oldestDek),
    rotationDue: rotated ? null : left.length > 0 ? (due ?? { index: draft.index, at: draft.at }) : due,
  }
}
