import type { AssetRow } from '../../src/attachments/checkpoint.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import type { Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { encodeMapProof, mapValue, proveMap } from '../../src/log/map.ts'
import { kidName } from '../../src/log/state.ts'
import { type FieldValue, textValue, valueText } from '../../src/values/field.ts'
import { openEnvironment } from '../../src/vault/answer.ts'
import { type CommitBefore, checkCommit } from '../../src/vault/check-commit.ts'
import { type BuiltCommit, buildCommit, type Commit, type HeadTerms, termsOf } from '../../src/vault/commit.ts'
import type { VaultContent } from '../../src/vault/content.ts'
import { type ItemEdit, planItem, type SignedItem, signItem } from '../../src/vault/edit.ts'
import type { VaultKeys } from '../../src/vault/grants.ts'
import { itemName, openVerifiedField, type VerifiedItem, verifyItem, verifyItemRow } from '../../src/vault/rows.ts'
import { type VerifiedHead, verifyHead, verifyVault } from '../../src/vault/vault.ts'
import { openDirectory, vaultResponse } from '../directory/full.ts'
import { refusal } from '../log/refusal.ts'
import { ORG, oldestDekOf, type StoredVault, type World } from '../world/world.ts'

// What a writer does by hand: read, decrypt, edit, commit. The honest server of the world re-checks every commit.

export const storedOf = (world: World, vaultId = world.prod): StoredVault => world.vaults.get(vaultId) as StoredVault

/** Signs edits as the next versions of their items. */
export async function signEdits(
  world: World,
  edits: readonly ItemEdit[],
  by: Identity,
  vaultId = world.prod,
): Promise<SignedItem[]> {
  const stored = storedOf(world, vaultId)
  const items: SignedItem[] = []
  for (const edit of edits) {
    const plan = await planItem(stored.dek, stored.items.get(edit.itemId), edit)
    items.push(await signItem(plan, { org: ORG, vaultId, at: world.now }, by))
  }
  return items
}

interface Change {
  readonly vaultId?: string
  readonly items?: readonly SignedItem[]
  readonly assets?: readonly { readonly row: AssetRow; readonly envelope: Envelope }[]
  readonly moved?: readonly string[]
  readonly docs?: readonly Envelope[]
  readonly terms?: Partial<HeadTerms>
}

/** A commit on top of the current head; nothing is submitted. */
export async function build(world: World, change: Change, by: Identity): Promise<BuiltCommit> {
  const { vaultId = world.prod, terms, ...rest } = change
  const head = await world.head(vaultId)
  const { content } = storedOf(world, vaultId)
  return buildCommit(
    {
      org: ORG,
      vaultId,
      base: head,
      content,
      terms: { ...termsOf(head.payload), ...terms },
      at: world.now,
      ...rest,
    },
    by,
  )
}

/** What the server knows before a commit. */
export const before = (world: World, vaultId = world.prod, change: Partial<CommitBefore> = {}): CommitBefore => {
  const stored = storedOf(world, vaultId)
  const identities = Object.values(world.actors as unknown as Record<string, Identity>)
  return {
    org: ORG,
    vaultId,
    content: stored.content,
    item: async (itemId) => stored.items.get(itemId),
    oldestDek: async (but) => oldestDekOf(stored, but),
    keyOf: (kid) => (world.host.state(kidName(kid)) ? identities.find((who) => who.kid === kid)?.key : undefined),
    ...change,
  }
}

export const check = (world: World, commit: Commit, vaultId = world.prod) => checkCommit(before(world, vaultId), commit)
export const codeOf = (world: World, commit: Commit, vaultId = world.prod): Promise<ProtocolErrorCode | 'accepted'> =>
  refusal(() => check(world, commit, vaultId)) as Promise<ProtocolErrorCode | 'accepted'>

/** The vault keys of a reader, verified and unwrapped. */
export async function keysOf(world: World, reader: Identity, vaultId = world.prod): Promise<VaultKeys> {
  const answer = await world.answer(vaultId, reader)
  return (await openEnvironment(answer, vaultId, world.trust(world.fresh()), reader)).keys
}

export const proofOf = (content: VaultContent, itemId: string) =>
  encodeMapProof(
    proveMap(
      [...content.items].map(([id, row]) => [itemName(id), mapValue(row)] as const),
      itemName(itemId),
    ),
  )

/** One item, as a reader who asked for it alone: row with its path, detail, signature. */
export async function readItem(world: World, head: VerifiedHead, itemId: string): Promise<VerifiedItem> {
  const stored = storedOf(world, head.vault.vaultId)
  const row = verifyItemRow(head, stored.content.items.get(itemId), proofOf(stored.content, itemId))
  return verifyItem(head, row, stored.items.get(itemId)?.envelope as Envelope)
}

/** Every value of every item of a vault, archived and hidden ones too, opened through verified details. */
export async function readAll(world: World, reader: Identity, vaultId = world.prod): Promise<Record<string, string>> {
  const stored = storedOf(world, vaultId)
  const head = await headWithSigners(world, vaultId)
  const keys = await keysOf(world, reader, vaultId)
  const values: Record<string, string> = {}
  for (const itemId of stored.content.items.keys()) {
    const { fields } = await readItem(world, head, itemId)
    for (const field of fields)
      values[field.fieldId] = valueText(
        await openVerifiedField(keys, field, stored.values.get(field.fieldId) as string),
      )
  }
  return values
}

/** The head in a directory that also knows whoever signed an item. */
export async function headWithSigners(world: World, vaultId = world.prod): Promise<VerifiedHead> {
  const response = vaultResponse(world, vaultId)
  return verifyHead(await verifyVault(await openDirectory(world), response), response.head)
}

/** The edit that writes every value of an item again, under the current vault key. */
export async function rewrite(world: World, itemId: string, by: Identity, vaultId = world.prod): Promise<ItemEdit> {
  const stored = storedOf(world, vaultId)
  const { document, fields } = await readItem(world, await headWithSigners(world, vaultId), itemId)
  const keys = await keysOf(world, by, vaultId)
  const { name, website, status, assets } = document.payload
  const edits = []
  for (const field of fields) {
    const value: FieldValue = await openVerifiedField(keys, field, stored.values.get(field.fieldId) as string)
    edits.push({ fieldId: field.fieldId, label: field.label, env: field.env, value })
  }
  return { itemId, name, website, status, fields: edits, assets: [...assets] }
}

export const value = textValue
