import { broken, get, getBare, HOST, JSON_TYPE, KEY, ME, post, type RawCase, raw, refused, served } from './case.ts'

// More than one request on a connection, and connections that end early.

const many = (name: string, text: string, status: readonly number[], rest: Partial<RawCase> = {}): RawCase => ({
  name,
  text,
  status,
  ...rest,
})
const OPEN = getBare('/healthz')

export const connections: readonly RawCase[] = [
  many('two requests at once are answered in order', get(ME) + getBare(ME), [200, 401], {
    code: 'missing_machine_auth',
  }),
  many(
    'fifty requests at once are all answered',
    get(ME).repeat(50),
    Array.from({ length: 50 }, () => 200),
  ),
  many('a credential holds for its own request only', get(ME) + getBare(ME) + get(ME), [200, 401, 200]),
  many('a refused request does not keep the next from being answered', get('/nowhere') + get(ME), [404, 200]),
  many('a body that is no JSON ends the connection', post('{') + get(ME), [400], {
    code: 'invalid_json',
    closes: true,
  }),
  many('a body of the wrong shape does not', post('{}') + get(ME), [400, 200]),
  many(
    'a refused body on GET is not read as a request',
    raw(`GET ${ME} HTTP/1.1`, [HOST, KEY, 'Content-Length: 2'], '{}') + get(ME),
    [400, 200],
  ),
  many(
    'a body where there is no route is not read as a request',
    raw('POST /nowhere HTTP/1.1', [HOST, JSON_TYPE, `Content-Length: ${OPEN.length}`], OPEN) + get(ME),
    [404, 200],
  ),
  many('a broken request is answered after those before it', `${get(ME)}GARBAGE\r\n\r\n`, [200, 400], {
    code: 'bad_request',
    closes: true,
  }),
  many(
    'a slow answer is not overtaken by the refusal of what follows',
    `${get(ME).repeat(3)}GET / HTTP/9.9\r\n\r\n`,
    [200, 200, 200, 400],
    { code: 'bad_request', closes: true },
  ),
  many(
    'a broken body is answered after those before it',
    `${get(ME).repeat(2)}${raw('POST /api/v1/machine/agent HTTP/1.1', [HOST, KEY, JSON_TYPE, 'Transfer-Encoding: chunked'], 'zz\r\n')}`,
    [200, 200, 400],
    { code: 'bad_request', closes: true },
  ),
  many('nothing is served after a broken request', `${OPEN}GET /x y HTTP/1.1\r\n\r\n${OPEN}`, [200, 400], {
    code: 'bad_request',
    closes: true,
    isOpen: true,
  }),
  served('Connection: close is kept', get(ME, 'Connection: close'), { closes: true }),
  many('nothing is served after Connection: close', get(ME, 'Connection: close') + get(ME), [200], { closes: true }),
  served('Connection: keep-alive', get(ME, 'Connection: keep-alive')),
  served('Connection names a header, and nothing is dropped', get(ME, 'Connection: X-API-Key')),
  served('Keep-Alive of the client does not count', get(ME, 'Keep-Alive: timeout=100000, max=100000')),
  served('HTTP/1.0 with keep-alive', raw(`GET ${ME} HTTP/1.0`, [HOST, KEY, 'Connection: keep-alive'])),
  broken('a client that ends within the request line', 'GET /api', { half: true }),
  broken('a client that ends within a header', `GET ${ME} HTTP/1.1\r\nHost: loc`, { half: true }),
  broken('a client that ends before the empty line', `GET ${ME} HTTP/1.1\r\n${HOST}\r\n`, { half: true }),
  broken(
    'a client that ends within a body',
    raw('POST /api/v1/machine/agent HTTP/1.1', [HOST, KEY, JSON_TYPE, 'Content-Length: 31'], '{"name":'),
    { half: true },
  ),
  many('a client that says nothing and ends', '', [], { half: true, closes: true }),
  many('a client that says an empty line and ends', '\r\n', [], { half: true, closes: true }),
  refused(
    'Trailer announces nothing we read',
    raw(`GET ${ME} HTTP/1.1`, [HOST, 'Trailer: X-API-Key']),
    401,
    'missing_machine_auth',
  ),
  served('TE of the client', get(ME, 'TE: trailers, deflate')),
]
