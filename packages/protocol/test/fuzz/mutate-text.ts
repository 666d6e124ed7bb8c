import type { Random } from './random.ts'

// Changes of bytes and of text that parsers stumble over: one at a time or a few, on top of something valid.

const INTERESTING_BYTES = [0, 1, 9, 10, 13, 32, 0x22, 0x2c, 0x30, 0x3d, 0x5b, 0x5c, 0x7b, 0x7f, 0x80, 0xc0, 0xed, 0xff]

function spliceBytes(bytes: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length - removed + added.length)
  out.set(bytes.subarray(0, at))
  out.set(added, at)
  out.set(bytes.subarray(at + removed), at + added.length)
  return out
}

type ByteChange = (random: Random, bytes: Uint8Array, others: readonly Uint8Array[]) => Uint8Array

const setByte =
  (value: (random: Random, old: number) => number): ByteChange =>
  (random, bytes) => {
    if (bytes.length === 0) return Uint8Array.of(value(random, 0))
    const out = bytes.slice()
    const at = random.int(out.length)
    out[at] = value(random, out[at] as number)
    return out
  }

const range = (random: Random, length: number): [number, number] => {
  const at = random.int(length + 1)
  return [at, random.once(4) ? random.int(length - at + 1) : Math.min(random.int(8), length - at)]
}

const BYTE_CHANGES: readonly ByteChange[] = [
  setByte((random, old) => old ^ (1 << random.int(8))),
  setByte((random, old) => old ^ (1 << random.int(8))),
  setByte((random) => random.pick(INTERESTING_BYTES)),
  setByte((random) => random.int(256)),
  (random, bytes) => spliceBytes(bytes, random.int(bytes.length + 1), 0, random.bytes(1 + random.int(4))),
  (random, bytes) => spliceBytes(bytes, ...range(random, bytes.length), new Uint8Array(0)),
  (random, bytes) => {
    const [at, length] = range(random, bytes.length)
    return spliceBytes(bytes, at, 0, bytes.slice(at, at + length))
  },
  (random, bytes, others) => {
    const other = random.pick(others)
    const [at, length] = range(random, other.length)
    const [place, removed] = range(random, bytes.length)
    return spliceBytes(bytes, place, removed, other.subarray(at, at + length))
  },
  (random, bytes) => bytes.slice(0, random.int(bytes.length + 1)),
  (random, bytes) => spliceBytes(bytes, bytes.length, 0, random.bytes(random.int(40))),
]

/** One to four changes; a few inputs are random altogether. */
export function mutateBytes(random: Random, bytes: Uint8Array, others: readonly Uint8Array[] = [bytes]): Uint8Array {
  if (random.once(20)) return random.bytes(random.int(200))
  let out = bytes
  for (let left = random.once(2) ? 1 : 1 + random.int(4); left > 0; left--)
    out = random.pick(BYTE_CHANGES)(random, out, others)
  return out
}

/** What is the same to people and not to programs, what ends a line, what has no case, and what is no character. */
export const ODD_CHARACTERS = [
  '\u0000',
  '\t',
  '\n',
  '\r\n',
  '\n\n',
  ' ',
  '\u0085',
  '\u00a0',
  '\u200b',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00',
  '\u{1f600}',
  'é',
  'e\u0301',
  'ı',
  'K',
  'ﬀ',
  '．',
  '０',
  '—',
  '–',
] as const
const SYNTAX = [
  '"',
  '\\',
  '\\u0061',
  '\\ud800',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '=',
  '+',
  '-',
  '_',
  '/',
  '.',
  '$',
  '#',
] as const
const NUMBERS = [
  '0',
  '-0',
  '-1',
  '01',
  '1.0',
  '1e2',
  '1e999',
  '9007199254740991',
  '9007199254740993',
  '4294967296',
] as const
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_='

const spliceText = (text: string, at: number, removed: number, added: string): string =>
  text.slice(0, at) + added + text.slice(at + removed)

type TextChange = (random: Random, text: string, others: readonly string[]) => string

const TEXT_CHANGES: readonly TextChange[] = [
  (random, text) => spliceText(text, random.int(text.length + 1), 1, LETTERS.charAt(random.int(LETTERS.length))),
  (random, text) => spliceText(text, random.int(text.length + 1), 1, LETTERS.charAt(random.int(LETTERS.length))),
  (random, text) => spliceText(text, random.int(text.length + 1), 0, LETTERS.charAt(random.int(LETTERS.length))),
  (random, text) => spliceText(text, random.int(text.length + 1), random.int(2), random.pick(ODD_CHARACTERS)),
  (random, text) => spliceText(text, random.int(text.length + 1), random.int(2), random.pick(SYNTAX)),
  (random, text) => spliceText(text, ...range(random, text.length), ''),
  (random, text) => {
    const [at, length] = range(random, text.length)
    return spliceText(text, at, 0, text.slice(at, at + length))
  },
  (random, text, others) => {
    const other = random.pick(others)
    const [at, length] = range(random, other.length)
    return spliceText(text, ...range(random, text.length), other.slice(at, at + length))
  },
  (random, text) => text.slice(0, random.int(text.length + 1)),
  (random, text) => text + random.pick(ODD_CHARACTERS),
  (random, text) => random.pick(ODD_CHARACTERS) + text,
  (random, text) => replaceDigits(random, text),
  (random, text) => repeatPart(random, text),
  (random, text) => spliceText(text, random.int(text.length + 1), 0, run(random)),
  (random, text) => (random.once(2) ? text.toUpperCase() : text.toLowerCase()),
  (random, text) => duplicateBetween(random, text, random.pick([',', '\n', '-', '.', ' '])),
]

/** Another number in the place of one. */
function replaceDigits(random: Random, text: string): string {
  const from = random.int(text.length + 1)
  const found = /[0-9]+/.exec(text.slice(from, from + 200))
  return found ? spliceText(text, from + found.index, found[0].length, random.pick(NUMBERS)) : text
}

/** What stands between two separators, twice: a duplicate key, line, block or group. */
function duplicateBetween(random: Random, text: string, separator: string): string {
  const parts = text.split(separator)
  const at = random.int(parts.length)
  parts.splice(random.int(parts.length + 1), 0, parts[at] as string)
  return parts.join(separator)
}

/** One character many times over: what a pattern with nested repetition never comes back from. */
function run(random: Random): string {
  const most = random.once(200) ? 30_000 : random.once(20) ? 2000 : 50
  return random
    .pick([...ODD_CHARACTERS, ' ', 'A', '0', '=', '[', '{', '"', '\\', '-', '+', ','])
    .repeat(random.int(most))
}

function repeatPart(random: Random, text: string): string {
  const [at, length] = range(random, text.length)
  const part = text.slice(at, at + Math.min(length, 32))
  const times = random.once(200) ? 20_000 : 1 + random.int(40)
  return spliceText(text, at, 0, part.repeat(times))
}

/** One to four changes; a few inputs are random altogether. */
export function mutateText(random: Random, text: string, others: readonly string[] = [text]): string {
  if (random.once(20)) return randomText(random)
  let out = text
  for (let left = random.once(2) ? 1 : 1 + random.int(4); left > 0; left--)
    out = random.pick(TEXT_CHANGES)(random, out, others)
  return out
}

function randomText(random: Random): string {
  const alphabet = random.pick([LETTERS, '[{', '"\\u0000', '\u2014 \n', String.fromCharCode(...random.bytes(20))])
  return Array.from({ length: random.int(100) }, () => alphabet.charAt(random.int(alphabet.length))).join('')
}
