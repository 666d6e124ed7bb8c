import type { ItemBase, VaultContent, VaultKeys, VerifiedHead } from '@strongroom/protocol'
import { type InTurn, makeQueue } from './queue.ts'

// What an actor has verified of its vaults while it lives, so that a series of writes reads nothing twice.

/** The whole content of a vault under one verified head. */
export interface KnownVault {
  readonly head: VerifiedHead
  readonly content: VaultContent
}

export interface Memory {
  vault(vaultId: string): KnownVault | undefined
  keepVault(known: KnownVault): void
  forgetVault(vaultId: string): void
  /** What was verified is of a log that was given up. */
  forgetAll(): void
  /** The detail of an item as it was last verified; it counts only where its hash is that of the item's row. */
  detail(vaultId: string, itemId: string): ItemBase | undefined
  keepDetail(vaultId: string, base: ItemBase): void
  keys(vaultId: string): VaultKeys | undefined
  keepKeys(vaultId: string, keys: VaultKeys): void
  /** Writers of one process wait for each other instead of conflicting. */
  inTurn: <T>(vaultIds: readonly string[], work: () => Promise<T>, signal?: AbortSignal) => Promise<T>
}

const MAX_VAULTS = 64
const MAX_DETAILS = 4096

export function makeMemory(): Memory {
  const vaults = new Map<string, KnownVault>()
  const details = new Map<string, ItemBase>()
  const keys = new Map<string, VaultKeys>()
  const queues = new Map<string, InTurn>()
  const queueOf = (vaultId: string): InTurn => {
    const queue = queues.get(vaultId) ?? makeQueue()
    queues.set(vaultId, queue)
    return queue
  }
  return {
    vault: (vaultId) => vaults.get(vaultId),
    keepVault: (known) => putNewest(vaults, known),
    forgetVault: (vaultId) => void vaults.delete(vaultId),
    forgetAll: () => {
      for (const kept of [vaults, details, keys]) kept.clear()
    },
    detail: (vaultId, itemId) => details.get(`${vaultId} ${itemId}`),
    keepDetail: (vaultId, base) => put(details, `${vaultId} ${base.detail.itemId}`, base, MAX_DETAILS),
    keys: (vaultId) => keys.get(vaultId),
    keepKeys: (vaultId, opened) => put(keys, vaultId, opened, MAX_VAULTS),
    // Sorted, so that two moves between the same vaults cannot wait for each other.
    inTurn: (vaultIds, work, signal) =>
      [...new Set(vaultIds)].sort().reduceRight((inner, vaultId) => () => queueOf(vaultId)(inner, signal), work)(),
  }
}

/** Of two reads that end out of order, or a read and a write, the newer one is kept. */
function putNewest(vaults: Map<string, KnownVault>, known: KnownVault): void {
  const { vaultId } = known.head.vault
  const before = vaults.get(vaultId)
  if (before && before.head.payload.headVersion > known.head.payload.headVersion) return
  put(vaults, vaultId, known, MAX_VAULTS)
}

/** What was not used for longest goes first. */
function put<T>(kept: Map<string, T>, key: string, value: T, most: number): void {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > most && oldest !== undefined) kept.delete(oldest)
}
