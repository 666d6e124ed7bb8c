import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/encoding/bytes.ts'
import { canonicalText, parseStrict } from '../../src/encoding/canonical.ts'
import { refusal } from '../log/refusal.ts'
import { hasData, readData } from './data.ts'

// RFC 8785 by others: the test data of its author, and the npm package `canonicalize`.
// Our subset has no floats and no keys but names, so objects of the data are compared as lists of their members.
// Seen red: a newline written as an escape in hex (structures, weird), text normalised (unicode, weird), a number written with
// a fraction (arrays, structures), floats accepted (values), keys left unsorted (the package).

type Pairs = readonly Pairs[] | string | number | boolean | null

/** Objects as lists of key and value, in the order in which canonical JSON has the keys. */
function pairsOf(value: unknown): Pairs {
  if (Array.isArray(value)) return value.map(pairsOf)
  if (typeof value !== 'object' || value === null) return value as Pairs
  const members = value as Record<string, unknown>
  return Object.keys(members)
    .sort()
    .map((key) => [key, pairsOf(members[key])])
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^{}[\]:,"]+/gy

/** The same change in the text itself: no character of a string or a number is touched, and no order is changed. */
function pairsInText(text: string): string {
  const tokens = Array.from(text.matchAll(TOKEN), ([token]) => token)
  const open: string[] = []
  const replace = (token: string, i: number): string => {
    if (token === '{' || token === '[') open.push(token)
    const inObject = open.at(-1) === '{'
    if (token === '}' || token === ']') open.pop()
    if (token === '{') return tokens[i + 1] === '}' ? '[' : '[['
    if (token === '}') return tokens[i - 1] === '{' ? ']' : ']]'
    if (token === ':') return ','
    return token === ',' && inObject ? '],[' : token
  }
  return tokens.map(replace).join('')
}

const VALID = ['arrays', 'french', 'structures', 'unicode', 'weird']

describe.skipIf(!hasData('jcs'))('the test data of RFC 8785', () => {
  it.each(VALID)('%s: strings and numbers are written as its author writes them', (name) => {
    const expected = readData('jcs', 'output', `${name}.json`)
    const input = JSON.parse(readData('jcs', 'input', `${name}.json`))
    expect(canonicalText(pairsOf(input))).toBe(pairsInText(expected))
  })

  it('values: has floats, which we refuse on purpose', async () => {
    expect(await refusal(() => canonicalText(JSON.parse(readData('jcs', 'input', 'values.json'))))).toBe('malformed')
    expect(await refusal(() => parseStrict(utf8(readData('jcs', 'output', 'values.json'))))).toBe('malformed')
  })

  it('is refused as documents, because its keys are no names', async () => {
    for (const name of VALID)
      expect(await refusal(() => parseStrict(utf8(readData('jcs', 'output', `${name}.json`)))), name).toBe('malformed')
  })
})

describe('the package canonicalize', () => {
  const key = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{0,31}$/)
  const leaf = fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeNat(), fc.boolean(), fc.constant(null))
  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { maxDepth: 6 },
      leaf,
      fc.array(tie('document'), { maxLength: 6 }),
      fc.dictionary(key, tie('document'), { maxKeys: 6 }),
    ),
  }))

  it('writes every document of our subset as we do, and we read it back', () => {
    fc.assert(
      fc.property(document, (value) => {
        const text = canonicalText(value)
        expect(canonicalize(value)).toBe(text)
        expect(canonicalText(parseStrict(utf8(text)))).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })
})
