import type { VerifiedDirectory } from '../directory/resolve.ts'
import { ensure } from '../errors.ts'
import { type Envelope, type PayloadOf, type VerifiedDocument, verifyDocument } from '../identity/document.ts'
import { principalOf } from '../identity/identifiers.ts'
import { type VaultState, vaultName, vaultState } from '../log/state.ts'
import { stateOf } from '../log/transparency.ts'
import {
  adminsBefore,
  type ChainKinds,
  type ChainPin,
  continues,
  currentAdmins,
  deriveVaultId,
  ensureAuthority,
  sameMembers,
  type VerifiedAdminChain,
  verifyAdminChain,
} from './authority.ts'
import { aclSet, type Role, type VaultHeadPayload, vaultAdmins, vaultCreate, vaultHead } from './documents.ts'

// Section 6.4, middle part: state, creation, admins, access list, head. Each step takes the type the step before returns.

const VAULT_CHAIN: ChainKinds<'vault.create', 'vault.admins'> = {
  create: vaultCreate,
  admins: vaultAdmins,
  idOf: (payload) => (payload as { vaultId: string }).vaultId,
  deriveId: deriveVaultId,
}

/** The signed documents of a vault, as the directory answer carries them (4.5). */
export interface VaultResponse {
  readonly vaultId: string
  readonly create: Envelope
  readonly adminsChain: readonly Envelope[]
  readonly acl: Envelope
  readonly head: Envelope
}

/** What a client remembers of a vault it has verified (9.1). */
export interface VaultPin extends ChainPin {
  readonly headVersion: number
  readonly headHash: string
  readonly dekVersion: number
  readonly dekCommit: string
  readonly aclVersion: number
  readonly aclHash?: string
  /** The leaves of these three. */
  readonly at?: { readonly head: number; readonly epoch: number; readonly acl: number }
}

declare const verifiedVault: unique symbol
/** A vault whose administration and access list are verified. Only `verifyVault` makes one. */
export interface VerifiedVault {
  readonly [verifiedVault]: true
  readonly directory: VerifiedDirectory
  readonly vaultId: string
  readonly state: VaultState
  readonly chain: VerifiedAdminChain
  readonly acl: PayloadOf<typeof aclSet>
}

export async function verifyVault(
  directory: VerifiedDirectory,
  response: VaultResponse,
  pin?: VaultPin,
): Promise<VerifiedVault> {
  const { vaultId } = response
  const state = stateOf(directory.view, vaultName(vaultId), vaultState)
  ensure(state, 'bad_map_proof', 'the state of the vault is not proven', { vaultId })
  ensure(state.vaultId === vaultId, 'vault_swap', 'the state is of another vault', { vaultId })
  ensureOrdered(state, directory.view.checkpoint.size)
  if (pin) checkPin(state, pin)
  const chain = await verifyAdminChain(directory, VAULT_CHAIN, vaultId, state, response.create, response.adminsChain)
  ensure(!pin || continues(chain, pin), 'vault_fork', 'the admin chain is not the one already seen', { vaultId })
  const acl = await verifyAcl(directory, state, chain, response.acl)
  return { directory, vaultId, state, chain, acl: acl.payload } as unknown as VerifiedVault
}

/**
 * Admins change with the access list, and the access list and the key with a head (5.7). A state in any other order was
 * made by no rule: it dates a document back to where its signer still had the right.
 */
function ensureOrdered({ vaultId, ...state }: VaultState, size: number): void {
  const { createIndex, adminsIndexes, aclIndex, epochIndex, headIndex } = state
  const isOrdered =
    createIndex <= epochIndex &&
    (adminsIndexes.at(-1) ?? createIndex) <= aclIndex &&
    Math.max(aclIndex, epochIndex) <= headIndex &&
    headIndex < size
  ensure(isOrdered, 'bad_transition', 'the state of the vault is not one that the rules of the log make', { vaultId })
}

/** A vault never goes back: not its head, not its access list, not its key. */
function checkPin(state: VaultState, pin: VaultPin): void {
  const { vaultId } = state
  ensure(state.headVersion >= pin.headVersion, 'vault_rollback', 'the vault is older than one already seen', {
    vaultId,
    seen: pin.headVersion,
    now: state.headVersion,
  })
  const sameHead = state.headVersion !== pin.headVersion || state.headHash === pin.headHash
  ensure(sameHead, 'vault_fork', 'the vault has a known version with other content', {
    vaultId,
    headVersion: pin.headVersion,
  })
  ensure(state.aclVersion >= pin.aclVersion, 'vault_rollback', 'the access list is older than one already seen', {
    vaultId,
  })
  const sameAcl = state.aclVersion !== pin.aclVersion || state.aclHash === (pin.aclHash ?? state.aclHash)
  ensure(sameAcl, 'vault_fork', 'the access list has a known version with other content', { vaultId })
  ensure(state.dekVersion >= pin.dekVersion, 'vault_rollback', 'the vault key is older than one already seen', {
    vaultId,
  })
  const sameDek = state.dekVersion !== pin.dekVersion || state.dekCommit === pin.dekCommit
  ensure(sameDek, 'vault_fork', 'the vault key has a known version with another commitment', { vaultId })
  checkSince(state, pin)
}

/**
 * What was not there when the log had `size` leaves was committed later, and what was there is where it was. A server that claims another
 * leaf makes somebody's signature count who had the right at that one.
 */
function checkSince(state: VaultState, { size, at, ...pin }: VaultPin): void {
  const { vaultId } = state
  const parts = [
    { now: state.headVersion, seen: pin.headVersion, index: state.headIndex, seenAt: at?.head },
    { now: state.aclVersion, seen: pin.aclVersion, index: state.aclIndex, seenAt: at?.acl },
    { now: state.dekVersion, seen: pin.dekVersion, index: state.epochIndex, seenAt: at?.epoch },
  ]
  // Version 0: what was seen of it was given up with the log it was in (9.4).
  const isLater = parts.every(({ now, seen, index }) => seen === 0 || now === seen || index >= size)
  ensure(isLater, 'vault_fork', 'a change of the vault claims to be older than a vault without it', { vaultId, size })
  const isInPlace = parts.every(({ now, seen, index, seenAt = index }) => now !== seen || index === seenAt)
  ensure(isInPlace, 'vault_fork', 'a part of the vault that was seen claims to be of another leaf', { vaultId })
}

async function verifyAcl(
  directory: VerifiedDirectory,
  state: VaultState,
  chain: VerifiedAdminChain,
  envelope: Envelope,
): Promise<VerifiedDocument<typeof aclSet>> {
  const { vaultId } = state
  const document = await verifyDocument(aclSet, envelope, directory.org, directory.keyOf)
  const { payload } = document
  ensure(document.hash === state.aclHash, 'acl_mismatch', 'the access list is not the logged one', { vaultId })
  ensure(payload.vaultId === vaultId, 'vault_swap', 'the access list is of another vault', { vaultId })
  ensure(
    payload.aclVersion === state.aclVersion,
    'acl_mismatch',
    'the access list has another version than the log says',
    { vaultId },
  )
  ensureAuthority(await directory.signerAt(payload.by, state.aclIndex))
  const entitled = adminsBefore(chain, state.aclIndex).has(principalOf(payload.by))
  ensure(entitled, 'not_authorised', 'the access list is not signed by an admin of the vault', {
    vaultId,
    by: payload.by,
  })
  const shown = new Set(payload.acl.filter((entry) => entry.role === 'admin').map((entry) => entry.p))
  ensure(
    sameMembers(shown, currentAdmins(chain)),
    'acl_mismatch',
    'the access list shows other admins than the admin chain',
    { vaultId },
  )
  return document
}

export const roleOf = (vault: VerifiedVault, principal: string): Role | undefined =>
  vault.acl.acl.find((entry) => entry.p === principal)?.role

declare const verifiedHead: unique symbol
/** The signed summary of the vault's current content. Only `verifyHead` makes one; rows are verified against it. */
export interface VerifiedHead {
  readonly [verifiedHead]: true
  readonly vault: VerifiedVault
  readonly hash: string
  readonly payload: VaultHeadPayload
}

export async function verifyHead(vault: VerifiedVault, envelope: Envelope): Promise<VerifiedHead> {
  const { directory, state, vaultId } = vault
  const { hash, payload } = await verifyDocument(vaultHead, envelope, directory.org, directory.keyOf)
  ensure(hash === state.headHash, 'head_mismatch', 'the vault head is not the logged one', { vaultId })
  ensure(payload.vaultId === vaultId, 'vault_swap', 'the head is of another vault', { vaultId })
  ensure(payload.headVersion === state.headVersion, 'head_mismatch', 'the head has another version than the log says', {
    vaultId,
  })
  ensure(
    payload.aclHash === state.aclHash && payload.aclVersion === state.aclVersion,
    'head_mismatch',
    'the head was written under another access list',
    { vaultId },
  )
  ensure(
    payload.dekCommit === state.dekCommit && payload.dekVersion === state.dekVersion,
    'head_mismatch',
    'the head was written under another vault key',
    { vaultId },
  )
  ensure(payload.oldestDek === state.oldestDek, 'head_mismatch', 'the head names another oldest key than the log', {
    vaultId,
  })
  const key = await directory.signerAt(payload.by, state.headIndex)
  ensure(mayWrite(vault, key.principal), 'not_authorised', 'the head is not signed by a writer of the vault', {
    vaultId,
    by: payload.by,
  })
  return { vault, hash, payload } as unknown as VerifiedHead
}

/** Writers of the access list; in a commit that changes the list itself, the admins in force before it. */
function mayWrite(vault: VerifiedVault, principal: string): boolean {
  const role = roleOf(vault, principal)
  if (role === 'write' || role === 'admin') return true
  const { headIndex, aclIndex } = vault.state
  return headIndex === aclIndex && adminsBefore(vault.chain, aclIndex).has(principal)
}
