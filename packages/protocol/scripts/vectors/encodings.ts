import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { hex, lp, type Part, sha256, utf8 } from './reference.ts'

// Sections 2.2 and 2.3: LP, and the strict subset of canonical JSON.

type Notation = { readonly text: string } | { readonly integer: number } | { readonly bytes: string }
const partOf = (notation: Notation): Part =>
  'text' in notation ? notation.text : 'integer' in notation ? notation.integer : Buffer.from(notation.bytes, 'hex')

const text = (value: string): Notation => ({ text: value })
const integer = (value: number): Notation => ({ integer: value })
const bytes = (value: string): Notation => ({ bytes: value })

function lpCase(name: string, label: string, ...parts: readonly Notation[]): VectorCase {
  return accepts('encode', name, { label, parts }, { hex: hex(lp(label, ...parts.map(partOf))) })
}

export const makeLp = (): VectorFile => ({
  vectors: 'lp',
  section: '2.2',
  comment: 'LP(label, p1..pn) = u32be(n+1) ‖ u32be(len label) ‖ label ‖ Σ (u32be(len pi) ‖ pi); integers are u64be.',
  cases: [
    lpCase('the example of the specification', 'vault.v3/item-key', ...['org_acme', 'vlt_prod', 'itm_db'].map(text), {
      integer: 1,
    }),
    lpCase('a label alone', 'vault.v3/asset-hash'),
    lpCase('an empty label', ''),
    lpCase('empty parts', 'x', text(''), bytes(''), text('')),
    lpCase('one part where the case after it has two', 'x', text('ab')),
    lpCase('two parts where the case before it has one', 'x', text('a'), text('b')),
    lpCase('text beyond ASCII', 'x', text('Schlüssel 🔑 中')),
    lpCase('bytes that are no text', 'x', bytes('00ff80fe')),
    lpCase('an integer and the bytes it is written as are the same part', 'x', integer(1), bytes('0000000000000001')),
    ...[0, 255, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1].map((value) =>
      lpCase(`the integer ${value}`, 'x', integer(value)),
    ),
    refuses('encode', 'a negative integer', 'malformed', { label: 'x', parts: [integer(-1)] }),
    refuses('encode', 'an integer above 2^53-1', 'malformed', { label: 'x', parts: [integer(2 ** 53)] }),
    refuses('encode', 'a number that is no integer', 'malformed', { label: 'x', parts: [integer(1.5)] }),
  ],
})

const parses = (name: string, json: string): VectorCase =>
  accepts('parse', name, { bytes: { utf8: json } }, { value: JSON.parse(json) })
const serialises = (name: string, value: unknown, json: string): VectorCase =>
  accepts('serialise', name, { json: JSON.stringify(value) }, { text: json })
const refusesText = (name: string, json: string, code: 'malformed' | 'limit_exceeded' = 'malformed'): VectorCase =>
  refuses('parse', name, code, { bytes: { utf8: json } })
const refusesBytes = (name: string, value: string): VectorCase => refuses('parse', name, 'malformed', { bytes: value })

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

const canonicalCases: readonly VectorCase[] = [
  parses('a document', '{"at":1767225600000,"by":"user:ou_1","list":[1,true,false,null],"v":3}'),
  parses('the largest integer', '[9007199254740991]'),
  parses('nothing but null', 'null'),
  parses('empty containers', '{"a":[],"b":{}}'),
  parses('text beyond ASCII, unescaped', '["é€😀\u2028"]'),
  parses('characters that must be escaped', '["\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f"]'),
  parses('keys in the order of their code units', '{"A":1,"B":2,"a":3,"aA":4,"aa":5}'),
  parses('nesting of 16 levels', nested(16)),
  parses('brackets in text do not nest', `["${'['.repeat(40)}"]`),
  parses('decomposed text stays decomposed', '["e\u0301"]'),
  serialises('sorts keys', { b: 1, a: [2, { d: 3, c: 4 }] }, '{"a":[2,{"c":4,"d":3}],"b":1}'),
  serialises('escapes as little as RFC 8785 allows', '/\u007f\u2028"', '"/\u007f\u2028\\""'),
  refuses('serialise', 'a fraction', 'malformed', { json: JSON.stringify([1.5]) }),
  refuses('serialise', 'a negative number', 'malformed', { json: JSON.stringify(-1) }),
  refuses('serialise', 'an integer above 2^53-1', 'malformed', { json: JSON.stringify(2 ** 53) }),
  refuses('serialise', 'a key with a slash', 'malformed', { json: JSON.stringify({ 'a/b': 1 }) }),
  refuses('serialise', 'nesting of 17 levels', 'limit_exceeded', { json: JSON.stringify(JSON.parse(nested(17))) }),
]

/** The nine of the specification, in its order. */
const nineRejects: readonly VectorCase[] = [
  refusesText('reject 1: a duplicate key', '{"a":1,"a":1}'),
  refusesText('reject 2: keys in another order', '{"b":1,"a":2}'),
  refusesText('reject 3: white space', '{"a": 1}'),
  refusesText('reject 4: 1.0', '[1.0]'),
  refusesText('reject 5: 1e2', '[1e2]'),
  refusesText('reject 6: an escape that is not needed', '["\\u0061"]'),
  refusesText('reject 7: a lone surrogate', '["\\ud800"]'),
  refusesText('reject 8: -0', '[-0]'),
  refusesText('reject 9: an integer above 2^53-1', '[9007199254740993]'),
]

const furtherRejects: readonly VectorCase[] = [
  refusesText('a fraction', '[0.5]'),
  refusesText('a negative integer', '[-1]'),
  refusesText('2^53', '[9007199254740992]'),
  refusesText('a leading zero', '[01]'),
  refusesText('a number beyond doubles', '[1e400]'),
  refusesText('a newline at the end', '{}\n'),
  refusesText('a byte order mark', '\ufeff{}'),
  refusesText('nothing', ''),
  refusesText('text after the document', '{}{}'),
  refusesText('a cut document', '{"a":'),
  refusesText('a trailing comma', '[1,]'),
  refusesText('a comment', '[1/**/]'),
  refusesText('NaN', '[NaN]'),
  refusesText('an escape in upper case where lower case is canonical', '["\\u001F"]'),
  refusesText('a slash that is escaped', '["\\/"]'),
  refusesText('a surrogate pair written as escapes', '["\\ud83d\\ude00"]'),
  refusesText('the key __proto__', '{"__proto__":{}}'),
  refusesText('an empty key', '{"":1}'),
  refusesText('a key that begins with a digit', '{"1a":1}'),
  refusesText('a key with a dot', '{"a.b":1}'),
  refusesText('a key of 33 characters', `{"${'a'.repeat(33)}":1}`),
  refusesBytes('bytes that are not UTF-8', '5b22ff225d'),
  refusesBytes('an overlong encoding', '5b22c1a1225d'),
  refusesBytes('a surrogate encoded in UTF-8', '5b22eda080225d'),
  refusesBytes('UTF-16', hex(Buffer.from('[1]', 'utf16le'))),
  refusesText('nesting of 17 levels', nested(17), 'limit_exceeded'),
  refuses('parse', 'more than 1 MiB', 'limit_exceeded', { bytes: { repeat: '20', count: 1_048_577 } }),
  refuses('parse', 'a hundred thousand brackets', 'limit_exceeded', { bytes: { repeat: '5b', count: 100_000 } }),
]

export const makeJcsStrict = (): VectorFile => ({
  vectors: 'jcs-strict',
  section: '2.3',
  comment:
    'Bytes that are exactly the canonical JSON of their content, and nothing else. RFC 8785 without floats and signs.',
  cases: [
    ...canonicalCases,
    accepts(
      'parse',
      'a key of 32 characters',
      { bytes: { utf8: `{"${'a'.repeat(32)}":1}` } },
      {
        value: { ['a'.repeat(32)]: 1 },
      },
    ),
    accepts(
      'roundtrip',
      'exactly 1 MiB',
      { bytes: ['22', { repeat: '61', count: 1_048_574 }, '22'] },
      {
        sha256: hex(sha256(utf8(`"${'a'.repeat(1_048_574)}"`))),
      },
    ),
    ...nineRejects,
    ...furtherRejects,
  ],
})
