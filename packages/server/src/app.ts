import { STATUS_CODES } from 'node:http'
import { API_PREFIX, api, ERRORS, type Route, type Routes } from '@strongroom/contract'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Deps } from './context.ts'
import { ApiError } from './errors.ts'
import { answerErrors, codeOf, errorBody } from './http/answer-errors.ts'
import { mount } from './http/mount.ts'
import { makeRateLimiter } from './http/rate-limit.ts'
import { parseJson } from './http/strict-json.ts'
import { agentRoutes } from './modules/agents/routes.ts'
import { feedbackRoutes } from './modules/feedback/routes.ts'
import { groupRoutes } from './modules/groups/routes.ts'
import { identityRoutes } from './modules/identity/routes.ts'
import { inviteRoutes } from './modules/invites/routes.ts'
import { monitoringRoutes } from './modules/monitoring/routes.ts'
import { sessionRoutes } from './modules/sessions/routes.ts'
import { setupRoutes } from './modules/setup/routes.ts'
import { tenantRoutes } from './modules/tenants/routes.ts'
import { transparencyRoutes } from './modules/transparency/routes.ts'
import { userKeyRoutes } from './modules/user-keys/routes.ts'
import { userRoutes } from './modules/users/routes.ts'
import { mountReference } from './reference/routes.ts'
import { mountMetrics } from './telemetry/metrics-route.ts'
import { observeRequests } from './telemetry/requests.ts'

// Every module, mounted once, in order.

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i
const MAX_URL = 2048
const VERSION = '0.1.0'

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  vary: 'Authorization, X-API-Key',
} as const

export function buildApp(deps: Deps): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: () => deps.newId('req'),
    requestIdHeader: false,
    bodyLimit: 65_536,
    requestTimeout: 30_000,
    keepAliveTimeout: 5_000,
    maxRequestsPerSocket: 1000,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: {
      maxParamLength: 128,
      caseSensitive: true,
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
    },
    http: { maxHeaderSize: 8192, connectionsCheckingInterval: 2_000, headersTimeout: 10_000 },
    clientErrorHandler: (error, socket) => answerBrokenHttp(deps, error, socket),
    // What the router refuses runs no hook, and Fastify's own answer would quote the path.
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...HEADERS, 'x-request-id': request.id })
      deps.telemetry.metrics.count(request.method, 'unmatched', ERRORS[codeOf(error)].status, 0)
      answerErrors(deps.log)(error, request, reply)
    },
  })
  app.decorateRequest('principal', null)
  observeRequests(app, deps)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    request.bodyBytes = body.length
    return parseJson(body)
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...HEADERS, 'x-request-id': request.id })
    if (request.url.length > MAX_URL) throw new ApiError('uri_too_long')
    ensureHost(deps, request.headers.host)
  })
  app.setErrorHandler(answerErrors(deps.log))
  mountHealth(app, deps)
  mountMetrics(app, deps)
  mountReference(app, VERSION)
  mountModules(app, deps)
  app.setNotFoundHandler(answerNotFound())
  return app
}

function mountModules(app: FastifyInstance, deps: Deps): void {
  const options = { deps, limiter: makeRateLimiter() }
  mount(app, options, 'identity', api.identity, identityRoutes)
  mount(app, options, 'monitoring', api.monitoring, monitoringRoutes)
  mount(app, options, 'transparency', api.transparency, transparencyRoutes)
  mount(app, options, 'agents', api.agents, agentRoutes)
  mount(app, options, 'feedback', api.feedback, feedbackRoutes)
  mount(app, options, 'setup', api.setup, setupRoutes)
  mount(app, options, 'sessions', api.sessions, sessionRoutes)
  mount(app, options, 'users', api.users, userRoutes)
  mount(app, options, 'tenants', api.tenants, tenantRoutes)
  mount(app, options, 'groups', api.groups, groupRoutes)
  mount(app, options, 'invites', api.invites, inviteRoutes)
  mount(app, options, 'userKeys', api.userKeys, userKeyRoutes)
}

function mountHealth(app: FastifyInstance, deps: Deps): void {
  app.get('/healthz', async () => ({ status: 'alive' }))
  app.get('/readyz', async () => {
    const answer = await deps.database.pool.query('select 1').catch(() => undefined)
    if (!answer) throw new ApiError('not_ready', { headers: { 'retry-after': '2' } })
    return { status: 'ready' }
  })
}

const LOOPBACK = /^(localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/

/** A foreign name in `Host` is how links in mails and caches get poisoned. */
function ensureHost({ config }: Deps, host: string | undefined): void {
  const name = host?.toLowerCase() ?? ''
  if (LOOPBACK.test(name) || config.hosts.includes(name) || config.hosts.includes(name.replace(/:[0-9]+$/, ''))) return
  if (name.replace(/:[0-9]+$/, '') === config.host) return
  throw new ApiError('wrong_host')
}

/** Which methods a path knows, from the contract: 405 names them, everything else is the same 404. */
function answerNotFound() {
  const routes = Object.values(api)
    .flatMap((group: Routes): Route[] => Object.values(group))
    .map((route) => ({
      method: route.method as string,
      pattern: new RegExp(`^${(API_PREFIX[route.api] + route.path).replace(/:[A-Za-z]+/g, '[^/]+')}$`),
    }))
  return async (
    request: { id: string; url: string; method: string; errorCode: string | null },
    reply: { code(status: number): { headers(all: Record<string, string>): { send(body: object): unknown } } },
  ) => {
    const path = request.url.split('?')[0] as string
    const allowed = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
    const code = allowed.length > 0 ? 'method_not_allowed' : 'route_not_found'
    request.errorCode = code
    return reply
      .code(ERRORS[code].status)
      .headers(allowed.length > 0 ? { allow: allowed.sort().join(', ') } : {})
      .send(errorBody(code, request.id))
  }
}

const BROKEN: Readonly<Record<string, keyof typeof ERRORS>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** What never became a request still gets the one error body. */
function answerBrokenHttp(
  deps: Deps,
  error: { code?: string },
  socket: { writable: boolean; end(data: string): void; destroy(): void },
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const code = BROKEN[error.code ?? ''] ?? 'bad_request'
  const { status } = ERRORS[code]
  deps.telemetry.metrics.count('none', 'malformed', status, 0)
  const body = JSON.stringify(errorBody(code, deps.newId('req')))
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n${body}`,
  )
}
