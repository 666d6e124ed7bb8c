import * as crypto from 'node:crypto'
import { toBase64 } from '../../src/encoding/base64.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type BytesNotation, bytesOf, streamOf } from '../../test/everywhere/vectors-notation.ts'
import { identityOf } from '../../test/world/actors.ts'
import { ORG, SALT, sign } from './chronicle.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { FULL, floe, type Random, SEGMENT, u32 } from './floe.ts'
import { aesGcm, base64url, hex, hkdf, lp, pad, sha256, utf8 } from './reference.ts'

// Section 7: attachments.

const DEK = { dek: '11'.repeat(32), org: ORG, vaultId: `v${'a'.repeat(32)}`, dekVersion: 65_538 }
const PLACE = { org: ORG, vaultId: DEK.vaultId, assetId: 'ast_certificate', assetVersion: 3 }
const ITEM = 'itm_database'
const META = { mediaType: 'application/x-pem-file', name: 'Schlüssel.pem' }

interface Asset {
  readonly plaintext: BytesNotation
  readonly random: Random
}

function assetOf(name: string, plaintext: BytesNotation, length: number): Asset {
  const draw = (what: string, count: number) => hex(streamOf(`${name} ${what}`, count))
  const segments = Math.max(1, Math.ceil(length / FULL))
  return {
    plaintext,
    random: {
      contentKey: draw('content key', 32),
      wrapNonce: draw('wrap nonce', 12),
      metaNonce: draw('meta nonce', 12),
      iv: draw('iv', 32),
      segmentNonces: Array.from({ length: segments }, (_, i) => draw(`segment ${i}`, 12)),
    },
  }
}

const ASSETS: Readonly<Record<string, Asset>> = {
  empty: assetOf('empty', '', 0),
  one: assetOf('one', '61', 1),
  full: assetOf('full', { stream: 'full', length: FULL }, FULL),
  more: assetOf('more', { stream: 'more', length: FULL + 1 }, FULL + 1),
  three: assetOf('three', { stream: 'three', length: 2 * FULL + 5 }, 2 * FULL + 5),
}
type AssetName = keyof typeof ASSETS

type Made = ReturnType<typeof makeContent>
const made = new Map<Asset, Made>()
const contentOf = (asset: Asset): Made => {
  const known = made.get(asset) ?? makeContent(asset)
  made.set(asset, known)
  return known
}

/** What a checkpoint says about the content, computed by hand. */
function makeContent({ plaintext, random }: Asset) {
  const key = Buffer.from(random.contentKey, 'hex')
  const bytes = bytesOf(plaintext)
  const { org, vaultId, assetId, assetVersion } = PLACE
  const wrapping = hkdf(
    Buffer.from(DEK.dek, 'hex'),
    lp('vault.v3/asset-key', org, vaultId, assetId, DEK.dekVersion),
    32,
  )
  const wrapNonce = Buffer.from(random.wrapNonce, 'hex')
  const wrapped = aesGcm(wrapping, wrapNonce, key, lp('vault.v3/asset', org, vaultId, assetId, assetVersion))
  const ciphertext = floe(key, lp('vault.v3/asset-body', org, assetId, assetVersion), bytes, random)
  const metaKey = hkdf(key, lp('vault.v3/asset-meta'), 32)
  const metaNonce = Buffer.from(random.metaNonce, 'hex')
  const meta = aesGcm(
    metaKey,
    metaNonce,
    pad(2, utf8(JSON.stringify(META))),
    lp('vault.v3/asset-meta', org, assetId, assetVersion),
  )
  const hash = crypto
    .createHmac('sha256', hkdf(key, lp('vault.v3/asset-hash'), 32))
    .update(bytes)
    .digest()
  return {
    ciphertext,
    content: {
      dekVersion: DEK.dekVersion,
      cek: base64url(Buffer.concat([Buffer.of(3, 1), u32(DEK.dekVersion), wrapNonce, wrapped])),
      ciphertextSize: ciphertext.length,
      ciphertextHash: base64url(sha256(ciphertext)),
      plaintextSize: bytes.length,
      plaintextHash: base64url(hash),
      meta: base64url(Buffer.concat([metaNonce, meta])),
    },
  }
}

type Content = Made['content']

interface Signed {
  readonly row: object
  readonly document: Envelope
}

async function signed(
  writer: Identity,
  content: Content,
  change: object = {},
  rowChange: object = {},
): Promise<Signed> {
  const { vaultId, assetId, assetVersion } = PLACE
  const members = {
    vaultId,
    itemId: ITEM,
    assetId,
    assetVersion,
    enc: 'FLOE-GCM256-IV256-1M',
    ...content,
    salt: SALT,
    ...change,
  }
  const document = await sign('asset-content', members, writer)
  return {
    document,
    row: { assetId, assetVersion, docHash: documentHash(document), itemId: ITEM, status: 'active', ...rowChange },
  }
}

const encryptCase = (name: AssetName): VectorCase => {
  const { ciphertext, content } = contentOf(ASSETS[name] as Asset)
  const short = ciphertext.length <= 1024 && { ciphertext: hex(ciphertext) }
  return accepts('encrypt', `${name}: ${content.plaintextSize} bytes`, { asset: name }, { content, ...short })
}

async function decryptCases(writer: Identity): Promise<VectorCase[]> {
  const cases: VectorCase[] = []
  for (const [name, asset] of Object.entries(ASSETS)) {
    const { plaintext } = asset
    const bytes = bytesOf(plaintext)
    const input = { asset: name, ...(await signed(writer, contentOf(asset).content)) }
    cases.push(accepts('decrypt', name, input, { ...META, length: bytes.length, sha256: hex(sha256(bytes)) }))
  }
  return cases
}

/** The object store answers something else than was stored; the checkpoint is the honest one. */
async function alteredBlobs(writer: Identity): Promise<VectorCase[]> {
  const one = await signed(writer, contentOf(ASSETS.one as Asset).content)
  const three = await signed(writer, contentOf(ASSETS.three as Asset).content)
  const no = (name: string, code: ProtocolErrorCode, alter: object) =>
    refuses('decrypt', `one byte, ${name}`, code, { asset: 'one', ...one, alter })
  const cut = (name: string, code: ProtocolErrorCode, alter: object) =>
    refuses('decrypt', `three segments, ${name}`, code, { asset: 'three', ...three, alter })
  return [
    no('the parameters changed', 'alg_downgrade', { flip: 5 }),
    no('the IV changed', 'aead', { flip: 12 }),
    no('the header tag changed', 'aead', { flip: 50 }),
    no('the length of the segment changed', 'asset_mismatch', { flip: 77 }),
    no('the nonce changed', 'asset_mismatch', { flip: 80 }),
    no('the ciphertext changed', 'asset_mismatch', { flip: 90 }),
    no('the tag changed', 'asset_mismatch', { flip: 106 }),
    no('a byte cut off', 'asset_mismatch', { cut: 1 }),
    no('the segment cut off', 'asset_mismatch', { cut: 33 }),
    no('nothing left', 'asset_mismatch', { cut: 107 }),
    no('a byte added', 'asset_mismatch', { append: '00' }),
    no('the blob of another attachment of the same length', 'aead', { of: 'empty', append: '00' }),
    cut('the last cut off', 'asset_mismatch', { cut: 37 }),
    cut('the first two exchanged', 'aead', { exchange: [0, 1] }),
    cut('a bit of the second changed', 'aead', { flip: 74 + SEGMENT + 500 }),
  ]
}

const flipped = (bytes: Uint8Array, at: number): Buffer => {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] as number) ^ 1
  return copy
}

/** The checkpoint is signed by a writer and says something else than the blob. */
async function dishonestCheckpoints(writer: Identity): Promise<VectorCase[]> {
  const { content, ciphertext } = contentOf(ASSETS.one as Asset)
  const other = contentOf(ASSETS.empty as Asset).content
  const no = async (name: string, code: ProtocolErrorCode, change: object) =>
    refuses('decrypt', name, code, { asset: 'one', ...(await signed(writer, { ...content, ...change } as Content)) })
  const cek = Buffer.from(content.cek, 'base64url')
  const byte = (at: number, value: number) => ({ cek: base64url(Buffer.from(cek).fill(value, at, at + 1)) })
  return [
    await no('another size of the ciphertext', 'asset_mismatch', { ciphertextSize: 108 }),
    await no('another hash of the ciphertext', 'asset_mismatch', { ciphertextHash: other.ciphertextHash }),
    await no('another size of the plaintext', 'asset_mismatch', { plaintextSize: 2 }),
    await no('a smaller size of the plaintext', 'asset_mismatch', { plaintextSize: 0 }),
    refuses('decrypt', 'a blob that was changed before it was signed', 'aead', {
      asset: 'one',
      ...(await signed(writer, { ...content, ciphertextHash: base64url(sha256(flipped(ciphertext, 90))) })),
      alter: { flip: 90 },
    }),
    await no('another hash of the plaintext', 'asset_mismatch', { plaintextHash: other.plaintextHash }),
    await no('the content key of another attachment', 'aead', { cek: other.cek }),
    await no('the name of another attachment', 'aead', { meta: other.meta }),
    await no('a content key of version 2', 'alg_downgrade', byte(0, 2)),
    await no('a content key of suite 2', 'alg_downgrade', byte(1, 2)),
    await no('a content key under another key version', 'wrap_context', byte(5, 9)),
    await no('another key version', 'wrap_context', { dekVersion: 2 }),
    await no('a content key changed', 'aead', byte(40, 0)),
  ]
}

async function checkpoints(writer: Identity, stranger: Identity): Promise<VectorCase[]> {
  const { content } = contentOf(ASSETS.one as Asset)
  const ask = { asset: 'one' }
  const no = async (name: string, code: ProtocolErrorCode, change: object, rowChange: object = {}, more: object = {}) =>
    refuses('decrypt', `checkpoint: ${name}`, code, {
      ...ask,
      ...(await signed(writer, content, change, rowChange)),
      ...more,
    })
  const honest = await signed(writer, content)
  return [
    await no('another document than the row names', 'assets_mismatch', {}, { docHash: 'A'.repeat(43) }),
    await no('of another vault', 'vault_swap', { vaultId: `v${'b'.repeat(32)}` }),
    await no('of another item', 'item_swap', { itemId: 'itm_stripe' }),
    await no('of another attachment', 'item_swap', { assetId: 'ast_other' }),
    await no('of another version', 'item_swap', { assetVersion: 4 }),
    await no('of another organisation', 'genesis_mismatch', { org: 'org_evil' }),
    await no('an unknown encryption', 'alg_downgrade', { enc: 'FLOE-GCM256-IV256-4K' }),
    await no('by somebody who may not write', 'not_authorised', {}, {}, { writers: [] }),
    await no('a member too many', 'malformed', { name: 'ca.pem' }),
    await no('more than 10,000 parts', 'malformed', { ciphertextSize: 8_388_608 * 10_000 + 1 }),
    refuses('decrypt', 'checkpoint: a bad signature', 'bad_signature', {
      ...ask,
      ...honest,
      document: { ...honest.document, signatures: [{ keyid: writer.kid, sig: toBase64(new Uint8Array(64)) }] },
    }),
    refuses('decrypt', 'checkpoint: by a stranger', 'unknown_signer', { ...ask, ...(await signed(stranger, content)) }),
  ]
}

export async function makeAsset(): Promise<VectorFile> {
  const bob = await identityOf('bob', 'user:ou_bob1')
  const mallory = await identityOf('mallory', 'user:ou_mallory')
  return {
    vectors: 'asset',
    section: '7',
    comment:
      'Attachments of `given.assets`, under the vault key `given.dek` in `given.place`. encrypt: with the random values given. decrypt: what encrypt gives, altered by `alter`, under a signed checkpoint and its row. Long content is a stream of hashes, see README.md.',
    given: {
      dek: DEK,
      place: PLACE,
      itemId: ITEM,
      ...META,
      writers: [{ kid: bob.kid, key: bob.key.bundle }],
      assets: ASSETS,
    },
    cases: [
      ...Object.keys(ASSETS).map(encryptCase),
      ...(await decryptCases(bob)),
      ...(await alteredBlobs(bob)),
      ...(await dishonestCheckpoints(bob)),
      ...(await checkpoints(bob, mallory)),
    ],
  }
}
