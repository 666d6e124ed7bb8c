import { API_PREFIX, type Input, type Output, type Route, type Routes } from '@strongroom/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { recordRefusal } from '../audit/record.ts'
import type { Ctx, Deps, Principal, RequestFacts } from '../context.ts'
import { ApiError } from '../errors.ts'
import { parseApiKey } from '../secrets/credentials.ts'
import { hashWithPepper } from '../secrets/server-secrets.ts'
import { productsOf } from '../telemetry/caller.ts'
import { isPublic } from './access.ts'
import { admit, admitAgain, admitBody, bucketOf, type Gate, header, type Travel } from './admit.ts'
import { codeOf } from './answer-errors.ts'
import { clientAddress } from './client-address.ts'
import { type IdempotentRequest, readIdempotencyKey } from './idempotency.ts'
import { isReady, isTravelling, type Ready, readyBytes, type Travelling } from './one-trip.ts'
import { PER_CREDENTIAL } from './rate-limit.ts'
import { serialiser } from './serialise.ts'
import { isStreamed, type Streamed, sendStream } from './stream.ts'
import { inputReader, readHave, readTurn } from './validate.ts'

// The one bridge between contract and Fastify: credentials, permission, shape, handler, shape.

/** A route that needs a known principal. */
export type Handler<R extends Route> = (ctx: Ctx, input: Input<R>) => Promise<Output<R> | Streamed | Ready>
/** A public route: nobody is known, and the service decides what that means. */
export type PublicHandler<R extends Route> = (
  deps: Deps & { readonly request: Ctx['request'] },
  input: Input<R>,
  secret: string | undefined,
) => Promise<Output<R>>

type IsPublic<R extends Route> = R['access']['kind'] extends 'public' | 'setup' ? true : false
/** A function for every route of a group: leave one out and it does not compile. */
export type Handlers<G extends Routes> = {
  readonly [K in keyof G]: IsPublic<G[K]> extends true ? PublicHandler<G[K]> : Handler<G[K]> | Travelling<G[K]>
}
type AnyHandler = PublicHandler<Route> & ((ctx: Ctx, input: Input<Route>, found?: unknown) => Promise<unknown> | Ready)

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null
    /** What a one-trip route found besides who asks; undefined where the request came the ordinary way. */
    found: unknown
    /** What a one-trip route was asked for, checked already. */
    input: unknown
  }
}

export type MountOptions = Gate

const DEFAULT_BODY_LIMIT = 65_536
const isWrite = ({ method }: Route): boolean => method !== 'GET'

export function mount<G extends Routes>(
  app: FastifyInstance,
  options: MountOptions,
  groupName: string,
  group: G,
  handlers: Handlers<G>,
): void {
  for (const [name, route] of Object.entries(group))
    mountRoute(app, options, `${groupName}.${name}`, route, handlers[name] as AnyHandler | Travelling<Route>)
}

function mountRoute(
  app: FastifyInstance,
  gate: Gate,
  routeName: string,
  route: Route,
  given: AnyHandler | Travelling<Route>,
): void {
  const handler = (isTravelling(given) ? given.handle : given) as AnyHandler
  const travel = isTravelling(given) ? makeTravel(gate, routeName, route, given.trip) : undefined
  gate.mounted.set(routeName, { route, handle: (ctx, input) => handler(ctx, input) })
  const url = API_PREFIX[route.api] + route.path
  const bodyLimit = isWrite(route) ? (route.bodyLimit ?? DEFAULT_BODY_LIMIT) : 1
  app.route({
    method: route.method,
    url,
    bodyLimit,
    config: { routeName, template: url },
    schema: { response: { [route.status ?? 200]: route.response } },
    serializerCompiler: () => serialiser(route),
    onRequest: async (request, reply) => {
      await admit(gate, route, request, reply, travel)
      admitBody(route, bodyLimit, request, reply)
    },
    handler: answer(gate, routeName, route, handler),
    errorHandler: async (error, request) => {
      if (request.principal)
        await recordRefusal(gate.deps, request.principal, factsOf(request, routeName), codeOf(error))
      throw error
    },
  })
}

function factsOf(request: FastifyRequest, routeName: string): RequestFacts {
  const userAgent = productsOf(request.headers['user-agent'])
  return { requestId: request.id, ip: clientAddress(request), userAgent, routeName }
}

/** Shape, handler, shape: the answer is cut to the contract by its serializer. */
function answer(gate: Gate, routeName: string, route: Route, handler: AnyHandler): RouteHandlerMethod {
  const { deps } = gate
  const validate = inputReader(route)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const input = (request.input ?? validate(request)) as Input<Route>
    const facts = {
      ...factsOf(request, routeName),
      have: readHave(header(request, 'tlog-have')),
      ifMatch: header(request, 'if-match'),
      turn: readTurn(header(request, 'vault-turn')),
    }
    reply.code(route.status ?? 200)
    if (isPublic(route.access))
      return withinDeadline(
        handler({ ...deps, request: facts } as never, input as never, header(request, 'x-setup-token')),
      )
    const principal = request.principal as Principal
    const idempotent = isWrite(route) ? idempotentRequest(request, route) : undefined
    const connection = () => gate.connections.open(request, reply, () => admitAgain(gate, route, request))
    const mounted = (call: string) => gate.mounted.get(call)
    const ctx: Ctx = { ...deps, principal, request: facts, idempotent, connection, mounted }
    const made = handler(ctx, input, request.found)
    const body = isReady(made) ? made : await withinDeadline(made)
    if (isReady(body)) return readyBytes(reply, body)
    if (isStreamed(body)) return sendStream(reply, body)
    if (hasEtag(body)) reply.header('etag', body.etag)
    return body
  }
}

/** The trip of a request, or undefined where it has to come the ordinary way: there the exact refusal is found. */
function makeTravel(gate: Gate, routeName: string, route: Route, trip: Travelling<Route>['trip']): Travel {
  const { deps, limiter } = gate
  const validate = inputReader(route)
  return async (request) => {
    const key = parseApiKey(header(request, 'x-api-key') ?? '')
    if (!key || request.headers.authorization !== undefined) return undefined
    const { accessKey } = key
    const bucket = bucketOf({ accessKey, sessionId: null })
    if (!limiter.hasRoom(bucket, PER_CREDENTIAL, deps.now().getTime())) return undefined
    try {
      const input = validate(request) as Input<Route>
      readHave(header(request, 'tlog-have'))
      request.input = input
      const apiKey = { accessKey, secretHmac: hashWithPepper(deps.pepper, key.secret) }
      const { key: known, found } = await trip(deps, { apiKey, input, request: factsOf(request, routeName) })
      return { apiKey, key: known, found }
    } catch {
      return undefined
    }
  }
}

const hasEtag = (body: unknown): body is { readonly etag: string } =>
  typeof body === 'object' && body !== null && 'etag' in body && typeof body.etag === 'string'

const DEADLINE_MS = 10_000

/** The work goes on until the database's own time-outs end it; the caller is told to come again, with the same key. */
async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  let alarm: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    alarm = setTimeout(() => reject(new ApiError('overloaded', { headers: { 'retry-after': '1' } })), DEADLINE_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(alarm)
  }
}

const idempotentRequest = (request: FastifyRequest, route: Route): IdempotentRequest | undefined =>
  readIdempotencyKey(
    header(request, 'idempotency-key'),
    // An empty object to a route that takes no body is no other request.
    { method: route.method, url: request.url, body: route.body && request.body },
    { status: route.status ?? 200, onceOnly: route.onceOnly ?? [] },
  )
