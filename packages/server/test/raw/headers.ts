import { AGENTS, broken, get, getBare, HOST, KEY, ME, post, type RawCase, raw, refused, served, VALID } from './case.ts'

// Credentials, names of the server, and what callers say about themselves.

const bare = (...headers: string[]): string => raw(`GET ${ME} HTTP/1.1`, [HOST, ...headers])
const none = (name: string, ...headers: string[]): RawCase =>
  refused(name, bare(...headers), 401, 'missing_machine_auth')
const wrong = (name: string, ...headers: string[]): RawCase => refused(name, bare(...headers), 401, 'unauthorized')
const wrongKey = (name: string, ...headers: string[]): RawCase =>
  refused(name, bare(...headers), 401, 'invalid_api_key')

const keys: readonly RawCase[] = [
  none('no credential'),
  none('a cookie is no credential', 'Cookie: apiKey={KEY}; session={TOKEN}'),
  none('a proxy credential is none', 'Proxy-Authorization: Bearer {TOKEN}'),
  none('a key under another name', 'X-Auth-Key: {KEY}'),
  none('a key with an underscore in the name', 'X_API_KEY: {KEY}'),
  wrong('a key as bearer', 'Authorization: Bearer {KEY}'),
  wrongKey('a token as key', 'X-API-Key: {TOKEN}'),
  wrongKey('an empty key', 'X-API-Key:'),
  wrongKey('a key with a byte too many', 'X-API-Key: {KEY}x'),
  wrongKey('a key in lower case', 'X-API-Key: {KEY_LOWER}'),
  wrongKey(
    'a key with a wrong check',
    'X-API-Key: sra_00000000000000000000.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA000000',
  ),
  wrongKey('a key in quotes', 'X-API-Key: "{KEY}"'),
  wrongKey('a key with a scheme', 'X-API-Key: Bearer {KEY}'),
  wrongKey('a key and a comma', 'X-API-Key: {KEY},'),
  wrongKey('two keys in one header', 'X-API-Key: {KEY}, {KEY}'),
  wrongKey('a key with a tab inside', 'X-API-Key: sra_0000000000\t0000000000.x'),
  wrongKey('a key of 7 kB', `X-API-Key: ${'x'.repeat(7000)}`),
  wrongKey('a key with bytes above ASCII', 'X-API-Key: \xff\xfe'),
  wrongKey('half of a key', 'X-API-Key: sra_00000000000000000000'),
  wrongKey('a key with two dots', 'X-API-Key: sra_00000000000000000000..x'),
  wrong('the same key twice', KEY, KEY),
  wrong('a wrong key after a right one', KEY, 'X-API-Key: wrong'),
  wrong('a right key after a wrong one', 'X-API-Key: wrong', KEY),
  served('a key with spaces around it', bare('X-API-Key:   {KEY}  ')),
  served('a key under a name in capitals', bare('X-API-KEY: {KEY}')),
  served('a key under a name in lower case', bare('x-api-key: {KEY}')),
]

const tokens: readonly RawCase[] = [
  served('a token', bare('Authorization: Bearer {TOKEN}')),
  ...[
    'bearer {TOKEN}',
    'BEARER {TOKEN}',
    'Bearer  {TOKEN}',
    'Bearer\t{TOKEN}',
    'Bearer{TOKEN}',
    'Bearer',
    'Bearer ',
    '{TOKEN}',
    'Bearer {TOKEN} x',
    'Bearer {TOKEN},',
    'Bearer "{TOKEN}"',
    'Bearer: {TOKEN}',
    'Token {TOKEN}',
    'Basic {TOKEN}',
    'Basic dXNlcjpwYXNz',
    'Digest username="x"',
    'Negotiate x',
    'ApiKey {KEY}',
    'Bearer null',
    'Bearer undefined',
    'Bearer eyJhbGciOiJub25lIn0.e30.',
    'Bearer srt_',
    'Bearer srt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'Bearer {TOKEN}, Bearer {TOKEN}',
    '',
  ].map((value) => wrong(`Authorization: ${JSON.stringify(value)}`, `Authorization: ${value}`)),
  wrong('the same token twice', 'Authorization: Bearer {TOKEN}', 'Authorization: Bearer {TOKEN}'),
  wrong('a wrong token after a right one', 'Authorization: Bearer {TOKEN}', 'Authorization: Bearer x'),
  wrong('a right token after a wrong one', 'Authorization: Bearer x', 'Authorization: Bearer {TOKEN}'),
  wrong('a key and a token', KEY, 'Authorization: Bearer {TOKEN}'),
  wrong('a key and an empty Authorization', KEY, 'Authorization:'),
  wrong('a token and an empty key', 'Authorization: Bearer {TOKEN}', 'X-API-Key:'),
  wrong(
    'two device ids',
    'Authorization: Bearer {TOKEN}',
    'X-Device-Installation-Id: a',
    'X-Device-Installation-Id: b',
  ),
  refused(
    'a token where only agents may call',
    raw('GET /api/v1/machine/agent/me HTTP/1.1', [HOST, 'Authorization: Bearer {TOKEN}']),
    403,
    'agent_principal_required',
  ),
  refused(
    'a key where only people may call',
    raw('GET /api/v1/platform/session HTTP/1.1', [HOST, KEY]),
    403,
    'key_kind_refused',
  ),
]

const host = (...values: string[]): string =>
  raw(`GET ${ME} HTTP/1.1`, [...values.map((value) => `Host: ${value}`), KEY])
const hosts: readonly RawCase[] = [
  ...[
    'evil.example',
    'localhost.evil.example',
    'evil.example#localhost',
    'localhost@evil.example',
    'user@localhost',
    'localhost:x',
    'localhost:99999999',
    'localhost:80:80',
    'localhost.',
    'localhost/',
    'http://localhost',
    '127.0.0.1.nip.io',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0.0.0.0',
    '::1',
    '[::1',
    '[::ffff:127.0.0.1]',
    'localhost, evil.example',
    'evil.example, localhost',
    '*',
    '',
    'localhost\tevil',
    'local host',
    'xn--localhost',
    '\xc4\xb1ocalhost',
  ].map((value) => refused(`Host: ${JSON.stringify(value)}`, host(value), 421, 'wrong_host')),
  ...['localhost', 'LOCALHOST', 'localhost:8420', '127.0.0.1', '127.0.0.1:1', '[::1]', '[::1]:8420'].map((value) =>
    served(`Host: ${value}`, host(value)),
  ),
  refused('two equal hosts', host('localhost', 'localhost'), 400, 'bad_request'),
  refused('two hosts', host('localhost', 'evil.example'), 400, 'bad_request'),
  refused(
    'a foreign host at the liveness check',
    raw('GET /healthz HTTP/1.1', ['Host: evil.example']),
    421,
    'wrong_host',
  ),
  refused(
    'a foreign host where there is no route',
    raw('GET /nowhere HTTP/1.1', ['Host: evil.example']),
    421,
    'wrong_host',
  ),
  refused(
    'a foreign host that is said to be forwarded',
    raw(`GET ${ME} HTTP/1.1`, ['Host: evil.example', 'X-Forwarded-Host: localhost', KEY]),
    421,
    'wrong_host',
  ),
]

const sayings: readonly RawCase[] = [
  served(
    'what a proxy would say changes nothing',
    get(
      ME,
      'X-Forwarded-For: 10.0.0.1',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: evil.example',
      'X-Real-IP: 10.0.0.1',
      'Forwarded: for=10.0.0.1;host=evil.example',
      'X-Original-URL: /metrics',
      'X-Rewrite-URL: /metrics',
    ),
  ),
  none('another path in a header is not served', 'X-Original-URL: /healthz', 'X-Rewrite-URL: /healthz'),
  refused(
    'metrics for a scraper on this machine only, and not through a proxy',
    getBare('/metrics', 'X-Forwarded-For: 10.0.0.1'),
    404,
    'route_not_found',
  ),
  served('a request id of the caller is not ours', get(ME, 'X-Request-Id: req_0000000000000000000000')),
  served('a request id with an injection', get(ME, 'X-Request-Id: a%0d%0aSet-Cookie:x=1')),
  broken('a request id with a line break', get(ME, 'X-Request-Id: a\nSet-Cookie: x=1')),
  ...[
    'garbage',
    '00-00000000000000000000000000000000-0000000000000000-00',
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7',
    '',
    'x'.repeat(2000),
    '00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01',
  ].map((value) => served(`traceparent: ${value.slice(0, 20)}`, get(ME, `traceparent: ${value}`))),
  served('two traceparents', get(ME, 'traceparent: a', 'traceparent: b')),
  served('Accept of something else', get(ME, 'Accept: text/html')),
  served('Accept-Encoding gives no compression', get(ME, 'Accept-Encoding: gzip, br')),
  served('If-None-Match gives no 304', get(ME, 'If-None-Match: *')),
  served('Range gives no part', get(ME, 'Range: bytes=0-1')),
  served('a user agent of 2 kB', get(ME, `User-Agent: ${'x'.repeat(2000)}`)),
  served('a user agent with a script', get(ME, 'User-Agent: <script>alert(1)</script>')),
]

const idempotency = (...values: string[]): string => post(VALID, ...values.map((value) => `Idempotency-Key: ${value}`))
const keysOnce: readonly RawCase[] = [
  ...['', 'a b', 'a\tb', 'x'.repeat(256), 'x'.repeat(5000), '\xff', '\xc3\xa9'].map((value) =>
    refused(
      `Idempotency-Key: ${JSON.stringify(value.slice(0, 10))} of ${value.length}`,
      idempotency(value),
      400,
      'validation_failed',
    ),
  ),
  refused('two Idempotency-Keys', idempotency('a', 'b'), 400, 'bad_request'),
  ...['0', '-1', '1.5', '01', '+1', '1e3', '0x10', 'x', '', '9'.repeat(16), '1, 2', '1 2'].map((value) =>
    refused(`Tlog-Have: ${JSON.stringify(value)}`, get(ME, `Tlog-Have: ${value}`), 400, 'validation_failed'),
  ),
  refused('two Tlog-Haves', get(ME, 'Tlog-Have: 1', 'Tlog-Have: 1'), 400, 'bad_request'),
  served('Tlog-Have where nothing is proven', get(ME, 'Tlog-Have: 999999999999999')),
]

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `X-${i}: ${i}`)
const amounts: readonly RawCase[] = [
  served('64 headers', get(ME, ...many(62))),
  refused('65 headers', get(ME, ...many(63)), 431, 'headers_too_large'),
  refused('300 headers', get(ME, ...many(300)), 431, 'headers_too_large'),
  refused(
    'a credential after 64 headers',
    raw(`GET ${ME} HTTP/1.1`, [HOST, ...many(70), KEY]),
    431,
    'headers_too_large',
  ),
  refused(
    'a second credential after 64 headers',
    get(ME, ...many(70), 'Authorization: Bearer {TOKEN}'),
    431,
    'headers_too_large',
  ),
  refused('a header of 16 kB', get(ME, `X-A: ${'x'.repeat(16_000)}`), 431, 'headers_too_large', { closes: true }),
  refused('a header name of 16 kB', get(ME, `X-${'a'.repeat(16_000)}: x`), 431, 'headers_too_large', { closes: true }),
  refused(
    'headers of 9 kB in all',
    get(ME, ...Array.from({ length: 9 }, (_, i) => `X-${i}: ${'x'.repeat(1000)}`)),
    431,
    'headers_too_large',
    { closes: true },
  ),
  refused('5,000 headers', get(ME, ...many(5000)), 431, 'headers_too_large', { closes: true }),
  served('headers of 7 kB in all', get(ME, ...Array.from({ length: 7 }, (_, i) => `X-${i}: ${'x'.repeat(1000)}`))),
]

const expecting = (value: string, length = VALID.length): string =>
  raw(
    `POST ${AGENTS} HTTP/1.1`,
    [HOST, KEY, 'Content-Type: application/json', `Content-Length: ${length}`, `Expect: ${value}`],
    '',
  )
const expectations: readonly RawCase[] = [
  ...['200-ok', '100-continue, 200-ok', 'x', '', '100'].map((value) =>
    refused(`Expect: ${JSON.stringify(value)}`, get(ME, `Expect: ${value}`), 417, 'expectation_failed'),
  ),
  refused('two expectations', get(ME, 'Expect: 100-continue', 'Expect: 100-continue'), 400, 'bad_request'),
  served('Expect without a body is answered at once', get(ME, 'Expect: 100-continue'), { closes: true }),
  refused(
    'Expect with a body that is too large: no 100',
    expecting('100-continue', 10_000_000),
    413,
    'payload_too_large',
    { closes: true },
  ),
  refused(
    'Expect by a stranger: no 100',
    raw(`POST ${AGENTS} HTTP/1.1`, [
      HOST,
      'Content-Type: application/json',
      'Content-Length: 31',
      'Expect: 100-continue',
    ]),
    401,
    'missing_machine_auth',
    { closes: true },
  ),
  refused(
    'Expect with a foreign type: no 100',
    raw(`POST ${AGENTS} HTTP/1.1`, [
      HOST,
      KEY,
      'Content-Type: text/plain',
      'Content-Length: 31',
      'Expect: 100-continue',
    ]),
    415,
    'unsupported_media_type',
    { closes: true },
  ),
  refused(
    'Expect where there is no route: no 100',
    raw('POST /nowhere HTTP/1.1', [HOST, 'Content-Length: 31', 'Expect: 100-continue']),
    404,
    'route_not_found',
    { closes: true },
  ),
  {
    name: 'Expect with a body that is due: 100, then the answer',
    text: `${expecting('100-continue', 2)}{}`,
    status: [100, 400],
    code: 'validation_failed',
  },
]

export const headers: readonly RawCase[] = [
  ...keys,
  ...tokens,
  ...hosts,
  ...sayings,
  ...keysOnce,
  ...amounts,
  ...expectations,
]
