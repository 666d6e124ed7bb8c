import type { VaultContent, VerifiedHead } from '@strongroom/protocol'
import type { Memory } from '../engine/memory.ts'

// What a cursor stands for. An answer to it brings what changed since, and is verified on top of what there was: with the cursor of
// another process, or for a vault that was forgotten, this client has nothing to put it on, and that is nobody's doing but its own.

/** The version that each vault had at least when the cursor was given. */
type Heads = ReadonlyMap<string, number>

const MAX_CURSORS = 16
const given = new WeakMap<Memory, Map<string, Heads>>()

/** Of a cursor that was not given to this client nothing is known. */
export const headsAt = (memory: Memory, cursor: string | undefined): Heads =>
  given.get(memory)?.get(cursor ?? '') ?? new Map()

export function keepHeads(memory: Memory, cursor: string, heads: Heads): void {
  const cursors = given.get(memory) ?? new Map<string, Heads>()
  given.set(memory, cursors.set(cursor, heads))
  const [oldest] = cursors.keys()
  if (cursors.size > MAX_CURSORS && oldest !== undefined) cursors.delete(oldest)
}

/** The content that changes since the cursor belong on: not older than the cursor, and not newer than the head they lead to. */
export function baseOf(memory: Memory, heads: Heads, { vault, payload }: VerifiedHead): VaultContent | undefined {
  const known = memory.vault(vault.vaultId)
  const least = heads.get(vault.vaultId)
  if (!known || least === undefined) return undefined
  const { headVersion } = known.head.payload
  return headVersion >= least && headVersion <= payload.headVersion ? known.content : undefined
}
