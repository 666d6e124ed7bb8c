import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { type ConsoleFile, type ConsoleFiles, consoleFolder, findConsole } from './files.ts'

// The console at `/`. It is one page that knows its addresses by itself, so every address of a page is answered with it.

/** No other origin, nothing written into the page, and scripts only from files whose hashes the page names. */
const pagePolicy = (mapHash: string, storage: string | undefined): string =>
  [
    "default-src 'none'",
    `script-src 'self' '${mapHash}'`,
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${storage === undefined ? '' : ` ${storage}`}`,
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types strongroom-worker',
  ].join('; ')

/** The worker that proves passphrases runs WebAssembly; the page itself may not. */
const WORKER_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; frame-ancestors 'none'"
/** The worker that keeps what tabs share has no use for any network. */
const KEEPER_POLICY = "default-src 'none'; script-src 'self'; frame-ancestors 'none'"

const policyOf = (name: string): string | undefined =>
  /^keys\.worker-/.test(name) ? WORKER_POLICY : /^keeper\.worker-/.test(name) ? KEEPER_POLICY : undefined

const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' }
const FOREVER = 'public, max-age=31536000, immutable'

function send(request: FastifyRequest, reply: FastifyReply, { type, bytes, gzipped }: ConsoleFile): FastifyReply {
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  reply.headers({ 'content-type': type, vary: 'Accept-Encoding', ...ISOLATED })
  return gzipped && takesGzip ? reply.header('content-encoding', 'gzip').send(gzipped) : reply.send(bytes)
}

/** Pages have no dot in their address, and only browsers ask for them. */
const isPage = ({ method, url, headers }: FastifyRequest): boolean => {
  const [path = ''] = url.split('?')
  const isOther = /^\/(?:api|docs|assets|\.well-known)(?:\/|$)/.test(path) || path.includes('.')
  return method === 'GET' && !isOther && String(headers.accept ?? '').includes('text/html')
}

export interface ServedConsole {
  /** For an address that no route has: the console, if it is one of its pages. */
  page(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined
}

export function mountConsole(
  app: FastifyInstance,
  storage: string | undefined,
  files: ConsoleFiles | undefined = findConsole(consoleFolder()),
): ServedConsole {
  if (!files) return { page: () => undefined }
  const policy = pagePolicy(files.mapHash, storage)
  const sendPage = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })
    return send(request, reply, files.at('index.html') as ConsoleFile)
  }
  app.get('/', async (request, reply) => sendPage(request, reply))
  app.get('/seal.svg', async (request, reply) => send(request, reply, files.at('seal.svg') as ConsoleFile))
  app.get('/build.json', async (request, reply) => {
    const file = files.at('build.json')
    if (!file) throw new ApiError('route_not_found')
    return send(request, reply.header('cache-control', 'no-cache'), file)
  })
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const { name } = request.params
    const file = files.at(`assets/${name}`)
    if (!file) throw new ApiError('route_not_found')
    reply.header('cache-control', FOREVER)
    const policy = policyOf(name)
    if (policy !== undefined) reply.header('content-security-policy', policy)
    return send(request, reply, file)
  })
  return { page: (request, reply) => (isPage(request) ? sendPage(request, reply) : undefined) }
}
