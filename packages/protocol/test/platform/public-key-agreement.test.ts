// What one platform signs, encrypts or makes, the other verifies, decrypts or opens, and they refuse alike.
// Seen red: PSS with another salt length or OAEP with another hash in one; the script Ed25519 without the check of R.
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bytes, concat, toHex, utf8 } from '../../src/encoding/bytes.ts'
import { encodeEd25519Spki } from '../../src/identity/der.ts'
import { decodePem } from '../../src/identity/private-keys.ts'
import { platform as node } from '../../src/platform/node.ts'
import { softEd25519Verify } from '../../src/platform/soft-ed25519.ts'
import { platform as web } from '../../src/platform/web.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { BOTH, bytes, flipped, inside } from './both.ts'

const { enc: RSA, sig, kem } = decodePem(keysFile.keys.hybrid)
const ED25519 = sig as Bytes
const SEED = kem as Bytes

describe('Ed25519', () => {
  it('keys read alike, and made by one they open on the other', async () => {
    expect((await web.importEd25519(ED25519)).spki).toEqual((await node.importEd25519(ED25519)).spki)
    for (const [, from, to] of BOTH) {
      const pkcs8 = await from.makeEd25519()
      expect((await to.importEd25519(pkcs8)).spki).toEqual((await from.importEd25519(pkcs8)).spki)
    }
  })

  it('signatures are the same and verify alike, changed ones too', async () => {
    const onNode = await node.importEd25519(ED25519)
    const onWeb = await web.importEd25519(ED25519)
    const other = encodeEd25519Spki(ed25519.Point.BASE.toBytes())
    await fc.assert(
      fc.asyncProperty(bytes, fc.nat(), async (message, at) => {
        const signature = await node.ed25519Sign(onNode.key, message)
        expect(await web.ed25519Sign(onWeb.key, inside(message))).toEqual(signature)
        const verdicts = async (spki: Uint8Array, text: Uint8Array, candidate: Uint8Array) => [
          await node.ed25519Verify(spki, text, candidate),
          await web.ed25519Verify(spki, text, candidate),
          softEd25519Verify(spki, text, candidate),
        ]
        expect(await verdicts(onNode.spki, inside(message), inside(signature))).toEqual([true, true, true])
        for (const [spki, text, candidate] of [
          [onNode.spki, message, flipped(signature, at)],
          [onNode.spki, concat(message, Uint8Array.of(0)), signature],
          [other, message, signature],
          [onNode.spki, message, new Uint8Array(64)],
        ] as const)
          expect(await verdicts(spki, text, candidate)).toEqual([false, false, false])
      }),
      { numRuns: 30 },
    )
  })

  it('signatures whose R has a part of small order are refused by all, though libraries disagree on them', async () => {
    // S·B = R + h·A holds up to the small order: cofactored verification accepts it, the platforms do not.
    const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(ED25519.slice(16))
    const torsion = ed25519.Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')
    const r = 987_654_321n
    const mixed = ed25519.Point.BASE.multiply(r).add(torsion).toBytes()
    const message = utf8('message')
    const little = (part: Uint8Array): bigint => BigInt(`0x${toHex(part.slice().reverse())}`)
    const { ORDER } = ed25519.Point.Fn
    const h = little(sha512(concat(mixed, pointBytes, message))) % ORDER
    const s = ed25519.Point.Fn.toBytes((r + h * scalar) % ORDER)
    const [signature, spki] = [concat(mixed, s), encodeEd25519Spki(pointBytes)]
    expect(ed25519.verify(signature, message, pointBytes, { zip215: false })).toBe(true)
    expect(await node.ed25519Verify(spki, message, signature)).toBe(false)
    expect(await web.ed25519Verify(spki, message, signature)).toBe(false)
    expect(softEd25519Verify(spki, message, signature)).toBe(false)
  })

  it('keys that are no points, as a server could name for a log, verify nothing and break nothing', async () => {
    for (const filling of [0, 1, 2, 0xff]) {
      const spki = encodeEd25519Spki(new Uint8Array(32).fill(filling))
      for (const candidate of [new Uint8Array(64).fill(1), new Uint8Array(64).fill(0xff)]) {
        expect(await node.ed25519Verify(spki, utf8('m'), candidate)).toBe(false)
        expect(await web.ed25519Verify(spki, utf8('m'), candidate)).toBe(false)
        expect(softEd25519Verify(spki, utf8('m'), candidate)).toBe(false)
      }
    }
  })
})

describe('RSA', () => {
  it('keys read alike, and made by one they open on the other', async () => {
    expect((await web.importRsa(RSA)).spki).toEqual((await node.importRsa(RSA)).spki)
    for (const [, from, to] of BOTH) {
      const pkcs8 = await from.makeRsa(2048)
      expect((await to.importRsa(pkcs8)).spki).toEqual((await from.importRsa(pkcs8)).spki)
    }
  }, 30_000)

  it.each(BOTH)('ciphertexts and signatures go from %s, and changed ones are refused', async (_, from, to) => {
    const [mine, theirs] = [await from.importRsa(RSA), await to.importRsa(RSA)]
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 190 }), fc.nat(), async (message, at) => {
        const ciphertext = await from.rsaOaepEncrypt(mine.spki, message)
        expect(await to.rsaOaepDecrypt(theirs.decryptKey, inside(ciphertext))).toEqual(message)
        expect(await to.rsaOaepDecrypt(theirs.decryptKey, flipped(ciphertext, at))).toBeUndefined()
        const signature = await from.rsaPssSign(mine.signKey, message)
        expect(await to.rsaPssVerify(theirs.spki, message, inside(signature))).toBe(true)
        expect(await to.rsaPssVerify(theirs.spki, message, flipped(signature, at))).toBe(false)
        expect(await to.rsaPssVerify(theirs.spki, concat(message, Uint8Array.of(0)), signature)).toBe(false)
      }),
      { numRuns: 10 },
    )
  })

  it('input of any wrong length is refused and breaks nothing', async () => {
    for (const platform of [node, web]) {
      const { decryptKey, spki } = await platform.importRsa(RSA)
      for (const length of [0, 1, 64, 255, 256, 257, 512]) {
        const garbage = new Uint8Array(length).fill(0xff)
        expect(await platform.rsaOaepDecrypt(decryptKey, garbage)).toBeUndefined()
        expect(await platform.rsaPssVerify(spki, utf8('m'), garbage)).toBe(false)
      }
    }
  })
})

describe('ML-KEM-768', () => {
  it('keys read alike, and made by one they open on the other', async () => {
    expect((await web.importMlKem(SEED)).publicKey).toEqual((await node.importMlKem(SEED)).publicKey)
    for (const [, from, to] of BOTH) {
      const { publicKey, seed } = await from.makeMlKem()
      expect((await to.importMlKem(seed)).publicKey).toEqual(publicKey)
    }
  })

  it.each(BOTH)(
    'shares go from %s, and a changed ciphertext gives both the same useless share',
    async (_, from, to) => {
      const [mine, theirs] = [await from.importMlKem(SEED), await to.importMlKem(SEED)]
      for (let at = 0; at < 8; at++) {
        const { ciphertext, sharedSecret } = await from.mlKemEncapsulate(mine.publicKey)
        expect([ciphertext.length, sharedSecret.length]).toEqual([1088, 32])
        expect(await to.mlKemDecapsulate(theirs.key, inside(ciphertext))).toEqual(sharedSecret)
        const altered = flipped(ciphertext, at * 137)
        const useless = await to.mlKemDecapsulate(theirs.key, altered)
        expect(useless).not.toEqual(sharedSecret)
        expect(await from.mlKemDecapsulate(mine.key, altered)).toEqual(useless)
      }
    },
  )
})
