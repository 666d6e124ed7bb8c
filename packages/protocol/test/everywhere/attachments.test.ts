import { afterEach, describe, expect, it } from 'vitest'
import { platform } from '#platform'
import {
  type AssetContent,
  assetRowOf,
  makeAssetCheckpoint,
  openAssetName,
  type VerifiedAsset,
  verifyAsset,
} from '../../src/attachments/checkpoint.ts'
import { decryptAttachment, encryptAttachment } from '../../src/attachments/transfer.ts'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat, utf8 } from '../../src/encoding/bytes.ts'
import { ProtocolError } from '../../src/errors.ts'
import { makeKeys, openKeys } from '../../src/identity/private-keys.ts'
import { deriveDekCommit, openDek } from '../../src/values/dek.ts'

// Section 7 on every platform: what Node encrypts a browser opens, and the other way round, byte for byte.
// Seen red in both: random values drawn in another order. In Node alone: the tag in the place of the ciphertext. In Chromium
// alone: a tag that WebCrypto refused accepted all the same, plaintext written a byte off.

const place = { org: 'org_acme', vaultId: `v${'a'.repeat(32)}`, assetId: 'ast_certificate', assetVersion: 65_537 }
const itemId = 'itm_database'
const dekPlace = { org: place.org, vaultId: place.vaultId, dekVersion: 65_538 }
const dekSecret: Bytes = new Uint8Array(32).fill(0x11)
const dek = openDek(dekSecret, dekPlace, deriveDekCommit(dekSecret, dekPlace))
const NAME = { name: 'Schlüssel.pem', mediaType: 'text/plain' }

/** `hello` with the n-th random value being n, n, n, …: made by Node, opened and made again everywhere. */
const HELLO: AssetContent & { readonly ciphertext: string } = {
  dekVersion: 65_538,
  cek: 'AwEAAQACAgICAgICAgICAgICnFwQeAuyD3tyhvpvBtg0jYNMQ4YQ72WqhmbpbWKU6ANVNeNzw84yJ6UlaLsmfWM8',
  ciphertextSize: 111,
  ciphertextHash: 'AkW4Xv_4PBVtUZIwUQpnh2TLHB4RnYnSTmKXbqvD3kU',
  plaintextSize: 5,
  plaintextHash: 'fAWEgdN7KBmwUrlYgI00dUYQ8PyzRLfavsGxqa3lXOE',
  meta: 'AwMDAwMDAwMDAwMDmzKMZ3p-kFxSIZCbOgqQlIZvWQIb2EQUUlfdnjdPBC2qXKAvo_oFeWaImmggXwYgOieXJAOmYiGfPAAE2r0Bh_hHFZ5IF0KIAKg1vHFPd7Y',
  ciphertext:
    'AAAAEAAAAAAAIAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEQP7QVHeLmwJC_H25A6C4KQcchH3ByyQ8I__bqEnefe8AAAAlBQUFBQUFBQUFBQUFqMpIUCHKjTIWyrJyu_yF4eTs1vWW',
}

async function* stream(bytes: Uint8Array, size = 50_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Bytes> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return concat(...all)
}

const keys = makeKeys({ rsaBits: 2048 }).then((material) => openKeys('user:ou_alice', material))

async function attest(content: AssetContent): Promise<VerifiedAsset> {
  const alice = await keys
  const envelope = await makeAssetCheckpoint({ place, itemId, content, at: 1 }, alice)
  const keyOf = (kid: string) => (kid === alice.kid ? alice.key : undefined)
  const row = assetRowOf(envelope, { place, itemId })
  return verifyAsset({ row, envelope, keyOf, authorise: () => true, org: place.org, vaultId: place.vaultId })
}

const { randomBytes } = platform
afterEach(() => {
  platform.randomBytes = randomBytes
})

describe('an attachment', () => {
  it('is written by every platform byte for byte as by every other, given the same random values', async () => {
    let drawn = 0
    platform.randomBytes = (length) => new Uint8Array(length).fill(++drawn)
    const attachment = await encryptAttachment({ dek, place, source: stream(utf8('hello')), ...NAME })
    const ciphertext = toBase64url(await collect(attachment.ciphertext))
    expect({ ...attachment.content(), ciphertext }).toEqual(HELLO)
  })

  it('that another platform wrote opens, with its name', async () => {
    const { ciphertext, ...content } = HELLO
    const asset = await attest(content)
    expect(await openAssetName(dek, asset)).toEqual(NAME)
    const source = stream(fromBase64url(ciphertext), 7)
    expect(await collect(decryptAttachment({ dek, asset, source }))).toEqual(utf8('hello'))
  })

  it('of several segments comes back as it was', async () => {
    const plaintext = new Uint8Array(2_500_000).map((_, index) => (index * 31) >> 3)
    const attachment = await encryptAttachment({ dek, place, source: stream(plaintext), ...NAME })
    const ciphertext = await collect(attachment.ciphertext)
    const asset = await attest(attachment.content())
    const opened = await collect(decryptAttachment({ dek, asset, source: stream(ciphertext) }))
    expect(opened.length).toBe(plaintext.length)
    expect(opened.every((byte, index) => byte === plaintext[index])).toBe(true)
  })

  it('with a byte changed gives out the segments before it and then refuses', async () => {
    const attachment = await encryptAttachment({ dek, place, source: stream(new Uint8Array(2_500_000)), ...NAME })
    const ciphertext = await collect(attachment.ciphertext)
    const asset = await attest(attachment.content())
    const at = 74 + 1_048_576 + 500
    ciphertext[at] = (ciphertext[at] as number) ^ 1
    let released = 0
    const reading = async (): Promise<void> => {
      for await (const chunk of decryptAttachment({ dek, asset, source: stream(ciphertext) })) released += chunk.length
    }
    await expect(reading()).rejects.toThrow(ProtocolError)
    await expect(reading()).rejects.toMatchObject({ code: 'aead' })
    expect(released).toBe(2 * 1_048_544)
  })
})
