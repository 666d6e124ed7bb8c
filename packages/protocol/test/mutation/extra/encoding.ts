import { fromBase32 } from '../../../src/encoding/base64.ts'
import { fromHex, utf8 } from '../../../src/encoding/bytes.ts'
import { canonicalText, MAX_DEPTH, MAX_DOCUMENT_BYTES, parseStrict } from '../../../src/encoding/canonical.ts'
import { lp } from '../../../src/encoding/lp.ts'
import { extra } from '../extra-case.ts'

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

/** Section 2: bytes and canonical JSON, on the writing side and in the corners no answer reaches. */
export const ENCODING = [
  extra('base32-letter', 'malformed', () => fromBase32('!aaaaaaa')),
  extra('base32-left-over-bits', 'malformed', () => fromBase32('ab')),
  extra('integer-below-zero', 'malformed', () => lp('label', -1)),
  extra('text-with-half-a-character', 'malformed', () => lp('label', '\ud800')),
  extra('hex-letter', 'malformed', () => fromHex('zz')),
  extra('json-half-a-character', 'malformed', () => canonicalText('\ud800')),
  extra('json-fraction', 'malformed', () => canonicalText(1.5)),
  extra('json-undefined', 'malformed', () => canonicalText(undefined)),
  extra('json-too-deep', 'limit_exceeded', () => canonicalText(nested(MAX_DEPTH + 1))),
  extra('json-key', 'malformed', () => canonicalText({ 'a-b': 1 })),
  extra('json-too-large', 'limit_exceeded', () => parseStrict(new Uint8Array(MAX_DOCUMENT_BYTES + 1))),
  extra('json-broken', 'malformed', () => parseStrict(utf8('{')), 'a document is not JSON'),
]
