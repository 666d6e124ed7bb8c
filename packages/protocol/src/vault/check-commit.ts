import { assetContent } from '../attachments/checkpoint.ts'
import type { AssetRow } from '../attachments/row.ts'
import { ensure } from '../errors.ts'
import { claimedKind, type Envelope, type KeyOf, peekDocument, verifyDocument } from '../identity/document.ts'
import { envelopeHash, parseEnvelope } from '../values/field.ts'
import { type Commit, changesOf } from './commit.ts'
import { applyChange, treesOf, type VaultContent } from './content.ts'
import { type DetailField, type ItemDetailPayload, itemDetail, type VaultHeadPayload, vaultHead } from './documents.ts'
import type { ItemBase } from './edit.ts'

// Section 6.3, step 2: what the server re-checks of a commit beyond the transition rules. It reads no value, and needs none.

export interface CommitBefore {
  readonly org: string
  readonly vaultId: string
  readonly content: VaultContent
  /** The current detail of an item the commit touches; undefined if it is new. */
  item(itemId: string): Promise<ItemBase | undefined>
  keyOf: KeyOf
  /**
   * The oldest vault key version that anything is under: the fields of every item but these, archived and hidden ones
   * too, and every attachment but these. Undefined if there is nothing. Asked where a head says that versions are retired.
   */
  oldestDek(but: { items: ReadonlySet<string>; assets: ReadonlySet<string> }): Promise<number | undefined>
  /** Items this commit takes out of the vault, in a move. */
  readonly moved?: readonly string[]
  /** Attachments that come with items from another vault, and the versions they have there: their content stays as it is. */
  readonly arriving?: ReadonlyMap<string, number>
}

export interface CheckedCommit {
  readonly head: VaultHeadPayload
  readonly content: VaultContent
  readonly items: readonly ItemBase[]
  readonly assets: readonly AssetRow[]
  /** The documents the transition function must accept; details and checkpoints are not among them. */
  readonly acts: readonly Envelope[]
}

/** Details follow their predecessors, ciphertexts are those they name, and the head commits to exactly the content that results. */
export async function checkCommit(before: CommitBefore, commit: Commit): Promise<CheckedCommit> {
  const head = peekDocument(vaultHead, commit.head).payload
  ensure(head.vaultId === before.vaultId, 'vault_swap', 'a commit is of another vault', { vaultId: head.vaultId })
  const { expect } = commit
  const isExpected = expect.headHash === head.prev && expect.headVersion === head.headVersion - 1
  ensure(isExpected, 'head_mismatch', 'a commit expects another head than its own head follows')
  const of = (kind: string): Envelope[] => commit.docs.filter((envelope) => claimedKind(envelope) === kind)
  const items = await checkItems(before, of('item-detail'), head, commit)
  const assets = await checkAssets(before, of('asset-content'), head)
  const content = applyChange(before.content, { details: items, assets, moved: before.moved ?? [] })
  for (const { assetId, itemId } of assets)
    ensure(content.items.has(itemId), 'assets_mismatch', 'an attachment is of an item that is not there', { assetId })
  ensureHead(head, content, items, assets)
  await ensureRetired(before, head, items, assets)
  const acts = [
    commit.head,
    ...commit.docs.filter((envelope) => !['item-detail', 'asset-content'].includes(claimedKind(envelope))),
  ]
  return { head, content, items, assets, acts }
}

/**
 * Signatures by unknown keys are ignored (2.3), and judged when their key enters the directory: one kept beside the author's would close
 * the item to everybody then, with an alarm that accuses the server.
 */
const ensureSignedOnce = ({ signatures }: Envelope): void =>
  ensure(signatures.length === 1, 'unknown_signer', 'a detail or a checkpoint is signed by others than its author')

async function checkItems(
  before: CommitBefore,
  envelopes: readonly Envelope[],
  head: VaultHeadPayload,
  commit: Commit,
): Promise<ItemBase[]> {
  const items: ItemBase[] = []
  const needed = new Set<string>()
  for (const envelope of envelopes) {
    const { payload, hash } = await verifyDocument(itemDetail, envelope, before.org, before.keyOf)
    ensureSignedOnce(envelope)
    ensure(
      payload.by === head.by && payload.vaultId === before.vaultId,
      'detail_mismatch',
      'an item detail is by another writer or of another vault',
      { itemId: payload.itemId },
    )
    checkDetail(await before.item(payload.itemId), payload, head, commit, needed)
    items.push({ detail: payload, hash })
  }
  ensure(
    new Set(items.map(({ detail }) => detail.itemId)).size === items.length,
    'detail_mismatch',
    'a commit writes an item twice',
  )
  ensureOwnFields(before, items)
  ensure(
    Object.keys(commit.values).every((fieldId) => needed.has(fieldId)),
    'field_swap',
    'a commit brings values that nothing names',
  )
  return items
}

function checkDetail(
  base: ItemBase | undefined,
  next: ItemDetailPayload,
  head: VaultHeadPayload,
  commit: Commit,
  needed: Set<string>,
): void {
  const { itemId, itemVersion } = next
  const follows = next.itemVersion === (base?.detail.itemVersion ?? 0) + 1 && next.prev === (base?.hash ?? '')
  ensure(follows, 'head_conflict', 'an item does not follow its current version', { itemId, itemVersion })
  for (const field of next.fields) {
    const old = base?.detail.fields.find((candidate) => candidate.fieldId === field.fieldId)
    if (old && sameField(old, field)) continue
    const { fieldId } = field
    ensure(field.rev === (old?.rev ?? 0) + 1, 'detail_mismatch', 'a changed field must count its revision by one', {
      fieldId,
    })
    ensure(
      field.dekVersion === head.dekVersion,
      'detail_mismatch',
      'a changed field must be under the current vault key',
      { fieldId },
    )
    const envelope = Object.hasOwn(commit.values, fieldId) ? commit.values[fieldId] : undefined
    ensure(envelope !== undefined, 'field_swap', 'a changed field comes without its value', { fieldId })
    ensure(
      envelopeHash(envelope) === field.ct && parseEnvelope(envelope).dekVersion === field.dekVersion,
      'field_swap',
      'a value is not the one its detail names',
      { fieldId },
    )
    needed.add(fieldId)
  }
}

export const sameField = (a: DetailField, b: DetailField): boolean =>
  a.ct === b.ct &&
  a.rev === b.rev &&
  a.label === b.label &&
  a.env === b.env &&
  a.dekVersion === b.dekVersion &&
  a.type === b.type

async function checkAssets(
  before: CommitBefore,
  envelopes: readonly Envelope[],
  head: VaultHeadPayload,
): Promise<AssetRow[]> {
  const rows: AssetRow[] = []
  for (const envelope of envelopes) {
    const { payload, hash } = await verifyDocument(assetContent, envelope, before.org, before.keyOf)
    ensureSignedOnce(envelope)
    const { assetId, assetVersion, itemId, dekVersion } = payload
    ensure(
      payload.by === head.by && payload.vaultId === before.vaultId,
      'assets_mismatch',
      'an attachment is by another writer or of another vault',
      { assetId },
    )
    ensure(dekVersion === head.dekVersion, 'assets_mismatch', 'an attachment must be under the current vault key', {
      assetId,
    })
    const old = before.content.assets.get(assetId)
    ensure((old?.itemId ?? itemId) === itemId, 'item_swap', 'an attachment belongs to another item', { assetId })
    const follows = old
      ? assetVersion === old.assetVersion || assetVersion === old.assetVersion + 1
      : assetVersion === (before.arriving?.get(assetId) ?? 1)
    ensure(follows, 'assets_mismatch', 'an attachment does not follow its current version', { assetId })
    rows.push({ assetId, assetVersion, docHash: hash, itemId, status: 'active' })
  }
  return rows
}

function ensureHead(
  head: VaultHeadPayload,
  content: VaultContent,
  items: readonly ItemBase[],
  assets: readonly AssetRow[],
): void {
  const trees = treesOf(content)
  for (const name of ['items', 'env', 'assets'] as const) {
    const same = trees[name].root === head[name].root && trees[name].count === head[name].count
    ensure(same, 'head_mismatch', 'a head commits to other content than its commit brings', { tree: name })
  }
  const labels = [...content.env.values()].map((row) => row.label)
  ensure(
    new Set(labels).size === labels.length,
    'duplicate_label',
    'two environment fields of the vault have one label',
  )
  const expected = changesOf(items, assets)
  const named =
    expected.length === head.changes.length &&
    expected.every(
      (one, i) =>
        one.op === head.changes[i]?.op && one.id === head.changes[i]?.id && one.version === head.changes[i]?.version,
    )
  ensure(named, 'head_mismatch', 'a head lists other changes than its commit brings')
}

/** A field belongs to one item for ever: under a second one it would push the first out of the environment. */
function ensureOwnFields({ content }: CommitBefore, items: readonly ItemBase[]): void {
  const owners = new Map<string, string>()
  for (const { detail } of items)
    for (const { fieldId } of detail.fields) {
      const owner = owners.get(fieldId) ?? content.env.get(fieldId)?.itemId ?? detail.itemId
      ensure(owner === detail.itemId, 'item_swap', 'a field belongs to another item', { fieldId })
      owners.set(fieldId, detail.itemId)
    }
}

/** 3.1: a version is retired when nothing is under it; its grants end with it, and what is left under it would be lost. */
async function ensureRetired(
  before: CommitBefore,
  { oldestDek }: VaultHeadPayload,
  items: readonly ItemBase[],
  assets: readonly AssetRow[],
): Promise<void> {
  const inUse = items.every(({ detail }) => detail.fields.every(({ dekVersion }) => dekVersion >= oldestDek))
  ensure(inUse, 'head_mismatch', 'a head retires a key that its own fields use')
  if (oldestDek === 1) return
  const moved = new Set(before.moved)
  const leaving = [...before.content.assets.values()].filter(({ itemId }) => moved.has(itemId))
  const but = {
    items: new Set([...moved, ...items.map(({ detail }) => detail.itemId)]),
    assets: new Set([...leaving, ...assets].map(({ assetId }) => assetId)),
  }
  const oldest = await before.oldestDek(but)
  const isRetired = oldest === undefined || oldest >= oldestDek
  ensure(isRetired, 'head_mismatch', 'a head retires a key that fields or attachments still use', {
    dekVersion: oldest,
  })
}
