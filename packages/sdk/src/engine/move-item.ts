import { buildCommit, type Commit, type ItemEdit, type SignedItem, signItem, termsOf } from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { membersOf } from './answers.ts'
import { assetsIn, keyOf } from './assets.ts'
import { type Built, type Committed, commitWork } from './commit.ts'
import { baseIn, sealedItemOf, VaultMoved } from './content.ts'
import { type NamedOptions, planEdit } from './item-changes.ts'
import { openFields, type SealedItem } from './items.ts'
import type { KnownVault } from './memory.ts'
import { type SignedAsset, signAnew } from './write-assets.ts'
import { buildItems, currentDek, inOrder } from './write-items.ts'

export interface Move {
  readonly itemId: string
  readonly from: string
  readonly to: string
}

export interface Moved {
  readonly index: number
  readonly from: Committed
  readonly to: Committed
  readonly rebases: number
}

/**
 * Moves an item to another vault: one leaf with two heads, its fields encrypted and the content keys of its attachments wrapped anew
 * under the key of the other vault. Ids stay, and so does the content of attachments.
 */
export async function moveItem(actor: Actor, move: Move, { check, ...options }: NamedOptions = {}): Promise<Moved> {
  const { itemId, from, to } = move
  const build = async (vaults: readonly KnownVault[], isFresh: boolean): Promise<readonly Built[]> => {
    const [source, target] = vaults as readonly [KnownVault, KnownVault]
    if (!isFresh && !source.content.items.has(itemId)) throw new VaultMoved('an item is not in the content in hand')
    const sealed = await sealedItemOf(actor, source, itemId, options)
    const { name, status } = sealed.item.document.payload
    if (status === 'active') check?.({ known: target, isFresh }, name)
    const arriving = await sealFor(actor, target, sealed, options)
    const assets = await wrapFor(actor, source, target, itemId, options)
    const leaving = await buildCommit(
      {
        org: actor.org,
        vaultId: from,
        base: source.head,
        content: source.content,
        terms: termsOf(source.head.payload),
        moved: [itemId],
        at: actor.now(),
      },
      actor.identity,
    )
    return [leaving, await buildItems(actor, target, { items: [arriving], assets })]
  }
  const send = ([leaving, arriving]: readonly Commit[], call: CallOptions): Promise<unknown> =>
    actor.client.items.move({ params: { id: itemId }, body: { from: leaving as Commit, to: arriving as Commit } }, call)
  const receiptsIn = (answer: unknown): readonly unknown[] => {
    const receipts = membersOf(answer, 'answer')
    return [receipts.from, receipts.to]
  }
  const { committed, rebases } = await commitWork(actor, [from, to], { build, send, receiptsIn }, options)
  const [left, arrived] = committed as readonly [Committed, Committed]
  return { index: left.index, from: left, to: arrived, rebases }
}

/** The item as the first version of itself in the other vault. */
async function sealFor(
  actor: Actor,
  target: KnownVault,
  sealed: SealedItem,
  options: CallerOptions,
): Promise<SignedItem> {
  const { detail } = baseIn(sealed)
  const { itemId, name, website, status, assets } = detail
  const opened = await openFields(actor, sealed.head, sealed.item.fields, sealed.values, options)
  const fields = opened.map(({ fieldId, label, env, value }) => ({ fieldId, label, env, value }))
  const edit: ItemEdit = { itemId, name, website, status, fields, assets }
  const { plan } = await planEdit(await currentDek(actor, target, options), undefined, edit)
  return signItem(plan, { org: actor.org, vaultId: target.head.vault.vaultId, at: actor.now() }, actor.identity)
}

/** Every attachment of the item, also those it no longer lists: they belong to it and leave with it. */
async function wrapFor(
  actor: Actor,
  source: KnownVault,
  target: KnownVault,
  itemId: string,
  options: CallerOptions,
): Promise<readonly SignedAsset[]> {
  const assets = await assetsIn(actor, source, itemId, options)
  const to = { dek: await currentDek(actor, target, options), vaultId: target.head.vault.vaultId }
  return inOrder(assets, async (asset) =>
    signAnew(actor, asset, await keyOf(actor, source.head, asset.content.dekVersion, options), to),
  )
}
