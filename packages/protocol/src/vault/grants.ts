import { ensure } from '../errors.ts'
import { type Envelope, peekDocument, verifyDocument } from '../identity/document.ts'
import { type CheckedKey, mayHoldAuthority } from '../identity/key-bundle.ts'
import type { Recipient } from '../identity/private-keys.ts'
import { type GrantState, grantName, grantState, type VaultState } from '../log/state.ts'
import { stateOf } from '../log/transparency.ts'
import type { Dek } from '../values/dek.ts'
import {
  checkWrapAlgorithm,
  unwrapDek,
  type VerifiedWrappedKey,
  type WrappedDekPayload,
  wrappedDek,
} from '../wraps/wrapped-key.ts'
import { adminsBefore } from './authority.ts'
import type { VerifiedHead, VerifiedVault } from './vault.ts'

// Sections 3.2 and 3.3: from a wrapped key in an answer to a vault key in hand.

/** The commitment the log holds for a key version that values may still use. */
export const commitOf = (state: VaultState, dekVersion: number): string | undefined =>
  dekVersion === state.dekVersion
    ? state.dekCommit
    : state.draining.find((old) => old.dekVersion === dekVersion)?.dekCommit

/** Grant, signature, author, commitment: everything that must hold before a private key is used. */
export async function verifyWrappedKey(
  vault: VerifiedVault,
  envelope: Envelope,
  recipient: Recipient,
): Promise<VerifiedWrappedKey> {
  const { directory, vaultId, state } = vault
  // Attacker-controlled until the grant and the signature are checked; needed to know which grant to look up.
  const { hash, payload: claimed } = peekDocument(wrappedDek, envelope)
  ensure(claimed.to === recipient.kid, 'wrap_context', 'a wrapped key is for another recipient', { to: claimed.to })
  ensure(claimed.vaultId === vaultId, 'wrap_context', 'a wrapped key is of another vault', { vaultId: claimed.vaultId })
  const grant = stateOf(directory.view, grantName(vaultId, recipient.kid, claimed.dekVersion), grantState)
  ensure(grant && grant.wrapHash !== '', 'unwrapped_key_missing', 'the log grants no such key', {
    vaultId,
    dekVersion: claimed.dekVersion,
  })
  ensure(grant.wrapHash === hash, 'stale_wrapped_dek', 'a wrapped key is not the granted one', {
    vaultId,
    dekVersion: claimed.dekVersion,
  })
  // Dated back, it would count who administered the vault then and does no more.
  const isOrdered = claimed.dekVersion !== state.dekVersion || grant.index >= state.epochIndex
  ensure(isOrdered, 'bad_transition', 'a grant is older than its vault key', { vaultId })
  const { payload } = await verifyDocument(wrappedDek, envelope, directory.org, directory.keyOf)
  await ensureMayWrap(vault, await directory.signerAt(payload.by, grant.index), payload, grant)
  ensure(
    payload.dekCommit === commitOf(state, payload.dekVersion),
    'dek_commitment',
    'a wrapped key commits to another vault key than the log',
    { vaultId },
  )
  checkWrapAlgorithm(payload, recipient.key)
  return { payload, hash } as unknown as VerifiedWrappedKey
}

/** 3.3: an admin of the vault, or the recipient's own former key in the very leaf that rotated it. */
async function ensureMayWrap(
  { chain, directory }: VerifiedVault,
  key: CheckedKey,
  { by, to }: WrappedDekPayload,
  grant: GrantState,
): Promise<void> {
  // An admin's RSA-only key is no admin's key (3.5), but it hands over to its successor like any other.
  if (adminsBefore(chain, grant.index).has(key.principal) && mayHoldAuthority(key)) return
  const { entry, record } = await directory.resolve(to)
  const rotated = record.t === 'key.rotate' && record.oldKid === by && entry.added === grant.index
  ensure(rotated, 'not_authorised', 'a wrapped key is not made by an admin of the vault', { by })
}

/** The vault keys of a reader, by version; only `openVaultKeys` fills one. */
export type VaultKeys = ReadonlyMap<number, Dek>

/** Verifies and unwraps every key version the answer brings; the current one must be among them. */
export async function openVaultKeys(
  head: VerifiedHead,
  wraps: readonly Envelope[],
  recipient: Recipient,
): Promise<VaultKeys> {
  const { vault } = head
  const verified: VerifiedWrappedKey[] = []
  for (const envelope of wraps) verified.push(await verifyWrappedKey(vault, envelope, recipient))
  const versions = new Set(verified.map(({ payload }) => payload.dekVersion))
  ensure(
    versions.has(vault.state.dekVersion),
    'unwrapped_key_missing',
    'there is no wrapped key for the current version',
    { vaultId: vault.vaultId },
  )
  ensure(versions.size === verified.length, 'malformed', 'two wrapped keys of one version')
  const keys = new Map<number, Dek>()
  for (const wrapped of verified) keys.set(wrapped.payload.dekVersion, await unwrapDek(wrapped, recipient))
  return keys
}
