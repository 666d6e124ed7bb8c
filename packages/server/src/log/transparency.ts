import type { Output, transparency } from '@strongroom/contract'
import {
  documentsOf,
  encodeMapProof,
  encodeProof,
  type JsonObject,
  nodesForConsistency,
  nodesForInclusion,
  parseLeaf,
  peekCheckpoint,
  proveConsistencyFrom,
  proveInclusionFrom,
} from '@strongroom/protocol'
import type { Db } from '../db/database.ts'
import { found } from '../errors.ts'
import { frontierOf, type GrownLog } from './append.ts'
import * as store from './log-store.ts'
import { type LogView, readView } from './map-store.ts'

// Section 5.4 of docs/reference/protocol.md: what is current, proven in the answer itself.
//
// Only the checkpoint and the map ever change, and they are read in one statement: a statement sees one moment, whatever the
// isolation of its transaction, and takes no lock that a writer would wait for. Leaves and nodes never change, so the second
// statement may see a later moment and reads the same.

/** The transparency object as answers carry it. */
export type Transparency = Output<typeof transparency.state>

export interface Unchanged {
  readonly checkpoint: string
  readonly unchanged: true
}

async function openView(db: Db, orgId: string, names: readonly string[]): Promise<LogView> {
  const view = await readView(db, orgId, [...new Set(names)])
  return found(view && view.size > 0 ? view : undefined, 'leaf_not_found')
}

async function prove(db: Db, orgId: string, view: LogView, have: number | undefined): Promise<Transparency> {
  const { size, note, paths } = view
  const from = have !== undefined && have > 0 && have < size ? have : undefined
  const consistency = from === undefined ? [] : nodesForConsistency(from, size)
  const places = [...nodesForInclusion(size - 1, size), ...consistency]
  const { node, leaf } = await store.readMaterial(db, orgId, places, size - 1)
  return {
    checkpoint: note,
    ...(from !== undefined && { consistency: { from, hashes: texts(proveConsistencyFrom(node, from, size)) } }),
    tip: { leaf: leaf.toString('base64'), hashes: texts(proveInclusionFrom(node, size - 1, size)) },
    map: paths.map(provenState),
  }
}

/** From the root down. */
type MapProof = Parameters<typeof encodeMapProof>[0]

const texts = (proof: readonly Uint8Array[]): string[] => [...encodeProof(proof)]

function provenState({
  name,
  state,
  ...path
}: { readonly name: string; readonly state: JsonObject | null } & MapProof): Transparency['map'][number] {
  const { siblings, terminal } = encodeMapProof(path)
  return { name, state, siblings: [...siblings], terminal: terminal && [...terminal] }
}

/**
 * The newest checkpoint, its leaf, and for each name its state or the proof that there is none; from `have`, the size the
 * client knows, a proof that the log only grew. Refuses a log without entries with `leaf_not_found`.
 */
export async function transparencyOf(
  db: Db,
  orgId: string,
  names: readonly string[],
  have?: number,
): Promise<Transparency> {
  return prove(db, orgId, await openView(db, orgId, names), have)
}

type StoredNode = GrownLog['grown']['nodes'][number]

export interface Growth {
  readonly log: store.LockedLog
  readonly grown: GrownLog
  readonly note: string
  /** Nodes that leaves before this one made in the same transaction, and that are not stored yet. */
  readonly unstored?: readonly StoredNode[]
}

/**
 * The same right after a leaf, by the transaction that appends it, from what it has in its hands: the newest leaf is proven by the
 * frontier before it, a name by the part of the map that was read. Only a caller that knows an older size needs more nodes.
 */
export async function transparencyAfter(
  db: Db,
  orgId: string,
  { log, grown: { leaf, grown, map }, note, unstored = [] }: Growth,
  names: readonly string[],
  have: number | undefined,
  stateOf: (name: string) => JsonObject | null,
): Promise<Transparency> {
  const size = log.size + 1
  const from = have !== undefined && have > 0 && have < size ? have : undefined
  const beside = nodesForInclusion(size - 1, size).reverse()
  const held = new Map([...unstored, ...grown.nodes].map(({ level, index, hash }) => [`${level}/${index}`, hash]))
  for (const [i, hash] of frontierOf(log).hashes.entries())
    held.set(`${beside[i]?.level}/${beside[i]?.index}`, Buffer.from(hash))
  const missing = (from === undefined ? [] : nodesForConsistency(from, size)).filter(
    ({ level, index }) => !held.has(`${level}/${index}`),
  )
  // The leaf itself is at hand and maybe not stored yet; the first one always is.
  const stored = missing.length > 0 ? await store.readMaterial(db, orgId, missing, 0) : undefined
  const node = (level: number, index: number): Uint8Array => {
    const hash = held.get(`${level}/${index}`) ?? stored?.node(level, index)
    if (!hash) throw new Error(`the log has no node ${level}/${index}`)
    return hash
  }
  return {
    checkpoint: note,
    ...(from !== undefined && { consistency: { from, hashes: texts(proveConsistencyFrom(node, from, size)) } }),
    tip: { leaf: Buffer.from(leaf.bytes).toString('base64'), hashes: texts(proveInclusionFrom(node, size - 1, size)) },
    map: [...new Set(names)].map((name) => provenState({ name, state: stateOf(name), ...map.prove(name) })),
  }
}

/** The same for a client that keeps what it verified: if nothing was added since, the checkpoint says it all. */
export async function transparencySince(
  db: Db,
  orgId: string,
  names: readonly string[],
  have: number,
): Promise<Transparency | Unchanged> {
  const view = await openView(db, orgId, names)
  return view.size === have ? { checkpoint: view.note, unchanged: true } : prove(db, orgId, view, have)
}

export interface LogAnchor {
  /** Hash of the genesis document: the fingerprint of the organisation. */
  readonly genesis: string
  readonly origin: string
  readonly vkey: string
  /** The log of now. A client that is told it can never be taken back before it. */
  readonly minimum: { readonly size: number; readonly root: string }
}

/** What a trust anchor (9.2) says of this organisation; undefined before its genesis is logged. */
export async function logAnchor(db: Db, orgId: string): Promise<LogAnchor | undefined> {
  const beginning = await store.readBeginning(db, orgId)
  if (!beginning) return undefined
  const { origin, vkey, genesisLeaf, note } = beginning
  const [genesis] = documentsOf(parseLeaf(genesisLeaf))
  const { size, root } = peekCheckpoint(note)
  if (genesis === undefined) return undefined
  return { genesis, origin, vkey, minimum: { size, root: Buffer.from(root).toString('base64url') } }
}
