import type { Replacement } from '../directory/documents.ts'
import { isUntainted } from '../directory/taint.ts'
import { ensure } from '../errors.ts'
import { documentHash, type Envelope } from '../identity/document.ts'
import { principalOf } from '../identity/identifiers.ts'
import type { CheckedKey } from '../identity/key-bundle.ts'
import { grantName, grantState, type VaultState, vaultName, vaultState } from '../log/state.ts'
import { ensureAuthority, sameMembers } from '../vault/authority.ts'
import { aclSet, vaultAdmins, vaultCreate } from '../vault/documents.ts'
import { commitOf } from '../vault/grants.ts'
import { checkWrapAlgorithm, type WrappedDekPayload, wrappedDek } from '../wraps/wrapped-key.ts'
import { accept, acceptedPayload, activeKids, type Draft, type LiveGrant, untaintedSigner } from './draft.ts'

// Section 5.7, grants: who may hold which vault key, and how a grant ends.

export async function readVault(draft: Draft, vaultId: string): Promise<VaultState> {
  const state = await draft.read(vaultName(vaultId), vaultState)
  ensure(state, 'bad_transition', 'there is no such vault', { vaultId })
  return state
}

/** The admin set in force before this leaf. */
export async function adminsOf(draft: Draft, state: VaultState): Promise<ReadonlySet<string>> {
  const kind = state.adminsIndexes.length === 1 ? vaultCreate : vaultAdmins
  const { admins } = await acceptedPayload(draft, kind as typeof vaultCreate, state.adminsHash)
  return new Set(admins)
}

export async function readersOf(draft: Draft, state: VaultState): Promise<ReadonlySet<string>> {
  const { acl } = await acceptedPayload(draft, aclSet, state.aclHash)
  return new Set(acl.map((entry) => entry.p))
}

/** Tombstones grants and tells which vaults they were of. */
export async function dropGrants(draft: Draft, grants: Iterable<LiveGrant>): Promise<ReadonlySet<string>> {
  const vaults = new Set<string>()
  for (const { vaultId, kid, dekVersion } of grants) {
    const name = grantName(vaultId, kid, dekVersion)
    // A grant that this leaf has just written stays.
    if ((await draft.read(name, grantState))?.index === draft.index) continue
    draft.write(name, { wrapHash: '', index: draft.index })
    vaults.add(vaultId)
  }
  return vaults
}

/** The duty to rotate is part of the logged state, so nobody can suppress it (3.6). The oldest duty counts. */
export async function markRotationDue(draft: Draft, vaultId: string): Promise<void> {
  const state = await readVault(draft, vaultId)
  if (state.rotationDue === null)
    draft.write(vaultName(vaultId), { ...state, rotationDue: { index: draft.index, at: draft.at } })
}

/** 11: each replacement is the old key's wrap of the very same vault key for the new key. */
export async function writeReplacements(
  draft: Draft,
  {
    from,
    to,
    batch,
    wraps,
  }: { from: string; to: CheckedKey; batch: readonly Replacement[]; wraps: readonly Envelope[] },
): Promise<void> {
  const byHash = new Map(wraps.map((envelope) => [documentHash(envelope), envelope]))
  ensure(
    byHash.size === batch.length && wraps.length === batch.length,
    'incomplete_batch',
    'a rotation needs one wrap for each entry of its batch',
  )
  for (const { vaultId, dekVersion, wrapHash } of batch) {
    const envelope = byHash.get(wrapHash)
    ensure(envelope, 'incomplete_batch', 'a wrap of the batch is missing', { vaultId, dekVersion })
    const { payload } = await accept(draft, wrappedDek, envelope)
    ensure(
      payload.by === from && payload.to === to.kid,
      'wrap_context',
      'a replacement is not from the old to the new key',
      { vaultId },
    )
    ensure(
      payload.vaultId === vaultId && payload.dekVersion === dekVersion,
      'wrap_context',
      'a replacement is of another vault key',
      { vaultId },
    )
    ensureCommitted(await readVault(draft, vaultId), payload)
    checkWrapAlgorithm(payload, to)
    draft.write(grantName(vaultId, to.kid, dekVersion), { wrapHash, index: draft.index })
  }
}

function ensureCommitted(state: VaultState, { vaultId, dekVersion, dekCommit }: WrappedDekPayload): void {
  ensure(commitOf(state, dekVersion) === dekCommit, 'dek_commitment', 'a wrap is of a vault key that is not in use', {
    vaultId,
    dekVersion,
  })
}

/** `grant.add` and the grants of a commit: an admin wraps a key in use for an active key of a reader. */
export async function applyGrant(
  draft: Draft,
  envelope: Envelope,
  vault: { state: VaultState; admins: ReadonlySet<string>; readers: ReadonlySet<string> },
): Promise<WrappedDekPayload> {
  const { payload, hash } = await accept(draft, wrappedDek, envelope)
  const { vaultId, dekVersion, to, by } = payload
  ensure(vaultId === vault.state.vaultId, 'wrap_context', 'a grant is of another vault', { vaultId })
  const signer = await untaintedSigner(draft, by)
  ensure(vault.admins.has(signer.principal), 'not_authorised', 'a grant is not made by an admin of the vault', {
    vaultId,
    by,
  })
  ensureAuthority(signer)
  const recipient = await untaintedSigner(draft, to)
  ensure(
    vault.readers.has(recipient.principal),
    'not_authorised',
    'a grant is for somebody who is not on the access list',
    { vaultId, to },
  )
  ensureCommitted(vault.state, payload)
  checkWrapAlgorithm(payload, recipient)
  const name = grantName(vaultId, to, dekVersion)
  // The order of documents means nothing, so of two grants for one key neither could be the last.
  const isOnly = (await draft.read(name, grantState))?.index !== draft.index
  ensure(isOnly, 'bad_transition', 'a key is granted twice in one act', { vaultId, to, dekVersion })
  draft.write(name, { wrapHash: hash, index: draft.index })
  return payload
}

/** What a commit of a vault says of its grants. */
interface Granting {
  readonly draft: Draft
  readonly vaultId: string
  /** The state before the leaf. */
  readonly before: VaultState | undefined
  readonly admins: ReadonlySet<string>
}

/** As the commit leaves it. */
interface Granted {
  readonly state: VaultState
  readonly readers: ReadonlySet<string>
}

/** With an epoch: one grant of the new key for each sound active key of the access list, no more and no less. */
export async function applyGrants(
  { draft, vaultId, admins }: Granting,
  { wraps, epoch }: { readonly wraps: readonly Envelope[]; readonly epoch: Envelope | undefined },
  { state, readers }: Granted,
): Promise<void> {
  const granted = new Set<string>()
  for (const envelope of wraps) {
    const { to, dekVersion } = await applyGrant(draft, envelope, { state, admins, readers })
    if (dekVersion === state.dekVersion) granted.add(to)
  }
  if (!epoch) return
  const due = new Set<string>()
  for (const principal of readers)
    for (const kid of await activeKids(draft, principal)) if (await isUntainted(draft.directory, kid)) due.add(kid)
  ensure(
    sameMembers(granted, due),
    'incomplete_batch',
    'a new vault key must be granted to exactly the active keys of the access list',
    {
      vaultId,
      missing: [...due].filter((kid) => !granted.has(kid)),
      extra: [...granted].filter((kid) => !due.has(kid)),
    },
  )
}

/** Grants of retired key versions and of readers who left become tombstones. */
export async function dropEndedGrants(
  { draft, vaultId, before }: Granting,
  { state, readers }: Granted,
): Promise<void> {
  // Most commits end nobody's grant, and a vault has many.
  if (before && before.aclIndex === state.aclIndex && before.oldestDek === state.oldestDek) return
  const live = await draft.before.grantsOfVault(vaultId)
  await dropGrants(
    draft,
    live.filter(({ kid, dekVersion }) => dekVersion < state.oldestDek || !readers.has(principalOf(kid))),
  )
}
