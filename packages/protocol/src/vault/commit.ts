import type { AssetRow } from '../attachments/row.ts'
import { compareText } from '../encoding/bytes.ts'
import { hashOrNone, integer, list, type Of, record, type Shape, text } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { type Envelope, envelopeShape, makeDocument } from '../identity/document.ts'
import type { Signer } from '../identity/private-keys.ts'
import { applyChange, type ContentChange, treesOf, type VaultContent } from './content.ts'
import { type HeadChange, MAX_CHANGES, type VaultHeadPayload, type VaultMeta, vaultHead } from './documents.ts'
import { makeSalt, type SignedItem } from './edit.ts'

// Section 6.3: the one form in which a vault is changed.

const MAX_COMMIT_DOCUMENTS = 8192
/** The envelopes of changed values by field id; a transport form, never hashed. */
const values: Shape<Readonly<Record<string, string>>> = (candidate, path) => {
  ensure(
    typeof candidate === 'object' && candidate !== null && !Array.isArray(candidate),
    'malformed',
    `${path} is not an object`,
  )
  for (const envelope of Object.values(candidate)) text(undefined, 131_072)(envelope, path)
  return candidate as Readonly<Record<string, string>>
}

export const commitShape = record({
  expect: record({ headVersion: integer(0), headHash: hashOrNone }),
  head: envelopeShape,
  /** Item details, asset checkpoints, and the documents that change together with a head. */
  docs: list(envelopeShape, MAX_COMMIT_DOCUMENTS),
  values,
})
export type Commit = Of<typeof commitShape>

/** The head a commit builds on: its payload and hash, or nothing for a new vault. */
export interface HeadBase {
  readonly payload: VaultHeadPayload
  readonly hash: string
}

/** What a commit may change besides content: the members that must agree with the state after it. */
export interface HeadTerms {
  readonly meta: VaultMeta
  readonly aclVersion: number
  readonly aclHash: string
  readonly dekVersion: number
  readonly dekCommit: string
  readonly oldestDek: number
}

export const termsOf = ({
  meta,
  aclVersion,
  aclHash,
  dekVersion,
  dekCommit,
  oldestDek,
}: VaultHeadPayload): HeadTerms => ({
  meta,
  aclVersion,
  aclHash,
  dekVersion,
  dekCommit,
  oldestDek,
})

export interface CommitInput {
  readonly org: string
  readonly vaultId: string
  readonly base: HeadBase | undefined
  readonly content: VaultContent
  readonly terms: HeadTerms
  readonly items?: readonly SignedItem[]
  readonly assets?: readonly { readonly row: AssetRow; readonly envelope: Envelope }[]
  readonly moved?: readonly string[]
  /** vault.create, vault.admins, acl.set, epoch.new and wrapped keys of this commit. */
  readonly docs?: readonly Envelope[]
  readonly at: number
}

export interface BuiltCommit {
  readonly commit: Commit
  readonly content: VaultContent
}

/** Computes the new roots and signs the head over them. */
export async function buildCommit(input: CommitInput, signer: Signer): Promise<BuiltCommit> {
  const { org, vaultId, base, terms, items = [], assets = [], moved = [], docs = [], at } = input
  const change: ContentChange = { details: items, assets: assets.map(({ row }) => row), moved }
  const content = applyChange(input.content, change)
  const changes = changesOf(
    items,
    assets.map(({ row }) => row),
  )
  ensure(
    changes.length + moved.length <= MAX_CHANGES,
    'limit_exceeded',
    `a commit changes at most ${MAX_CHANGES} items and attachments`,
  )
  const head = await makeDocument(
    vaultHead,
    {
      org,
      at,
      vaultId,
      headVersion: (base?.payload.headVersion ?? 0) + 1,
      prev: base?.hash ?? '',
      ...terms,
      ...treesOf(content),
      changes,
      salt: makeSalt(),
    },
    [signer],
  )
  const commit: Commit = {
    expect: { headVersion: base?.payload.headVersion ?? 0, headHash: base?.hash ?? '' },
    head,
    docs: [...docs, ...items.map((item) => item.envelope), ...assets.map((asset) => asset.envelope)],
    values: Object.fromEntries(items.flatMap((item) => [...item.values])),
  }
  return { commit, content }
}

export const changesOf = (
  items: readonly { detail: { itemId: string; itemVersion: number } }[],
  assets: readonly AssetRow[],
): readonly HeadChange[] =>
  [
    ...items.map(({ detail }): HeadChange => ({ op: 'put', id: detail.itemId, version: detail.itemVersion })),
    ...assets.map((row): HeadChange => ({ op: 'asset', id: row.assetId, version: row.assetVersion })),
  ].sort((a, b) => compareText(`${a.op} ${a.id}`, `${b.op} ${b.id}`))
