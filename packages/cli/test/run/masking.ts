import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { maskersOf } from '../../src/run/mask.ts'

// Random values in random forms between random bytes, cut into random chunks: what comes out must be exactly what went in, with the
// name in place of each value. `npm run test:masking` does it a million times and more.

export interface MaskingOptions {
  readonly seed: number
  readonly cases: number
}

/** mulberry32: small, and the same everywhere for one seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

const FORMS: Readonly<Record<string, (value: Buffer) => Buffer>> = {
  raw: (value) => value,
  base64: (value) => Buffer.from(value.toString('base64')),
  base64url: (value) => Buffer.from(value.toString('base64url')),
  hex: (value) => Buffer.from(value.toString('hex')),
  HEX: (value) => Buffer.from(value.toString('hex').toUpperCase()),
  url: (value) => Buffer.from(encodeURIComponent(value.toString())),
  json: (value) => Buffer.from(JSON.stringify(value.toString()).slice(1, -1)),
}
const FORM_NAMES = Object.keys(FORMS)

/** Letters that no form of a value begins or goes on with: what is around a value cannot become part of one. */
const AROUND = Buffer.from([0x00, 0x01, 0x09, 0x0a, 0x20, 0x21, 0x23, 0x80, 0xc3, 0xff, 0xfe, 0xe2])
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/+=:@$&"\\é漢\n']

type Random = ReturnType<typeof randomOf>

function randomValue(random: Random): Buffer {
  const length = 8 + random(40)
  let text = ''
  while (text.length < length) text += LETTERS[random(LETTERS.length)]
  return Buffer.from(text)
}

const noise = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: random(12) }, () => AROUND[random(AROUND.length)] ?? 0))

interface Case {
  readonly text: Buffer
  readonly expected: Buffer
}

function caseOf(random: Random, values: readonly (readonly [string, Buffer])[]): Case {
  const text: Buffer[] = [noise(random)]
  const expected: Buffer[] = [...text]
  for (let i = 1 + random(3); i > 0; i -= 1) {
    const [name, value] = values[random(values.length)] as readonly [string, Buffer]
    const form = FORMS[FORM_NAMES[random(FORM_NAMES.length)] ?? 'raw'] as (value: Buffer) => Buffer
    // A separator that is in no alphabet of a form, so that two neighbours stay two.
    const after = Buffer.concat([Buffer.from([0x01]), noise(random)])
    text.push(form(value), after)
    expected.push(Buffer.from(`‹${name}›`), after)
  }
  return { text: Buffer.concat(text), expected: Buffer.concat(expected) }
}

function inChunks(random: Random, text: Buffer, take: (chunk: Buffer) => void): void {
  const most = 1 + random(16)
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + random(most)
    take(text.subarray(at, end))
    at = end
  }
}

export interface MaskingResult {
  readonly cases: number
  /** What went wrong, as much as helps to find it. */
  readonly failures: readonly string[]
}

const SAME_VALUES = 50
const MOST_SHOWN = 5

export function checkMasking({ seed, cases }: MaskingOptions): MaskingResult {
  const random = randomOf(seed)
  const failures: string[] = []
  let values: readonly (readonly [string, Buffer])[] = []
  let make = maskersOf(() => values)
  for (let i = 0; i < cases; i += 1) {
    if (i % SAME_VALUES === 0) {
      values = Array.from({ length: 1 + random(4) }, (_, n) => [`S${n}`, randomValue(random)] as const)
      make = maskersOf(() => values)
    }
    const { text, expected } = caseOf(random, values)
    const masker = make()
    const shown: Buffer[] = []
    inChunks(random, text, (chunk) => shown.push(masker.write(chunk)))
    shown.push(masker.end())
    const result = Buffer.concat(shown)
    if (!result.equals(expected) && failures.length < MOST_SHOWN)
      failures.push(`case ${i}: ${result.toString('latin1')} is not ${expected.toString('latin1')}`)
    else if (!result.equals(expected)) failures.push(`case ${i}`)
  }
  return { cases, failures }
}

const [, script, given] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  const seed = Number(given ?? randomInt(2 ** 31))
  const { cases, failures } = checkMasking({ seed, cases: 1_000_000 })
  console.log(
    `masking: ${cases} random chunkings over ${FORM_NAMES.length} forms, ${failures.length} failures, seed ${seed}`,
  )
  for (const failure of failures.slice(0, MOST_SHOWN)) console.log(failure)
  process.exitCode = failures.length > 0 ? 1 : 0
}
