// Seen red: no comparison with the input; no depth limit when reading or when writing; keys not sorted; keys of any form; -0,
// fractions and negative numbers written; lone surrogates written; escapes not seen while depth is counted; no size limit.
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { concat, fromHex, utf8 } from '../../src/encoding/bytes.ts'
import { canonical, canonicalText, MAX_DEPTH, MAX_DOCUMENT_BYTES, parseStrict } from '../../src/encoding/canonical.ts'
import { codeOf } from './refused.ts'

afterEach(() => vi.restoreAllMocks())
const refusal = (text: string): string => codeOf(() => parseStrict(utf8(text)))

describe('parseStrict', () => {
  it.each([
    ['a duplicate key', '{"a":1,"a":1}'],
    ['another order of keys', '{"b":1,"a":1}'],
    ['white space', '{"a": 1}'],
    ['a fraction that is whole', '{"a":1.0}'],
    ['an exponent', '{"a":1e2}'],
    ['an escape that is not needed', '{"a":"\\u0061"}'],
    ['an escaped lone surrogate', '{"a":"\\ud800"}'],
    ['minus zero', '{"a":-0}'],
    ['an integer over 2^53', '{"a":9007199254740993}'],
  ])('refuses %s (the nine of section 2.3)', (_, text) => {
    expect(refusal(text)).toBe('malformed')
  })

  it.each([
    ['nothing', ''],
    ['a byte order mark', '\ufeff{}'],
    ['something after the end', '{}x'],
    ['a newline after the end', '{}\n'],
    ['two documents', '{}{}'],
    ['a negative number', '-1'],
    ['a fraction', '0.5'],
    ['2^53 itself', '9007199254740992'],
    ['a leading zero', '01'],
    ['a bare word', 'NaN'],
    ['a comment', '/**/1'],
    ['a trailing comma', '[1,]'],
    ['an upper-case escape', '"\\u001F"'],
    ['a long escape for a short one', '"\\u000a"'],
    ['an escaped slash', '"\\/"'],
    ['a raw control character', '"\u0001"'],
    ['a key with a dash', '{"a-b":1}'],
    ['an empty key', '{"":1}'],
    ['a key that starts with a digit', '{"1":1}'],
    ['a key of 33 characters', `{"${'a'.repeat(33)}":1}`],
    ['the key __proto__', '{"__proto__":{"polluted":1}}'],
    ['a key outside of ASCII', '{"é":1}'],
  ])('refuses %s', (_, text) => {
    expect(refusal(text)).toBe('malformed')
  })

  it('refuses bytes that are not UTF-8, a raw surrogate among them', () => {
    expect(codeOf(() => parseStrict(fromHex('22ff22')))).toBe('malformed')
    expect(codeOf(() => parseStrict(fromHex('22eda08022')))).toBe('malformed')
  })

  it('changes no prototype, whatever the keys', () => {
    refusal('{"__proto__":{"polluted":true}}')
    refusal('{"constructor":{"prototype":{"polluted":true}}}')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    const parsed = parseStrict(utf8('{"constructor":1,"toString":2}'))
    expect(Object.entries(parsed as object)).toEqual([
      ['constructor', 1],
      ['toString', 2],
    ])
  })

  it('takes text as it is: the composed and the decomposed form of a letter are two documents', () => {
    expect(parseStrict(utf8('"\u00e9"'))).toBe('\u00e9')
    expect(parseStrict(utf8('"e\u0301"'))).toBe('e\u0301')
  })

  it.each([
    ['the largest integer', '9007199254740991', Number.MAX_SAFE_INTEGER],
    ['zero', '0', 0],
    ['null', 'null', null],
    ['an astral character', '"\u{1f600}"', '\u{1f600}'],
    ['line separators', '"\u2028\u2029"', '\u2028\u2029'],
    ['a key of 32 characters', `{"${'a'.repeat(32)}":[]}`, { ['a'.repeat(32)]: [] }],
    ['the empty list and the empty object', '[[],{}]', [[], {}]],
  ])('accepts %s', (_, text, value) => {
    expect(parseStrict(utf8(text))).toEqual(value)
  })

  it('accepts a document of exactly 1 MiB and refuses one more byte as too large', () => {
    const filled = (length: number) => utf8(`"${'a'.repeat(length - 2)}"`)
    expect(codeOf(() => parseStrict(filled(MAX_DOCUMENT_BYTES)))).toBe('accepted')
    expect(codeOf(() => parseStrict(filled(MAX_DOCUMENT_BYTES + 1)))).toBe('limit_exceeded')
  })

  it('accepts 16 levels and refuses 17', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(MAX_DEPTH).toBe(16)
    expect(refusal(nested(16))).toBe('accepted')
    expect(refusal(nested(17))).toBe('limit_exceeded')
    expect(refusal(`${'{"a":'.repeat(17)}1${'}'.repeat(17)}`)).toBe('limit_exceeded')
  })

  it.each([
    ['closed arrays', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['open arrays', '['.repeat(1_000_000)],
    ['open objects', '{"a":'.repeat(200_000)],
    ['objects and arrays by turns', '[{"a":'.repeat(170_000)],
    ['arrays after a string of brackets', `["]]]]\\"]",${'['.repeat(500_000)}`],
  ])('refuses a bomb of %s as too deep before JSON.parse sees it', (_, bomb) => {
    const parse = vi.spyOn(JSON, 'parse')
    expect(refusal(bomb)).toBe('limit_exceeded')
    expect(parse).not.toHaveBeenCalled()
  })

  it('does not count brackets inside strings, escaped quotes included', () => {
    const text = `"${'[{'.repeat(50)}\\"${'['.repeat(50)}\\\\"`
    expect(refusal(`[${text},${text}]`)).toBe('accepted')
  })
})

/** Any value of the subset, with strings that need care. */
const { value: subset } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false),
    fc.maxSafeNat(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('"', '\\', '\b\t\n\f\r', '\u0000\u001f\u007f', '\u2028', '\ud7ff\ue000', '\u{10ffff}'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{0,31}$/), tie('value'), { maxKeys: 5 }),
  ),
}))

describe('canonical', () => {
  it('writes what an independent implementation of RFC 8785 writes', () => {
    fc.assert(
      fc.property(subset, (value) => {
        expect(canonicalText(value)).toBe(canonicalize(value))
      }),
      { numRuns: 500 },
    )
  })

  it('writes what parseStrict reads back', () => {
    fc.assert(
      fc.property(subset, (value) => {
        expect(parseStrict(canonical(value))).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  it('has one byte form for one value: every change of a byte makes another value or none', () => {
    fc.assert(
      fc.property(subset, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, place, mask) => {
        const bytes = canonical(value)
        const at = place % bytes.length
        const altered = concat(bytes)
        altered[at] = (bytes[at] as number) ^ mask
        const code = codeOf(() => expect(parseStrict(altered)).not.toEqual(value))
        expect(['accepted', 'malformed', 'limit_exceeded']).toContain(code)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['a fraction', 0.5],
    ['a negative number', -1],
    ['minus zero', -0],
    ['2^53', 2 ** 53],
    ['not a number', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['undefined', undefined],
    ['a big integer', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a hole in a list', [1, undefined]],
    ['an undefined member', { a: undefined }],
    ['a lone surrogate', '\udc00'],
    ['a lone surrogate in a list', ['ok', '\ud800x']],
    ['a key that is not allowed', { 'a b': 1 }],
    ['an own key __proto__', JSON.parse('{"__proto__":1}')],
  ])('refuses to write %s', (_, value) => {
    expect(codeOf(() => canonical(value))).toBe('malformed')
  })

  it('refuses to write 17 levels, and a value that contains itself', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
    expect(codeOf(() => canonical(nested(16)))).toBe('accepted')
    expect(codeOf(() => canonical(nested(17)))).toBe('limit_exceeded')
    const loop: unknown[] = []
    loop.push(loop)
    expect(codeOf(() => canonical(loop))).toBe('limit_exceeded')
  })
})
