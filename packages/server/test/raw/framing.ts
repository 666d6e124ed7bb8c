import {
  AGENTS,
  broken,
  framed,
  get,
  HOST,
  JSON_TYPE,
  KEY,
  ME,
  post,
  type RawCase,
  raw,
  refused,
  served,
  VALID,
} from './case.ts'

// Where one request ends and the next begins: whatever two programs could disagree about is refused, and ends the connection.

const LENGTH = VALID.length
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const chunked = (body: string, ...headers: string[]): string => framed(['Transfer-Encoding: chunked', ...headers], body)
const smuggled = `GET ${ME} HTTP/1.1\r\n${HOST}\r\n\r\n`

const contentLengths: readonly RawCase[] = [
  ['two equal', [`Content-Length: ${LENGTH}`, `Content-Length: ${LENGTH}`]],
  ['two different', ['Content-Length: 5', `Content-Length: ${LENGTH}`]],
  ['a list of equal ones', [`Content-Length: ${LENGTH}, ${LENGTH}`]],
  ['a negative one', ['Content-Length: -1']],
  ['one with a plus', [`Content-Length: +${LENGTH}`]],
  ['a hexadecimal one', ['Content-Length: 0x1f']],
  ['an exponent', ['Content-Length: 3e1']],
  ['a fraction', ['Content-Length: 31.0']],
  ['words', ['Content-Length: many']],
  ['an empty one', ['Content-Length: ']],
  ['one with a space inside', ['Content-Length: 3 1']],
  ['one with an underscore', ['Content-Length: 3_1']],
  ['one beyond 64 bits', ['Content-Length: 18446744073709551647']],
  ['one of 40 digits', [`Content-Length: ${'9'.repeat(40)}`]],
  ['one with a NUL', [`Content-Length: ${LENGTH}\0`]],
  ['one in full-width digits', ['Content-Length: \xef\xbc\x91']],
  ['one in quotes', [`Content-Length: "${LENGTH}"`]],
  ['one with a semicolon', [`Content-Length: ${LENGTH};`]],
].map(([name, headers]) => broken(`Content-Length: ${name}`, framed(headers as string[], VALID)))

const transferEncodings: readonly RawCase[] = [
  ['with Content-Length after it', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
  ['with Content-Length before it', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
  ['with Content-Length: 0', ['Content-Length: 0', 'Transfer-Encoding: chunked']],
  ['identity', ['Transfer-Encoding: identity']],
  ['identity with a length', ['Transfer-Encoding: identity', `Content-Length: ${LENGTH}`]],
  ['gzip', ['Transfer-Encoding: gzip']],
  ['gzip, chunked', ['Transfer-Encoding: gzip, chunked']],
  ['chunked, identity', ['Transfer-Encoding: chunked, identity']],
  ['chunked, chunked', ['Transfer-Encoding: chunked, chunked']],
  ['two headers', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
  ['two headers, the second unknown', ['Transfer-Encoding: chunked', 'Transfer-Encoding: cow']],
  ['two headers, the first unknown', ['Transfer-Encoding: cow', 'Transfer-Encoding: chunked']],
  ['xchunked', ['Transfer-Encoding: xchunked']],
  ['chunked in quotes', ['Transfer-Encoding: "chunked"']],
  ['chunked with a parameter', ['Transfer-Encoding: chunked;q=1']],
  ['a vertical tab before chunked', ['Transfer-Encoding: \x0bchunked']],
  ['an empty one', ['Transfer-Encoding: ']],
  ['a space before the colon', ['Transfer-Encoding : chunked']],
  ['a tab before the colon', ['Transfer-Encoding\t: chunked']],
  ['folded onto the next line', ['Transfer-Encoding:', ' chunked']],
].map(([name, headers]) =>
  broken(`Transfer-Encoding: ${name}`, framed(headers as string[], `${chunk(VALID)}0\r\n\r\n`)),
)

const chunks: readonly RawCase[] = [
  broken('chunk: a negative size', chunked(`-1\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a size with 0x', chunked(`0x1f\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a size of 17 digits', chunked(`00000000000000001f\r\n${VALID}\r\n0\r\n\r\n`.replace('00', 'ff'))),
  broken('chunk: no size', chunked(`\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a size with a space before it', chunked(` 1f\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a size that is no number', chunked(`zz\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a bare LF after the size', chunked(`1f\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a bare CR after the size', chunked(`1f\r${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: longer than its size', chunked(`5\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a bare LF after the data', chunked(`1f\r\n${VALID}\n0\r\n\r\n`)),
  broken('chunk: a NUL in an extension', chunked(`1f;a=\0\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a bare LF in an extension', chunked(`1f;a\nb\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a bare CR in an extension', chunked(`1f;a\rb\r\n${VALID}\r\n0\r\n\r\n`)),
  broken('chunk: a NUL in a trailer', chunked(`${chunk('{}')}0\r\nx: \0\r\n\r\n`)),
  broken('chunk: a trailer without a colon', chunked(`${chunk('{}')}0\r\nx\r\n\r\n`)),
  broken('chunk: ended in the middle by the client', chunked('1f\r\n{"na'), { half: true }),
  refused('chunk: 20 kB of extensions', chunked(`1f;${'a'.repeat(20_000)}\r\n`), 413, 'payload_too_large', {
    closes: true,
  }),
  refused(
    'chunk: a trailer cannot bring a credential',
    raw(
      `POST ${AGENTS} HTTP/1.1`,
      [HOST, JSON_TYPE, 'Transfer-Encoding: chunked'],
      `${chunk(VALID)}0\r\n${KEY}\r\n\r\n`,
    ),
    401,
    'missing_machine_auth',
  ),
  refused('chunk: more than the route takes, in one', chunked(chunk('x'.repeat(70_000))), 413, 'payload_too_large', {
    closes: true,
  }),
  refused(
    'chunk: more than the route takes, in many',
    chunked(chunk('x'.repeat(1000)).repeat(70)),
    413,
    'payload_too_large',
    { closes: true },
  ),
  refused('chunk: an empty body', chunked('0\r\n\r\n'), 400, 'invalid_json'),
  refused('chunk: not JSON', chunked(`${chunk('{')}0\r\n\r\n`), 400, 'invalid_json'),
  refused(
    'chunk: one byte each, and refused for its content',
    chunked(`${[...'{"name":1}'].map(chunk).join('')}0\r\n\r\n`),
    400,
    'validation_failed',
  ),
  refused(
    'chunk: on HTTP/1.0',
    raw(`POST ${AGENTS} HTTP/1.0`, [HOST, KEY, JSON_TYPE, 'Transfer-Encoding: chunked'], `${chunk(VALID)}0\r\n\r\n`),
    400,
    'bad_request',
    { closes: true },
  ),
]

const lines: readonly RawCase[] = [
  broken('bare LF instead of CRLF', get(ME).replaceAll('\r\n', '\n')),
  broken('bare LF after the request line', get(ME).replace('\r\n', '\n')),
  broken('bare CR after the request line', get(ME).replace('\r\n', '\r')),
  broken('bare LF between two headers', raw(`GET ${ME} HTTP/1.1`, [`${HOST}\n${KEY}`])),
  broken('bare CR inside a header', get(ME, 'X-A: a\rX-B: b')),
  broken('CR CR LF after a header', get(ME, 'X-A: a\r')),
  broken('LF CR after a header', raw(`GET ${ME} HTTP/1.1`, [`${HOST}\n\r${KEY}`])),
  broken('a folded header', get(ME, 'X-A: a', ' b')),
  broken('a header folded with a tab', get(ME, 'X-A: a', '\tb')),
  broken('a first header that begins with a space', raw(`GET ${ME} HTTP/1.1`, [` ${HOST}`, KEY])),
  broken('a header without a colon', get(ME, 'nonsense')),
  broken('a header without a name', get(ME, ': value')),
  broken('a header name with a space', get(ME, 'X A: b')),
  broken('a space before the colon', get(ME, 'X-A : b')),
  broken('a header name with a NUL', get(ME, 'X\0A: b')),
  broken('a header name with a byte above ASCII', get(ME, 'X\xe9: b')),
  broken('a header name in brackets', get(ME, '[X]: b')),
  broken('a header value with a NUL', get(ME, 'X-A: a\0b')),
  broken('a header value with a control character', get(ME, 'X-A: a\x01b')),
  broken('a header value with DEL', get(ME, 'X-A: a\x7fb')),
  broken('a header value with an escape', get(ME, 'X-A: \x1b[31m')),
  served('a header value with a tab', get(ME, 'X-A: a\tb')),
  served('a header value of Latin-1', get(ME, 'X-A: \xe9\xff')),
  served('an empty header value', get(ME, 'X-A:')),
  served('a header without a space after the colon', get(ME, 'X-A:b')),
  served('one empty line before the request', `\r\n${get(ME)}`),
]

const bodies: readonly RawCase[] = [
  refused('a body shorter than its length, then ended', framed(['Content-Length: 100'], VALID), 400, 'bad_request', {
    half: true,
    closes: true,
  }),
  {
    name: 'no length and no coding: what follows is no body',
    text: framed([], VALID),
    status: [400],
    code: 'invalid_json',
    closes: true,
  },
  {
    name: 'a body longer than its length: the rest is no request',
    text: framed(['Content-Length: 2'], '{}garbage \r\n\r\n'),
    status: [400, 400],
    code: 'bad_request',
    closes: true,
  },
  refused('GET with a body', raw(`GET ${ME} HTTP/1.1`, [HOST, KEY, 'Content-Length: 2'], '{}'), 400, 'bad_request'),
  refused(
    'GET with a body that is a request',
    raw(`GET ${ME} HTTP/1.1`, [HOST, KEY, `Content-Length: ${smuggled.length}`], smuggled),
    400,
    'bad_request',
  ),
  refused(
    'GET with a chunked body',
    raw(`GET ${ME} HTTP/1.1`, [HOST, KEY, 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    400,
    'bad_request',
  ),
  served('GET with Content-Length: 0', get(ME, 'Content-Length: 0')),
  refused(
    'DELETE with a body',
    raw(
      'DELETE /api/v1/platform/session/ses_1 HTTP/1.1',
      [HOST, 'Authorization: Bearer {TOKEN}', JSON_TYPE, 'Content-Length: 7'],
      '{"a":1}',
    ),
    400,
    'validation_failed',
  ),
  refused(
    'DELETE with an empty object is read on, as without',
    raw(
      'DELETE /api/v1/platform/session/ses_1 HTTP/1.1',
      [HOST, 'Authorization: Bearer {TOKEN}', JSON_TYPE, 'Content-Length: 2'],
      '{}',
    ),
    404,
    'session_not_found',
  ),
  refused(
    'DELETE with a chunked body',
    raw(
      'DELETE /api/v1/platform/session/ses_1 HTTP/1.1',
      [HOST, 'Authorization: Bearer {TOKEN}', JSON_TYPE, 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ),
    400,
    'validation_failed',
  ),
  ...['[]', 'null', '0', '""', '{"a":1}', '{"a":{}}'].map((body) =>
    refused(
      `where the route takes no body: ${body}`,
      raw(
        `POST ${AGENTS}/{AGENT}/regenerate-api-key HTTP/1.1`,
        [HOST, KEY, JSON_TYPE, `Content-Length: ${body.length}`],
        body,
      ),
      400,
      'validation_failed',
    ),
  ),
  refused(
    'PATCH with a body where the route takes none',
    raw(`PATCH ${AGENTS}/{AGENT}/archive HTTP/1.1`, [HOST, KEY, JSON_TYPE, 'Content-Length: 7'], '{"a":1}'),
    400,
    'validation_failed',
  ),
  ...['{}', ' { }\r\n'].map((body) =>
    refused(
      `where the route takes no body, an empty object is read on as without: ${JSON.stringify(body)}`,
      raw(
        `POST ${AGENTS}/agt_0000000000000000000000/regenerate-api-key HTTP/1.1`,
        [HOST, KEY, JSON_TYPE, `Content-Length: ${body.length}`],
        body,
      ),
      404,
      'agent_not_found',
    ),
  ),
  refused(
    'an empty object in another coat where the route takes no body',
    raw(
      `POST ${AGENTS}/agt_0000000000000000000000/regenerate-api-key HTTP/1.1`,
      [HOST, KEY, 'Content-Type: text/plain', 'Content-Length: 2'],
      '{}',
    ),
    415,
    'unsupported_media_type',
  ),
  refused(
    '10 MB announced to a route of 64 kB: refused by its length',
    framed(['Content-Length: 10000000'], 'x'.repeat(1000)),
    413,
    'payload_too_large',
    { closes: true },
  ),
  refused('one byte more than 64 kB', post(`"${'x'.repeat(65_535)}"`), 413, 'payload_too_large'),
  refused('exactly 64 kB', post(`"${'x'.repeat(65_534)}"`), 400, 'validation_failed'),
  refused(
    '10 MB announced by a stranger',
    raw(`POST ${AGENTS} HTTP/1.1`, [HOST, JSON_TYPE, 'Content-Length: 10000000'], 'x'),
    401,
    'missing_machine_auth',
    { closes: true },
  ),
  refused(
    '10 MB announced where there is no route',
    raw('POST /nowhere HTTP/1.1', [HOST, JSON_TYPE, 'Content-Length: 10000000'], 'x'),
    404,
    'route_not_found',
    { closes: true },
  ),
  refused(
    '10 MB announced to GET',
    raw(`GET ${ME} HTTP/1.1`, [HOST, KEY, 'Content-Length: 10000000'], 'x'),
    400,
    'bad_request',
    { closes: true },
  ),
  refused(
    '5 MB announced to a route of 4 MB',
    raw(
      'POST /api/v1/platform/user-key/rotate HTTP/1.1',
      [HOST, 'Authorization: Bearer {TOKEN}', JSON_TYPE, 'Content-Length: 5000000'],
      '{',
    ),
    413,
    'payload_too_large',
    { closes: true },
  ),
]

export const framing: readonly RawCase[] = [...contentLengths, ...transferEncodings, ...chunks, ...lines, ...bodies]
