// Section 2.1: whether 32 bytes are the canonical encoding of a point that can be an Ed25519 key. Public bytes only, so nothing
// here needs to take the same time for all of them. The curve library could say it too, at ten times the size of this file's
// whole package in a page that has Ed25519 of its own; the tests hold the two against each other.

const P = 2n ** 255n - 19n
/** The order of the group that keys are of. */
const L = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n
/** −121665 ∕ 121666 */
const D = 37_095_705_934_669_439_343_138_083_508_754_565_189_542_113_879_843_219_016_388_785_533_085_940_283_555n

const mod = (value: bigint): bigint => {
  const rest = value % P
  return rest < 0n ? rest + P : rest
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let square = base, left = exponent; left > 0n; left >>= 1n, square = mod(square * square))
    if (left & 1n) result = mod(result * square)
  return result
}

/** 2^((p − 1) ∕ 4) */
const ROOT_OF_MINUS_ONE =
  19_681_161_376_707_505_956_807_079_304_988_542_015_446_066_515_923_890_162_744_021_073_123_829_784_752n

/** RFC 8032 section 5.1.3, step 3: a square root of u ∕ v, which is never a division by zero on this curve. */
function rootOf(u: bigint, v: bigint): bigint | undefined {
  const v3 = mod(v * v * v)
  const root = mod(u * v3 * power(mod(u * v3 * v3 * v), (P - 5n) / 8n))
  const square = mod(v * root * root)
  if (square === u) return root
  return square === mod(-u) ? mod(root * ROOT_OF_MINUS_ONE) : undefined
}

/** Extended coordinates: x = X ∕ Z, y = Y ∕ Z, x · y = T ∕ Z. */
type Point = readonly [x: bigint, y: bigint, z: bigint, t: bigint]

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
  return [x, y, 1n, mod(x * y)]
}

/** RFC 8032 section 5.1.4: right for all points of this curve, also for a point and itself. */
function add([x1, y1, z1, t1]: Point, [x2, y2, z2, t2]: Point): Point {
  const a = mod((y1 - x1) * (y2 - x2))
  const b = mod((y1 + x1) * (y2 + x2))
  const c = mod(2n * D * t1 * t2)
  const d = mod(2n * z1 * z2)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}

/** The same for a point and itself, with less work: dbl-2008-hwcd. Most of what `times` does. */
function double([x, y, z]: Point): Point {
  const a = mod(x * x)
  const b = mod(y * y)
  const e = mod((x + y) * (x + y)) - a - b
  const g = b - a
  const f = g - mod(2n * z * z)
  const h = -a - b
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}

const IDENTITY: Point = [0n, 1n, 1n, 0n]
const isIdentity = ([x, y, z]: Point): boolean => x === 0n && y === z

function times(scalar: bigint, point: Point): Point {
  let result = IDENTITY
  for (let doubled = point, left = scalar; left > 0n; left >>= 1n, doubled = double(doubled))
    if (left & 1n) result = add(result, doubled)
  return result
}

/** Canonical, not the identity, and of the prime-order group. */
export function isPrimeOrderPoint(bytes: Uint8Array): boolean {
  const point = decode(bytes)
  return point !== undefined && !isIdentity(point) && isIdentity(times(L, point))
}
