import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type AssetContent,
  MAX_CIPHERTEXT_BYTES,
  PART_BYTES,
  type VerifiedAsset,
} from '../../src/attachments/checkpoint.ts'
import { contentKeyBytes, unwrapContentKey } from '../../src/attachments/content-key.ts'
import { ciphertextSizeOf, plaintextSizeWithin } from '../../src/attachments/floe.ts'
import { decryptStream } from '../../src/attachments/floe-stream.ts'
import {
  type AttachmentDraft,
  decryptAttachment,
  draftAttachment,
  encryptAttachment,
  encryptDraft,
  partsOf,
  rewrapDraft,
} from '../../src/attachments/transfer.ts'
import { toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat } from '../../src/encoding/bytes.ts'
import { lp } from '../../src/encoding/lp.ts'
import { type Identity, makeKeys, openKeys } from '../../src/identity/private-keys.ts'
import { makeDek } from '../../src/values/dek.ts'
import { chunked, collect, content, outcome, refusal } from './streams.ts'
import { attest, NAME, ORG, OTHER_VAULT, PLACE, type Sealed, sealAttachment, VAULT } from './world.ts'

// Section 7: whole attachments, up and down; attacks 22 and 23 of section 10.
// Seen red: each size, hash and limit check switched off in turn, the final segment given out before the checks, a byte left
// out of the ciphertext hash, one more member in FLOE's associated data; position, finality or content left out of repeatable nonces.

const dek = makeDek({ org: ORG, vaultId: VAULT, dekVersion: 2 })
const SEGMENT = 1_048_576
const SEGMENT_PLAINTEXT = SEGMENT - 32
const NOTHING = new Uint8Array(0)

let alice: Identity
const plaintext = content(2 * SEGMENT_PLAINTEXT + 1000)
let sealed: Sealed
let asset: VerifiedAsset

beforeAll(async () => {
  alice = await openKeys('user:ou_alice', await makeKeys({ rsaBits: 2048 }))
  sealed = await sealAttachment(dek, plaintext)
  asset = await attest(alice, sealed.content)
})

const download = (ciphertext: Uint8Array, of: VerifiedAsset = asset): AsyncIterable<Bytes> =>
  decryptAttachment({ dek, asset: of, source: chunked(ciphertext) })
const equal = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0
/** What a dishonest writer signs: one member of the content changed. */
const claiming = (changes: Partial<AssetContent>): Promise<VerifiedAsset> =>
  attest(alice, { ...sealed.content, ...changes })
const otherHash = toBase64url(content(32, 99))

describe('an attachment', () => {
  it.each([0, 1, SEGMENT_PLAINTEXT, SEGMENT_PLAINTEXT + 1, 3 * SEGMENT_PLAINTEXT + 7])(
    'of %d bytes comes back as it was, with the size that was announced',
    async (size) => {
      const original = content(size, 3)
      const { ciphertext, content: result } = await sealAttachment(dek, original)
      expect(result.ciphertextSize).toBe(ciphertextSizeOf(size))
      expect(result.plaintextSize).toBe(size)
      expect(equal(await collect(download(ciphertext, await attest(alice, result))), original)).toBe(true)
    },
  )

  it('comes back as it was, whatever the chunks', async () => {
    const cases = fc.asyncProperty(
      fc.uint8Array({ maxLength: 5000 }),
      fc.integer({ min: 1, max: 6000 }),
      async (bytes, size) => {
        const { ciphertext, content: result } = await sealAttachment(dek, bytes)
        const source = chunked(ciphertext, [size])
        expect(
          equal(await collect(decryptAttachment({ dek, asset: await attest(alice, result), source })), bytes),
        ).toBe(true)
      },
    )
    await fc.assert(cases, { numRuns: 30 })
  })

  it('comes back as it was from reused buffers, if each chunk is copied before the next', async () => {
    async function* copied(lent: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
      for await (const chunk of lent) yield chunk.slice()
    }
    const source = chunked(plaintext)
    const attachment = await encryptAttachment({ dek, place: PLACE, source, ...NAME, reuseBuffers: true })
    const ciphertext = await collect(copied(attachment.ciphertext))
    const own = await attest(alice, attachment.content())
    const opened = decryptAttachment({ dek, asset: own, source: chunked(ciphertext), reuseBuffers: true })
    expect(equal(await collect(copied(opened)), plaintext)).toBe(true)
  })

  it('is FLOE under its content key, bound to organisation, attachment and version but not to the vault', async () => {
    const key = contentKeyBytes(await unwrapContentKey(dek, PLACE, sealed.content.cek))
    const aad = lp('vault.v3/asset-body', ORG, PLACE.assetId, PLACE.assetVersion)
    expect(equal(await collect(decryptStream(key, aad, chunked(sealed.ciphertext))), plaintext)).toBe(true)
  })

  it('is described by the hash of its ciphertext, and by no hash that its plaintext alone gives', () => {
    const { ciphertextHash, plaintextHash } = sealed.content
    expect(ciphertextHash).toBe(createHash('sha256').update(sealed.ciphertext).digest('base64url'))
    expect(plaintextHash).not.toBe(createHash('sha256').update(plaintext).digest('base64url'))
  })

  it('never gives the same ciphertext, hash or key twice', async () => {
    const again = await sealAttachment(dek, plaintext)
    for (const member of ['cek', 'ciphertextHash', 'plaintextHash', 'meta'] as const) {
      expect(again.content[member]).not.toBe(sealed.content[member])
    }
  })

  it('cannot be described before it was encrypted to its end', async () => {
    const attachment = await encryptAttachment({ dek, place: PLACE, source: chunked(plaintext), ...NAME })
    expect(await refusal(() => attachment.content())).toBe('asset_mismatch')
    for await (const chunk of attachment.ciphertext) if (chunk.length === SEGMENT) break
    expect(await refusal(() => attachment.content())).toBe('asset_mismatch')
  })

  it('cannot be encrypted into a vault with the key of another', async () => {
    const place = { ...PLACE, vaultId: OTHER_VAULT }
    expect(await refusal(() => encryptAttachment({ dek, place, source: chunked(plaintext), ...NAME }))).toBe(
      'vault_swap',
    )
  })
})

describe('a downloaded attachment', () => {
  const segment = (index: number): Bytes => sealed.ciphertext.slice(74 + index * SEGMENT, 74 + (index + 1) * SEGMENT)
  const rebuilt = (...parts: Uint8Array[]): Bytes => concat(sealed.ciphertext.subarray(0, 74), ...parts)

  it('is refused with segments exchanged or repeated, before any altered segment is given out', async () => {
    const orders = [
      [[segment(1), segment(0), segment(2)], 0],
      [[segment(0), segment(0), segment(2)], 1],
    ] as const
    for (const [order, intact] of orders) {
      const { code, released } = await outcome(download(rebuilt(...order)))
      expect(code).toBe('aead')
      expect(equal(released, plaintext.subarray(0, intact * SEGMENT_PLAINTEXT))).toBe(true)
    }
  })

  it('is refused when cut at a segment border, by its last byte, or to nothing', async () => {
    for (const cut of [rebuilt(segment(0), segment(1)), sealed.ciphertext.subarray(0, -1), rebuilt(), NOTHING]) {
      const { code, released } = await outcome(download(cut))
      expect(code).toBe('asset_mismatch')
      expect(released.length).toBeLessThanOrEqual(2 * SEGMENT_PLAINTEXT)
    }
  })

  it('is refused with a single bit changed anywhere, and never ends well', async () => {
    const places = [
      0,
      9,
      10,
      41,
      42,
      73,
      74,
      77,
      78,
      90,
      74 + SEGMENT - 1,
      74 + SEGMENT,
      74 + 2 * SEGMENT,
      sealed.ciphertext.length - 1,
    ]
    for (const at of places) {
      const altered = sealed.ciphertext.slice()
      altered[at] = (altered[at] as number) ^ 0x10
      const { code, released } = await outcome(download(altered))
      expect(['alg_downgrade', 'aead', 'asset_mismatch'], `byte ${at}`).toContain(code)
      expect(equal(released, plaintext.subarray(0, released.length))).toBe(true)
      expect(released.length).toBeLessThan(plaintext.length)
    }
  })

  it('is refused as soon as a byte too many is seen, however much would follow', async () => {
    let asked = 0
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield* chunked(sealed.ciphertext)
      for (;;) {
        asked++
        yield new Uint8Array(1)
      }
    }
    const { code } = await outcome(decryptAttachment({ dek, asset, source: endless() }))
    expect([code, asked]).toEqual(['asset_mismatch', 1])
  })

  it('is refused if it is the content of another attachment, or of another version', async () => {
    for (const place of [
      { ...PLACE, assetId: 'ast_other' },
      { ...PLACE, assetVersion: 4 },
    ]) {
      const other = await sealAttachment(dek, plaintext, place)
      expect(await outcome(download(other.ciphertext))).toEqual({ code: 'aead', released: NOTHING })
      const { ciphertextHash, ciphertextSize } = other.content
      const swapped = await claiming({ ciphertextHash, ciphertextSize })
      expect((await outcome(download(other.ciphertext, swapped))).code).toBe('aead')
    }
  })

  it.each<[string, () => Partial<AssetContent>]>([
    ['a ciphertext longer by a byte', () => ({ ciphertextSize: sealed.content.ciphertextSize + 1 })],
    ['another ciphertext', () => ({ ciphertextHash: otherHash })],
    ['a plaintext longer by a byte', () => ({ plaintextSize: plaintext.length + 1 })],
    ['a plaintext shorter by a byte', () => ({ plaintextSize: plaintext.length - 1 })],
    ['another plaintext', () => ({ plaintextHash: otherHash })],
  ])('holds its last segment back where a dishonest writer signed for %s', async (_, changes) => {
    const { code, released } = await outcome(download(sealed.ciphertext, await claiming(changes())))
    expect(code).toBe('asset_mismatch')
    expect(equal(released, plaintext.subarray(0, 2 * SEGMENT_PLAINTEXT))).toBe(true)
  })

  it('gives out nothing beyond the size its checkpoint says', async () => {
    const short = await claiming({ plaintextSize: 5 })
    expect(await outcome(download(sealed.ciphertext, short))).toEqual({ code: 'asset_mismatch', released: NOTHING })
  })

  it('is not tried with the key of another vault', async () => {
    const foreign = makeDek({ org: ORG, vaultId: OTHER_VAULT, dekVersion: 2 })
    const stream = decryptAttachment({ dek: foreign, asset, source: chunked(sealed.ciphertext) })
    expect(await outcome(stream)).toEqual({ code: 'vault_swap', released: NOTHING })
  })
})

describe('the parts of an upload', () => {
  it('are 8 MiB each, in order and without gaps, the last smaller', () => {
    const cases = fc.property(fc.integer({ min: 1, max: 200 * PART_BYTES }), (size) => {
      const parts = partsOf(size)
      let end = 0
      for (const [index, part] of parts.entries()) {
        expect(part).toMatchObject({ partNumber: index + 1, offset: end })
        if (index < parts.length - 1) expect(part.size).toBe(PART_BYTES)
        end += part.size
      }
      expect(end).toBe(size)
      expect(parts.at(-1)?.size).toBeLessThanOrEqual(PART_BYTES)
    })
    fc.assert(cases, { numRuns: 50 })
  })

  it('are at most 10,000', () => {
    expect(partsOf(MAX_CIPHERTEXT_BYTES)).toHaveLength(10_000)
    expect(() => partsOf(MAX_CIPHERTEXT_BYTES + 1)).toThrow(expect.objectContaining({ code: 'limit_exceeded' }))
  })
})

describe('an upload that is taken up again', () => {
  const again = async (draft: AttachmentDraft, bytes: Uint8Array, sizes?: readonly number[]): Promise<Sealed> => {
    const encrypted = await encryptDraft({ dek, place: PLACE, draft, source: chunked(bytes, sizes) })
    return { ciphertext: await collect(encrypted.ciphertext), content: encrypted.content() }
  }

  it('gives the same bytes for the same content, whatever the chunks, and they open like any other', async () => {
    const draft = await draftAttachment(dek, PLACE, NAME)
    const first = await again(draft, plaintext)
    const second = await again(JSON.parse(JSON.stringify(draft)) as AttachmentDraft, plaintext, [70_001])
    expect(equal(first.ciphertext, second.ciphertext)).toBe(true)
    expect(second.content).toEqual(first.content)
    expect(equal(await collect(download(first.ciphertext, await attest(alice, first.content))), plaintext)).toBe(true)
    const other = await again(await draftAttachment(dek, PLACE, NAME), plaintext)
    expect(equal(first.ciphertext.subarray(0, 74), other.ciphertext.subarray(0, 74))).toBe(false)
  })

  it('has another nonce for another content at the same place, and for the same content at another place', async () => {
    const draft = await draftAttachment(dek, PLACE, NAME)
    const changed = plaintext.slice()
    changed[0] = (changed[0] ?? 0) ^ 1
    const nonces = ({ ciphertext }: Sealed): string[] =>
      [0, 1, 2].map((i) => toBase64url(ciphertext.slice(74 + i * SEGMENT + 4, 74 + i * SEGMENT + 16)))
    const [before, after] = [nonces(await again(draft, plaintext)), nonces(await again(draft, changed))]
    expect(after[0]).not.toBe(before[0])
    expect(after.slice(1)).toEqual(before.slice(1))
    const zeros = nonces(await again(draft, new Uint8Array(3 * SEGMENT_PLAINTEXT)))
    expect(new Set(zeros).size).toBe(3)
    // A last segment and a middle one of the same place and content differ as well.
    const longer = nonces(await again(draft, new Uint8Array(4 * SEGMENT_PLAINTEXT)))
    expect(longer.slice(0, 2)).toEqual(zeros.slice(0, 2))
    expect(longer[2]).not.toBe(zeros[2])
  })

  it('goes on in its place only, and under the key it was begun under or wrapped anew', async () => {
    const draft = await draftAttachment(dek, PLACE, NAME)
    const elsewhere = { ...PLACE, assetId: 'ast_other' }
    const begin = (place: typeof PLACE, of: AttachmentDraft) =>
      encryptDraft({ dek, place, draft: of, source: chunked(NOTHING) })
    expect(await refusal(() => begin(elsewhere, draft))).toBe('aead')
    const foreign = await draftAttachment(dek, PLACE, NAME)
    expect(await refusal(() => begin(PLACE, { ...draft, meta: foreign.meta }))).toBe('aead')
    const next = makeDek({ org: ORG, vaultId: VAULT, dekVersion: 3 })
    const { content: result } = await again(draft, plaintext)
    expect(await rewrapDraft(result, PLACE, dek, dek)).toBe(result)
    const rewrapped = await rewrapDraft(result, PLACE, dek, next)
    expect(rewrapped).toEqual({ ...result, cek: rewrapped.cek, dekVersion: 3 })
    const [older, newer] = await Promise.all([
      unwrapContentKey(dek, PLACE, result.cek),
      unwrapContentKey(next, PLACE, rewrapped.cek),
    ])
    expect(equal(contentKeyBytes(older), contentKeyBytes(newer))).toBe(true)
  })

  it('knows how much of the content is in the first bytes of its ciphertext', () => {
    for (const size of [0, 1, SEGMENT_PLAINTEXT - 1, SEGMENT_PLAINTEXT, SEGMENT_PLAINTEXT + 1, 5 * SEGMENT_PLAINTEXT])
      expect(plaintextSizeWithin(ciphertextSizeOf(size))).toBe(size)
    expect([0, 74, 105, 106, 107, 74 + SEGMENT, 74 + SEGMENT + 33].map((size) => plaintextSizeWithin(size))).toEqual([
      0,
      0,
      0,
      0,
      1,
      SEGMENT_PLAINTEXT,
      SEGMENT_PLAINTEXT + 1,
    ])
  })
})
