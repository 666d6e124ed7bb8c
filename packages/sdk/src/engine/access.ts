import {
  type AclEntry,
  type Commit,
  type Dek,
  changeAccess as makeAccessChange,
  type VaultKeys,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import { ApiError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { type Built, type Committed, commitWork } from './commit.ts'
import { keysOfAll } from './directory.ts'
import type { KnownVault } from './memory.ts'
import { keysFor } from './vaults.ts'
import { recipientsOf } from './write-vaults.ts'

export interface AccessOptions extends CallerOptions {
  /** Whoever leaves keeps the key for now, openly: the log says that a rotation is due. */
  readonly deferRotation?: boolean
  /** Signs who administers the vault anew, too, also if they stay. */
  readonly renewAdmins?: boolean
  /** Lets the actor leave, or lose the role of an admin. */
  readonly allowSelfRemoval?: boolean
  /** The one key that whoever joins may have. */
  readonly only?: string | undefined
}

/** From the list in hand to the next one, so that a change survives that of somebody else. */
export type NextAccess = (current: readonly AclEntry[]) => readonly AclEntry[]

/**
 * Replaces the access list of a vault, by a list or by a function of the list in force. Whoever joins gets every key in use,
 * wrapped for keys whose endorsement was verified; when a reader leaves the vault gets a new key.
 */
export function changeAccess(
  actor: Actor,
  vaultId: string,
  entries: readonly AclEntry[] | NextAccess,
  { deferRotation = false, renewAdmins = false, allowSelfRemoval = false, only, ...options }: AccessOptions = {},
): Promise<Committed> {
  const next: NextAccess = typeof entries === 'function' ? entries : () => entries
  const build = async ([known]: readonly KnownVault[]): Promise<readonly Built[]> => {
    const { head, content } = known as KnownVault
    const before = head.vault.acl.acl
    const acl = next(before)
    const listed = new Set(acl.map(({ p }) => p))
    const leaves = before.some(({ p }) => !listed.has(p)) && !deferRotation
    const joining = acl.filter(({ p }) => !before.some((entry) => entry.p === p))
    const recipients = leaves ? await recipientsOf(actor, acl, { ...options, vaultId, mayLack: true }) : []
    const change = await makeAccessChange(
      {
        head,
        content,
        acl,
        ...(deferRotation && { deferRotation }),
        renewAdmins,
        ...(leaves && { rotate: { reason: 'member-removed' as const, recipients } }),
        grants: await grantsFor(actor, known as KnownVault, joining, { ...options, only }),
        at: actor.now(),
      },
      actor.identity,
    )
    return [change]
  }
  const query = allowSelfRemoval ? { allowSelfRemoval } : {}
  const send = ([commit]: readonly Commit[], call: CallOptions): Promise<unknown> =>
    actor.client.permissions.setVault({ params: { vaultId }, query, body: { commit: commit as Commit } }, call)
  return commitAccess(actor, vaultId, { build, send }, options)
}

/** Every key version in use, for every active key of those who join. */
async function grantsFor(
  actor: Actor,
  { head }: KnownVault,
  joining: readonly AclEntry[],
  { only, ...options }: Pick<AccessOptions, 'only'> & CallerOptions,
): Promise<readonly { readonly dek: Dek; readonly to: Awaited<ReturnType<typeof recipientsOf>>[number] }[]> {
  if (joining.length === 0) return []
  const keys: VaultKeys = await keysFor(actor, head, options)
  const found = await keysOfAll(
    actor,
    joining.map(({ p }) => p),
    { ...options, only, vaultId: head.vault.vaultId },
  )
  return [...found.values()].flat().flatMap((to) => [...keys.values()].map((dek) => ({ dek, to })))
}

export interface RotateOptions extends CallerOptions {
  readonly reason?: 'scheduled' | 'key-compromised' | 'member-removed' | 'repair'
}

/** A new vault key for everybody on the access list. What is under the old one stays readable until it is re-encrypted. */
export function rotateVaultKey(
  actor: Actor,
  vaultId: string,
  { reason = 'scheduled', ...options }: RotateOptions = {},
): Promise<Committed> {
  const build = async ([known]: readonly KnownVault[]): Promise<readonly Built[]> => {
    const { head, content } = known as KnownVault
    // Whoever is on the list and has lost their keys gets nothing, and must not keep the others from a new key.
    const recipients = await recipientsOf(actor, head.vault.acl.acl, { ...options, vaultId, mayLack: true })
    return [await makeAccessChange({ head, content, rotate: { reason, recipients }, at: actor.now() }, actor.identity)]
  }
  const send = ([commit]: readonly Commit[], call: CallOptions): Promise<unknown> =>
    actor.client.vaults.commit({ params: { vaultId }, body: { commit: commit as Commit } }, call)
  return commitAccess(actor, vaultId, { build, send }, options)
}

const MAX_TRIES = 3

/** Somebody's key may come or go between asking and committing; the log then refuses the batch, and it is made anew. */
async function commitAccess(
  actor: Actor,
  vaultId: string,
  work: Parameters<typeof commitWork>[2],
  options: CallerOptions,
): Promise<Committed> {
  for (let tries = 1; ; tries += 1) {
    try {
      return (await commitWork(actor, [vaultId], work, options)).committed[0] as Committed
    } catch (error) {
      const isIncomplete = error instanceof ApiError && error.code === 'incomplete_replacement_batch'
      if (!isIncomplete || tries >= MAX_TRIES) throw error
    }
  }
}
