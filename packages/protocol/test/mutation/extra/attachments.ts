import { platform } from '#platform'
import { checkStorageUrl } from '../../../src/attachments/address.ts'
import {
  assetRowOf,
  makeAssetCheckpoint,
  type VerifiedAsset,
  verifyAsset,
} from '../../../src/attachments/checkpoint.ts'
import {
  type AssetPlace,
  type ContentKey,
  contentKeyBytes,
  makeContentKey,
  openAssetMeta,
  rewrapContentKey,
  unwrapContentKey,
  wrapContentKey,
} from '../../../src/attachments/content-key.ts'

import {
  ciphertextSizeOf,
  openSegment,
  sealSegment,
  segmentPlaintextBytes,
  startDecryption,
  startEncryption,
} from '../../../src/attachments/floe.ts'
import { decryptStream } from '../../../src/attachments/floe-stream.ts'
import { decryptAttachment, encryptAttachment, partsOf } from '../../../src/attachments/transfer.ts'
import { toBase64url } from '../../../src/encoding/base64.ts'
import { concat, u32be, utf8 } from '../../../src/encoding/bytes.ts'
import { canonical } from '../../../src/encoding/canonical.ts'
import { lp } from '../../../src/encoding/lp.ts'
import { type Dek, deriveKey, makeDek } from '../../../src/values/dek.ts'
import { pad } from '../../../src/values/padding.ts'
import { ORG } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

const VAULT = `v${'a'.repeat(32)}`
const PLACE: AssetPlace = { org: ORG, vaultId: VAULT, assetId: 'ast_file', assetVersion: 1 }
const dek = (): Dek => makeDek({ org: ORG, vaultId: VAULT, dekVersion: 1 })

const SMALL = { segmentBytes: 64, rotationBits: 4 }
const KEY = new Uint8Array(32)
const AAD = utf8('context')
const FULL = new Uint8Array(segmentPlaintextBytes(SMALL))

async function* stream(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _chunk of chunks);
}

/** A reader of the message that the returned writer writes. */
function message() {
  const writer = startEncryption(KEY, AAD, SMALL)
  return { writer, reader: startDecryption(KEY, AAD, writer.header, SMALL) }
}

/** The sealed name of an attachment, as a value of any type. */
async function metaOfType(key: ContentKey, type: 0 | 1 | 2): Promise<string> {
  const nonce = new Uint8Array(12)
  const metaKey = deriveKey(contentKeyBytes(key), lp('vault.v3/asset-meta'), 32)
  const context = lp('vault.v3/asset-meta', ORG, PLACE.assetId, PLACE.assetVersion)
  const sealed = await platform.aesGcmSeal(metaKey, nonce, pad(type, canonical({ mediaType: '', name: 'x' })), context)
  return toBase64url(concat(nonce, sealed))
}

const FLOE = [
  extra('stream-of-no-bytes', 'malformed', () =>
    drain(decryptStream(KEY, AAD, stream('text' as never), { parameters: SMALL })),
  ),
  extra('stream-ends-after-header', 'asset_mismatch', () =>
    drain(decryptStream(KEY, AAD, stream(startEncryption(KEY, AAD, SMALL).header), { parameters: SMALL })),
  ),
  extra('floe-key-too-short', 'malformed', () => startEncryption(new Uint8Array(31), AAD)),
  extra('floe-header-too-short', 'malformed', () => startDecryption(KEY, AAD, new Uint8Array(73))),
  extra('floe-too-many-segments', 'limit_exceeded', () => sealSegment(message().writer, 2 ** 40, FULL, true)),
  extra('floe-plaintext-of-other-length', 'malformed', () =>
    sealSegment(message().writer, 0, new Uint8Array(1), false),
  ),
  extra('floe-segment-of-other-length', 'asset_mismatch', async () => {
    const { writer, reader } = message()
    const segment = await sealSegment(writer, 0, FULL, false)
    return openSegment(reader, 0, segment.subarray(0, 40), false)
  }),
  extra('floe-segment-says-other-length', 'asset_mismatch', async () => {
    const { writer, reader } = message()
    const segment = await sealSegment(writer, 0, FULL, true)
    segment.set(u32be(segment.length + 1))
    return openSegment(reader, 0, segment, true)
  }),
]

const KEYS = [
  extra('content-key-from-elsewhere', 'unwrapped_key_missing', () => contentKeyBytes({} as ContentKey)),
  extra('content-key-of-other-vault', 'vault_swap', async () => {
    const cek = await wrapContentKey(dek(), PLACE, makeContentKey())
    return unwrapContentKey(makeDek({ org: ORG, vaultId: `v${'b'.repeat(32)}`, dekVersion: 1 }), PLACE, cek)
  }),
  extra('content-key-to-other-organisation', 'vault_swap', async () => {
    const from = dek()
    const cek = await wrapContentKey(from, PLACE, makeContentKey())
    return rewrapContentKey(from, makeDek({ org: 'org_other', vaultId: VAULT, dekVersion: 1 }), PLACE, cek)
  }),
  extra('content-key-of-other-length', 'malformed', async () => {
    const key = dek()
    return unwrapContentKey(key, PLACE, `${await wrapContentKey(key, PLACE, makeContentKey())}AAAA`)
  }),
  extra('name-of-no-json', 'padding', async () => {
    const key = makeContentKey()
    return openAssetMeta(key, PLACE, await metaOfType(key, 1))
  }),
]

const FILE = new Uint8Array(1_100_000)

const HTTPS = { server: 'https://vault.example' }
const ADDRESSES = [
  extra('address-of-no-text', 'malformed', () => checkStorageUrl(7, HTTPS)),
  extra('address-that-is-none', 'asset_url', () => checkStorageUrl('not an address', HTTPS)),
  extra('address-with-a-user', 'asset_url', () => checkStorageUrl('https://user@vault.example/x', HTTPS)),
  extra('address-elsewhere', 'asset_url', () => checkStorageUrl('https://evil.example/x', HTTPS)),
  extra('address-without-encryption', 'asset_url', () =>
    checkStorageUrl('http://store.example/x', { ...HTTPS, origins: ['http://store.example'] }),
  ),
]

const TRANSFER = [
  extra('attachment-too-large', 'limit_exceeded', () => partsOf(10_001 * 8_388_608)),
  extra('attachment-not-encrypted-to-its-end', 'asset_mismatch', async () =>
    (await encryptAttachment({ dek: dek(), place: PLACE, source: stream(), name: 'x', mediaType: '' })).content(),
  ),
  extra('attachment-gives-out-more-than-signed', 'asset_mismatch', async (open) => {
    const { bob } = (await open()).actors
    const key = dek()
    const made = await encryptAttachment({ dek: key, place: PLACE, source: stream(FILE), name: 'x', mediaType: '' })
    const chunks: Uint8Array[] = []
    for await (const chunk of made.ciphertext) chunks.push(chunk.slice())
    const content = { ...made.content(), plaintextSize: 3, ciphertextSize: ciphertextSizeOf(FILE.length) }
    const envelope = await makeAssetCheckpoint({ place: PLACE, itemId: 'itm_a', content, at: 1 }, bob)
    const row = assetRowOf(envelope, { place: PLACE, itemId: 'itm_a' })
    const keyOf = () => bob.key
    const asset: VerifiedAsset = await verifyAsset({
      row,
      envelope,
      keyOf,
      authorise: () => true,
      org: ORG,
      vaultId: VAULT,
    })
    for await (const _chunk of decryptAttachment({ dek: key, asset, source: stream(...chunks) }))
      throw new Error('gave out a segment')
  }),
]

export const ATTACHMENT_CASES = [...FLOE, ...KEYS, ...ADDRESSES, ...TRANSFER]
