import type { Socket } from 'node:net'
import { api, ERRORS } from '@strongroom/contract'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { mountConsole } from './console/routes.ts'
import type { Deps } from './context.ts'
import { answerErrors, codeOf } from './http/answer-errors.ts'
import { type BrokenHttp, makeBrokenHttp } from './http/broken-http.ts'
import { proxyTrust } from './http/client-address.ts'
import { makeConnections } from './http/connection.ts'
import { guard, MAX_HEADERS } from './http/guard.ts'
import { answerNotFound, rememberMethods } from './http/known-methods.ts'
import { mount } from './http/mount.ts'
import { makeRateLimiter } from './http/rate-limit.ts'
import { SECURITY_HEADERS } from './http/security-headers.ts'
import { parseJson } from './http/strict-json.ts'
import { agentRoutes } from './modules/agents/routes.ts'
import { aliasRoutes } from './modules/aliases/routes.ts'
import { mountObjects } from './modules/attachments/objects.ts'
import { attachmentRoutes } from './modules/attachments/routes.ts'
import { billingRoutes } from './modules/billing/routes.ts'
import { budgetRoutes } from './modules/budgets/routes.ts'
import { catalogueRoutes } from './modules/catalogue/routes.ts'
import { directoryRoutes } from './modules/directory/routes.ts'
import { domainRoutes } from './modules/domains/routes.ts'
import { eventRoutes } from './modules/events/routes.ts'
import { feedbackRoutes } from './modules/feedback/routes.ts'
import { fundingRoutes } from './modules/funding/routes.ts'
import { groupRoutes } from './modules/groups/routes.ts'
import { identityRoutes } from './modules/identity/routes.ts'
import { inviteRoutes } from './modules/invites/routes.ts'
import { itemRoutes } from './modules/items/routes.ts'
import { keyRoutes } from './modules/keys/routes.ts'
import { mountProviderCallbacks } from './modules/licenses/callbacks.ts'
import { mountIssuerKeys } from './modules/licenses/issuer-keys.ts'
import { licenseRoutes } from './modules/licenses/routes.ts'
import { monitoringRoutes } from './modules/monitoring/routes.ts'
import { permissionRoutes } from './modules/permissions/routes.ts'
import { projectRoutes } from './modules/projects/routes.ts'
import { searchRoutes } from './modules/search/routes.ts'
import { sessionRoutes } from './modules/sessions/routes.ts'
import { setupRoutes } from './modules/setup/routes.ts'
import { sharedItemRoutes } from './modules/shared-items/routes.ts'
import { syncRoutes } from './modules/sync/routes.ts'
import { tenantRoutes } from './modules/tenants/routes.ts'
import { transparencyRoutes } from './modules/transparency/routes.ts'
import { userKeyRoutes } from './modules/user-keys/routes.ts'
import { userRoutes } from './modules/users/routes.ts'
import { vaultGroupRoutes } from './modules/vault-groups/routes.ts'
import { vaultRoutes } from './modules/vaults/routes.ts'
import { webhookRoutes } from './modules/webhooks/routes.ts'
import { mountReference } from './reference/routes.ts'
import { mountHealth } from './telemetry/health.ts'
import { mountMetrics } from './telemetry/metrics-route.ts'
import { observeRequests } from './telemetry/requests.ts'

// Every module, mounted once, in order.

const VERSION = '0.1.0'

const OPTIONS = {
  logger: false,
  requestIdHeader: false,
  bodyLimit: 65_536,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  forceCloseConnections: 'idle',
  // What still comes on an open connection is answered like everything before it, and is the last on it: Fastify's own refusal has
  // neither our body nor a time to come again.
  return503OnClosing: false,
  exposeHeadRoutes: false,
  routerOptions: {
    maxParamLength: 128,
    caseSensitive: true,
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
  },
  // A missing Host is answered by us: Node would do it without a body.
  http: { maxHeaderSize: 8192, connectionsCheckingInterval: 2_000, headersTimeout: 10_000, requireHostHeader: false },
} as const

export function buildApp(deps: Deps): FastifyInstance {
  const app = Fastify({
    ...OPTIONS,
    genReqId: () => deps.newId('req'),
    trustProxy: proxyTrust(deps.config.trustedProxies),
    clientErrorHandler: (error, socket) => brokenHttp.answer(error, socket),
    // What the router refuses runs no hook, and Fastify's own answer would quote the path.
    frameworkErrors: (error, request, reply) => {
      deps.telemetry.metrics.count(request.method, 'unmatched', ERRORS[codeOf(error)].status, 0)
      answerErrors(deps.log)(error, request, reply)
    },
  })
  const knownMethods = rememberMethods(app)
  const brokenHttp = makeBrokenHttp(deps, knownMethods)
  const notFound = answerNotFound(knownMethods)
  hardenServer(app, brokenHttp)
  app.decorateRequest('principal', null)
  app.decorateRequest('found', undefined)
  app.decorateRequest('input', undefined)
  observeRequests(app, deps)
  takeJsonOnly(app)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id)
    guard(deps.config, request.raw)
    // Here, since Fastify would read the body of what nobody serves.
    if (request.is404) return served.page(request, reply) ?? notFound(request, reply)
  })
  app.setErrorHandler(answerErrors(deps.log))
  mountHealth(app, deps)
  mountMetrics(app, deps)
  mountReference(app, VERSION)
  const served = mountConsole(app, deps.config.s3?.endpoint)
  mountModules(app, deps)
  mountObjects(app, deps)
  mountIssuerKeys(app, deps)
  mountProviderCallbacks(app, deps)
  app.setNotFoundHandler(notFound)
  return app
}

function takeJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    request.bodyBytes = body.length
    return parseJson(body, request.routeOptions.bodyLimit)
  })
}

const REQUESTS_PER_CONNECTION = 1000

/** The last request is told so. Node's own limit answers the one after it with a 503 that has no body. */
function limitRequests(server: FastifyInstance['server']): void {
  const counts = new WeakMap<Socket, number>()
  server.prependListener('request', ({ socket }, response) => {
    const count = (counts.get(socket) ?? 0) + 1
    counts.set(socket, count)
    if (count >= REQUESTS_PER_CONNECTION) response.shouldKeepAlive = false
  })
}

/** What Fastify has no option for. */
function hardenServer(app: FastifyInstance, brokenHttp: BrokenHttp): void {
  app.server.maxConnections = 2000
  // Node drops headers beyond the count without a word, so one more than we take is let through and refused.
  app.server.maxHeadersCount = MAX_HEADERS + 1
  // Otherwise Node answers these two by itself: the first before anybody is known, the second without a body.
  app.server.on('checkContinue', app.routing)
  app.server.on('checkExpectation', app.routing)
  brokenHttp.watch(app.server)
  limitRequests(app.server)
}

function mountModules(app: FastifyInstance, deps: Deps): void {
  const options = { deps, limiter: makeRateLimiter(), connections: makeConnections(app), mounted: new Map() }
  mount(app, options, 'billing', api.billing, billingRoutes)
  mount(app, options, 'budgets', api.budgets, budgetRoutes)
  mount(app, options, 'funding', api.funding, fundingRoutes)
  mount(app, options, 'licenses', api.licenses, licenseRoutes)
  mount(app, options, 'domains', api.domains, domainRoutes)
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
  mount(app, options, 'directory', api.directory, directoryRoutes)
  mount(app, options, 'items', api.items, itemRoutes)
  mount(app, options, 'keys', api.keys, keyRoutes)
  mount(app, options, 'permissions', api.permissions, permissionRoutes)
  mount(app, options, 'vaults', api.vaults, vaultRoutes)
  mount(app, options, 'sync', api.sync, syncRoutes)
  mount(app, options, 'search', api.search, searchRoutes)
  mount(app, options, 'events', api.events, eventRoutes)
  mount(app, options, 'aliases', api.aliases, aliasRoutes)
  mount(app, options, 'projects', api.projects, projectRoutes)
  mount(app, options, 'sharedItems', api.sharedItems, sharedItemRoutes)
  mount(app, options, 'vaultGroups', api.vaultGroups, vaultGroupRoutes)
  mount(app, options, 'attachments', api.attachments, attachmentRoutes)
  mount(app, options, 'catalogue', api.catalogue, catalogueRoutes)
  mount(app, options, 'webhooks', api.webhooks, webhookRoutes)
}
