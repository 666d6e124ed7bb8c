import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import {
  appendLeaf,
  EMPTY_FRONTIER,
  encodeProof,
  type Frontier,
  frontierRoot,
  leafHash,
  makeCheckpoint,
  makeVerifierKey,
  NOTE_SIGNATURE,
  type NoteSigner,
  proveConsistencyFrom,
} from '@strongroom/protocol'

// A log of words, signed by a key of its own: all that a witness ever sees of a log.

export function makeSigner(): NoteSigner {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { x } = publicKey.export({ format: 'jwk' })
  return { publicKey: Buffer.from(String(x), 'base64url'), sign: (message) => sign(null, message, privateKey) }
}

export interface SmallLog {
  readonly origin: string
  readonly vkey: string
  readonly size: number
  /** The same log with more words. */
  with(...words: readonly string[]): SmallLog
  note(): Promise<string>
  proofFrom(size: number): readonly string[]
}

export function makeSmallLog(
  origin: string,
  signer: NoteSigner = makeSigner(),
  words: readonly string[] = [],
): SmallLog {
  let frontier: Frontier = EMPTY_FRONTIER
  const nodes = new Map<string, Uint8Array>()
  for (const word of words) {
    const grown = appendLeaf(frontier, leafHash(createHash('sha256').update(word).digest()))
    for (const { level, index, hash } of grown.nodes) nodes.set(`${level}/${index}`, hash)
    frontier = grown.frontier
  }
  const read = (level: number, index: number): Uint8Array => nodes.get(`${level}/${index}`) as Uint8Array
  return {
    origin,
    vkey: makeVerifierKey(origin, NOTE_SIGNATURE, signer.publicKey).vkey,
    size: words.length,
    with: (...more) => makeSmallLog(origin, signer, [...words, ...more]),
    note: () => makeCheckpoint({ origin, size: words.length, root: frontierRoot(frontier) }, signer),
    proofFrom: (size) => encodeProof(proveConsistencyFrom(read, size, words.length)),
  }
}
