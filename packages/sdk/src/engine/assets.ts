import { ERRORS } from '@strongroom/contract'
import {
  type AssetMeta,
  type Dek,
  type Envelope,
  openAssetName,
  ProtocolError,
  type VaultKeys,
  type VerifiedAsset,
  type VerifiedHead,
  type VerifiedItem,
  verifyAsset,
  verifyAssetRow,
  verifyItem,
  verifyItemRow,
} from '@strongroom/protocol'
import { ApiError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { listOf, membersOf, refuseUnless, verifySigned } from './answers.ts'
import { VaultMoved } from './content.ts'
import type { KnownVault } from './memory.ts'
import type { Receipt } from './receipt.ts'
import { keysFor, receiptFor } from './vaults.ts'
import { readVerified, roundOf } from './verified.ts'

// Attachments as their signed checkpoints show them (docs/reference/protocol.md 7). Integrity and currency come from the row in the head.

/** Row, checkpoint, signature, place, signer. */
export async function checkAsset(head: VerifiedHead, candidate: unknown): Promise<VerifiedAsset> {
  const { row, proof, checkpoint } = membersOf(candidate, 'attachment')
  const { directory, vaultId } = head.vault
  return verifyAsset({
    row: verifyAssetRow(head, row, proof),
    envelope: checkpoint,
    keyOf: directory.keyOf,
    // As with items: who has left since has still written it, and a writer's head has named it ever since.
    authorise: async (by) => {
      const { entry } = await directory.resolve(by)
      const isGood = entry.status !== 'compromised'
      refuseUnless(isGood, 'signer_compromised', 'an attachment was signed by a compromised key', { by })
      return true
    },
    org: directory.org,
    vaultId,
  })
}

export interface AssetsRead {
  readonly item: VerifiedItem
  /** Also those that the item no longer lists. */
  readonly assets: readonly VerifiedAsset[]
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

/** The attachments of one item: every one that it lists is there. */
export function readAssets(
  actor: Actor,
  vaultId: string,
  itemId: string,
  options: CallerOptions = {},
): Promise<AssetsRead> {
  return readVerified(
    actor,
    {
      vaultId,
      ask: (call) => actor.client.attachments.list({ params: { vaultId, itemId } }, call),
      check: async (answer, pins) => {
        const { data, item: served, signed } = membersOf(answer, 'answer')
        const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
        const { row, proof, detail } = membersOf(served, 'item')
        const item = await verifyItem(head, verifyItemRow(head, row, proof), detail as Envelope)
        refuseUnless(item.row.itemId === itemId, 'item_swap', 'the answer is about another item', { itemId })
        const assets: VerifiedAsset[] = []
        for (const one of listOf(data, 'data')) assets.push(await checkAsset(head, one))
        ensureComplete(item, assets)
        return { rounds: [roundOf(head)], result: { item, assets, head, receipt: receiptFor(actor, head, signed) } }
      },
    },
    options,
  )
}

function ensureComplete({ row: { itemId }, document }: VerifiedItem, assets: readonly VerifiedAsset[]): void {
  for (const asset of assets)
    refuseUnless(asset.itemId === itemId, 'item_swap', 'an attachment is of another item', { itemId })
  const served = new Set(assets.map(({ row }) => row.assetId))
  refuseUnless(served.size === assets.length, 'assets_mismatch', 'an attachment is there twice', { itemId })
  for (const assetId of document.payload.assets)
    refuseUnless(served.has(assetId), 'assets_mismatch', 'an attachment of the item is missing', { itemId, assetId })
}

export const absentAsset = (): ApiError =>
  new ApiError({ code: 'attachment_not_found', ...ERRORS.attachment_not_found }, ERRORS.attachment_not_found.status)

/** The vault key an attachment is under. */
export async function keyOf(
  actor: Actor,
  head: VerifiedHead,
  dekVersion: number,
  options: CallerOptions,
): Promise<Dek> {
  return keyIn(await keysFor(actor, head, options), dekVersion)
}

export function keyIn(keys: VaultKeys, dekVersion: number): Dek {
  const dek = keys.get(dekVersion)
  if (!dek)
    throw new ProtocolError('unwrapped_key_missing', 'there is no wrapped key for the version an attachment is under', {
      dekVersion,
    })
  return dek
}

export interface AttachmentInfo extends AssetMeta {
  readonly assetId: string
  readonly assetVersion: number
  readonly itemId: string
  /** Of the content, in bytes. */
  readonly size: number
  /** The key that signed it. */
  readonly by: string
  /** When, as its signer says. */
  readonly at: number
}

export const infoOf = async (asset: VerifiedAsset, dek: Dek): Promise<AttachmentInfo> => ({
  assetId: asset.row.assetId,
  assetVersion: asset.row.assetVersion,
  itemId: asset.itemId,
  size: asset.content.plaintextSize,
  by: asset.by,
  at: asset.at,
  ...(await openAssetName(dek, asset)),
})

/** What an item lists, with names. */
export async function listAttachments(
  actor: Actor,
  vaultId: string,
  itemId: string,
  options: CallerOptions = {},
): Promise<{ readonly attachments: readonly AttachmentInfo[]; readonly receipt: Receipt }> {
  const { item, assets, head, receipt } = await readAssets(actor, vaultId, itemId, options)
  const listed = new Set(item.document.payload.assets)
  const attachments: AttachmentInfo[] = []
  for (const asset of assets)
    if (listed.has(asset.row.assetId))
      attachments.push(await infoOf(asset, await keyOf(actor, head, asset.content.dekVersion, options)))
  return { attachments, receipt }
}

/** Every attachment of an item as it is in the content in hand. */
export async function assetsIn(
  actor: Actor,
  known: KnownVault,
  itemId: string,
  options: CallerOptions,
): Promise<readonly VerifiedAsset[]> {
  const rows = [...known.content.assets.values()].filter((row) => row.itemId === itemId)
  if (rows.length === 0) return []
  const { assets } = await readAssets(actor, known.head.vault.vaultId, itemId, options)
  const served = new Map(assets.map((asset) => [asset.row.assetId, asset]))
  return rows.map(({ assetId, docHash }) => {
    const asset = served.get(assetId)
    if (asset?.row.docHash !== docHash) throw new VaultMoved('an attachment is newer than the content in hand')
    return asset
  })
}
