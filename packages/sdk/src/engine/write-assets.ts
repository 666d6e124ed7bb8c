import {
  type AssetContent,
  type AssetMeta,
  type AssetPlace,
  type AssetRow,
  assetRowOf,
  type Commit,
  type Dek,
  type Envelope,
  type ItemBase,
  makeAssetCheckpoint,
  planItem,
  renameAsset,
  rewrapAsset,
  rewrapDraft,
  type SignedItem,
  signItem,
  type VerifiedAsset,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { absentAsset, assetsIn, keyOf } from './assets.ts'
import { type Built, type Committed, commitWork, type Work } from './commit.ts'
import { baseOf, VaultMoved } from './content.ts'
import { absent } from './item-changes.ts'
import type { KnownVault } from './memory.ts'
import { buildItems, currentDek } from './write-items.ts'

// Commits that are about attachments. Each is built anew on every head: what it changes is a set that an item lists, or one row.

export interface SignedAsset {
  readonly row: AssetRow
  readonly envelope: Envelope
}

export async function signAsset(
  actor: Actor,
  { place, itemId }: { readonly place: AssetPlace; readonly itemId: string },
  content: AssetContent,
): Promise<SignedAsset> {
  const envelope = await makeAssetCheckpoint({ place, itemId, content, at: actor.now() }, actor.identity)
  return { row: assetRowOf(envelope, { place, itemId }), envelope }
}

/** The same content under the current key of a vault: after a rotation, or in another vault. */
export async function signAnew(
  actor: Actor,
  asset: VerifiedAsset,
  from: Dek,
  { dek, vaultId }: { readonly dek: Dek; readonly vaultId: string },
): Promise<SignedAsset> {
  const place = { ...asset.place, vaultId }
  return signAsset(actor, { place, itemId: asset.itemId }, await rewrapAsset(asset, from, dek))
}

/** The item as it is, but for what it lists. */
async function signListing(
  actor: Actor,
  { head }: KnownVault,
  dek: Dek,
  base: ItemBase,
  assets: readonly string[],
): Promise<SignedItem> {
  const { itemId, name, website, status, fields } = base.detail
  const kept = fields.map(({ fieldId, label, env }) => ({ fieldId, label, env }))
  const plan = await planItem(dek, base, { itemId, name, website, status, fields: kept, assets })
  return signItem(plan, { org: actor.org, vaultId: head.vault.vaultId, at: actor.now() }, actor.identity)
}

/** The detail of an item that is there and not archived. */
async function activeBase(
  actor: Actor,
  known: KnownVault,
  itemId: string,
  { isFresh, options }: { readonly isFresh: boolean; readonly options: CallerOptions },
): Promise<ItemBase> {
  const base = await baseOf(actor, known, itemId, options)
  if (base?.detail.status === 'active') return base
  if (!isFresh) throw new VaultMoved('an item is not in the content in hand')
  throw absent('vault_item_not_found')
}

async function commitOne(
  actor: Actor,
  vaultId: string,
  itemId: string,
  { build, send }: { build(known: KnownVault, isFresh: boolean): Promise<Built>; send: Work['send'] },
  options: CallerOptions,
): Promise<Committed> {
  const work: Work = {
    build: async ([known], isFresh) => [await build(known as KnownVault, isFresh)],
    send,
    touched: new Set([itemId]),
  }
  const { committed } = await commitWork(actor, [vaultId], work, options)
  return committed[0] as Committed
}

export interface Attaching {
  readonly place: AssetPlace
  readonly itemId: string
  /** As it was encrypted and uploaded. */
  readonly content: AssetContent
  /** The vault key its content key was wrapped under then. */
  readonly dek: Dek
}

/** Attaches what was uploaded: checkpoint, and the item that lists it. */
export function attachContent(
  actor: Actor,
  { place, itemId, content, dek }: Attaching,
  options: CallerOptions,
): Promise<Committed> {
  const { vaultId, assetId } = place
  const build = async (known: KnownVault, isFresh: boolean): Promise<Built> => {
    const base = await activeBase(actor, known, itemId, { isFresh, options })
    const current = await currentDek(actor, known, options)
    const asset = await signAsset(actor, { place, itemId }, await rewrapDraft(content, place, dek, current))
    const { assets } = base.detail
    const items = assets.includes(assetId) ? [] : [await signListing(actor, known, current, base, [...assets, assetId])]
    return buildItems(actor, known, { items, assets: [asset] })
  }
  const send = ([commit]: readonly Commit[], call: CallOptions): Promise<unknown> =>
    actor.client.attachments.finish({ params: { vaultId, assetId }, body: { commit: commit as Commit } }, call)
  return commitOne(actor, vaultId, itemId, { build, send }, options)
}

/** The item lists it no more: nobody is shown it, and its content stays where it is, for whoever looks at former versions. */
export function removeAttachment(
  actor: Actor,
  { vaultId, itemId, assetId }: { readonly vaultId: string; readonly itemId: string; readonly assetId: string },
  options: CallerOptions = {},
): Promise<Committed> {
  const build = async (known: KnownVault, isFresh: boolean): Promise<Built> => {
    const base = await activeBase(actor, known, itemId, { isFresh, options })
    const { assets } = base.detail
    if (!assets.includes(assetId)) throw isFresh ? absentAsset() : new VaultMoved('an item does not list it in hand')
    const left = assets.filter((one) => one !== assetId)
    const item = await signListing(actor, known, await currentDek(actor, known, options), base, left)
    return buildItems(actor, known, { items: [item] })
  }
  const send = ([commit]: readonly Commit[], call: CallOptions): Promise<unknown> =>
    actor.client.items.update({ params: { id: itemId }, body: { commit: commit as Commit } }, call)
  return commitOne(actor, vaultId, itemId, { build, send }, options)
}

/** Another name or media type for the same content. */
export function renameAttachment(
  actor: Actor,
  { vaultId, itemId, assetId }: { readonly vaultId: string; readonly itemId: string; readonly assetId: string },
  meta: AssetMeta,
  options: CallerOptions = {},
): Promise<Committed> {
  const build = async (known: KnownVault): Promise<Built> => {
    const asset = (await assetsIn(actor, known, itemId, options)).find(({ row }) => row.assetId === assetId)
    if (!asset) throw absentAsset()
    const from = await keyOf(actor, known.head, asset.content.dekVersion, options)
    const content = await renameAsset(asset, from, await currentDek(actor, known, options), meta)
    return buildItems(actor, known, { items: [], assets: [await signAsset(actor, asset, content)] })
  }
  const send = ([commit]: readonly Commit[], call: CallOptions): Promise<unknown> =>
    actor.client.vaults.commit({ params: { vaultId }, body: { commit: commit as Commit } }, call)
  return commitOne(actor, vaultId, itemId, { build, send }, options)
}
