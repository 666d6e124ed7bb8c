import type { Envelope, ItemRow } from '@strongroom/protocol'
import type { ReadableVault } from '../../access/vaults.ts'
import type { TxCtx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { signedVault } from './answer.ts'
import * as writes from './write-store.ts'

// Somebody was quicker (docs/reference/protocol.md 6.3): the refusal brings what a client needs to verify the newer head and to put its
// change on top of it, without another request.

const MAX_CHANGED = 200

export interface RebaseMaterial {
  readonly changed: readonly { readonly row: ItemRow; readonly detail: Envelope }[]
  readonly gone: readonly string[]
  readonly assets: readonly unknown[]
}

/** Whoever changed an item since: a merge has to judge their signatures. */
const writersOf = (changed: RebaseMaterial['changed']): string[] => [
  ...new Set(changed.flatMap(({ detail }) => detail.signatures.map(({ keyid }) => keyid))),
]

export async function conflictOf(ctx: TxCtx, vault: ReadableVault, since: number): Promise<ApiError> {
  const { headVersion, headHash } = vault
  const material = await writes.changedSince(ctx.db, vault, since, MAX_CHANGED)
  // Too much to send along, or a version that never was: the client reads the vault again.
  const current =
    material && since < headVersion
      ? { ...material, ...(await signedVault(ctx, vault, { kids: writersOf(material.changed) })) }
      : null
  return new ApiError('vault_head_conflict', {
    details: { headVersion, headHash, current: current && { ...current, documents: undefined } },
  })
}
