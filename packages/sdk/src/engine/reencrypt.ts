import { buildCommit, type Commit, ProtocolError, termsOf, type VerifiedField } from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { type Committed, commitWork } from './commit.ts'
import { baseIn, loadVault, sealedItemOf } from './content.ts'
import { type PlanContext, type PlannedItem, planEdit } from './item-changes.ts'
import { openFields, readSealedItem } from './items.ts'
import type { KnownVault } from './memory.ts'
import { mapLimited } from './queue.ts'
import { rewrapAssets } from './rewrap-assets.ts'
import { commitItems } from './write-items.ts'

// After a rotation: what is under older vault keys is encrypted anew, and when nothing is left under them they are retired.

export interface ReencryptOptions extends CallerOptions {
  /** Items that were looked at, of all. */
  readonly onProgress?: (done: number, total: number) => void
}

export interface Reencrypted {
  readonly items: number
  readonly fields: number
  /** Attachments whose content keys were wrapped anew; their content stays as it is. */
  readonly attachments: number
  /** The commit that ended the older keys; null if nothing was to be ended. */
  readonly retired: Committed | null
}

const BATCH = 50
const AT_ONCE = 8
const MAX_TRIES = 5

export async function reencrypt(
  actor: Actor,
  vaultId: string,
  { onProgress, ...options }: ReencryptOptions = {},
): Promise<Reencrypted> {
  const { content } = await loadVault(actor, vaultId, options)
  const itemIds = [...content.items.values()].filter(({ fieldCount }) => fieldCount > 0).map(({ itemId }) => itemId)
  let items = 0
  let fields = 0
  for (let at = 0; at < itemIds.length; at += BATCH) {
    const batch = itemIds.slice(at, at + BATCH)
    const done = await reencryptBatch(actor, vaultId, batch, options)
    items += done.items
    fields += done.fields
    onProgress?.(Math.min(at + BATCH, itemIds.length), itemIds.length)
  }
  const attachments = await rewrapAssets(actor, vaultId, options)
  return { items, fields, attachments, retired: await retire(actor, vaultId, options) }
}

const isOld = ({ dekVersion }: VerifiedField, current: number): boolean => dekVersion < current

/** Somebody who writes a field meanwhile does the same work: the batch is then looked at again. */
async function reencryptBatch(
  actor: Actor,
  vaultId: string,
  batch: readonly string[],
  options: CallerOptions,
): Promise<{ items: number; fields: number }> {
  for (let tries = 1; ; tries += 1) {
    const { content } = await loadVault(actor, vaultId, options)
    const there = batch.filter((itemId) => content.items.has(itemId))
    const sealed = await mapLimited(there, AT_ONCE, (itemId) => readSealedItem(actor, vaultId, itemId, options))
    const old = sealed.filter(({ item, head }) => item.fields.some((field) => isOld(field, head.payload.dekVersion)))
    if (old.length === 0) return { items: 0, fields: 0 }
    const itemIds = old.map(({ item }) => item.row.itemId)
    try {
      const { items } = await commitItems(
        actor,
        vaultId,
        {
          plan: (context) => planAll(context, itemIds),
          send: (commit, call) => actor.client.vaults.commit({ params: { vaultId }, body: { commit } }, call),
        },
        options,
      )
      const fields = old.flatMap(({ item, head }) => item.fields.filter((one) => isOld(one, head.payload.dekVersion)))
      return { items: items.length, fields: fields.length }
    } catch (error) {
      const collided = error instanceof ProtocolError && error.code === 'rebase_conflict'
      if (!collided || tries >= MAX_TRIES) throw error
    }
  }
}

async function planAll(context: PlanContext, itemIds: readonly string[]): Promise<readonly PlannedItem[]> {
  const { actor, known, dek, options } = context
  return mapLimited(itemIds, AT_ONCE, async (itemId) => {
    const sealed = await sealedItemOf(actor, known, itemId, options)
    const base = baseIn(sealed)
    const old = sealed.item.fields.filter((field) => isOld(field, dek.dekVersion))
    const opened = await openFields(actor, sealed.head, old, sealed.values, options)
    const values = new Map(opened.map(({ fieldId, value }) => [fieldId, value]))
    const { name, website, status, assets, fields } = base.detail
    return planEdit(dek, base, {
      itemId,
      name,
      website,
      status,
      assets,
      fields: fields.map(({ fieldId, label, env }) => {
        const value = values.get(fieldId)
        return { fieldId, label, env, ...(value && { value }) }
      }),
    })
  })
}

/** A head that names the current key as the oldest in use. */
async function retire(actor: Actor, vaultId: string, options: CallerOptions): Promise<Committed | null> {
  const { head } = await loadVault(actor, vaultId, options)
  const { oldestDek, dekVersion } = head.payload
  if (oldestDek === dekVersion) return null
  const build = async ([known]: readonly KnownVault[]) => {
    const { head, content } = known as KnownVault
    const terms = { ...termsOf(head.payload), oldestDek: dekVersion }
    const input = { org: actor.org, vaultId, base: head, content, terms, at: actor.now() }
    return [await buildCommit(input, actor.identity)]
  }
  const send = ([commit]: readonly Commit[], call: CallOptions): Promise<unknown> =>
    actor.client.vaults.commit({ params: { vaultId }, body: { commit: commit as Commit } }, call)
  const { committed } = await commitWork(actor, [vaultId], { build, send }, options)
  return committed[0] ?? null
}
