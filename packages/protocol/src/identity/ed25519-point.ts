// Section 2.1: whether 32 bytes are the canonical encoding of a point that can be an Ed25519 key. Public bytes only, so nothing
// here needs to take the same time for all of them. The curve library could say it too, at ten times the size of this file's
// whole package in a page that has Ed25519 of its own; the tests hold the two against each other.

const P = 2n ** 255n - 19n
/** −121665 ∕ 121666 */
const D = 37_095_705_934_669_439_343_138_083_508_754_565_189_542_113_879_843_219_016_388_785_533_085_940_283_555n

const mod = (value: bigint): bigint => {
  const rest = value % P
  return rest < 0n ? rest + P : rest
}

/** value^(2^times) */
function squared(value: bigint, times: number): bigint {
  let result = value
  for (let i = 0; i < times; i += 1) result = (result * result) % P
  return result
}

/** To the power of (p − 5) ∕ 8 = 2^252 − 3, by powers of 2^n − 1: nearly all bits of it are set, and each would be a product. */
function power(base: bigint): bigint {
  const grown = (of: bigint, times: number, by: bigint): bigint => (squared(of, times) * by) % P
  const bits2 = grown(base, 1, base)
  const bits4 = grown(bits2, 2, bits2)
  const bits5 = grown(bits4, 1, base)
  const bits10 = grown(bits5, 5, bits5)
  const bits20 = grown(bits10, 10, bits10)
  const bits40 = grown(bits20, 20, bits20)
  const bits50 = grown(bits40, 10, bits10)
  const bits100 = grown(bits50, 50, bits50)
  const bits200 = grown(bits100, 100, bits100)
  return grown(grown(bits200, 50, bits50), 2, base)
}

/** 2^((p − 1) ∕ 4) */
const ROOT_OF_MINUS_ONE =
  19_681_161_376_707_505_956_807_079_304_988_542_015_446_066_515_923_890_162_744_021_073_123_829_784_752n

/** RFC 8032 section 5.1.3, step 3: a square root of u ∕ v, which is never a division by zero on this curve. */
function rootOf(u: bigint, v: bigint): bigint | undefined {
  const v3 = mod(v * v * v)
  const root = mod(u * v3 * power(mod(u * v3 * v3 * v)))
  const square = mod(v * root * root)
  if (square === u) return root
  return square === mod(-u) ? mod(root * ROOT_OF_MINUS_ONE) : undefined
}

type Point = readonly [x: bigint, y: bigint]

/** RFC 8032 section 5.1.3, with every encoding refused that is not the only one of its point. */
function decode(bytes: Uint8Array): Point | undefined {
  if (bytes.length !== 32) return undefined
  const number = bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
  const y = number & (2n ** 255n - 1n)
  const isOdd = number >> 255n
  if (y >= P) return undefined
  const root = rootOf(mod(y * y - 1n), mod(D * y * y + 1n))
  if (root === undefined || (root === 0n && isOdd === 1n)) return undefined
  const x = (root & 1n) === isOdd ? root : P - root
  return [x, y]
}

/** Of the same curve as v² = u³ + A·u² + u (RFC 7748 section 4.1): u = (1 + y) ∕ (1 − y), v = C·u ∕ x. */
const A = 486_662n
/** A square root of −(A + 2). */
const C = 6_853_475_219_497_561_581_579_357_271_197_624_642_482_790_079_785_650_197_046_958_215_289_687_604_742n
/** A square root of A + 2: (1, S) is a point of order 4, and the line through it that touches the curve is v = S·u. */
const S = 9_094_040_566_125_962_849_133_224_048_217_411_091_405_536_248_825_867_518_642_941_381_412_595_940_312n
const HALF = (P + 1n) / 2n

/**
 * Whether the point is of order L, that is eight times another: there are 8 · L points, and those of small order are the
 * multiples of one. A check by multiplication takes 252 doublings; this one three to four powers, by halving (T. Pornin,
 * "Point-Halving and Subgroup Membership in Twisted Edwards Curves", 2022).
 *
 * Twice a point is what two isogenies of degree 2 make of it, to v² = u³ − 2A·u² + (A² − 4)·u and back. The way back is open from where u is
 * a square, and the way there from where one of the two points that lead to the same is: their u multiply to A² − 4, which is none.
 * What was halved is four times another where (v − S·u)² ∕ u is a fourth power: Tate's pairing with (1, S).
 */
function isOfOrderL([x, y]: Point): boolean {
  const n = mod(1n - y * y)
  const scale = mod((1n - y) * x)
  // Nothing is a square root of 1 ∕ 0, which it would be for the identity and the point of order 2.
  const perX = rootOf(1n, mod(n * scale * scale))
  if (perX === undefined) return false
  // w² = u, and v ∕ w.
  const wPerX = mod(n * perX)
  const w = mod(wPerX * x)
  const middle = A + 2n * w * w
  const side = 2n * C * wPerX
  const z = rootOf(mod(middle - side), 1n) ?? rootOf(mod(middle + side), 1n)
  if (z === undefined) return false
  // Other signs give the opposite, or the sum with the point of order 2, which is four times another itself.
  const half = mod((z * z - A - 2n * w * z) * HALF)
  const pairing = mod(half * (z - S) * (z - S))
  const root = power(pairing)
  return mod(root * root * pairing) === 1n
}

/** Canonical, not the identity, and of the prime-order group. */
export function isPrimeOrderPoint(bytes: Uint8Array): boolean {
  const point = decode(bytes)
  return point !== undefined && isOfOrderL(point)
}
