import { fromBase64, fromBase64url, toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { decodeUtf8, utf8 } from '../../src/encoding/bytes.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { mutateJson, nodeAt, type Path, replaceAt, sortedText, type Tree, treeOf } from './mutate-json.ts'
import { mutateBytes, mutateText } from './mutate-text.ts'
import type { Random } from './random.ts'

// Inputs that reach deep: what is inside base64 is changed inside and encoded again.

/** JSON text that is valid, as text, as bytes and as a tree. */
export interface JsonSample {
  readonly text: string
  readonly bytes: Uint8Array
  readonly tree: Tree
}

export const jsonSample = (text: string): JsonSample => ({
  text,
  bytes: utf8(text),
  tree: treeOf(JSON.parse(text)),
})

const BOMBS = ['['.repeat(100_000), '{"a":'.repeat(50_000), `"${'\\u0061'.repeat(20_000)}"`, '9'.repeat(100_000)]

/** Bytes of a JSON text with something wrong: in its bytes, in its syntax, or in what it says. */
export function jsonBytes(random: Random, samples: readonly JsonSample[]): Uint8Array {
  if (random.once(5000)) return utf8(random.pick(BOMBS))
  const sample = random.pick(samples)
  const way = random.int(10)
  if (way < 2) return mutateBytes(random, sample.bytes, [random.pick(samples).bytes])
  if (way < 5) return utf8(mutateText(random, sample.text, [random.pick(samples).text]))
  return utf8(sortedText(mutateJson(random, sample.tree, [sample.tree, random.pick(samples).tree])))
}

/** A prefix and base64url behind it: changed as text, as bytes, or, where the bytes are JSON, in what they say. */
export function carried(random: Random, prefix: string, samples: readonly string[], isJson: boolean): string {
  const sample = random.pick(samples)
  if (random.once(3)) return mutateText(random, sample, samples)
  const bytes = fromBase64url(sample.slice(prefix.length))
  if (!isJson || random.once(4)) return prefix + toBase64url(mutateBytes(random, bytes))
  return prefix + toBase64url(jsonBytes(random, [knownJson(decodeUtf8(bytes))]))
}

const known = new Map<string, JsonSample>()
function knownJson(text: string): JsonSample {
  const sample = known.get(text) ?? jsonSample(text)
  known.set(text, sample)
  return sample
}

/** A document changed in its envelope, in its bytes or in its payload; its signatures stay as they were. */
export function envelopeInput(random: Random, envelope: Envelope, pool: readonly Tree[]): unknown {
  const way = random.int(10)
  if (way < 2) return mutateJson(random, envelopeTree(envelope), pool)
  const body = fromBase64(envelope.payload)
  if (way < 4) return { ...envelope, payload: toBase64(mutateBytes(random, body)) }
  return { ...envelope, payload: toBase64(jsonBytes(random, [knownJson(decodeUtf8(body))])) }
}

const trees = new WeakMap<Envelope, Tree>()
export function envelopeTree(envelope: Envelope): Tree {
  const tree = trees.get(envelope) ?? treeOf(envelope)
  trees.set(envelope, tree)
  return tree
}

/** Where a value holds bytes as text: signed payloads and leaves, which are JSON again, and hashes, signatures, ciphertexts. */
export interface Inside {
  readonly path: Path
  readonly change: (random: Random) => string
}

export function insidesOf({ root, paths }: Tree): readonly Inside[] {
  return paths.flatMap((path): Inside[] => {
    const text = nodeAt(root, path)
    if (typeof text !== 'string') return []
    const name = path.at(-1)
    if (name === 'payload' || name === 'leaf') {
      const sample = jsonSample(decodeUtf8(fromBase64(text)))
      return [{ path, change: (random) => toBase64(jsonBytes(random, [sample])) }]
    }
    if (name === 'value') return [{ path, change: (random) => carried(random, 'v3.', [text], false) }]
    if (text.length < 43 || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+=*$/.test(text)) return []
    return [{ path, change: (random) => toBase64(mutateBytes(random, fromBase64(text))) }]
  })
}

/** Changes what stands inside one text of a value. */
export function changeInside(random: Random, { root }: Tree, insides: readonly Inside[]): unknown {
  const { path, change } = random.pick(insides)
  return replaceAt(root, path, change(random))
}
