import { platform } from '#platform'
import { concat, decodeUtf8, fromHex, toHex, utf8 } from '../../src/encoding/bytes.ts'
import { parseEd25519Spki } from '../../src/identity/der.ts'
import { type Cosignature, cosign, makeCheckpoint, verifyCheckpoint } from '../../src/log/checkpoint.ts'
import { documentsOf, type LeafContent, makeLeaf, parseLeaf, updatesOf } from '../../src/log/leaf.ts'
import {
  decodeMapProof,
  encodeMapProof,
  type MapEntry,
  mapRoot,
  proveMap,
  updateMapRoot,
  verifyMapProof,
} from '../../src/log/map.ts'
import { makeMap } from '../../src/log/map-tree.ts'
import { decodeProof, leafHash, verifyConsistency, verifyInclusion } from '../../src/log/merkle.ts'
import { rootOfLeaves } from '../../src/log/merkle-proofs.ts'
import {
  addNoteSignatures,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  type NoteSigner,
  parseVkey,
} from '../../src/log/note.ts'
import { evaluateQuorum, type Freshness, parseWitnessPolicy } from '../../src/log/witness-policy.ts'
import type { Operations } from './vectors-notation.ts'

// Section 5.

type Rows = { readonly rows: readonly (readonly [string, string])[] } | { readonly generate: number }

const entriesOf = (input: Rows): MapEntry[] =>
  'rows' in input
    ? input.rows.map(([name, value]) => [name, fromHex(value)])
    : Array.from({ length: input.generate }, (_, i) => [`row/${i}`, platform.sha256(utf8(`value ${i}`))])

type Place = { readonly name: string } | { readonly key: string }
const placeOf = (place: Place): string | Uint8Array => ('name' in place ? place.name : fromHex(place.key))
const hashOrNull = (text: string | null): Uint8Array | null => (text === null ? null : fromHex(text))

export const mapOperations: Operations = {
  // Recomputed from a list, and grown entry by entry: both must give the same root.
  root: (input: Rows) => {
    const entries = entriesOf(input)
    const root = toHex(mapRoot(entries))
    return toHex(makeMap(entries).root()) === root ? { root } : { disagreement: root }
  },
  prove: (input: Rows & { name: string }) => encodeMapProof(proveMap(entriesOf(input), input.name)),
  verify: (input: Place & { root: string; value: string | null; proof: unknown }) => {
    const proof = decodeMapProof(input.proof)
    const proven = verifyMapProof(fromHex(input.root), placeOf(input), hashOrNull(input.value), proof)
    return { value: proven.valueHash && toHex(proven.valueHash) }
  },
  update: (input: Place & { root: string; old: string | null; new: string; proof: unknown }) => {
    const proof = decodeMapProof(input.proof)
    return {
      root: toHex(updateMapRoot(fromHex(input.root), placeOf(input), hashOrNull(input.old), fromHex(input.new), proof)),
    }
  },
}

interface InclusionInput {
  readonly index: number
  readonly size: number
  readonly leafHash: string
  readonly root: string
  readonly hashes: unknown
}
interface ConsistencyInput {
  readonly from: number
  readonly to: number
  readonly fromRoot: string
  readonly toRoot: string
  readonly hashes: unknown
}

export const logOperations: Operations = {
  root: ({ leaves }: { leaves: number }) => ({
    root: toHex(rootOfLeaves(Array.from({ length: leaves }, (_, i) => leafHash(utf8(`leaf ${i}`))))),
  }),
  inclusion: ({ index, size, leafHash, root, hashes }: InclusionInput) => {
    const proof = decodeProof(hashes)
    verifyInclusion({ index, size, leafHash: fromHex(leafHash), root: fromHex(root), proof })
    return {}
  },
  consistency: ({ from, to, fromRoot, toRoot, hashes }: ConsistencyInput) => {
    const proof = decodeProof(hashes)
    verifyConsistency({ from, to, fromRoot: fromHex(fromRoot), toRoot: fromHex(toRoot), proof })
    return {}
  },
}

interface LeafInput {
  readonly text: string
  readonly documents?: string
  readonly updates?: string
}

export const leafOperations: Operations = {
  make: (content: LeafContent) => {
    const { bytes, documents, updates } = makeLeaf(content)
    return {
      text: decodeUtf8(bytes),
      leafHash: toHex(leafHash(bytes)),
      ...(documents && { documents: decodeUtf8(documents) }),
      ...(updates && { updates: decodeUtf8(updates) }),
    }
  },
  parse: ({ text, documents, updates }: LeafInput) => {
    const leaf = parseLeaf(utf8(text))
    const { t, r, at } = leaf
    const d = documentsOf(leaf, documents === undefined ? undefined : utf8(documents))
    return { t, r, at, d, u: updatesOf(leaf, updates === undefined ? undefined : utf8(updates)) }
  },
}

async function signerOf(seedByte: number): Promise<NoteSigner> {
  const pkcs8 = concat(fromHex('302e020100300506032b657004220420'), new Uint8Array(32).fill(seedByte))
  const { key, spki } = await platform.importEd25519(pkcs8)
  return { publicKey: parseEd25519Spki(spki), sign: (message) => platform.ed25519Sign(key, message) }
}

interface CheckpointInput {
  readonly note: string
  readonly origin: string
  readonly logKeys: readonly string[]
  readonly policy?: string
}

const openCheckpoint = ({ note, origin, logKeys, policy }: CheckpointInput) =>
  verifyCheckpoint(note, { origin, logKeys, ...(policy && { cosigners: parseWitnessPolicy(policy) }) })

export const checkpointOperations: Operations = {
  make: async (input: { origin: string; size: number; root: string; seedByte: number }) => {
    const signer = await signerOf(input.seedByte)
    const note = await makeCheckpoint({ ...input, root: fromHex(input.root) }, signer)
    return { note, vkey: makeVerifierKey(input.origin, NOTE_SIGNATURE, signer.publicKey).vkey }
  },
  cosign: async (input: CheckpointInput & { name: string; seedByte: number; timestamp: number }) => {
    const signer = await signerOf(input.seedByte)
    const signature = await cosign(await openCheckpoint(input), input.name, signer, input.timestamp)
    const { vkey } = makeVerifierKey(input.name, NOTE_COSIGNATURE, signer.publicKey)
    return { note: addNoteSignatures(input.note, [signature]), vkey }
  },
  verify: async (input: CheckpointInput) => {
    const { origin, size, root, logKeys, cosignatures } = await openCheckpoint(input)
    return {
      origin,
      size,
      root: toHex(root),
      logKeys: logKeys.map(({ vkey }) => vkey),
      cosignatures: cosignatures.map(({ key, timestamp }) => ({ vkey: key.vkey, timestamp })),
    }
  },
  vkey: (input: { vkey: string }) => {
    const { name, type, keyId } = parseVkey(input.vkey)
    return { name, type, keyId: toHex(keyId) }
  },
}

interface QuorumInput extends Freshness {
  readonly policy: string
  readonly cosignatures: readonly { readonly vkey: string; readonly timestamp: number }[]
}

export const witnessPolicyOperations: Operations = {
  parse: ({ policy }: { policy: string }) => {
    const { logs, witnesses, quorum } = parseWitnessPolicy(policy)
    return {
      logs: logs.map(({ key }) => key.vkey),
      witnesses: witnesses.map(({ name }) => name),
      asks: quorum !== null,
    }
  },
  quorum: ({ policy, cosignatures, now, maxStaleMs }: QuorumInput) => {
    const given = cosignatures.map(({ vkey, timestamp }): Cosignature => ({ key: parseVkey(vkey), timestamp }))
    return evaluateQuorum(parseWitnessPolicy(policy), given, { now, maxStaleMs })
  },
}
