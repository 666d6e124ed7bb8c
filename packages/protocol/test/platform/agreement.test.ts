// The two platforms, both of which run in Node, against one another: what one writes the other reads, and they refuse alike.
// Seen red: another tag length in one; SHA-256 for SHA-384 in the expansion; a platform that reads a whole buffer where it
// was given a part of one; a refused plaintext left in memory.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, toHex, utf8 } from '../../src/encoding/bytes.ts'
import { platform as node } from '../../src/platform/node.ts'
import type { Platform } from '../../src/platform/platform.ts'
import { hkdfExpandSha384 as expandOnNode } from '../../src/platform/sha384-node.ts'
import { hkdfExpandSha384 as expandOnWeb } from '../../src/platform/sha384-web.ts'
import { platform as web } from '../../src/platform/web.ts'
import { bytes, flipped, inside } from './both.ts'

const long = fc.uint8Array({ maxLength: 70_000, size: 'max' })
const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const nonce = fc.uint8Array({ minLength: 12, maxLength: 12 })

// Which test, here or beside this file, covers a member; a new member fails the first test until somebody has written one.
const COVERED = {
  hashing: ['sha256', 'sha256OfText', 'sha256Base64url', 'makeSha256', 'hmacSha256', 'makeHmacSha256'],
  derivation: ['hkdfSha256'],
  aead: ['aesGcmSeal', 'aesGcmOpen', 'aesGcmSealInto', 'aesGcmOpenInto'],
  ed25519: ['makeEd25519', 'importEd25519', 'ed25519Sign', 'ed25519Verify'],
  rsa: ['makeRsa', 'importRsa', 'rsaPssSign', 'rsaPssVerify', 'rsaOaepEncrypt', 'rsaOaepDecrypt'],
  mlKem: ['makeMlKem', 'importMlKem', 'mlKemEncapsulate', 'mlKemDecapsulate'],
  memory: ['randomBytes', 'allocate'],
} as const satisfies Record<string, readonly (keyof Platform)[]>

it('compares every primitive of both platforms', () => {
  const covered = Object.values(COVERED).flat().sort()
  expect(Object.keys(node).sort()).toEqual(covered)
  expect(Object.keys(web).sort()).toEqual(covered)
})

describe('hashing', () => {
  it('gives the same for every input, also for a part of a buffer', () => {
    fc.assert(
      fc.property(bytes, key, (data, secret) => {
        for (const input of [data, inside(data)]) {
          expect(web.sha256(input)).toEqual(node.sha256(data))
          expect(node.sha256(input)).toEqual(node.sha256(data))
          expect(web.sha256Base64url(input)).toBe(node.sha256Base64url(data))
          expect(web.hmacSha256(inside(secret), input)).toEqual(node.hmacSha256(secret, data))
          expect(node.hmacSha256(inside(secret), input)).toEqual(node.hmacSha256(secret, data))
        }
      }),
    )
  })

  it('gives the same for every text, lone surrogates included, as for its bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('\ud800', '\udc00', 'a', 'é') })),
        (text) => {
          const expected = node.sha256(utf8(text))
          expect(node.sha256OfText(text)).toEqual(expected)
          expect(web.sha256OfText(text)).toEqual(expected)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is that of FIPS 180-4 and RFC 4231', () => {
    for (const platform of [node, web]) {
      expect(toHex(platform.sha256(utf8('abc')))).toBe(
        'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      )
      expect(platform.sha256Base64url(utf8('abc'))).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0')
      expect(toHex(platform.hmacSha256(utf8('Jefe'), utf8('what do ya want for nothing?')))).toBe(
        '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
      )
    }
  })

  it('in pieces is that of the whole', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), key, (pieces, secret) => {
        const whole = concat(...pieces)
        for (const platform of [node, web]) {
          const [hash, mac] = [platform.makeSha256(), platform.makeHmacSha256(secret)]
          for (const piece of pieces) {
            hash.update(piece)
            mac.update(piece)
          }
          expect(hash.digest()).toEqual(node.sha256(whole))
          expect(mac.digest()).toEqual(node.hmacSha256(secret, whole))
        }
      }),
    )
  })
})

describe('derivation', () => {
  it('gives the same for every input and length', () => {
    fc.assert(
      fc.property(key, bytes, bytes, fc.integer({ min: 1, max: 200 }), (ikm, salt, info, length) => {
        const derived = node.hkdfSha256(ikm, salt, info, length)
        expect(derived.length).toBe(length)
        expect(web.hkdfSha256(inside(ikm), inside(salt), inside(info), length)).toEqual(derived)
        const expanded = expandOnNode(ikm, info, length)
        expect(expanded.length).toBe(length)
        expect(expandOnWeb(inside(ikm), inside(info), length)).toEqual(expanded)
      }),
    )
  })

  it('is HKDF-SHA-256 of RFC 5869, test case 1', () => {
    const [salt, info] = [
      Uint8Array.from({ length: 13 }, (_, i) => i),
      Uint8Array.from({ length: 10 }, (_, i) => 0xf0 + i),
    ]
    for (const platform of [node, web])
      expect(toHex(platform.hkdfSha256(new Uint8Array(22).fill(0x0b), salt, info, 42))).toBe(
        '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
      )
  })
})

describe('AES-256-GCM', () => {
  it('gives the same ciphertext, opens what the other sealed, and refuses every change alike', async () => {
    await fc.assert(
      fc.asyncProperty(key, nonce, long, bytes, fc.nat(), async (secret, iv, plaintext, aad, at) => {
        const sealed = await node.aesGcmSeal(secret, iv, plaintext, aad)
        expect(sealed.length).toBe(plaintext.length + 16)
        expect(await web.aesGcmSeal(inside(secret), inside(iv), inside(plaintext), inside(aad))).toEqual(sealed)
        for (const platform of [node, web]) {
          expect(await platform.aesGcmOpen(inside(secret), iv, inside(sealed), aad)).toEqual(plaintext)
          expect(await platform.aesGcmOpen(flipped(secret, at), iv, sealed, aad)).toBeUndefined()
          expect(await platform.aesGcmOpen(secret, flipped(iv, at), sealed, aad)).toBeUndefined()
          expect(await platform.aesGcmOpen(secret, iv, flipped(sealed, at), aad)).toBeUndefined()
          expect(await platform.aesGcmOpen(secret, iv, sealed, concat(aad, Uint8Array.of(0)))).toBeUndefined()
          expect(await platform.aesGcmOpen(secret, iv, sealed.subarray(1), aad)).toBeUndefined()
        }
      }),
      { numRuns: 40 },
    )
  })

  it('refuses what is shorter than a tag', async () => {
    for (const platform of [node, web])
      for (const length of [0, 1, 15, 16])
        expect(
          await platform.aesGcmOpen(new Uint8Array(32), new Uint8Array(12), new Uint8Array(length), new Uint8Array(0)),
        ).toBeUndefined()
  })

  it('into given memory is the same, and leaves nothing there when it refuses', async () => {
    await fc.assert(
      fc.asyncProperty(key, nonce, long, bytes, fc.nat(), async (secret, iv, plaintext, aad, at) => {
        const sealed = await node.aesGcmSeal(secret, iv, plaintext, aad)
        for (const platform of [node, web]) {
          const target = new Uint8Array(sealed.length + 2).fill(7)
          await platform.aesGcmSealInto(secret, iv, plaintext, aad, target.subarray(1, -1))
          expect(target).toEqual(concat(Uint8Array.of(7), sealed, Uint8Array.of(7)))
          const opened = new Uint8Array(plaintext.length + 2).fill(7)
          expect(await platform.aesGcmOpenInto(secret, iv, sealed, aad, opened.subarray(1, -1))).toBe(true)
          expect(opened).toEqual(concat(Uint8Array.of(7), plaintext, Uint8Array.of(7)))
          expect(await platform.aesGcmOpenInto(secret, iv, flipped(sealed, at), aad, opened.subarray(1, -1))).toBe(
            false,
          )
          expect(opened).toEqual(concat(Uint8Array.of(7), new Uint8Array(plaintext.length), Uint8Array.of(7)))
        }
      }),
      { numRuns: 40 },
    )
  })
})

it('gives random bytes and memory of the asked length, all of its own', () => {
  for (const platform of [node, web]) {
    for (const length of [0, 1, 16, 32, 64]) expect(platform.randomBytes(length).length).toBe(length)
    expect(platform.randomBytes(32)).not.toEqual(platform.randomBytes(32))
    const one = platform.allocate(100)
    expect([one.length, one.buffer.byteLength]).toEqual([100, 100])
    expect(platform.allocate(100).buffer).not.toBe(one.buffer)
  }
})
