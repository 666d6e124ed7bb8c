import type { Actor, CallerOptions } from '../engine/actor.ts'
import { readAssets } from '../engine/assets.ts'
import { listItems, readSealedItem } from '../engine/items.ts'
import { mapLimited } from '../engine/queue.ts'
import type { ExposedItem } from './transparency.ts'

const AT_ONCE = 8

/** What is in a vault now, and which of it is under keys of these versions. Verified; nothing is opened. */
export async function contentUnder(
  actor: Actor,
  vaultId: string,
  versions: ReadonlySet<number>,
  options: CallerOptions,
): Promise<{ readonly name: string; readonly items: readonly ExposedItem[] }> {
  const { head, items } = await listItems(actor, vaultId, options)
  const read = await mapLimited(items, AT_ONCE, async ({ itemId }): Promise<ExposedItem> => {
    const { item } = await readSealedItem(actor, vaultId, itemId, options)
    const { name, status, at, by, assets: listed } = item.document.payload
    const { assets } = listed.length > 0 ? await readAssets(actor, vaultId, itemId, options) : { assets: [] }
    return {
      itemId,
      name,
      status,
      changedAt: new Date(at),
      changedBy: by,
      fields: item.fields.map(({ fieldId, label, dekVersion }) => ({
        fieldId,
        label,
        keyVersion: dekVersion,
        isExposed: versions.has(dekVersion),
      })),
      attachments: assets.map(({ row, content }) => ({
        assetId: row.assetId,
        keyVersion: content.dekVersion,
        isExposed: versions.has(content.dekVersion),
      })),
    }
  })
  return { name: head.payload.meta.name, items: read }
}
