import { type Bytes, compareText } from '../encoding/bytes.ts'
import { canonical, MAX_DOCUMENT_BYTES, parseStrict } from '../encoding/canonical.ts'
import { hash, hashOrNone, integer, literal, record, type Shape, sortedList, text } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { hashText } from '../identity/document.ts'

// Section 5.1: what one leaf of the log says. Tile entries hold 65 535 bytes at most, so long lists are named by their hash.

export const MAX_LEAF_BYTES = 65_535
const MAX_INLINE = 128

/** The name of a state and its value hash before and after, `''` before for a new one. */
export type LeafUpdate = readonly [name: string, oldValueHash: string, newValueHash: string]

export interface LeafContent {
  /** A document kind, or `vault.commit`. */
  readonly t: string
  /** The hashes of the documents that caused the change. */
  readonly d: readonly string[]
  readonly u: readonly LeafUpdate[]
  /** The root of the state map after this leaf. */
  readonly r: string
  readonly at: number
}

/** A leaf as it stands in the log: long lists are there by hash alone, and served beside it. */
export interface Leaf {
  readonly v: 3
  readonly t: string
  readonly r: string
  readonly at: number
  readonly documents: { readonly list: readonly string[] } | { readonly hash: string }
  readonly updates: { readonly list: readonly LeafUpdate[] } | { readonly hash: string }
}

/** `policy`, `kid/<kid>`, `vault/<id>`, `grant/<id>/<kid>/<version>` and the like (5.2). */
export const stateName: Shape<string> = text(/^[a-z]{1,16}(\/[A-Za-z0-9:_-]{1,128}){0,3}$/, 200)

const updateShape: Shape<LeafUpdate> = (value, path) => {
  ensure(Array.isArray(value) && value.length === 3, 'malformed', `${path} is not a name and two hashes`)
  return [stateName(value[0], path), hashOrNone(value[1], path), hash(value[2], path)]
}

const documentsShape = (max: number): Shape<readonly string[]> => sortedList(hash, max, (entry) => entry)
const updatesShape = (max: number): Shape<readonly LeafUpdate[]> => sortedList(updateShape, max, ([name]) => name)

const leafShape = record(
  { v: literal(3), t: text(/^[a-z][a-z.-]{0,39}$/), r: hash, at: integer() },
  { d: documentsShape(MAX_INLINE), dh: hash, u: updatesShape(MAX_INLINE), uh: hash },
)

export interface MadeLeaf {
  readonly bytes: Bytes
  /** The canonical list of updates, where the leaf has its hash only. */
  readonly updates?: Bytes
  /** The canonical list of documents, where the leaf has its hash only. */
  readonly documents?: Bytes
}

/** Sorts the lists, refuses a name or a document that occurs twice, and moves long lists out of the leaf. */
export function makeLeaf({ t, d, u, r, at }: LeafContent): MadeLeaf {
  const documents = documentsShape(d.length)([...d].sort(compareText), 'd')
  const updates = updatesShape(u.length)(
    [...u].sort((a, b) => compareText(a[0], b[0])),
    'u',
  )
  const documentList = documents.length > MAX_INLINE ? listBytes(documents) : undefined
  const updateList = updates.length > MAX_INLINE ? listBytes(updates) : undefined
  const leaf = {
    v: 3,
    t,
    r,
    at,
    ...(documentList ? { dh: hashText(documentList) } : { d: documents }),
    ...(updateList ? { uh: hashText(updateList) } : { u: updates }),
  }
  leafShape(leaf, 'leaf')
  return {
    bytes: canonical(leaf),
    ...(updateList && { updates: updateList }),
    ...(documentList && { documents: documentList }),
  }
}

function listBytes(list: readonly unknown[]): Bytes {
  const bytes = canonical(list)
  ensure(bytes.length <= MAX_DOCUMENT_BYTES, 'limit_exceeded', 'a leaf changes more than one leaf can')
  return bytes
}

/** Parses exactly what `makeLeaf` writes. Whether the leaf is in the log is the question of `verifyInclusion`. */
export function parseLeaf(bytes: Uint8Array): Leaf {
  ensure(bytes.length <= MAX_LEAF_BYTES, 'limit_exceeded', 'a leaf is larger than a tile entry')
  const { v, t, r, at, d, dh, u, uh } = leafShape(parseStrict(bytes), 'leaf')
  return { v, t, r, at, documents: listOrHash(d, dh, 'd'), updates: listOrHash(u, uh, 'u') }
}

function listOrHash<T>(
  list: readonly T[] | undefined,
  hash: string | undefined,
  name: string,
): { list: readonly T[] } | { hash: string } {
  ensure((list === undefined) !== (hash === undefined), 'malformed', `a leaf must have either ${name} or ${name}h`)
  return list ? { list } : { hash: hash as string }
}

/** The updates of a leaf: its own, or those of `served` if they are what the leaf names. */
export const updatesOf = (leaf: Leaf, served?: Uint8Array): readonly LeafUpdate[] =>
  openList(leaf.updates, served, updatesShape)

/** The documents of a leaf: its own, or those of `served` if they are what the leaf names. */
export const documentsOf = (leaf: Leaf, served?: Uint8Array): readonly string[] =>
  openList(leaf.documents, served, documentsShape)

function openList<T>(
  named: { readonly list: readonly T[] } | { readonly hash: string },
  served: Uint8Array | undefined,
  shape: (max: number) => Shape<readonly T[]>,
): readonly T[] {
  if ('list' in named) return named.list
  ensure(served, 'malformed', 'a leaf names a list that was not served')
  ensure(hashText(served) === named.hash, 'bad_inclusion', 'a served list is not the one the leaf names')
  const list = shape(MAX_DOCUMENT_BYTES)(parseStrict(served), 'list')
  // One form for one content: a short list belongs into the leaf.
  ensure(list.length > MAX_INLINE, 'malformed', 'a leaf names a list that is short enough to stand in it')
  return list
}
