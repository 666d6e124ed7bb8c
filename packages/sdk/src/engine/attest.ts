import type { VerifiedHead } from '@strongroom/protocol'
import { changeAccess, rotateVaultKey } from './access.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { listItems, readSealedItem } from './items.ts'
import { makeMemory } from './memory.ts'
import { mapLimited } from './queue.ts'
import { reencrypt } from './reencrypt.ts'
import { changeItems } from './write-items.ts'
import { renameVault } from './write-vaults.ts'

// docs/reference/protocol.md 4.4: what a key signed last that was found to be compromised is refused to everybody, until somebody who may
// write has looked at it and signs it anew. Only here is it read before that, and nothing of it is kept where others read.

/** What of a vault compromised keys signed last, by the ids of those keys; null for what is sound. */
export interface Unsound {
  readonly vaultId: string
  readonly name: string
  readonly head: string | null
  /** The list of who has access. Who signed it may have wrapped the vault key for all of them, too. */
  readonly access: string | null
  readonly items: readonly { readonly itemId: string; readonly name: string; readonly by: string }[]
}

export interface AttestOptions extends CallerOptions {
  /** Items that were looked at, of all. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

const AT_ONCE = 8
const BATCH = 50

export const reviewing = (actor: Actor): Actor => ({
  ...actor,
  cache: undefined,
  memory: makeMemory(),
  policy: { ...actor.policy, isReviewing: true },
})

async function compromisedIn({ vault }: VerifiedHead, kid: string): Promise<string | null> {
  const { entry } = await vault.directory.resolve(kid)
  return entry.status === 'compromised' ? kid : null
}

export async function reviewVault(
  actor: Actor,
  vaultId: string,
  { onProgress, ...options }: AttestOptions = {},
): Promise<Unsound> {
  const reviewer = reviewing(actor)
  const { head, items } = await listItems(reviewer, vaultId, options)
  let done = 0
  const looked = await mapLimited(items, AT_ONCE, async ({ itemId }) => {
    const { head, item } = await readSealedItem(reviewer, vaultId, itemId, options)
    const { by, name } = item.document.payload
    done += 1
    onProgress?.(done, items.length)
    return { itemId, name, by: await compromisedIn(head, by) }
  })
  return {
    vaultId,
    name: head.payload.meta.name,
    head: await compromisedIn(head, head.payload.by),
    access: await compromisedIn(head, head.vault.acl.by),
    items: looked.flatMap(({ by, ...item }) => (by === null ? [] : [{ ...item, by }])),
  }
}

/** Signs anew what compromised keys signed last, and gives what that was. Where it was the access list, everybody gets a new vault key. */
export async function attestVault(
  actor: Actor,
  vaultId: string,
  { onProgress, ...options }: AttestOptions = {},
): Promise<Unsound> {
  const found = await reviewVault(actor, vaultId, { onProgress, ...options })
  const reviewer = reviewing(actor)
  try {
    if (found.access !== null) await renewAccess(reviewer, vaultId, options)
    const { head, items } = found.access === null ? found : await reviewVault(reviewer, vaultId, options)
    for (let at = 0; at < items.length; at += BATCH) {
      const edit = items.slice(at, at + BATCH).map(({ itemId }) => ({ itemId }))
      await changeItems(reviewer, vaultId, { edit }, options)
    }
    // Every commit signs the head; this one changes nothing else.
    if (head !== null && items.length === 0) await renameVault(reviewer, vaultId, {}, options)
  } finally {
    actor.memory.forgetVault(vaultId)
  }
  return found
}

/** The same list by another hand; and since keys of the vault were wrapped by whoever signed it, new ones, with everything under them. */
async function renewAccess(reviewer: Actor, vaultId: string, options: CallerOptions): Promise<void> {
  await changeAccess(reviewer, vaultId, (current) => current, options)
  await rotateVaultKey(reviewer, vaultId, { ...options, reason: 'key-compromised' })
  await reencrypt(reviewer, vaultId, options)
}
