import { AGENTS, framed, HOST, KEY, type RawCase, raw, refused, VALID } from './case.ts'

// JSON in UTF-8, said exactly so, and not compressed.

const typed = (type: string): string =>
  raw(`POST ${AGENTS} HTTP/1.1`, [HOST, KEY, `Content-Type: ${type}`, `Content-Length: ${VALID.length}`], VALID)

const TYPES = [
  'application/json\ta',
  'application/json a',
  'application/json,',
  'application/json;',
  'application/json; ',
  'application/json, text/plain',
  'text/plain, application/json',
  'application/json; charset=utf-7',
  'application/json; charset=utf-16',
  'application/json; charset=UTF-16LE',
  'application/json; charset=iso-8859-1',
  'application/json; charset=',
  'application/json; charset',
  'application/json; charset="utf-8"',
  'application/json; charset=utf-8; charset=utf-7',
  'application/json; charset=utf-8; x=y',
  'application/json; x=y',
  'application/json; boundary=x',
  'application/json\xa0',
  'application/jsonp',
  'application/json5',
  'application/ld+json',
  'application/problem+json',
  'application/x-ndjson',
  'application/vnd.api+json',
  'text/json',
  'text/plain',
  'text/html',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'multipart/mixed',
  'application/octet-stream',
  'application/*',
  '*/*',
  'json',
  'application',
  '/json',
  'application/',
  '/',
  'application / json',
  'applicati\xf6n/json',
  '"application/json"',
  'undefined',
  'null',
  'application/json\x0b',
  'text/plain;application/json',
  'application/json;charset=utf-8;',
] as const

/** The parser refuses control characters before anybody looks at the type. */
const isControl = (type: string): boolean => type.includes('\x0b')

const coded = (coding: string, body = VALID): string =>
  framed([`Content-Encoding: ${coding}`, `Content-Length: ${body.length}`], body)

/** Ten million zeros, compressed. */
const BOMB = '{BOMB}'

export const mediaTypes: readonly RawCase[] = [
  ...TYPES.map((type) =>
    isControl(type)
      ? refused(`Content-Type: ${JSON.stringify(type)}`, typed(type), 400, 'bad_request', { closes: true })
      : refused(`Content-Type: ${JSON.stringify(type)}`, typed(type), 415, 'unsupported_media_type'),
  ),
  refused(
    'no Content-Type',
    raw(`POST ${AGENTS} HTTP/1.1`, [HOST, KEY, `Content-Length: ${VALID.length}`], VALID),
    415,
    'unsupported_media_type',
  ),
  refused('an empty Content-Type', typed(''), 415, 'unsupported_media_type'),
  refused(
    'two equal Content-Types',
    framed(['Content-Type: application/json', `Content-Length: ${VALID.length}`], VALID),
    400,
    'bad_request',
  ),
  refused(
    'two different Content-Types',
    framed(['Content-Type: text/plain', `Content-Length: ${VALID.length}`], VALID),
    400,
    'bad_request',
  ),
  refused('a type of 5 kB', typed(`application/json; a=${'x'.repeat(5000)}`), 415, 'unsupported_media_type'),
  ...[
    'gzip',
    'x-gzip',
    'deflate',
    'br',
    'zstd',
    'compress',
    'GZIP',
    'identity, gzip',
    'gzip, identity',
    '*',
    'aes128gcm',
  ].map((coding) => refused(`Content-Encoding: ${coding}`, coded(coding), 415, 'unsupported_media_type')),
  refused(
    'two Content-Encodings',
    framed(['Content-Encoding: identity', 'Content-Encoding: gzip', `Content-Length: ${VALID.length}`], VALID),
    400,
    'bad_request',
  ),
  refused('10 MB of zeros in a small compressed body', coded('gzip', BOMB), 415, 'unsupported_media_type'),
  refused(
    'compressed bytes that are not said to be',
    framed([`Content-Length: ${BOMB.length}`], BOMB),
    400,
    'invalid_json',
  ),
]
