import type { ItemRow } from '@strongroom/protocol'
import { type ItemRead, listItems, readItem } from '../engine/items.ts'
import type { KeyedPlace } from './core.ts'
import type { Item, ItemPlace, ItemSummary } from './items.ts'
import { inVault, pick } from './names.ts'
import { ITEMS, itemsThatAre, type Reader } from './read-secrets.ts'
import { receiptFrom } from './receipt.ts'
import { formatRef } from './refs.ts'
import { Secret } from './secret.ts'

// Items as callers see them. Apart from the surface: whoever only reads secrets does not load it.

const ARCHIVED = { ...ITEMS, what: 'archived item' } as const

/** The vault and the item that is meant, by ids or verified names. */
export async function locate(
  place: KeyedPlace,
  vault: string,
  item: string,
  status: ItemRow['status'] = 'active',
): Promise<ItemPlace> {
  const { actor, options } = place
  const { head, items } = await inVault(place, vault, (vaultId) => listItems(actor, vaultId, options))
  const { itemId }: ItemRow = pick(itemsThatAre(status, items), item, status === 'active' ? ITEMS : ARCHIVED)
  return { vaultId: head.vault.vaultId, itemId }
}

export async function listAll(
  place: KeyedPlace,
  vault: string,
  wanted: ItemRow['status'] = 'active',
): Promise<readonly ItemSummary[]> {
  const rows = await inVault(place, vault, (vaultId) => listItems(place.actor, vaultId, place.options))
  const labels = new Map<string, string[]>()
  for (const { itemId, label } of rows.environment) labels.set(itemId, [...(labels.get(itemId) ?? []), label])
  return itemsThatAre(wanted, rows.items).map(({ itemId, name, website, status, itemVersion }) => ({
    itemId,
    name,
    website,
    status,
    version: itemVersion,
    labels: labels.get(itemId) ?? [],
  }))
}

type OnReveal = Reader['onReveal']

export function itemOf(found: ItemRead, onReveal: OnReveal): Item {
  const { head, receipt: proof, fields, itemVersion, itemId, name, website, status } = found
  const receipt = receiptFrom(proof)
  const vault = head.payload.meta.name
  const shown = fields.map(({ fieldId, label, env, rev, value }) => {
    const ref = formatRef({ vault, item: name, field: label })
    const secret = new Secret(value.value, { ref, name: label, version: rev, receipt, onReveal })
    return { fieldId, label, isEnvironmentVariable: env, secret }
  })
  return { itemId, name, website, status, version: itemVersion, vaultId: receipt.vaultId, fields: shown, receipt }
}

export const readOne = async (
  { actor, options }: KeyedPlace,
  { vaultId, itemId }: ItemPlace,
  onReveal: OnReveal,
): Promise<Item> => itemOf(await readItem(actor, vaultId, itemId, options), onReveal)
