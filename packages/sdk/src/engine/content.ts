import {
  type AssetRow,
  applyChange,
  type Envelope,
  type ItemBase,
  itemDetail,
  ProtocolError,
  peekDocument,
  type VaultContent,
  type VerifiedHead,
  type VerifiedItemRow,
  verifyAssets,
  verifyEnvironment,
  verifyItem,
  verifyItems,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { listOf, membersOf, refuseUnless, verifySigned } from './answers.ts'
import { listItems, readSealedItem, type SealedItem } from './items.ts'
import type { KnownVault } from './memory.ts'
import type { Pins } from './verified.ts'

// What a writer builds on: the complete verified content of a vault, from memory, from a read, or from what a conflict brings.

export async function loadVault(actor: Actor, vaultId: string, options: CallerOptions = {}): Promise<KnownVault> {
  const { head, content } = await listItems(actor, vaultId, options)
  return { head, content }
}

/** The content that a writer has in hand is no longer that of the vault. */
export class VaultMoved extends Error {
  override name = 'VaultMoved'
}

/** The detail an edit starts from, and where values are needed its ciphertexts; undefined for an item that is not there. */
export async function baseOf(
  actor: Actor,
  known: KnownVault,
  itemId: string,
  options: CallerOptions = {},
): Promise<ItemBase | undefined> {
  const row = known.content.items.get(itemId)
  if (!row) return undefined
  const remembered = actor.memory.detail(known.head.vault.vaultId, itemId)
  if (remembered?.hash === row.detailHash) return remembered
  return baseIn(await sealedItemOf(actor, known, itemId, options))
}

/** The item with its ciphertexts, as it is in the content in hand. */
export async function sealedItemOf(
  actor: Actor,
  known: KnownVault,
  itemId: string,
  options: CallerOptions = {},
): Promise<SealedItem> {
  const sealed = await readSealedItem(actor, known.head.vault.vaultId, itemId, options)
  if (sealed.item.row.detailHash !== known.content.items.get(itemId)?.detailHash)
    throw new VaultMoved('an item is newer than the content in hand')
  return sealed
}

export const baseIn = ({ item }: Pick<SealedItem, 'item'>): ItemBase => ({
  detail: item.document.payload,
  hash: item.document.hash,
})

/**
 * The newer content a conflict brings along (docs/reference/protocol.md 6.3): changed details, items that left, attachments. Rows follow
 * from the details, and all of it must recompute to the roots of the newer head.
 */
export async function verifyMaterial(
  actor: Actor,
  known: KnownVault,
  candidate: unknown,
  pins: Pins,
  needed: ReadonlySet<string>,
): Promise<KnownVault> {
  const { signed, changed, gone, assets } = membersOf(candidate, 'current')
  const { vaultId } = known.head.vault
  const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
  const envelopes = listOf(changed, 'changed').map((one) => membersOf(one, 'changed').detail as Envelope)
  const bases = envelopes.map((envelope): ItemBase => {
    const { payload, hash } = peekDocument(itemDetail, envelope)
    return { detail: payload, hash }
  })
  const after = applyChange(known.content, {
    details: bases,
    moved: listOf(gone, 'gone').map(String),
    assets: listOf(assets, 'assets') as readonly AssetRow[],
  })
  const { content, rows } = verifyAll(head, after)
  for (const [i, base] of bases.entries()) {
    const { itemId } = base.detail
    const row = rows.get(itemId)
    refuseUnless(row?.detailHash === base.hash, 'detail_mismatch', 'an item is there twice', { itemId })
    const isNeeded = needed.has(itemId) && (await isVerifiable(head, row, envelopes[i] as Envelope))
    if (isNeeded) actor.memory.keepDetail(vaultId, base)
  }
  return { head, content }
}

function verifyAll(
  head: VerifiedHead,
  { items, env, assets }: VaultContent,
): { content: VaultContent; rows: ReadonlyMap<string, VerifiedItemRow> } {
  const rows = new Map(verifyItems(head, [...items.values()]).map((row) => [row.itemId, row]))
  const content = {
    items: rows,
    env: new Map(verifyEnvironment(head, [...env.values()]).map((row) => [row.fieldId, row])),
    assets: new Map(verifyAssets(head, [...assets.values()]).map((row) => [row.assetId, row])),
  }
  return { content, rows }
}

/** The answer proves the signers of the head; a detail by somebody else is read by itself when it is needed. */
async function isVerifiable(head: VerifiedHead, row: VerifiedItemRow, envelope: Envelope): Promise<boolean> {
  try {
    await verifyItem(head, row, envelope)
    return true
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'unknown_signer') return false
    throw error
  }
}
