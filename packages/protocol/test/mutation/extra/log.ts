import { toBase64 } from '../../../src/encoding/base64.ts'

import { canonical } from '../../../src/encoding/canonical.ts'
import { hashText } from '../../../src/identity/document.ts'
import {
  cosign,
  makeCheckpoint,
  peekCheckpoint,
  type VerifiedCheckpoint,
  verifyCheckpoint,
} from '../../../src/log/checkpoint.ts'
import { type LeafUpdate, makeLeaf, parseLeaf, updatesOf } from '../../../src/log/leaf.ts'
import { decodeMapProof, goesRight, mapKey, mapLeaf, mapRoot, verifyMapProof } from '../../../src/log/map.ts'
import { makeMap, openPartialMap } from '../../../src/log/map-tree.ts'
import { nodeHash, verifyConsistency, verifyInclusion } from '../../../src/log/merkle.ts'
import { appendLeaf, proveConsistency, proveInclusion } from '../../../src/log/merkle-proofs.ts'
import { addNoteSignatures, makeVerifierKey, NOTE_SIGNATURE, parseVkey, signNote } from '../../../src/log/note.ts'
import { makeWitness, noteSigner, ORIGIN } from '../../world/log-host.ts'
import { extra } from '../extra-case.ts'

const bytes = (fill: number, length = 32): Uint8Array<ArrayBuffer> => new Uint8Array(length).fill(fill)
const [a, b, c, d] = [bytes(1), bytes(2), bytes(3), bytes(4)]
const HASH = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const OTHER = 'BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

/** RFC 6962 proofs that would lead to the root if their form were not checked. */
const MERKLE = [
  extra('inclusion-outside', 'bad_inclusion', () =>
    verifyInclusion({ leafHash: a, index: 1, size: 1, proof: [], root: a }),
  ),
  extra('inclusion-of-no-hash', 'bad_inclusion', () =>
    verifyInclusion({ leafHash: bytes(1, 31), index: 0, size: 1, proof: [], root: bytes(1, 31) }),
  ),
  extra('inclusion-too-long', 'bad_inclusion', () =>
    verifyInclusion({ leafHash: a, index: 0, size: 1, proof: [b], root: nodeHash(b, a) }),
  ),
  extra('inclusion-too-short', 'bad_inclusion', () =>
    verifyInclusion({ leafHash: a, index: 0, size: 2, proof: [], root: a }),
  ),
  extra('consistency-backwards', 'log_fork', () =>
    verifyConsistency({ from: 3, fromRoot: a, to: 2, toRoot: nodeHash(a, b), proof: [a, b] }),
  ),
  extra('consistency-from-nothing', 'missing_consistency', () =>
    verifyConsistency({ from: 0, fromRoot: a, to: 0, toRoot: a, proof: [] }),
  ),
  extra('consistency-of-equals', 'log_fork', () =>
    verifyConsistency({ from: 2, fromRoot: a, to: 2, toRoot: a, proof: [b] }),
  ),
  extra('consistency-of-no-hash', 'log_fork', () => {
    const short = bytes(2, 31)
    return verifyConsistency({ from: 1, fromRoot: a, to: 2, toRoot: nodeHash(a, short), proof: [short] })
  }),
  extra('consistency-of-other-younger', 'log_fork', () =>
    verifyConsistency({ from: 1, fromRoot: a, to: 2, toRoot: c, proof: [b] }),
  ),
  extra('consistency-too-long', 'log_fork', () => {
    const older = nodeHash(d, nodeHash(c, a))
    const younger = nodeHash(d, nodeHash(c, nodeHash(a, b)))
    return verifyConsistency({ from: 3, fromRoot: older, to: 4, toRoot: younger, proof: [a, b, c, d] })
  }),
  extra('consistency-too-short', 'log_fork', () =>
    verifyConsistency({ from: 3, fromRoot: a, to: 4, toRoot: nodeHash(a, b), proof: [a, b] }),
  ),
  extra('prove-leaf-outside', 'malformed', () => proveInclusion([a], 5, 1)),
  extra('prove-consistency-backwards', 'malformed', () => proveConsistency([a, b, c], 5, 3)),
  extra('prove-missing-leaf', 'malformed', () => proveInclusion([a], 0, 2)),
  extra('append-to-broken-frontier', 'malformed', () => appendLeaf({ size: 1, hashes: [] }, a)),
]

const KEY = mapKey('name')
/** The root that a path of any length leads to. */
const rootOver = (siblings: readonly Uint8Array[], leaf: Uint8Array): Uint8Array =>
  siblings.reduceRight<Uint8Array>(
    (hash, sibling, depth) => (goesRight(KEY, depth) ? nodeHash(sibling, hash) : nodeHash(hash, sibling)),
    leaf,
  )
/** A key that leaves the path of `name` at its first bit. */
const elsewhere = KEY.map((byte, i) => (i === 0 ? byte ^ 0x80 : byte))

const MAP = [
  extra('map-entry-of-no-hash', 'malformed', () => mapRoot([['name', bytes(1, 31)]])),
  extra('map-name-twice', 'malformed', () =>
    mapRoot([
      ['name', a],
      ['name', b],
    ]),
  ),
  extra('map-proof-longer-than-key', 'bad_map_proof', () => {
    const siblings = Array.from({ length: 257 }, () => b)
    return verifyMapProof(rootOver(siblings, mapLeaf(KEY, a)), 'name', a, { siblings, terminal: [KEY, a] })
  }),
  extra('map-proof-of-no-hash', 'bad_map_proof', () => {
    const short = bytes(1, 31)
    return verifyMapProof(mapLeaf(KEY, short), 'name', short, { siblings: [], terminal: [KEY, short] })
  }),
  extra('map-proof-of-other-name', 'bad_map_proof', () =>
    verifyMapProof(mapLeaf(elsewhere, a), 'name', a, { siblings: [], terminal: [elsewhere, a] }),
  ),
  extra('map-leaf-in-the-wrong-place', 'bad_map_proof', () =>
    verifyMapProof(rootOver([b], mapLeaf(elsewhere, a)), 'name', null, { siblings: [b], terminal: [elsewhere, a] }),
  ),
  extra('map-proof-with-half-a-leaf', 'malformed', () => decodeMapProof({ siblings: [], terminal: [toBase64(a)] })),
  extra('map-change-outside', 'bad_map_proof', () => openPartialMap(a, []).set('name', b)),
  extra('map-name-outside', 'bad_map_proof', () => openPartialMap(a, []).get('name')),
  extra('map-change-of-no-hash', 'malformed', () => makeMap().set('name', bytes(1, 31))),
]

const LEAF = { v: 3, t: 'grant.add', r: HASH, at: 1 }
const updates = (count: number, hash = HASH): LeafUpdate[] =>
  Array.from({ length: count }, (_, i) => [`vault/${String(i).padStart(100, '0')}`, '', hash])
const listOf = (count: number, hash = HASH) => canonical(updates(count, hash))

const LEAVES = [
  extra('leaf-update-of-four', 'malformed', () =>
    parseLeaf(canonical({ ...LEAF, d: [HASH], u: [['policy', '', HASH, HASH]] })),
  ),
  extra('leaf-changes-too-much', 'limit_exceeded', () => makeLeaf({ ...LEAF, d: [HASH], u: updates(8000) })),
  extra('leaf-too-large', 'limit_exceeded', () => parseLeaf(bytes(0x20, 65_536))),
  extra('leaf-with-list-and-hash', 'malformed', () => parseLeaf(canonical({ ...LEAF, d: [HASH], dh: HASH, u: [] }))),
  extra('leaf-list-not-served', 'malformed', () => updatesOf(parseLeaf(canonical({ ...LEAF, d: [HASH], uh: HASH })))),
  extra('leaf-list-exchanged', 'bad_inclusion', () => {
    const leaf = parseLeaf(canonical({ ...LEAF, d: [HASH], uh: hashText(listOf(200)) }))
    return updatesOf(leaf, listOf(200, OTHER))
  }),
  extra('leaf-list-short', 'malformed', () =>
    updatesOf(parseLeaf(canonical({ ...LEAF, d: [HASH], uh: hashText(listOf(2)) })), listOf(2)),
  ),
]

const signer = () => noteSigner(0x77)
const vkey = async (name: string): Promise<string> =>
  makeVerifierKey(name, NOTE_SIGNATURE, (await signer()).publicKey).vkey
const BODY = { origin: ORIGIN, size: 1, root: a }
const note = async (): Promise<string> => makeCheckpoint(BODY, await signer())

const CHECKPOINTS = [
  extra('checkpoint-too-large', 'limit_exceeded', () =>
    peekCheckpoint(`${ORIGIN}\n9999999999999999\n${toBase64(a)}\n\n— name AAAAAAAA\n`),
  ),
  extra('checkpoint-root-of-no-hash', 'malformed', async () =>
    makeCheckpoint({ ...BODY, root: bytes(1, 31) }, await signer()),
  ),
  extra('checkpoint-size-of-no-count', 'malformed', async () => makeCheckpoint({ ...BODY, size: -1 }, await signer())),
  extra('checkpoint-pinned-key-of-other-log', 'log_key', async () =>
    verifyCheckpoint(await note(), { origin: ORIGIN, logKeys: [await vkey(ORIGIN), await vkey('log.other.test')] }),
  ),
  extra('checkpoint-of-other-origin', 'log_key', async () => {
    const signed = await signNote(`log.other.test\n1\n${toBase64(a)}\n`, ORIGIN, await signer())
    return verifyCheckpoint(signed, { origin: ORIGIN, logKeys: [await vkey(ORIGIN)] })
  }),
  extra('cosignature-too-short', 'bad_signature', async () => {
    const witness = await makeWitness('witness.test', 0x61)
    const whole = await cosign(await verified(), 'witness.test', witness.signer, 1)
    const cut = addNoteSignatures(await note(), [{ ...whole, signature: bytes(1, 3) }])
    return verifyWith(cut, witness.vkey)
  }),
  extra('cosignature-of-no-time', 'bad_signature', async () => {
    const witness = await makeWitness('witness.test', 0x61)
    const signature = await cosign(await verified(), 'witness.test', witness.signer, Number.MAX_SAFE_INTEGER)
    return verifyWith(addNoteSignatures(await note(), [signature]), witness.vkey)
  }),
]

const verified = async (): Promise<VerifiedCheckpoint> =>
  verifyCheckpoint(await note(), { origin: ORIGIN, logKeys: [await vkey(ORIGIN)] })

async function verifyWith(signed: string, witness: string) {
  const cosigners = { witnesses: [{ key: parseVkey(witness) }] }
  return verifyCheckpoint(signed, { origin: ORIGIN, logKeys: [await vkey(ORIGIN)], cosigners })
}

export const LOG_CASES = [...MERKLE, ...MAP, ...LEAVES, ...CHECKPOINTS]
