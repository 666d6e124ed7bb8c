import { type Access, API_PREFIX, holds, type Input, type Output, type Route, type Routes } from '@strongroom/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordRefusal } from '../audit/record.ts'
import type { Ctx, Deps, Principal } from '../context.ts'
import { ApiError } from '../errors.ts'
import { productsOf } from '../telemetry/caller.ts'
import { codeOf } from './answer-errors.ts'
import { authenticate } from './authenticate.ts'
import { readIdempotencyKey } from './idempotency.ts'
import { FAILURES_PER_ADDRESS, FAILURES_PER_KEY, PER_CREDENTIAL, type RateLimiter, type Verdict } from './rate-limit.ts'
import { compileInput } from './validate.ts'

// The one bridge between contract and Fastify: credentials, permission, shape, handler, shape.

/** A route that needs a known principal. */
export type Handler<R extends Route> = (ctx: Ctx, input: Input<R>) => Promise<Output<R>>
/** A public route: nobody is known, and the service decides what that means. */
export type PublicHandler<R extends Route> = (
  deps: Deps & { readonly request: Ctx['request'] },
  input: Input<R>,
  secret: string | undefined,
) => Promise<Output<R>>

type IsPublic<R extends Route> = R['access']['kind'] extends 'public' | 'setup' ? true : false
/** A function for every route of a group: leave one out and it does not compile. */
export type Handlers<G extends Routes> = {
  readonly [K in keyof G]: IsPublic<G[K]> extends true ? PublicHandler<G[K]> : Handler<G[K]>
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
  }
}

export interface MountOptions {
  readonly deps: Deps
  readonly limiter: RateLimiter
}

const DEFAULT_BODY_LIMIT = 65_536
const isPublic = (access: Access): boolean => access.kind === 'public' || access.kind === 'setup'

export function mount<G extends Routes>(
  app: FastifyInstance,
  { deps, limiter }: MountOptions,
  groupName: string,
  group: G,
  handlers: Handlers<G>,
): void {
  for (const [name, route] of Object.entries(group)) {
    const routeName = `${groupName}.${name}`
    const handler = handlers[name] as Handler<Route> & PublicHandler<Route>
    const validate = compileInput(route)
    const status = route.status ?? 200
    const isWrite = route.method !== 'GET'

    app.route({
      method: route.method,
      url: API_PREFIX[route.api] + route.path,
      bodyLimit: isWrite ? (route.bodyLimit ?? DEFAULT_BODY_LIMIT) : 1,
      config: { routeName, template: API_PREFIX[route.api] + route.path },
      schema: { response: { [status]: route.response } },
      // Before the body is read: a stranger learns nothing from our validation.
      onRequest: async (request, reply) => {
        if (isPublic(route.access)) return limitAddress(limiter, request, reply, deps)
        const principal = await identify(deps, limiter, request, reply)
        request.principal = principal
        applyLimit(
          reply,
          limiter.take(`credential ${principal.keyId ?? principal.sessionId}`, PER_CREDENTIAL, deps.now().getTime()),
        )
        ensureAccess(route.access, principal)
      },
      handler: async (request, reply) => {
        const facts = {
          requestId: request.id,
          ip: request.ip,
          userAgent: productsOf(request.headers['user-agent']),
          routeName,
        }
        const input = validate(request) as Input<Route>
        reply.code(status)
        if (isPublic(route.access))
          return handler({ ...deps, request: facts } as never, input as never, header(request, 'x-setup-token'))
        const url = request.url
        const idempotent = isWrite
          ? readIdempotencyKey(
              header(request, 'idempotency-key'),
              { method: route.method, url, body: request.body },
              { status, onceOnly: route.onceOnly ?? [] },
            )
          : undefined
        const ctx: Ctx = { ...deps, principal: request.principal as Principal, request: facts, idempotent }
        return handler(ctx, input)
      },
      errorHandler: async (error, request) => {
        if (request.principal)
          await recordRefusal(
            deps,
            request.principal,
            {
              requestId: request.id,
              ip: request.ip,
              userAgent: productsOf(request.headers['user-agent']),
              routeName,
            },
            codeOf(error),
          )
        throw error
      },
    })
  }
}

const header = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

/** A failed attempt is counted against the address and the named key; successes are not. */
async function identify(
  deps: Deps,
  limiter: RateLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Principal> {
  const apiKey = header(request, 'x-api-key')
  try {
    return await authenticate(deps, {
      apiKey,
      authorization: header(request, 'authorization'),
      deviceInstallationId: header(request, 'x-device-installation-id'),
    })
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) countFailure(deps, limiter, request, reply, apiKey)
    throw error
  }
}

/** Only failures are slowed: nobody can lock out a valid credential by failing on its address or under its name. */
function countFailure(
  deps: Deps,
  limiter: RateLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
  apiKey: string | undefined,
): void {
  const nowMs = deps.now().getTime()
  applyLimit(reply, limiter.take(`address ${request.ip}`, FAILURES_PER_ADDRESS, nowMs))
  if (apiKey !== undefined) applyLimit(reply, limiter.take(`key ${apiKey.slice(0, 24)}`, FAILURES_PER_KEY, nowMs))
}

async function limitAddress(
  limiter: RateLimiter,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Deps,
): Promise<void> {
  applyLimit(reply, limiter.take(`public ${request.ip}`, PER_CREDENTIAL, deps.now().getTime()))
}

function applyLimit(reply: FastifyReply, verdict: Verdict): void {
  reply.headers({
    'ratelimit-limit': verdict.limit,
    'ratelimit-remaining': verdict.remaining,
    'ratelimit-reset': verdict.resetSeconds,
  })
  if (!verdict.allowed) throw new ApiError('rate_limited', { headers: { 'retry-after': String(verdict.resetSeconds) } })
}

/** The first ring: what the credential may do at all. What belongs to somebody is decided in the service. */
export function ensureAccess(access: Access, principal: Principal): void {
  const need = (permission: string | undefined): void => {
    if (permission !== undefined && !holds(principal.permissions, permission))
      throw new ApiError('machine_permission_denied', { details: { permission } })
  }
  switch (access.kind) {
    case 'public':
    case 'setup':
    case 'principal':
      return
    case 'permission':
      need(access.permission)
      if (access.tenantRole !== undefined) ensureTenantRole(principal, access.tenantRole)
      return
    case 'agent':
      if (principal.type !== 'agent') throw new ApiError('agent_principal_required')
      need(access.permission)
      return
    case 'global-admin':
      need(access.permission)
      if (!principal.globalAdmin) throw new ApiError('global_admin_required')
      return
    case 'user':
      ensureUser(principal, access.anyOf)
      return
  }
}

/** In the tenant the session works in. Owners and admins of the organisation hold every tenant role. */
export function ensureTenantRole(principal: Principal, role: string): void {
  const overall = principal.orgRoles.includes('ORG_OWNER') || principal.orgRoles.includes('ORG_ADMIN')
  const here = principal.tenantRoles.some(
    (entry) => entry.tenantId === principal.tenantId && (entry.role === role || entry.role === 'TENANT_ADMIN'),
  )
  if (!overall && !here && principal.type !== 'operator') throw new ApiError('role_required', { details: { role } })
}

function ensureUser(principal: Principal, anyOf: readonly string[] | undefined): void {
  if (principal.type !== 'user' || principal.authMethod !== 'access_token') throw new ApiError('key_kind_refused')
  if (anyOf === undefined) return
  const held = [...principal.orgRoles, ...principal.tenantRoles.map(({ role }) => role)]
  if (!anyOf.some((role) => held.includes(role as never))) throw new ApiError('role_required', { details: { anyOf } })
}
