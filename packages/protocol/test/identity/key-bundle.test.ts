// Seen red: no comparison of the key id, or none for a key that passed before; each bound on RSA keys left out; the Ed25519
// check without the identity, without torsion; ML-KEM coefficients not compared; the policy's minimum skipped for known
// keys; verifyWithKey choosing by the length of the signature; the length of an RSA signature not looked at.
import { ed25519 } from '@noble/curves/ed25519.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { concat, fromHex, utf8 } from '../../src/encoding/bytes.ts'
import { ProtocolError } from '../../src/errors.ts'
import { encodeEd25519Spki } from '../../src/identity/der.ts'
import { checkKey, type KeyBundle, mayHoldAuthority, verifyWithKey } from '../../src/identity/key-bundle.ts'
import { codeOf } from '../encoding/refused.ts'
import { type Actors, openActors } from '../world/actors.ts'
import { almostRocaModulus, EXPONENT, kidFor, modulusWith, ODD_PRIMES, rocaModulus, spkiOf } from './moduli.ts'

let actors: Actors
let good: KeyBundle
let hybrid: KeyBundle
beforeAll(async () => {
  actors = await openActors()
  good = actors.alice.key.bundle
  hybrid = actors.hybrid.key.bundle
})

/** Under the key id that truly names the bundle: what is refused is refused for the key, not for its name. */
const refusal = (bundle: object): string => codeOf(() => checkKey(kidFor(bundle), bundle))
const messageOf = (bundle: object): string => {
  try {
    checkKey(kidFor(bundle), bundle)
  } catch (error) {
    if (error instanceof ProtocolError) return `${error.code}: ${error.message}`
  }
  return 'accepted'
}
const withRsa = (modulus: bigint, exponent: Uint8Array = EXPONENT) => ({ ...good, enc: spkiOf(modulus, exponent) })
const withEd25519 = (raw: Uint8Array) => ({ ...good, sig: toBase64url(encodeEd25519Spki(raw)) })

describe('a key under a key id', () => {
  it('is accepted if the id is the hash of the bundle, with everything it was checked for', () => {
    const { kid } = actors.alice
    const key = checkKey(kid, good)
    expect(key).toMatchObject({ kid, principal: 'user:ou_alice', bundle: good, kem: null })
    expect(toBase64url(key.encSpki)).toBe(good.enc)
    expect(toBase64url(key.sigSpki)).toBe(good.sig)
  })

  it('is refused under the key id of anybody else, also of one that passed before', () => {
    const other = actors.bob.key.bundle
    expect(codeOf(() => checkKey(actors.alice.kid, other))).toBe('key_substitution')
    expect(codeOf(() => checkKey(actors.alice.kid, good))).toBe('accepted')
    expect(codeOf(() => checkKey(actors.alice.kid, other))).toBe('key_substitution')
  })

  it('is refused with any one member exchanged', () => {
    const other = actors.bob.key.bundle
    for (const member of ['enc', 'sig'] as const) {
      const exchanged = { ...good, [member]: other[member] }
      expect(codeOf(() => checkKey(actors.alice.kid, exchanged))).toBe('key_substitution')
    }
    expect(codeOf(() => checkKey(actors.alice.kid, { ...good, sigAlg: 'PS256' }))).toBe('key_substitution')
    const added = { ...good, kem: hybrid.kem, kemAlg: hybrid.kemAlg }
    expect(codeOf(() => checkKey(actors.alice.kid, added))).toBe('key_substitution')
  })

  it('is refused if bundle or id are not in their exact form', () => {
    const { kid } = actors.alice
    const { sig: _, ...incomplete } = good
    for (const bundle of [null, [], 'key', incomplete, { ...good, more: 1 }, { ...good, enc: `${good.enc}=` }])
      expect(codeOf(() => checkKey(kid, bundle))).toBe('malformed')
    expect(codeOf(() => checkKey(`${kid}x`, good))).toBe('malformed')
    expect(refusal({ ...good, encAlg: 'RSA1_5' })).toBe('malformed')
    expect(refusal({ ...good, sigAlg: 'none' })).toBe('malformed')
    expect(refusal({ ...good, enc: toBase64url(new Uint8Array(601)) })).toBe('malformed')
  })
})

describe('an RSA key', () => {
  // No small factors, and no power of 65537 modulo 7 (where the powers are 1, 2 and 4) or any other prime but by chance.
  const sound = (bits: number) => modulusWith((prime) => (prime === 7n ? 3n : prime - 1n), bits)

  it.each([2048, 2049, 3072, 4000, 4096])('of %i bits is accepted', (bits) => {
    expect(messageOf(withRsa(sound(bits)))).toBe('accepted')
  })

  it.each([1024, 2040, 2047, 4097, 4104])('of %i bits is refused', (bits) => {
    expect(messageOf(withRsa(sound(bits)))).toBe('weak_key: an RSA modulus must have 2048 to 4096 bits')
  })

  it.each(['03', '11', '010003', '01000001', '000001', 'ff'])('with the exponent %s (hex) is refused', (hex) => {
    expect(refusal(withRsa(sound(2048), fromHex(hex)))).toBe('weak_key')
  })

  it('is refused if its modulus is even or divisible by any prime up to 167', () => {
    const even = sound(2048) + 1n
    expect(messageOf(withRsa(even))).toBe('weak_key: an RSA modulus has a small factor')
    for (const factor of ODD_PRIMES) {
      const divisible = modulusWith((prime) => (prime === factor ? 0n : prime - 1n))
      expect(messageOf(withRsa(divisible))).toBe('weak_key: an RSA modulus has a small factor')
    }
  })

  it('is refused if its modulus is a power of 65537 modulo every small prime (ROCA), whichever power', () => {
    for (const power of [1n, 2n, 123_457n, 987_654_321n])
      expect(messageOf(withRsa(rocaModulus(power)))).toMatch(/^weak_key: .*generator known to be broken$/)
  })

  it('is accepted if its modulus misses that fingerprint at a single prime', () => {
    expect(messageOf(withRsa(almostRocaModulus()))).toBe('accepted')
  })

  it('below the minimum of the policy is refused, also after it passed under another policy', () => {
    const { kid } = actors.alice
    expect(codeOf(() => checkKey(kid, good, 2048))).toBe('accepted')
    expect(codeOf(() => checkKey(kid, good, 3072))).toBe('weak_key')
    expect(codeOf(() => checkKey(kid, good, 2048))).toBe('accepted')
    const longer = withRsa(sound(3072))
    expect(codeOf(() => checkKey(kidFor(longer), longer, 3072))).toBe('accepted')
    expect(codeOf(() => checkKey(kidFor(longer), longer, 4096))).toBe('weak_key')
  })

  it('alone may sign, but only if it is the one to wrap to, and it holds no authority', () => {
    const alone = { ...good, sig: good.enc, sigAlg: 'PS256' }
    expect(refusal(alone)).toBe('accepted')
    expect(refusal({ ...alone, sig: actors.bob.key.bundle.enc })).toBe('weak_key')
    expect(refusal({ ...alone, sig: good.sig })).toBe('weak_key')
    expect(mayHoldAuthority(checkKey(kidFor(alone), alone))).toBe(false)
    expect(mayHoldAuthority(actors.alice.key)).toBe(true)
  })

  it('does not pass as an Ed25519 key, nor an Ed25519 key as an RSA key', () => {
    expect(refusal({ ...good, sig: good.enc })).toBe('weak_key')
    expect(refusal({ ...good, enc: good.sig })).toBe('weak_key')
  })
})

describe('an Ed25519 key', () => {
  const point = ed25519.Point.BASE.multiply(12_345n)
  const torsion = ed25519.Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')

  it('is accepted as a point of the prime-order group', () => {
    expect(refusal(withEd25519(point.toBytes()))).toBe('accepted')
  })

  it('is refused if it is of small order, the identity included', () => {
    expect(torsion.multiplyUnsafe(8n).is0()).toBe(true)
    for (let times = 0n; times < 8n; times++)
      expect(refusal(withEd25519(torsion.multiplyUnsafe(times).toBytes()))).toBe('weak_key')
  })

  it('is refused if a part of it is of small order', () => {
    for (let times = 1n; times < 8n; times++)
      expect(refusal(withEd25519(point.add(torsion.multiplyUnsafe(times)).toBytes()))).toBe('weak_key')
  })

  it.each([
    ['y = p + 1, the identity', `ee${'ff'.repeat(30)}7f`],
    ['y = p', `ed${'ff'.repeat(30)}7f`],
    ['y = 2^255 - 1', `${'ff'.repeat(31)}7f`],
    ['x = 0 with a sign', `01${'00'.repeat(30)}80`],
    ['no point of the curve', `02${'00'.repeat(31)}`],
  ])('is refused if its encoding is not canonical or no point: %s', (_, hex) => {
    expect(refusal(withEd25519(fromHex(hex)))).toBe('weak_key')
  })
})

describe('an ML-KEM key', () => {
  const kemWith = (change: (kem: Uint8Array) => void) => {
    const kem = fromBase64url(hybrid.kem as string)
    change(kem)
    return { ...hybrid, kem: toBase64url(kem) }
  }

  it('is accepted with its algorithm, and only together with it', () => {
    expect(refusal(hybrid)).toBe('accepted')
    const { kem, kemAlg, ...classic } = hybrid
    expect(refusal({ ...classic, kem })).toBe('malformed')
    expect(refusal({ ...classic, kemAlg })).toBe('malformed')
    expect(refusal({ ...hybrid, kemAlg: 'ML-KEM-512' })).toBe('malformed')
    expect(refusal({ ...hybrid, kem: toBase64url(new Uint8Array(1183)) })).toBe('malformed')
  })

  it('is refused with a coefficient of q or more, first, last, even or odd (FIPS 203, 7.2)', () => {
    for (const at of [0, 300, 1149]) {
      // q = 3329 = 0xd01 in twelve bits, little endian, two in three bytes.
      expect(refusal(kemWith((kem) => kem.set([0x01, 0x0d, 0x00], at)))).toBe('weak_key')
      expect(refusal(kemWith((kem) => kem.set([0x00, 0x10, 0xd0], at)))).toBe('weak_key')
      expect(refusal(kemWith((kem) => kem.set([0xff, 0xff, 0xff], at)))).toBe('weak_key')
      expect(refusal(kemWith((kem) => kem.set([0x00, 0x0d, 0xd0], at)))).toBe('accepted')
    }
  })

  it('may end in any seed', () => {
    expect(refusal(kemWith((kem) => kem.fill(0xff, 1152)))).toBe('accepted')
  })
})

describe('verifyWithKey', () => {
  const message = utf8('message')

  it('accepts the signature of the key and refuses every other message, signature and length', async () => {
    for (const who of [actors.alice, actors.worker]) {
      const signature = await who.sign(message)
      expect(await verifyWithKey(who.key, message, signature)).toBe(true)
      expect(await verifyWithKey(who.key, utf8('massage'), signature)).toBe(false)
      expect(await verifyWithKey(actors.bob.key, message, signature)).toBe(false)
      for (const other of [new Uint8Array(0), signature.subarray(1), concat(signature, Uint8Array.of(0))])
        expect(await verifyWithKey(who.key, message, other)).toBe(false)
    }
  })

  it('refuses an RSA signature without the zero byte that it begins with', async () => {
    const { key, sign } = actors.worker
    let signature = await sign(message)
    while (signature[0] !== 0) signature = await sign(message)
    expect(await verifyWithKey(key, message, signature)).toBe(true)
    expect(await verifyWithKey(key, message, signature.subarray(1))).toBe(false)
  })

  it('takes the algorithm from the key: a signature of the other algorithm does not count', async () => {
    const ed = await actors.alice.sign(message)
    const pss = await actors.worker.sign(message)
    expect(await verifyWithKey(actors.worker.key, message, ed)).toBe(false)
    expect(await verifyWithKey(actors.alice.key, message, pss)).toBe(false)
    // The same private key, used with the other algorithm of its bundle.
    const alone = { ...actors.worker.key.bundle, sig: actors.alice.key.bundle.sig, sigAlg: 'EdDSA' }
    expect(await verifyWithKey(checkKey(kidFor(alone), alone), message, pss)).toBe(false)
  })

  it('refuses an Ed25519 signature in its second form, with the order of the group added to S', async () => {
    const signature = await actors.alice.sign(message)
    let s = 0n
    for (let i = 63; i >= 32; i--) s = (s << 8n) | BigInt(signature[i] as number)
    const second = signature.slice()
    for (let i = 32, rest = s + ed25519.Point.Fn.ORDER; i < 64; i++, rest >>= 8n) second[i] = Number(rest & 255n)
    expect(await verifyWithKey(actors.alice.key, message, second)).toBe(false)
  })
})
