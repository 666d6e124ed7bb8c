import { platform } from '#platform'
import { type AssetContent, type AssetRow, openAssetName, verifyAsset } from '../../src/attachments/checkpoint.ts'
import type { AssetPlace } from '../../src/attachments/content-key.ts'
import { decryptAttachment, encryptAttachment } from '../../src/attachments/transfer.ts'
import { type Bytes, concat, fromHex, toHex } from '../../src/encoding/bytes.ts'
import { checkKey, type KeyBundle } from '../../src/identity/key-bundle.ts'
import type { DekPlace } from '../../src/values/dek.ts'
import { type BytesNotation, bytesOf, drawing, type Operations } from './vectors-notation.ts'
import { dekOf } from './vectors-values.ts'

// Section 7.

interface Random {
  readonly contentKey: string
  readonly wrapNonce: string
  readonly metaNonce: string
  readonly iv: string
  readonly segmentNonces: readonly string[]
}

interface GivenAssets {
  readonly dek: DekPlace & { readonly dek: string }
  readonly place: AssetPlace
  readonly name: string
  readonly mediaType: string
  readonly writers: readonly { readonly kid: string; readonly key: KeyBundle }[]
  readonly assets: Readonly<Record<string, { readonly plaintext: BytesNotation; readonly random: Random }>>
}

async function* stream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 300_000) yield bytes.subarray(at, at + 300_000)
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Bytes> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return concat(...all)
}

interface Encrypted {
  readonly ciphertext: Bytes
  readonly content: AssetContent
}

// Several cases alter the same long blob, so each is encrypted once.
const encrypted = new WeakMap<object, Promise<Encrypted>>()
function encrypt(asset: string, given: GivenAssets): Promise<Encrypted> {
  const described = given.assets[asset] as GivenAssets['assets'][string]
  const known = encrypted.get(described) ?? encryptAnew(described, given)
  encrypted.set(described, known)
  return known
}

async function encryptAnew(
  { plaintext, random }: GivenAssets['assets'][string],
  { dek, place, name, mediaType }: GivenAssets,
): Promise<Encrypted> {
  const { contentKey, wrapNonce, metaNonce, iv, segmentNonces } = random
  const values = [contentKey, wrapNonce, metaNonce, iv, ...segmentNonces].map(fromHex)
  return drawing(values, async () => {
    const source = stream(bytesOf(plaintext))
    const attachment = await encryptAttachment({ dek: dekOf(dek), place, source, name, mediaType })
    const ciphertext = await collect(attachment.ciphertext)
    return { ciphertext, content: attachment.content() }
  })
}

/** What an object store may do to a blob: offsets and lengths in bytes, segments counted from 0. */
interface Alteration {
  readonly of?: string
  readonly flip?: number
  readonly cut?: number
  readonly append?: string
  readonly exchange?: readonly [number, number]
}

const HEADER = 74
const SEGMENT = 1_048_576

function alter(blob: Bytes, { flip, cut = 0, append = '', exchange }: Alteration): Bytes {
  const out = concat(blob.subarray(0, blob.length - cut), fromHex(append))
  if (flip !== undefined) out[flip] = (out[flip] as number) ^ 1
  if (exchange) {
    const [a, b] = exchange.map((segment) => HEADER + segment * SEGMENT) as [number, number]
    out.set(blob.subarray(b, b + SEGMENT), a)
    out.set(blob.subarray(a, a + SEGMENT), b)
  }
  return out
}

interface DecryptInput {
  readonly asset: string
  readonly row: AssetRow
  readonly document: unknown
  readonly alter?: Alteration
  readonly writers?: readonly string[]
}

export const assetOperations: Operations = {
  encrypt: async ({ asset }: { asset: string }, given: GivenAssets) => {
    const { ciphertext, content } = await encrypt(asset, given)
    return { content, ...(ciphertext.length <= 1024 && { ciphertext: toHex(ciphertext) }) }
  },
  decrypt: async (input: DecryptInput, given: GivenAssets) => {
    const { org, vaultId } = given.place
    const keys = new Map(given.writers.map(({ kid, key }) => [kid, checkKey(kid, key)]))
    const writers = input.writers ?? [...keys.keys()]
    const asset = await verifyAsset({
      row: input.row,
      envelope: input.document,
      keyOf: (kid) => keys.get(kid),
      authorise: (kid) => writers.includes(kid),
      org,
      vaultId,
    })
    const dek = dekOf(given.dek)
    const meta = await openAssetName(dek, asset)
    const { ciphertext } = await encrypt(input.alter?.of ?? input.asset, given)
    const source = stream(alter(ciphertext, input.alter ?? {}))
    const plaintext = await collect(decryptAttachment({ dek, asset, source }))
    return { ...meta, length: plaintext.length, sha256: toHex(platform.sha256(plaintext)) }
  },
}
