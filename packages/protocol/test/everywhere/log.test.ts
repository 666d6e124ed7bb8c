import { describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { concat, fromHex, utf8 } from '../../src/encoding/bytes.ts'
import { ProtocolError } from '../../src/errors.ts'
import { parseEd25519Spki } from '../../src/identity/der.ts'
import { hashText } from '../../src/identity/document.ts'
import { cosign, makeCheckpoint, verifyCheckpoint } from '../../src/log/checkpoint.ts'
import { makeLeaf, parseLeaf, updatesOf } from '../../src/log/leaf.ts'
import { decodeMapProof, encodeMapProof, mapRoot, mapValue, proveMap, verifyMapProof } from '../../src/log/map.ts'
import { makeMap, openPartialMap } from '../../src/log/map-tree.ts'
import { encodeProof, leafHash, verifyConsistency, verifyInclusion } from '../../src/log/merkle.ts'
import { proveConsistency, proveInclusion, rootOfLeaves } from '../../src/log/merkle-proofs.ts'
import {
  addNoteSignatures,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  type NoteSigner,
} from '../../src/log/note.ts'
import { evaluateQuorum, parseWitnessPolicy } from '../../src/log/witness-policy.ts'

// Section 5 on every platform: the same bytes in Node and in a browser, and the same refusals.
// Seen red in both: 0x01 as leaf prefix, siblings from the leaf up, a cosignature over the bare text, lists left unsorted.

async function signerOf(seedByte: number): Promise<NoteSigner> {
  const pkcs8 = concat(fromHex('302e020100300506032b657004220420'), new Uint8Array(32).fill(seedByte))
  const { key, spki } = await platform.importEd25519(pkcs8)
  return { publicKey: parseEd25519Spki(spki), sign: (message) => platform.ed25519Sign(key, message) }
}

const codeOf = (error: unknown): unknown => (error instanceof ProtocolError ? error.code : error)

const ORIGIN = 'log.example.test/o/1'
const NOTE =
  'log.example.test/o/1\n3\nNmQuc8JUCrEh46a/lUWwokmCzYMOsT080Z3jzmwCHsE=\n\n' +
  '\u2014 log.example.test/o/1 tncjo48KyNlrL+jsVJOEygNu7NIb5bukXISk/qQeB1DjEmdy69YSylbVIl2jh0RD+8kX1c7hrrEb6IQSkDmEhYA98gg=\n'

describe('the log', () => {
  const leaves = ['a', 'b', 'c'].map((leaf) => leafHash(utf8(leaf)))

  it('has the roots and proofs of the published vector', () => {
    const root = rootOfLeaves(leaves)
    expect(toBase64(root)).toBe('NmQuc8JUCrEh46a/lUWwokmCzYMOsT080Z3jzmwCHsE=')
    const proof = proveInclusion(leaves, 1)
    expect(encodeProof(proof)).toEqual([
      'Aippeebat6pa5MPl5F9+l3ESp+Y1k4INvsHsc4ok+Tw=',
      'WX/LMSgtNGVMIA00GPylcFxkjr8ybsc9jd7xGEH4dtg=',
    ])
    verifyInclusion({ leafHash: leaves[1] as Uint8Array, index: 1, size: 3, proof, root })
    const growth = proveConsistency(leaves, 2)
    verifyConsistency({ from: 2, fromRoot: rootOfLeaves(leaves.slice(0, 2)), to: 3, toRoot: root, proof: growth })
  })

  it('has the checkpoint of the published vector, and refuses another origin, key and root', async () => {
    const signer = await signerOf(0x44)
    expect(await makeCheckpoint({ origin: ORIGIN, size: 3, root: rootOfLeaves(leaves) }, signer)).toBe(NOTE)
    const { vkey } = makeVerifierKey(ORIGIN, NOTE_SIGNATURE, signer.publicKey)
    const other = makeVerifierKey(ORIGIN, NOTE_SIGNATURE, (await signerOf(0x45)).publicKey).vkey
    const open = (note: string, origin: string, key: string) =>
      verifyCheckpoint(note, { origin, logKeys: [key] }).catch(codeOf)
    expect(await open(NOTE, ORIGIN, vkey)).toMatchObject({ origin: ORIGIN, size: 3 })
    expect(await open(NOTE, 'log.example.test/o/2', vkey)).toBe('log_key')
    expect(await open(NOTE, ORIGIN, other)).toBe('log_key')
    expect(await open(NOTE.replace('\n3\n', '\n4\n'), ORIGIN, vkey)).toBe('bad_signature')
  })

  it('is witnessed by a quorum of cosignatures', async () => {
    const [log, witness] = [await signerOf(0x44), await signerOf(0x46)]
    const logKeys = [makeVerifierKey(ORIGIN, NOTE_SIGNATURE, log.publicKey).vkey]
    const policy = parseWitnessPolicy(
      `witness w ${makeVerifierKey('w', NOTE_COSIGNATURE, witness.publicKey).vkey}\nquorum w\n`,
    )
    const plain = await verifyCheckpoint(NOTE, { origin: ORIGIN, logKeys, cosigners: policy })
    const note = addNoteSignatures(NOTE, [await cosign(plain, 'w', witness, 1_767_225_600)])
    const { cosignatures } = await verifyCheckpoint(note, { origin: ORIGIN, logKeys, cosigners: policy })
    const judge = (now: number) => evaluateQuorum(policy, cosignatures, { now, maxStaleMs: 1000 })
    expect(judge(1_767_225_601_000)).toEqual({ witnessed: true, newestMs: 1_767_225_600_000 })
    expect(() => judge(1_767_225_601_001)).toThrow('too old')
    expect(hashText(utf8(note))).toBe('u3uF2N_4Dj89i309aE4gIttrUB5VSaCnDpuNFMN1g4Y')
  })

  it('has leaves of one byte form', () => {
    const hash = hashText(utf8('x'))
    const { bytes } = makeLeaf({
      t: 'vault.commit',
      d: [hash],
      u: [
        ['vault/b', '', hash],
        ['vault/a', hash, hash],
      ],
      r: hash,
      at: 1,
    })
    expect(hashText(bytes)).toBe('d2Tq-Zo-1WSUQYJJpAVYDyNFKpxc-PczX-J027HwOEc')
    expect(updatesOf(parseLeaf(bytes)).map(([name]) => name)).toEqual(['vault/a', 'vault/b'])
  })
})

describe('the state map', () => {
  const rows = [
    ['vault/vlt_a', mapValue({ headVersion: 1 })],
    ['vault/vlt_b', mapValue({ headVersion: 2 })],
    ['kid/x', mapValue({ status: 'active' })],
  ] as const
  const root = mapRoot(rows)

  it('has the root of the published vector', () => {
    expect(toBase64url(root)).toBe('5R1oUkshXvNZ0-a3kS98sEsFGdVPt_aEBWT2PQZj5C0')
  })

  it('proves presence and absence over the wire, and refuses what it does not hold', () => {
    for (const [name, valueHash] of [...rows, ['vault/vlt_c', null] as const]) {
      const proof = decodeMapProof(JSON.parse(JSON.stringify(encodeMapProof(proveMap(rows, name)))))
      verifyMapProof(root, name, valueHash, proof)
      expect(() => verifyMapProof(root, name, mapValue({ forged: 1 }), proof)).toThrow(ProtocolError)
    }
  })

  it('changes alike as a whole and in part', () => {
    const map = makeMap(rows)
    const names = ['vault/vlt_a', 'vault/vlt_c', 'grant/x']
    const partial = openPartialMap(
      root,
      names.map((name) => ({ name, valueHash: map.get(name), proof: map.prove(name) })),
    )
    for (const name of names) {
      partial.set(name, mapValue({ changed: 1 }))
      map.set(name, mapValue({ changed: 1 }))
    }
    expect(toBase64url(partial.root())).toBe(toBase64url(map.root()))
  })
})
