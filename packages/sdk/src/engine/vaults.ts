import type { Vault } from '@strongroom/contract'
import {
  type AclEntry,
  openVaultKeys,
  principalOf,
  type Role,
  roleOf,
  type VaultHeadPayload,
  type VaultKeys,
  type VerifiedHead,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { listOf, membersOf, verifySigned, wrapsFor } from './answers.ts'
import { type Receipt, receiptOf } from './receipt.ts'
import { readVerified, roundOf } from './verified.ts'

/** A key whose signature counts in a vault, and how it came into the directory. */
export interface Signer {
  readonly kid: string
  readonly principal: string
  readonly status: 'active' | 'superseded' | 'removed' | 'compromised'
  readonly via: 'org.genesis' | 'key.add' | 'key.rotate' | 'key.recover'
  /** The leaf that brought it in, and the one from which on it no longer counts. */
  readonly added: number
  readonly end: number | null
}

/** Everything here is signed and proven. */
export interface VerifiedVaultRead {
  readonly vaultId: string
  readonly name: string
  readonly classification: VaultHeadPayload['meta']['classification']
  readonly status: VaultHeadPayload['meta']['status']
  readonly headVersion: number
  readonly dekVersion: number
  /** Older key versions that values may still be under. */
  readonly draining: readonly number[]
  readonly itemCount: number
  readonly environmentCount: number
  readonly assetCount: number
  /** Since when a former reader still holds the key, in milliseconds; null if nobody does. */
  readonly rotationDue: number | null
  readonly access: readonly AclEntry[]
  /** The actor's own; undefined for somebody who is not on the list. */
  readonly role: Role | undefined
  readonly signers: readonly Signer[]
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

/** Head, access list and signers of one vault. */
export function readVault(actor: Actor, vaultId: string, options: CallerOptions = {}): Promise<VerifiedVaultRead> {
  return readVerified(
    actor,
    {
      vaultId,
      ask: (call) => actor.client.vaults.get({ params: { vaultId } }, call),
      check: async (answer, pins) => {
        const { signed } = membersOf(answer, 'answer')
        const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
        return { rounds: [roundOf(head)], result: vaultRead(actor, head, receiptFor(actor, head, signed)) }
      },
    },
    options,
  )
}

/** The receipt of a read that has just come from the network. */
export const receiptFor = (actor: Actor, head: VerifiedHead, signed: unknown): Receipt =>
  receiptOf(head, membersOf(signed, 'signed').transparency, { source: 'network', fetchedAt: actor.now() })

function vaultRead(actor: Actor, head: VerifiedHead, receipt: Receipt): VerifiedVaultRead {
  const { vault, payload } = head
  const { state, acl } = vault
  return {
    vaultId: vault.vaultId,
    ...payload.meta,
    headVersion: payload.headVersion,
    dekVersion: state.dekVersion,
    draining: state.draining.map(({ dekVersion }) => dekVersion),
    itemCount: payload.items.count,
    environmentCount: payload.env.count,
    assetCount: payload.assets.count,
    rotationDue: state.rotationDue?.at ?? null,
    access: acl.acl,
    role: roleOf(vault, actor.identity.key.principal),
    signers: signersOf(head),
    head,
    receipt,
  }
}

/** Those whose signatures the verification came across, and whoever vouched for them. */
const signersOf = ({ vault }: VerifiedHead): readonly Signer[] =>
  vault.directory.resolved().map(({ entry, record }) => ({
    kid: entry.kid,
    principal: principalOf(entry.kid),
    status: entry.status,
    via: record.t,
    added: entry.added,
    end: entry.end,
  }))

/** A vault as the server lists it, which proves nothing, and the way to what is proven. */
export interface ListedVault {
  readonly claimed: Vault
  verify(options?: CallerOptions): Promise<VerifiedVaultRead>
}

/** The vaults the server says there are: it can hide one, and claim names until each is verified. */
export async function listVaults(actor: Actor, { signal }: CallerOptions = {}): Promise<readonly ListedVault[]> {
  const { data } = await actor.client.vaults.list({}, signal && { signal })
  return (listOf(data, 'data') as readonly Vault[]).map((claimed) => ({
    claimed,
    verify: (options) => readVault(actor, claimed.vaultId, options),
  }))
}

export interface KeysRead {
  readonly keys: VaultKeys
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

/** The keys of a vault, by version: every version that anything may still be under. */
export async function vaultKeys(actor: Actor, vaultId: string, options: CallerOptions = {}): Promise<KeysRead> {
  const read = await readVerified(
    actor,
    {
      vaultId,
      ask: (call) => actor.client.vaults.wrappedKey({ params: { vaultId } }, call),
      check: async (answer, pins) => {
        const { signed, wrappedKeys } = membersOf(answer, 'answer')
        const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
        const keys = await openVaultKeys(head, wrapsFor(actor.identity, wrappedKeys), actor.identity)
        return { rounds: [roundOf(head)], result: { keys, head, receipt: receiptFor(actor, head, signed) } }
      },
    },
    options,
  )
  actor.memory.keepKeys(vaultId, read.keys)
  return read
}

/** The keys for what is under this head, from memory where they are there. */
export async function keysFor(actor: Actor, head: VerifiedHead, options: CallerOptions = {}): Promise<VaultKeys> {
  const { vaultId, state } = head.vault
  const known = actor.memory.keys(vaultId)
  const inUse = [{ dekVersion: state.dekVersion, dekCommit: state.dekCommit }, ...state.draining]
  // The log commits to each key, so one in hand is known to be the right one.
  const isComplete = known && inUse.every((one) => known.get(one.dekVersion)?.dekCommit === one.dekCommit)
  if (!isComplete) return (await vaultKeys(actor, vaultId, options)).keys
  // One that has ended is in memory still, and wrapped for nobody any more.
  const versions = new Set(inUse.map(({ dekVersion }) => dekVersion))
  return new Map([...known].filter(([dekVersion]) => versions.has(dekVersion)))
}
