import type { Route } from '@strongroom/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ensureWithinLimits } from '../access/limits.ts'
import type { Deps, Principal } from '../context.ts'
import { ApiError } from '../errors.ts'
import { ensureAccess, isPublic } from './access.ts'
import { authenticate, type KeyRow, type OfferedKey, principalOfKey } from './authenticate.ts'
import { clientAddress } from './client-address.ts'
import type { Connections } from './connection.ts'
import type { Mounted } from './mounted.ts'
import {
  FAILURES_PER_ADDRESS,
  FAILURES_PER_KEY,
  type Limit,
  networkOf,
  PER_CREDENTIAL,
  type RateLimiter,
} from './rate-limit.ts'
import { takesNoBody } from './validate.ts'

// From a request to a known principal that may read on. All of it happens before the body is read: a stranger learns nothing
// from our validation.

export interface Gate {
  readonly deps: Deps
  readonly limiter: RateLimiter
  readonly connections: Connections
  /** Every call by its name, as it is mounted. */
  readonly mounted: Map<string, Mounted>
}

/** Who asks, and what was found for them in the same statement. */
export interface Travelled {
  readonly apiKey: OfferedKey
  readonly key: KeyRow | null
  readonly found: unknown
}
export type Travel = (request: FastifyRequest) => Promise<Travelled | undefined>

export const bucketOf = ({ accessKey, sessionId }: Pick<Principal, 'accessKey' | 'sessionId'>): string =>
  `credential ${accessKey ?? sessionId}`

export async function admit(
  gate: Gate,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  travel?: Travel,
): Promise<void> {
  if (isPublic(route.access)) {
    takeFrom(gate, reply, `public ${networkOf(clientAddress(request))}`, PER_CREDENTIAL)
    return
  }
  if (route.apiKeyOnly && header(request, 'x-api-key') === undefined) throw new ApiError('missing_api_key')
  const principal = await identify(gate, request, reply, travel)
  takeFrom(gate, reply, bucketOf(principal), PER_CREDENTIAL)
  ensureAccess(route.access, principal)
}

export const header = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

const authenticateRequest = (deps: Deps, request: FastifyRequest): Promise<Principal> =>
  authenticate(deps, {
    apiKey: header(request, 'x-api-key'),
    authorization: header(request, 'authorization'),
    deviceInstallationId: header(request, 'x-device-installation-id'),
  })

/** The same request once more, while its answer goes on: nothing is counted, and whoever lost a right is refused. */
export async function admitAgain({ deps }: Gate, route: Route, request: FastifyRequest): Promise<void> {
  const principal = await authenticateRequest(deps, request)
  ensureWithinLimits(principal, clientAddress(request), deps.now())
  ensureAccess(route.access, principal)
}

/**
 * A failed attempt is counted against the address and the named key; successes are not. A key outside of the limits of its agent is a
 * failed attempt of somebody known: it is recorded as theirs.
 */
async function identify(
  gate: Gate,
  request: FastifyRequest,
  reply: FastifyReply,
  travel: Travel | undefined,
): Promise<Principal> {
  const apiKey = header(request, 'x-api-key')
  try {
    const travelled = await travel?.(request)
    const principal = travelled
      ? principalOfKey(travelled.apiKey, travelled.key)
      : await authenticateRequest(gate.deps, request)
    request.found = travelled?.found
    request.principal = principal
    ensureWithinLimits(principal, clientAddress(request), gate.deps.now())
    return principal
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403))
      countFailure(gate, request, reply, apiKey)
    throw error
  }
}

/** Only failures are slowed: nobody can lock out a valid credential by failing on its address or under its name. */
function countFailure(gate: Gate, request: FastifyRequest, reply: FastifyReply, apiKey: string | undefined): void {
  takeFrom(gate, reply, `address ${networkOf(clientAddress(request))}`, FAILURES_PER_ADDRESS)
  if (apiKey !== undefined) takeFrom(gate, reply, `key ${apiKey.slice(0, 24)}`, FAILURES_PER_KEY)
}

function takeFrom({ deps, limiter }: Gate, reply: FastifyReply, bucket: string, limit: Limit): void {
  const verdict = limiter.take(bucket, limit, deps.now().getTime())
  reply.headers({
    'ratelimit-limit': verdict.limit,
    'ratelimit-remaining': verdict.remaining,
    'ratelimit-reset': verdict.resetSeconds,
  })
  if (!verdict.allowed) throw new ApiError('rate_limited', { headers: { 'retry-after': String(verdict.resetSeconds) } })
}

/** Room for an empty object, where a route takes nothing else. */
const NOTHING_BYTES = 8
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i

/** What is too large, compressed or no JSON is refused by its headers; only then is the client told to send it. */
export function admitBody(route: Route, limit: number, request: FastifyRequest, reply: FastifyReply): void {
  const { 'transfer-encoding': coding, 'content-length': length = '0', expect } = request.headers
  const encoding = header(request, 'content-encoding')
  if (coding === undefined && length === '0') return
  if (!route.body && (coding !== undefined || Number(length) > NOTHING_BYTES)) throw takesNoBody()
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw new ApiError('unsupported_media_type')
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) throw new ApiError('unsupported_media_type')
  if (Number(length) > limit) throw new ApiError('payload_too_large')
  if (expect !== undefined) reply.raw.writeContinue()
}
