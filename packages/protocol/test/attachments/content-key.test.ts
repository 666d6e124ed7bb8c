import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AssetPlace,
  type ContentKey,
  contentKeyBytes,
  makeContentKey,
  makePlaintextHash,
  openAssetMeta,
  rewrapContentKey,
  sealAssetMeta,
  unwrapContentKey,
  wrapContentKey,
} from '../../src/attachments/content-key.ts'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat, utf8 } from '../../src/encoding/bytes.ts'
import { lp } from '../../src/encoding/lp.ts'
import { deriveDekCommit, makeDek, openDek } from '../../src/values/dek.ts'
import { pad } from '../../src/values/padding.ts'
import { content, refusal } from './streams.ts'
import { NAME, ORG, OTHER_VAULT, PLACE, VAULT } from './world.ts'

// Section 7: the wrap of the content key, the sealed name, the keyed hash. The formats are rebuilt here with node:crypto alone.
// Seen red: dekVersion left out of the wrapping key, assetVersion left out of the wrap's associated data, one more member in
// the name's associated data, another label for the hash key, and each check switched off in turn.

const DEK_BYTES = content(32, 9)
const dekPlace = { org: ORG, vaultId: VAULT, dekVersion: 70_000 }
const dek = openDek(DEK_BYTES, dekPlace, deriveDekCommit(DEK_BYTES, dekPlace))
const hkdf = (ikm: Uint8Array, info: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', ikm, 'vault.v3', info, 32))

const ELSEWHERE: readonly AssetPlace[] = [
  { ...PLACE, assetId: 'ast_other' },
  { ...PLACE, assetVersion: 4 },
]

function gcmOpen(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 }).setAAD(aad)
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
}

function gcmSeal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array, aad: Uint8Array): Bytes {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(aad)
  return concat(cipher.update(plaintext), cipher.final(), cipher.getAuthTag())
}

describe('a wrapped content key', () => {
  it('has exactly the form of section 7', async () => {
    const key = makeContentKey()
    const wrapped = fromBase64url(await wrapContentKey(dek, PLACE, key))
    expect(wrapped.slice(0, 6)).toEqual(Uint8Array.of(3, 1, 0, 1, 0x11, 0x70))
    const kek = hkdf(DEK_BYTES, lp('vault.v3/asset-key', ORG, VAULT, PLACE.assetId, 70_000))
    const aad = lp('vault.v3/asset', ORG, VAULT, PLACE.assetId, PLACE.assetVersion)
    const opened = gcmOpen(kek, wrapped.subarray(6, 18), wrapped.subarray(18), aad)
    expect(new Uint8Array(opened)).toEqual(contentKeyBytes(key))
  })

  it('is another text each time, and unwraps to the same key', async () => {
    const key = makeContentKey()
    const texts = [await wrapContentKey(dek, PLACE, key), await wrapContentKey(dek, PLACE, key)]
    expect(texts[0]).not.toBe(texts[1])
    for (const text of texts)
      expect(contentKeyBytes(await unwrapContentKey(dek, PLACE, text))).toEqual(contentKeyBytes(key))
  })

  it('does not open for another attachment or another version of it', async () => {
    const wrapped = await wrapContentKey(dek, PLACE, makeContentKey())
    for (const place of ELSEWHERE) expect(await refusal(() => unwrapContentKey(dek, place, wrapped))).toBe('aead')
  })

  it('is not tried with the key of another vault, organisation or version', async () => {
    const wrapped = await wrapContentKey(dek, PLACE, makeContentKey())
    const unwrapWith = (place: Partial<typeof dekPlace>): Promise<string> =>
      refusal(() => unwrapContentKey(makeDek({ ...dekPlace, ...place }), PLACE, wrapped))
    expect(await unwrapWith({ vaultId: OTHER_VAULT })).toBe('vault_swap')
    expect(await unwrapWith({ org: 'org_other' })).toBe('vault_swap')
    expect(await unwrapWith({ dekVersion: 70_001 })).toBe('wrap_context')
    expect(await unwrapWith({})).toBe('aead')
  })

  it('is refused for every single bit, by name', async () => {
    const wrapped = fromBase64url(await wrapContentKey(dek, PLACE, makeContentKey()))
    for (let bit = 0; bit < wrapped.length * 8; bit++) {
      const altered = wrapped.slice()
      altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7))
      const expected = bit < 16 ? 'alg_downgrade' : bit < 48 ? 'wrap_context' : 'aead'
      expect(await refusal(() => unwrapContentKey(dek, PLACE, toBase64url(altered))), `bit ${bit}`).toBe(expected)
    }
  })

  it('is refused at any other length, also where a key of that length is properly sealed', async () => {
    const kek = hkdf(DEK_BYTES, lp('vault.v3/asset-key', ORG, VAULT, PLACE.assetId, 70_000))
    const aad = lp('vault.v3/asset', ORG, VAULT, PLACE.assetId, PLACE.assetVersion)
    for (const length of [0, 16, 31, 33, 64]) {
      const sealed = gcmSeal(kek, new Uint8Array(12), new Uint8Array(length), aad)
      const text = toBase64url(concat(Uint8Array.of(3, 1, 0, 1, 0x11, 0x70), new Uint8Array(12), sealed))
      expect(await refusal(() => unwrapContentKey(dek, PLACE, text)), `${length} bytes`).toBe('malformed')
    }
  })

  it('moves to a newer vault key and to another vault, and opens only there', async () => {
    const key = makeContentKey()
    const wrapped = await wrapContentKey(dek, PLACE, key)
    const newer = makeDek({ ...dekPlace, dekVersion: 70_001 })
    const elsewhere = makeDek({ ...dekPlace, vaultId: OTHER_VAULT })
    const rotated = await rewrapContentKey(dek, newer, PLACE, wrapped)
    const moved = await rewrapContentKey(newer, elsewhere, PLACE, rotated)
    expect(contentKeyBytes(await unwrapContentKey(newer, PLACE, rotated))).toEqual(contentKeyBytes(key))
    const there = { ...PLACE, vaultId: OTHER_VAULT }
    expect(contentKeyBytes(await unwrapContentKey(elsewhere, there, moved))).toEqual(contentKeyBytes(key))
    expect(await refusal(() => unwrapContentKey(dek, PLACE, rotated))).toBe('wrap_context')
    expect(await refusal(() => unwrapContentKey(dek, PLACE, moved))).toBe('aead')
  })

  it('never moves to another organisation', async () => {
    const wrapped = await wrapContentKey(dek, PLACE, makeContentKey())
    const foreign = makeDek({ ...dekPlace, org: 'org_other' })
    expect(await refusal(() => rewrapContentKey(dek, foreign, PLACE, wrapped))).toBe('vault_swap')
  })

  it('shows nothing of itself when it is logged', () => {
    expect(JSON.stringify(makeContentKey())).toBe('{}')
  })

  it('cannot be made from anything but this package', async () => {
    expect(await refusal(() => wrapContentKey(dek, PLACE, {} as ContentKey))).toBe('unwrapped_key_missing')
  })
})

describe('the sealed name of an attachment', () => {
  const metaKey = (key: ContentKey): Uint8Array => hkdf(contentKeyBytes(key), lp('vault.v3/asset-meta'))
  const metaAad = lp('vault.v3/asset-meta', ORG, PLACE.assetId, PLACE.assetVersion)
  const sealAs = (key: ContentKey, padded: Uint8Array): string =>
    toBase64url(concat(new Uint8Array(12), gcmSeal(metaKey(key), new Uint8Array(12), padded, metaAad)))

  it('has exactly the form of section 7, and no vault in it, so that a move leaves it alone', async () => {
    const key = makeContentKey()
    const sealed = fromBase64url(await sealAssetMeta(key, { ...PLACE, vaultId: OTHER_VAULT }, NAME))
    const opened = gcmOpen(metaKey(key), sealed.subarray(0, 12), sealed.subarray(12), metaAad)
    const json = utf8('{"mediaType":"application/x-pem-file","name":"Schlüssel.pem"}')
    expect(new Uint8Array(opened)).toEqual(pad(2, json))
  })

  it('opens to what was sealed, whatever people write', async () => {
    const key = makeContentKey()
    const text = (maxLength: number): fc.Arbitrary<string> =>
      fc
        .string({ unit: 'binary', maxLength })
        .map((value) => value.normalize('NFC'))
        .filter((value) => value.length <= maxLength)
    const cases = fc.asyncProperty(text(1024), text(255), async (name, mediaType) => {
      const sealed = await sealAssetMeta(key, PLACE, { name, mediaType })
      expect(await openAssetMeta(key, PLACE, sealed)).toEqual({ name, mediaType })
    })
    await fc.assert(cases, { numRuns: 100 })
  })

  it('is written in composed form', async () => {
    const key = makeContentKey()
    const sealed = await sealAssetMeta(key, PLACE, { name: 'u\u0308', mediaType: '' })
    expect((await openAssetMeta(key, PLACE, sealed)).name).toBe('\u00fc')
  })

  it('does not open for another attachment, another version, another key or with a bit changed', async () => {
    const key = makeContentKey()
    const sealed = await sealAssetMeta(key, PLACE, NAME)
    for (const place of [...ELSEWHERE, { ...PLACE, org: 'org_other' }]) {
      expect(await refusal(() => openAssetMeta(key, place, sealed))).toBe('aead')
    }
    expect(await refusal(() => openAssetMeta(makeContentKey(), PLACE, sealed))).toBe('aead')
    const altered = fromBase64url(sealed)
    altered[20] = (altered[20] as number) ^ 1
    expect(await refusal(() => openAssetMeta(key, PLACE, toBase64url(altered)))).toBe('aead')
  })

  it('is refused unless it is JSON, canonical, with exactly a name and a media type', async () => {
    const key = makeContentKey()
    const open = (padded: Uint8Array): Promise<string> => refusal(() => openAssetMeta(key, PLACE, sealAs(key, padded)))
    const json = utf8('{"mediaType":"a","name":"b"}')
    expect(await open(pad(2, json))).toBe('none')
    expect(await open(pad(1, json))).toBe('padding')
    expect(await open(new Uint8Array(64))).toBe('padding')
    expect(await open(pad(2, utf8('{"name":"b","mediaType":"a"}')))).toBe('malformed')
    expect(await open(pad(2, utf8('{"mediaType":"a","name":"b","path":"c"}')))).toBe('malformed')
  })

  it('is not written longer than it may be', async () => {
    const key = makeContentKey()
    expect(await refusal(() => sealAssetMeta(key, PLACE, { ...NAME, name: 'n'.repeat(1025) }))).toBe('malformed')
    expect(await refusal(() => sealAssetMeta(key, PLACE, { ...NAME, mediaType: 'm'.repeat(256) }))).toBe('malformed')
  })
})

describe('the hash of the plaintext', () => {
  it('is keyed by the content key, so that a guessed file cannot be confirmed without it', () => {
    const key = makeContentKey()
    const plaintext = content(1000)
    const hash = makePlaintextHash(key)
    hash.update(plaintext.subarray(0, 10))
    hash.update(plaintext.subarray(10))
    const mac = createHmac('sha256', hkdf(contentKeyBytes(key), lp('vault.v3/asset-hash')))
      .update(plaintext)
      .digest()
    expect(hash.digest()).toEqual(new Uint8Array(mac))
  })
})
