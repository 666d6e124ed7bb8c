import { createPublicKey } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { LogCheckpoint, verifyCheckpoint as sigstoreCheckpoint } from '@sigstore/verify/dist/tlog/checkpoint.js'
import { verifyMerkleInclusion as sigstoreInclusion } from '@sigstore/verify/dist/tlog/merkle.js'
import { RFC9162 as transmute } from '@transmute/rfc9162'
import { describe, expect, it } from 'vitest'
import { toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { concat, utf8 } from '../../src/encoding/bytes.ts'
import { encodeEd25519Spki } from '../../src/identity/der.ts'
import { makeCheckpoint, peekCheckpoint, verifyCheckpoint } from '../../src/log/checkpoint.ts'
import { mapRoot, mapValue } from '../../src/log/map.ts'
import { decodeProof, encodeProof, leafHash, verifyConsistency, verifyInclusion } from '../../src/log/merkle.ts'
import {
  appendLeaf,
  EMPTY_FRONTIER,
  frontierRoot,
  proveConsistency,
  proveInclusion,
  proveInclusionFrom,
  readFrontier,
  rootOfLeaves,
} from '../../src/log/merkle-proofs.ts'
import { makeVerifierKey, NOTE_SIGNATURE, parseNote, parseVkey } from '../../src/log/note.ts'
import { signerOf } from './keys.ts'
import { refusal } from './refusal.ts'
import { syntheticLog } from './synthetic-log.ts'

// Data and verifiers that are not ours. Seen red: size 0 accepted in consistency, lengths of hashes unchecked, 0x01 as leaf
// prefix, inclusion proofs from the root down, a key id without its newline, least significant bit first in the map.

const projectRoot = resolve(import.meta.dirname, '../../../..')
const folder = resolve(projectRoot, process.env.STRONGROOM_VECTORS ?? '../shared/vectors')

const has = (name: string): boolean => {
  const found = existsSync(resolve(folder, name))
  if (!found)
    console.info(`skipped: interop with ${name}, because the folder named by STRONGROOM_VECTORS does not hold it`)
  return found
}
const read = (...path: string[]): string => readFileSync(resolve(folder, ...path), 'utf8')
const casesIn = (name: string): string[] =>
  readdirSync(resolve(folder, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .map((file) => read(name, file))

/** Lenient on purpose: their invalid cases hold texts that are no hashes, and refusing those is our verifier's work. */
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))

describe.skipIf(!has('merkle'))('proof cases of transparency-dev/merkle', () => {
  it('of inclusion are judged as their authors judge them, 98 of 98', async () => {
    const cases = casesIn('merkle/inclusion')
    expect(cases.length).toBe(98)
    for (const text of cases) {
      const { leafIdx, treeSize, root, leafHash, proof, desc, wantErr } = JSON.parse(text)
      const claim = {
        leafHash: bytes(leafHash),
        index: leafIdx,
        size: treeSize,
        root: bytes(root),
        proof: (proof ?? []).map(bytes),
      }
      const expected = wantErr ? 'bad_inclusion' : 'accepted'
      expect(await refusal(() => verifyInclusion(claim)), desc).toBe(expected)
    }
  })

  it('of consistency are judged as their authors judge them, 98 of 98', async () => {
    const cases = casesIn('merkle/consistency')
    expect(cases.length).toBe(98)
    for (const text of cases) {
      const { size1, size2, root1, root2, proof, desc, wantErr } = JSON.parse(text)
      const claim = {
        from: size1,
        fromRoot: bytes(root1),
        to: size2,
        toRoot: bytes(root2),
        proof: (proof ?? []).map(bytes),
      }
      const expected = !wantErr ? 'accepted' : size1 === 0 ? 'missing_consistency' : 'log_fork'
      expect(await refusal(() => verifyConsistency(claim)), desc).toBe(expected)
    }
  })
})

describe.skipIf(!has('tessera'))('the log of transparency-dev/tessera', () => {
  /** C2SP tlog-tiles: each entry after its length in two bytes. */
  const entriesOf = (bundle: Buffer): Uint8Array[] => {
    const entries = []
    for (let at = 0; at < bundle.length; at += 2 + bundle.readUInt16BE(at)) {
      entries.push(new Uint8Array(bundle.subarray(at + 2, at + 2 + bundle.readUInt16BE(at))))
    }
    return entries
  }
  const tile = (kind: string, width: number): Buffer =>
    readFileSync(resolve(folder, 'tessera/log/tile', kind, '000.p', String(width)))

  it('has 15 entries with the leaf hashes we compute', () => {
    const entries = entriesOf(tile('entries', 15))
    expect(entries.length).toBe(15)
    expect(concat(...entries.map(leafHash))).toEqual(new Uint8Array(tile('0', 15)))
  })

  it('has the 16 roots we compute, from leaves and by appending', () => {
    const leaves = entriesOf(tile('entries', 15)).map(leafHash)
    let frontier = EMPTY_FRONTIER
    for (let size = 0; size <= 15; size++) {
      const checkpoint = peekCheckpoint(read('tessera/log', `checkpoint.${size}`))
      expect(checkpoint).toEqual({
        origin: 'example.com/log/testdata',
        size,
        root: new Uint8Array(rootOfLeaves(leaves.slice(0, size))),
      })
      expect(frontierRoot(frontier)).toEqual(checkpoint.root)
      const next = leaves[size]
      if (next) frontier = appendLeaf(frontier, next).frontier
    }
  })

  it('grows consistently by our proofs, from every size to every other', () => {
    const leaves = entriesOf(tile('entries', 15)).map(leafHash)
    for (let to = 1; to <= 15; to++) {
      const { root: toRoot } = peekCheckpoint(read('tessera/log', `checkpoint.${to}`))
      for (let from = 1; from <= to; from++) {
        const { root: fromRoot } = peekCheckpoint(read('tessera/log', `checkpoint.${from}`))
        verifyConsistency({ from, fromRoot, to, toRoot, proof: proveConsistency(leaves, from, to) })
      }
    }
  })
})

const hasOwnVectors = has('vault-v3.json')

describe.skipIf(!hasOwnVectors)('the first vectors of this protocol, made by another implementation', () => {
  const vectors = hasOwnVectors ? JSON.parse(read('vault-v3.json')) : undefined

  it('have the map root we compute', () => {
    const rows: [string, unknown][] = vectors.map.rows
    expect(toBase64url(mapRoot(rows.map(([name, state]) => [name, mapValue(state)] as const)))).toBe(vectors.map.root)
    expect(toBase64url(mapRoot([]))).toBe(vectors.map.empty)
  })

  it('have the checkpoint, the inclusion and the consistency proof we make, byte for byte', async () => {
    const { vkey, note, leaves, inclusion1, consistency2to3 } = vectors.checkpoint
    const key = parseVkey(vkey)
    const hashes = leaves.map((leaf: string) => leafHash(utf8(leaf)))
    const root = rootOfLeaves(hashes)
    expect(await makeCheckpoint({ origin: key.name, size: 3, root }, await signerOf(0x44))).toBe(note)
    expect(encodeProof(proveInclusion(hashes, 1))).toEqual(inclusion1)
    expect(encodeProof(proveConsistency(hashes, 2, 3))).toEqual(consistency2to3)
    const checkpoint = await verifyCheckpoint(note, { origin: key.name, logKeys: [vkey] })
    verifyInclusion({ leafHash: hashes[1], index: 1, size: 3, proof: decodeProof(inclusion1), root: checkpoint.root })
  })
})

const leaves = Array.from({ length: 130 }, (_, n) => utf8(`leaf ${n}`))
const hashes = leaves.map(leafHash)
const rootAt = (size: number): Uint8Array => rootOfLeaves(hashes.slice(0, size))
const altered = (proof: readonly Uint8Array[]): Uint8Array[] => [leafHash(utf8('forged')), ...proof.slice(1)]

describe('the verifier of sigstore', () => {
  const accepts = (
    leaf: Uint8Array,
    index: number,
    size: number,
    proof: readonly Uint8Array[],
    root: Uint8Array,
  ): boolean => {
    const inclusionProof = { logIndex: String(index), hashes: proof.map((hash) => Buffer.from(hash)) }
    const entry = { inclusionProof, canonicalizedBody: Buffer.from(leaf) }
    try {
      sigstoreInclusion(entry as never, new LogCheckpoint('x', BigInt(size), Buffer.from(root), []))
      return true
    } catch {
      return false
    }
  }

  it('accepts our inclusion proofs and refuses altered ones', () => {
    for (const size of [2, 3, 7, 8, 64, 100, 130]) {
      for (const index of [0, 1, size >> 1, size - 1]) {
        const proof = proveInclusion(hashes, index, size)
        expect(accepts(leaves[index] as Uint8Array, index, size, proof, rootAt(size))).toBe(true)
        expect(accepts(leaves[index] as Uint8Array, index, size, altered(proof), rootAt(size))).toBe(false)
        expect(accepts(utf8('forged'), index, size, proof, rootAt(size))).toBe(false)
      }
    }
  })

  it('accepts our inclusion proofs above 2^32, where it counts with big integers', () => {
    const leaf = utf8('rare')
    for (const [index, size] of [
      [2 ** 32, 2 ** 32 + 1],
      [2 ** 40 + 12_345, 2 ** 52 + 99],
      [2 ** 53 - 2, 2 ** 53 - 1],
    ] as const) {
      const reader = syntheticLog(new Map([[index, leafHash(leaf)]]))
      const proof = proveInclusionFrom(reader, index, size)
      expect(accepts(leaf, index, size, proof, frontierRoot(readFrontier(reader, size)))).toBe(true)
      expect(accepts(leaf, index - 2 ** 32, size, proof, frontierRoot(readFrontier(reader, size)))).toBe(false)
    }
  })

  it('accepts our checkpoint and refuses an altered one', async () => {
    const signer = await signerOf(9)
    const origin = 'log.example/1'
    const note = await makeCheckpoint({ origin, size: 130, root: rootAt(130) }, signer)
    const { keyId } = makeVerifierKey(origin, NOTE_SIGNATURE, signer.publicKey)
    const publicKey = createPublicKey({
      key: Buffer.from(encodeEd25519Spki(signer.publicKey)),
      format: 'der',
      type: 'spki',
    })
    const authority = {
      baseURL: `https://${origin}`,
      logID: Buffer.from(keyId),
      publicKey,
      validFor: { start: new Date(0), end: new Date(0) },
    }
    const open = (envelope: string) =>
      sigstoreCheckpoint({ inclusionProof: { checkpoint: { envelope } } } as never, [authority])
    expect(open(note)).toMatchObject({ origin, logSize: 130n })
    expect(toBase64(open(note).logHash)).toBe(toBase64(rootAt(130)))
    expect(parseNote(note).signatures.length).toBe(1)
    expect(() => open(note.replace('\n130\n', '\n131\n'))).toThrow('invalid checkpoint signature')
  })
})

describe('the verifier of @transmute/rfc9162', () => {
  it('accepts our inclusion proofs and refuses altered ones', async () => {
    for (const [index, size] of [
      [0, 2],
      [2, 3],
      [5, 7],
      [63, 64],
      [77, 130],
      [129, 130],
    ] as const) {
      const proof = proveInclusion(hashes, index, size)
      const claim = (path: Uint8Array[]) => ({ log_id: '', tree_size: size, leaf_index: index, inclusion_path: path })
      const judge = (path: Uint8Array[]) =>
        transmute.verifyInclusionProof(rootAt(size), hashes[index] as Uint8Array, claim(path))
      expect(await judge(proof)).toBe(true)
      expect(await judge(altered(proof))).toBe(false)
    }
  })

  it('accepts our consistency proofs and refuses altered ones', async () => {
    for (const [from, to] of [
      [1, 2],
      [2, 3],
      [3, 7],
      [6, 8],
      [64, 130],
      [77, 130],
      [129, 130],
    ] as const) {
      // It wants the older root in front where that tree is complete (step 2 of RFC 9162 2.1.4.2), and adds it not itself.
      const isComplete = Number.isInteger(Math.log2(from))
      const path = [...(isComplete ? [rootAt(from)] : []), ...proveConsistency(hashes, from, to)]
      const claim = (path: Uint8Array[]) => ({ log_id: '', tree_size_1: from, tree_size_2: to, consistency_path: path })
      const judge = (path: Uint8Array[]) => transmute.verifyConsistencyProof(rootAt(from), rootAt(to), claim(path))
      expect(await judge(path)).toBe(true)
      expect(await judge(altered(path))).toBe(false)
      expect(await judge([...path.slice(0, -1), leafHash(utf8('forged'))])).toBe(false)
    }
  })
})
