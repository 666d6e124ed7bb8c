import { AGENTS, broken, get, HOST, KEY, ME, type RawCase, raw, refused, served } from './case.ts'

// The first line: method, target and version.

const target = (text: string, ...headers: string[]): string => raw(`GET ${text} HTTP/1.1`, [HOST, KEY, ...headers])
const method = (name: string, path = ME): string => raw(`${name} ${path} HTTP/1.1`, [HOST, KEY])

const UNKNOWN_METHODS = ['get', 'Get', 'gET', 'FOO', 'GETT', 'BREW', 'VERSION-CONTROLL', 'X'] as const
const OTHER_METHODS = [
  'OPTIONS',
  'TRACE',
  'PUT',
  'DELETE',
  'PATCH',
  'POST',
  'PROPFIND',
  'MKCOL',
  'LOCK',
  'PURGE',
  'SEARCH',
  'QUERY',
  'M-SEARCH',
  'REPORT',
  'LINK',
  'ACL',
  'SUBSCRIBE',
] as const

const methods: readonly RawCase[] = [
  ...UNKNOWN_METHODS.map((name) =>
    refused(`the method ${name} is unknown`, method(name), 405, 'method_not_allowed', { closes: true }),
  ),
  ...OTHER_METHODS.map((name) => refused(`${name} on a path that knows GET`, method(name), 405, 'method_not_allowed')),
  refused('HEAD has no body', method('HEAD'), 405, 'method_not_allowed', { isHead: true }),
  refused('HEAD where there is no route', method('HEAD', '/nowhere'), 404, 'route_not_found', { isHead: true }),
  refused('HEAD that is refused for its host', raw(`HEAD ${ME} HTTP/1.1`, ['Host: evil.example']), 421, 'wrong_host', {
    isHead: true,
  }),
  refused(
    'OPTIONS as a browser asks across origins',
    raw(`OPTIONS ${AGENTS} HTTP/1.1`, [
      HOST,
      'Origin: https://evil.example',
      'Access-Control-Request-Method: POST',
      'Access-Control-Request-Headers: x-api-key',
    ]),
    405,
    'method_not_allowed',
  ),
  served('a cross-origin GET gets no permission to be read', get(ME, 'Origin: https://evil.example')),
  refused('TRACE does not echo', method('TRACE', AGENTS), 405, 'method_not_allowed'),
  refused('a known method where there is no route', method('PROPFIND', '/nowhere'), 404, 'route_not_found'),
  refused('an unknown method where there is no route', method('FOO', '/nowhere'), 404, 'route_not_found', {
    closes: true,
  }),
  refused('POST to the liveness check', method('POST', '/healthz'), 405, 'method_not_allowed'),
  refused('POST to the reference', method('POST', '/docs'), 405, 'method_not_allowed'),
  refused('POST to a path only this machine may know', method('POST', '/metrics'), 404, 'route_not_found'),
  refused('DELETE on an item that knows GET and PATCH', method('DELETE', `${AGENTS}/agt_1`), 405, 'method_not_allowed'),
  refused(
    'X-HTTP-Method-Override changes nothing',
    raw(`GET ${AGENTS}/nobody HTTP/1.1`, [
      HOST,
      KEY,
      'X-HTTP-Method-Override: DELETE',
      'X-Method-Override: DELETE',
      'X-HTTP-Method: DELETE',
    ]),
    404,
    'agent_not_found',
  ),
  refused('CONNECT with an authority', raw('CONNECT localhost:443 HTTP/1.1', [HOST]), 400, 'bad_request', {
    closes: true,
  }),
  refused('CONNECT with a path', raw(`CONNECT ${ME} HTTP/1.1`, [HOST]), 405, 'method_not_allowed', { closes: true }),
  broken('a method with a NUL', method('GE\0T')),
  broken('a method with a control character', method('GET\x01')),
  broken('a method of 10 kB', method('A'.repeat(7000))),
  broken('no method', raw(` ${ME} HTTP/1.1`, [HOST, KEY])),
  served('two spaces after the method', raw(`GET  ${ME} HTTP/1.1`, [HOST, KEY])),
  broken('a tab after the method', raw(`GET\t${ME} HTTP/1.1`, [HOST, KEY])),
]

const targets: readonly RawCase[] = [
  refused('absolute form, own host', target(`http://localhost${ME}`), 400, 'bad_request'),
  refused('absolute form, foreign host', target(`http://evil.example${ME}`), 400, 'bad_request'),
  refused('absolute form, https', target(`https://localhost${ME}`), 400, 'bad_request'),
  refused('absolute form with user information', target(`http://user:pass@localhost${ME}`), 400, 'bad_request'),
  refused('absolute form of another scheme', target('file:///etc/passwd'), 400, 'bad_request'),
  broken('authority form', target('localhost:80')),
  refused('the asterisk with OPTIONS', raw('OPTIONS * HTTP/1.1', [HOST]), 400, 'bad_request'),
  refused('the asterisk with GET', target('*'), 400, 'bad_request'),
  broken('no target', raw('GET HTTP/1.1', [HOST])),
  broken('an empty target', raw('GET  HTTP/1.1', [HOST])),
  broken('a relative target', target('api/v1/machine/me')),
  broken('a target that is a query', target('?x=1')),
  broken('a space in the target', target(`${ME} x`)),
  broken('a tab in the target', target(`${ME}\tx`)),
  broken('a NUL in the target', target(`${ME}\0`)),
  broken('DEL in the target', target(`${ME}\x7f`)),
  refused('a fragment in the target', target(`${ME}#x`), 400, 'bad_request'),
  refused('a fragment that is a query', target(`${ME}#?x=1`), 400, 'bad_request'),
  refused('bytes above ASCII in the path', target(`${ME}\xc3\xa9`), 400, 'bad_request'),
  refused('bytes above ASCII in the query', target(`${ME}?x=\xc3\xa9`), 400, 'bad_request'),
  refused('a URL of 2,049 characters', target(`/${'x'.repeat(2048)}`), 414, 'uri_too_long'),
  refused('a URL of 2,048 characters', target(`/${'x'.repeat(2047)}`), 404, 'route_not_found'),
  refused('a URL of 7,000 characters', target(`/${'x'.repeat(6999)}`), 414, 'uri_too_long'),
  refused('a URL of 9,000 characters', target(`/${'x'.repeat(9000)}`), 431, 'headers_too_large', { closes: true }),
  refused('a URL of 1 MB', target(`/${'x'.repeat(1_000_000)}`), 431, 'headers_too_large', { closes: true }),
]

const versions: readonly RawCase[] = [
  served('HTTP/1.0 is served and ended', raw(`GET ${ME} HTTP/1.0`, [HOST, KEY]), { closes: true }),
  refused('HTTP/1.0 without a host', raw(`GET ${ME} HTTP/1.0`, [KEY]), 421, 'wrong_host', { closes: true }),
  refused('HTTP/1.1 without a host', raw(`GET ${ME} HTTP/1.1`, [KEY]), 400, 'bad_request'),
  broken('HTTP/0.9', `GET ${ME}\r\n`, { half: true }),
  broken('HTTP/0.9 with headers', raw(`GET ${ME}`, [HOST, KEY])),
  broken('HTTP/0.9 by its number', raw(`GET ${ME} HTTP/0.9`, [HOST, KEY])),
  broken('HTTP/1.2', raw(`GET ${ME} HTTP/1.2`, [HOST, KEY])),
  refused('HTTP/2.0 by its number', raw(`GET ${ME} HTTP/2.0`, [HOST, KEY]), 400, 'bad_request'),
  broken('HTTP/3.0', raw(`GET ${ME} HTTP/3.0`, [HOST, KEY])),
  broken('HTTP/9.9', raw(`GET ${ME} HTTP/9.9`, [HOST, KEY])),
  broken('HTTP/01.1', raw(`GET ${ME} HTTP/01.1`, [HOST, KEY])),
  broken('HTTP/1.10', raw(`GET ${ME} HTTP/1.10`, [HOST, KEY])),
  broken('HTTP/11', raw(`GET ${ME} HTTP/11`, [HOST, KEY])),
  broken('http/1.1', raw(`GET ${ME} http/1.1`, [HOST, KEY])),
  broken('HTPP/1.1', raw(`GET ${ME} HTPP/1.1`, [HOST, KEY])),
  broken('ICE/1.0', raw(`GET ${ME} ICE/1.0`, [HOST, KEY])),
  refused('RTSP', raw('DESCRIBE rtsp://localhost/x RTSP/1.0', [HOST]), 400, 'bad_request', { closes: true }),
  refused('RTSP with a path of ours', raw(`DESCRIBE ${ME} RTSP/1.0`, [HOST, KEY]), 400, 'bad_request', {
    closes: true,
  }),
  served('RTSP/1.0 with GET is read as HTTP/1.0', raw(`GET ${ME} RTSP/1.0`, [HOST, KEY]), { closes: true }),
  broken('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  broken('a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'),
  broken('an SMTP greeting', 'EHLO localhost\r\n'),
  broken('a proxy header', `PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n${get(ME)}`),
  broken('an answer instead of a request', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  broken('nothing but noise', '\xff\xfe\xfd\xfc\r\n\r\n'),
  served(
    'an upgrade to HTTP/2 is not taken',
    get(ME, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
  ),
  served(
    'an upgrade to websocket is not taken',
    get(ME, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13'),
  ),
]

export const requestLines: readonly RawCase[] = [...methods, ...targets, ...versions]
