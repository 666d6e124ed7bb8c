import { ed25519 } from '@noble/curves/ed25519.js'
import { describe, expect, it } from 'vitest'
import { isPrimeOrderPoint } from '../../src/identity/ed25519-point.ts'

// Which points can be keys, held against the curve library. Seen red: the identity taken, a part of small order not looked for,
// y not reduced taken, x = 0 with the sign bit taken, a square taken for a fourth power, and only one of the two ways to
// halve. (Which of two opposite points is meant makes no difference, nor do the signs of roots.)

const { Point } = ed25519

function byLibrary(bytes: Uint8Array): boolean {
  try {
    const point = Point.fromBytes(bytes)
    return !point.is0() && point.isTorsionFree()
  } catch {
    return false
  }
}

const P = 2n ** 255n - 19n
const encode = (y: bigint, sign: 0 | 1): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((y >> BigInt(8 * i)) & 255n) | (i === 31 ? sign << 7 : 0))

/** A point of order 8, and with it all eight of small order. */
const TORSION = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')
const SMALL = Array.from({ length: 8 }, (_, i) => (i === 0 ? Point.ZERO : TORSION.multiplyUnsafe(BigInt(i))))

const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

describe('a point that can be a key', () => {
  it('is that of any private key', () => {
    for (let i = 0; i < 50; i++) expect(isPrimeOrderPoint(ed25519.getPublicKey(random(32)))).toBe(true)
  })

  it('is none of the eight of small order, and no sum of a key and one of them', () => {
    for (const [i, small] of SMALL.entries()) expect(isPrimeOrderPoint(small.toBytes()), `${i}`).toBe(false)
    for (let n = 0; n < 50; n++) {
      const key = Point.fromBytes(ed25519.getPublicKey(random(32)))
      for (const [i, small] of SMALL.entries())
        expect(isPrimeOrderPoint(key.add(small).toBytes()), `${i}`).toBe(i === 0)
    }
  })

  it('has one encoding: y below p, and no sign where x is zero', () => {
    for (let above = 0n; above < 19n; above++)
      for (const sign of [0, 1] as const) expect(isPrimeOrderPoint(encode(P + above, sign)), `${above}`).toBe(false)
    for (const y of [0n, 1n, P - 1n])
      for (const sign of [0, 1] as const) expect(isPrimeOrderPoint(encode(y, sign)), `${y}`).toBe(false)
  })

  it('is what the curve library says it is, for small y, for y near p and for random bytes', () => {
    const candidates = [
      ...Array.from({ length: 100 }, (_, i) => encode(BigInt(i), 0)),
      ...Array.from({ length: 100 }, (_, i) => encode(P - BigInt(i), 1)),
      ...Array.from({ length: 300 }, () => random(32)),
    ]
    const verdicts = candidates.map((bytes) => [isPrimeOrderPoint(bytes), byLibrary(bytes)])
    for (const [i, [ours, theirs]] of verdicts.entries()) expect(ours, `${i}`).toBe(theirs)
    expect(verdicts.filter(([ours]) => ours).length).toBeGreaterThan(20)
  })

  it('has 32 bytes', () => {
    const key = ed25519.getPublicKey(random(32))
    expect(isPrimeOrderPoint(key.slice(0, 31))).toBe(false)
    expect(isPrimeOrderPoint(Uint8Array.of(...key, 0))).toBe(false)
  })
})
