// Section 2.1: whether 32 bytes are the canonical encoding of a point that can be an Ed25519 key. Public bytes only, so nothing
// here needs to take the same time for all of them. The curve library could say it too, at ten times the size of this file's
// whole package in a page that has Ed25519 of its own; the tests hold the two against each other.

const P = 2n ** 255n - 19n
/** The order of the group that keys are of. */
const L = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n
/** Below the highest one. */
const BITS_OF_L = L.toString(2).slice(1)
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

const isIdentity = ([x, y]: Point): boolean => x === 0n && y === 1n

/**
 * Whether L times the point is the identity, in extended coordinates: x = X ∕ Z, y = Y ∕ Z, x · y = T ∕ Z. From the highest bit of
 * L down, doubled by dbl-2008-hwcd and added to by madd-2008-hwcd-3, both right for all points of this curve. What is between
 * two reductions fits in 1024 bits: to reduce costs more than to multiply.
 */
function isOfOrderL(point: Point): boolean {
  let [x, y] = point
  let z = 1n
  const less = y - x
  const more = y + x
  const scaled = mod(2n * D * x * y)
  for (let i = 0; i < BITS_OF_L.length; i += 1) {
    const a = x * x
    const b = y * y
    const e = 2n * x * y
    const g = b - a
    const f = g - 2n * z * z
    const h = -a - b
    x = (e * f) % P
    y = (g * h) % P
    z = (f * g) % P
    if (BITS_OF_L[i] === '0') continue
    const low = (y - x) * less
    const high = (y + x) * more
    const c = ((e * h) % P) * scaled
    const d = 2n * z
    x = ((high - low) * (d - c)) % P
    y = ((d + c) * (high + low)) % P
    z = ((d - c) * (d + c)) % P
  }
  return x === 0n && mod(y - z) === 0n
}

/** Canonical, not the identity, and of the prime-order group. */
export function isPrimeOrderPoint(bytes: Uint8Array): boolean {
  const point = decode(bytes)
  return point !== undefined && !isIdentity(point) && isOfOrderL(point)
}
