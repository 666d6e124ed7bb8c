import type { AclEntry, VerifiedDirectory } from '@strongroom/protocol'
import { type AccessOptions, changeAccess, rotateVaultKey } from './access.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { refuseUnless } from './answers.ts'
import type { PlannedItem } from './item-changes.ts'
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
  readonly headVersion: number
  /** The list of who has access. Who signed it may have wrapped the vault key for all of them, too. */
  readonly access: string | null
  readonly accessVersion: number
  /** Who administers the vault, or its creation. */
  readonly admins: string | null
  readonly adminsVersion: number
  /** Who has access, and as what, by the list in force. */
  readonly readers: readonly { readonly principal: string; readonly role: Uppercase<AclEntry['role']> }[]
  readonly items: readonly UnsoundItem[]
}

interface UnsoundItem {
  readonly itemId: string
  readonly itemVersion: number
  readonly name: string
  readonly labels: readonly string[]
  readonly by: string
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

/** The key, if it was found to be compromised, or a compromised one vouched for it: readers refuse what either signed last. */
export async function compromisedIn(directory: VerifiedDirectory, kid: string): Promise<string | null> {
  const { entry } = await directory.resolve(kid)
  return entry.status === 'compromised' || !(await directory.isUntainted(kid)) ? kid : null
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
    const { by, name, itemVersion, fields } = item.document.payload
    done += 1
    onProgress?.(done, items.length)
    return {
      itemId,
      itemVersion,
      name,
      labels: fields.map(({ label }) => label),
      by: await compromisedIn(head.vault.directory, by),
    }
  })
  const { directory, chain } = head.vault
  const { acl, aclVersion, by } = head.vault.acl
  return {
    vaultId,
    name: head.payload.meta.name,
    head: await compromisedIn(directory, head.payload.by),
    headVersion: head.payload.headVersion,
    access: await compromisedIn(directory, by),
    accessVersion: aclVersion,
    admins: await compromisedIn(directory, chain.sets.at(-1)?.by as string),
    adminsVersion: chain.sets.length,
    readers: acl.map(({ p, role }) => ({ principal: p, role: role.toUpperCase() as Uppercase<typeof role> })),
    items: looked.flatMap(({ by, ...item }) => (by === null ? [] : [{ ...item, by }])),
  }
}

/**
 * Signs anew what compromised keys signed last, as it was reviewed, and gives what that was. Where it was the access list or
 * who administers, everybody gets a new vault key, for which every item is signed. Refuses with `rebase_conflict` what nobody has looked at.
 */
export async function attestVault(
  actor: Actor,
  reviewed: Unsound,
  { onProgress, ...options }: AttestOptions = {},
): Promise<Unsound> {
  const { vaultId } = reviewed
  const found = await reviewVault(actor, vaultId, { onProgress, ...options })
  ensureReviewed(reviewed, found)
  const reviewer = reviewing(actor)
  try {
    const isAccess = found.access !== null || found.admins !== null
    if (isAccess) await renewAccess(reviewer, vaultId, { ...options, renewAdmins: found.admins !== null })
    const left = isAccess ? await reviewVault(reviewer, vaultId, options) : found
    ensureReviewed(reviewed, left)
    const approve = (_: unknown, planned: readonly PlannedItem[]): void =>
      ensureItems(
        reviewed,
        planned.flatMap(({ plan }) => (plan.base ? [plan.base.detail] : [])),
      )
    for (let at = 0; at < left.items.length; at += BATCH) {
      const edit = left.items.slice(at, at + BATCH).map(({ itemId }) => ({ itemId }))
      await changeItems(reviewer, vaultId, { edit }, { ...options, approve })
    }
    // Every commit signs the head; this one changes nothing else.
    if (left.head !== null && left.items.length === 0) await renameVault(reviewer, vaultId, {}, options)
  } finally {
    actor.memory.forgetVault(vaultId)
  }
  return found
}

export const UNSEEN = 'compromised keys signed more than was reviewed'

/** Between the look and the signature another key may have been called compromised, or the server may show something else. */
function ensureReviewed(reviewed: Unsound, found: Unsound): void {
  const { vaultId } = reviewed
  for (const [part, version] of [
    ['head', 'headVersion'],
    ['access', 'accessVersion'],
    ['admins', 'adminsVersion'],
  ] as const) {
    const isSeen = found[part] === reviewed[part] && found[version] === reviewed[version]
    refuseUnless(found[part] === null || isSeen, 'rebase_conflict', UNSEEN, { vaultId, part })
  }
  ensureItems(reviewed, found.items)
}

function ensureItems(
  { vaultId, items }: Unsound,
  found: readonly Pick<UnsoundItem, 'itemId' | 'itemVersion' | 'by'>[],
): void {
  const seen = new Map(items.map((item) => [item.itemId, item]))
  for (const { itemId, itemVersion, by } of found) {
    const item = seen.get(itemId)
    const isSeen = item?.itemVersion === itemVersion && item.by === by
    refuseUnless(isSeen, 'rebase_conflict', UNSEEN, { vaultId, itemId })
  }
}

/** The same list by another hand; and since keys of the vault were wrapped by whoever signed it, new ones, with everything under them. */
async function renewAccess(reviewer: Actor, vaultId: string, given: AccessOptions): Promise<void> {
  const { renewAdmins: _, ...options } = given
  await changeAccess(reviewer, vaultId, (current) => current, given)
  await rotateVaultKey(reviewer, vaultId, { ...options, reason: 'key-compromised' })
  await reencrypt(reviewer, vaultId, options)
}
