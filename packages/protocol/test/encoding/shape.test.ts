// Seen red: unknown members accepted; inherited members accepted; a hash with wrong last character; sorted lists without
// the check for equal neighbours; bytesText without its length bounds; words with lone surrogates; minus zero.
import { describe, expect, it } from 'vitest'
import {
  bool,
  bytesText,
  hash,
  hashOrNone,
  integer,
  line,
  list,
  literal,
  nullable,
  record,
  risingIntegers,
  type Shape,
  sortedList,
  text,
  words,
} from '../../src/encoding/shape.ts'
import { ProtocolError } from '../../src/errors.ts'
import { codeOf } from './refused.ts'

const accepts = (shape: Shape<unknown>, value: unknown): boolean => {
  const code = codeOf(() => expect(shape(value, 'it')).toEqual(value))
  expect(['accepted', 'malformed']).toContain(code)
  return code === 'accepted'
}
const messageOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof ProtocolError) return error.message
  }
  return 'accepted'
}

const HASH = 'A'.repeat(43)
/** What JSON.parse can give, one of each type. */
const ONE_OF_EACH = [null, true, 1, 'a', [], {}] as const

it.each([
  ['text', text(), 'a'],
  ['words', words(10), 'a'],
  ['integer', integer(), 1],
  ['bool', bool, true],
  ['literal', literal('a', 'b'), 'a'],
  ['hash', hash, undefined],
  ['bytesText', bytesText(0, 10), undefined],
  ['list', list(bool, 3), []],
  ['record', record({}), {}],
] as const)('%s accepts its own type and refuses every other', (_, shape, own) => {
  for (const value of ONE_OF_EACH) expect(accepts(shape, value)).toBe(JSON.stringify(value) === JSON.stringify(own))
})

describe('text and words', () => {
  it('holds a text to its pattern and its length', () => {
    expect(accepts(text(/^[a-z]+$/, 3), 'abc')).toBe(true)
    expect(accepts(text(/^[a-z]+$/, 3), 'abcd')).toBe(false)
    expect(accepts(text(/^[a-z]+$/, 3), 'AB')).toBe(false)
    expect(accepts(text(/^[a-z]+$/, 5), 'abc\n')).toBe(false)
    expect(accepts(text(), 'a'.repeat(4096))).toBe(true)
    expect(accepts(text(), 'a'.repeat(4097))).toBe(false)
  })

  it('lets people write any Unicode up to the limit, but no lone surrogate', () => {
    expect(accepts(words(3), 'é\u{1f600}')).toBe(true)
    expect(accepts(words(3), 'é\u{1f600}e')).toBe(false)
    expect(accepts(words(3), '\ud83d')).toBe(false)
    expect(accepts(words(3), '')).toBe(true)
  })

  it('of one line has no control characters', () => {
    for (const bad of ['\u0000', 'a\nb', 'a\rb', '\u001b[0m', '\u007f', '\u0085'])
      expect(accepts(line(10), bad)).toBe(false)
    for (const good of ['', 'a b', 'é\u{1f600}', '\u00a0']) expect(accepts(line(10), good)).toBe(true)
    expect(accepts(line(3), 'abcd')).toBe(false)
  })
})

it.each([
  [integer(), 0, true],
  [integer(), Number.MAX_SAFE_INTEGER, true],
  [integer(), 2 ** 53, false],
  [integer(), -1, false],
  [integer(), -0, false],
  [integer(), 1.5, false],
  [integer(), Number.NaN, false],
  [integer(), '1', false],
  [integer(1, 5), 0, false],
  [integer(1, 5), 5, true],
  [integer(1, 5), 6, false],
])('holds integers to their range (case %#)', (shape, value, accepted) => {
  expect(accepts(shape, value)).toBe(accepted)
})

it('takes a literal only in its own type', () => {
  expect(accepts(literal(3), 3)).toBe(true)
  expect(accepts(literal(3), '3')).toBe(false)
  expect(accepts(literal('a', 'b'), 'c')).toBe(false)
})

it('lets null through where it is allowed, and nowhere else', () => {
  expect(accepts(nullable(integer()), null)).toBe(true)
  expect(accepts(nullable(integer()), 1)).toBe(true)
  expect(accepts(nullable(integer()), 'null')).toBe(false)
})

describe('hash', () => {
  it('accepts 43 characters of base64url whose last one has no bits left over', () => {
    expect(accepts(hash, HASH)).toBe(true)
    for (const last of 'AEIMQUYcgkosw048') expect(accepts(hash, HASH.slice(1) + last)).toBe(true)
    for (const last of 'BCDabz19-_') expect(accepts(hash, HASH.slice(1) + last)).toBe(false)
    for (const other of ['', HASH.slice(1), `${HASH}A`, `${HASH.slice(1)}=`, HASH.replace('A', '+'), `${HASH}\n`])
      expect(accepts(hash, other)).toBe(false)
  })

  it('may be none only where that is allowed', () => {
    expect(accepts(hashOrNone, '')).toBe(true)
    expect(accepts(hashOrNone, HASH)).toBe(true)
    expect(accepts(hashOrNone, 'A')).toBe(false)
  })
})

it('holds bytes in text to canonical base64url and to their length', () => {
  const shape = bytesText(2, 3)
  expect(['AQ', 'AQI', 'AQID', 'AQIDBA'].map((value) => accepts(shape, value))).toEqual([false, true, true, false])
  expect(['AQJ', 'AQI=', 'AQ I', 'AQ+/'].map((value) => accepts(shape, value))).toEqual([false, false, false, false])
})

describe('lists', () => {
  it('are held to their length and to the shape of each entry, and say which entry is wrong', () => {
    const shape = list(integer(), 3)
    expect(accepts(shape, [1, 2, 3])).toBe(true)
    expect(accepts(shape, [1, 2, 3, 4])).toBe(false)
    expect(messageOf(() => shape([1, 'x'], 'numbers'))).toBe('numbers[1] is not an integer in range')
    expect(accepts(shape, { length: 0 })).toBe(false)
  })

  it('are sorted by their key, strictly, where the shape says so', () => {
    const shape = sortedList(record({ id: text() }), 4, (entry) => entry.id)
    const ids = (...values: string[]) => values.map((id) => ({ id }))
    expect(accepts(shape, ids('A', 'B', 'a', 'b'))).toBe(true)
    expect(accepts(shape, ids('a', 'A'))).toBe(false)
    expect(accepts(shape, ids('a', 'a'))).toBe(false)
    expect(accepts(shape, ids('a', 'b', 'b'))).toBe(false)
    expect(accepts(shape, ids('a', 'c', 'b', 'd'))).toBe(false)
    expect(accepts(shape, ids('a', 'b', 'c', 'd', 'e'))).toBe(false)
  })

  it('of leaf indexes rise strictly', () => {
    expect(accepts(risingIntegers(4), [0, 1, 9, 2 ** 40])).toBe(true)
    expect(accepts(risingIntegers(4), [1, 1])).toBe(false)
    expect(accepts(risingIntegers(4), [2, 1])).toBe(false)
    expect(accepts(risingIntegers(4), [0, 1, 2, 3, 4])).toBe(false)
  })
})

describe('record', () => {
  const shape = record({ a: integer(), b: text() }, { c: bool })

  it('accepts exactly the required members, with or without the optional ones', () => {
    expect(accepts(shape, { a: 1, b: 'x' })).toBe(true)
    expect(accepts(shape, { a: 1, b: 'x', c: true })).toBe(true)
  })

  it.each([
    ['a member too few', { a: 1 }, 'it.b is not present'],
    ['a member too many', { a: 1, b: 'x', d: 1 }, 'it is not free of unknown members'],
    ['an optional member of the wrong type', { a: 1, b: 'x', c: 1 }, 'it.c is not true or false'],
    ['a required member of the wrong type', { a: '1', b: 'x' }, 'it.a is not an integer in range'],
    ['an own member __proto__', JSON.parse('{"a":1,"b":"x","__proto__":{}}'), 'it is not free of unknown members'],
    ['a list', [1, 'x'], 'it is not an object'],
    ['null', null, 'it is not an object'],
  ])('refuses %s, and says where', (_, value, message) => {
    expect(messageOf(() => shape(value, 'it'))).toBe(message)
  })

  it('takes no member from a prototype', () => {
    expect(accepts(shape, Object.create({ a: 1, b: 'x' }))).toBe(false)
    expect(accepts(shape, Object.assign(Object.create({ a: 1 }), { b: 'x', more: 1 }))).toBe(false)
    expect(accepts(record({ toString: text() }), {})).toBe(false)
    expect(accepts(record({}, { constructor: text() }), {})).toBe(true)
  })

  it('names the place of a wrong member however deep it lies', () => {
    const deep = record({ x: list(record({ y: nullable(integer()) }), 9) })
    expect(messageOf(() => deep({ x: [{ y: null }, { y: 'z' }] }, 'doc'))).toBe('doc.x[1].y is not an integer in range')
  })
})
