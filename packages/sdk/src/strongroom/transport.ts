import { orAborted, pause } from '../engine/queue.ts'
import { ApiError, type RefusalBody } from '../errors.ts'
import { promote } from './error-map.ts'
import type { Attempt, Config } from './options.ts'
import {
  AbortedError,
  ConnectionError,
  OutcomeUnknownError,
  type RateLimit,
  rateLimitOf,
  TimeoutError,
} from './public-errors.ts'
import { delayBefore } from './retry.ts'
import { StrongroomError } from './strongroom-error.ts'

// The network of one logical call: credentials, time limits, retries, hooks. Sees ciphertexts only, and shows hooks not even those.

export interface ResponseMeta {
  readonly requestId: string
  readonly status: number
  readonly headers: Headers
  /** How often the last request was sent. */
  readonly attempts: number
  readonly idempotencyKey?: string
  readonly rateLimit?: RateLimit
}

/** What one call lets itself be told, and tells. */
export interface Exchange {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** The caller's own, for everything this call writes. */
  readonly idempotencyKey?: string | undefined
  /** The answer is made again for each who reads it: a body is read once. */
  last?: { response(): Response; readonly meta: ResponseMeta } | undefined
}

interface Sent {
  readonly id: string
  readonly url: URL
  readonly method: string
  readonly init: RequestInit
  readonly idempotencyKey: string | undefined
  /** Whether anything has left this client. */
  isOut?: boolean
}

/** Routes that take a question in a body: nothing is made of it, so nothing of it is made twice. */
export const ASKING = /\/(search|quote|simulate)$/

/** `fetch` for one call: what it gives back is whole, and a refusal that may pass was tried again. */
export function fetchFor(config: Config, exchange: Exchange): typeof fetch {
  const { idempotencyKey: own } = exchange
  const keys = new Map<string, string>()
  let steps = 0
  return async (input, init = {}) => {
    const url = new URL(String(input))
    for (const [name, value] of Object.entries(exchange.query)) url.searchParams.set(name, value)
    const method = init.method ?? 'GET'
    const given = new Headers(init.headers)
    const isWrite = method !== 'GET' && !ASKING.test(url.pathname)
    const target = `${method} ${url.pathname}`
    // The caller's key for the first thing a call writes, and one that follows from it for each further one. What was read before
    // counts for nothing: the same call elsewhere has the same keys. Until a target has answered it keeps its key.
    if (isWrite && own !== undefined && !keys.has(target)) {
      keys.set(target, steps === 0 ? own : `${own}.${steps}`)
      steps += 1
    }
    const idempotencyKey = isWrite ? (keys.get(target) ?? given.get('idempotency-key') ?? undefined) : undefined
    const sent: Sent = { id: crypto.randomUUID(), url, method, init, idempotencyKey }
    const response = await sendUntilSettled(config, exchange, sent)
    if (response.ok) keys.delete(target)
    return response
  }
}

async function sendUntilSettled(config: Config, exchange: Exchange, sent: Sent): Promise<Response> {
  let isUnknown = false
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await attemptOnce(config, exchange, sent, attempt)
    if (outcome.response && !outcome.error) return outcome.response
    const error = outcome.error as StrongroomError
    isUnknown ||= isUnanswered(config, sent, error)
    const isAborted = exchange.signal?.aborted ?? false
    const mayRetry = !isAborted && attempt <= exchange.maxRetries && config.retry.retryOn(error, attempt)
    const delayMs = mayRetry ? delayBefore(config.retry, attempt, error) : undefined
    if (delayMs === undefined || !config.budget.take()) {
      const { idempotencyKey } = sent
      if (isUnknown && idempotencyKey !== undefined && !saysWhatBecame(error))
        throw new OutcomeUnknownError(exchange.idempotencyKey ?? idempotencyKey, error)
      if (outcome.response) return outcome.response
      throw error
    }
    config.hooks.onRetry?.({ id: sent.id, attempt, delayMs, error })
    await pause(delayMs, exchange.signal).catch((reason: unknown) => {
      throw new AbortedError(reason)
    })
  }
}

/** It may have been made: it went out, and no answer of this API came. */
const isUnanswered = ({ isUnsent }: Config, { isOut }: Sent, error: StrongroomError): boolean =>
  isOut === true && isUnreached(error) && error.retryable && !isUnsent?.(error.cause)

/** A refusal that may pass, or that comes before the key is looked up, says nothing of an attempt before it. */
const saysWhatBecame = (error: StrongroomError): boolean =>
  error instanceof ApiError && !error.retryable && error.status !== 401 && error.status !== 403

interface Outcome {
  readonly response?: Response
  readonly error?: StrongroomError
}

async function attemptOnce(config: Config, exchange: Exchange, sent: Sent, attempt: number): Promise<Outcome> {
  const { id, method, url, idempotencyKey } = sent
  const { pathname: path } = url
  config.hooks.onRequest?.({ id, method, path, attempt, ...(idempotencyKey !== undefined && { idempotencyKey }) })
  const started = performance.now()
  const publish = (outcome: Partial<Attempt>): void =>
    config.publish?.({ id, method, path, attempt, ms: performance.now() - started, ...outcome })
  try {
    const answer = await receive(config, exchange, sent)
    const response = answer()
    const ms = performance.now() - started
    const requestId = response.headers.get('x-request-id') ?? undefined
    config.hooks.onResponse?.({ id, status: response.status, ms, ...(requestId !== undefined && { requestId }) })
    publish({ status: response.status, ...(requestId !== undefined && { requestId }) })
    config.log('debug', `${method} ${path} ${response.status} ${Math.round(ms)} ms`)
    exchange.last = { response: answer, meta: metaOf(response, attempt, idempotencyKey) }
    const error = response.ok ? undefined : await refusalIn(answer(), idempotencyKey, url.host)
    return { ...(!isUnreached(error) && { response }), ...(error && { error }) }
  } catch (cause) {
    const error = StrongroomError.is(cause) ? cause : connectionError(url, cause)
    publish({ code: error.code })
    config.log('warn', `${method} ${path} ${error.code}`)
    return { error }
  }
}

/** What is not of this API has no body that the layer above could read. */
const isUnreached = (error: StrongroomError | undefined): boolean => error instanceof ConnectionError

const connectionError = ({ host }: URL, cause: unknown): ConnectionError =>
  new ConnectionError(`${host} could not be reached`, {
    host,
    cause,
    hint: 'Check the address, the network and whether the server is running.',
  })

const metaOf = (response: Response, attempts: number, idempotencyKey: string | undefined): ResponseMeta => {
  const rateLimit = rateLimitOf(response.headers)
  return {
    requestId: response.headers.get('x-request-id') ?? '',
    status: response.status,
    headers: response.headers,
    attempts,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(rateLimit && { rateLimit }),
  }
}

const MAX_TIMER_MS = 2_147_483_647

/** One request and its whole answer, within the time limit. */
async function receive(config: Config, exchange: Exchange, sent: Sent): Promise<() => Response> {
  const { url, init, method, idempotencyKey } = sent
  const { signal, timeoutMs } = exchange
  if (signal?.aborted) throw new AbortedError(signal.reason)
  // Longer than a timer can wait is as long as it can.
  const limit = AbortSignal.timeout(Math.min(timeoutMs, MAX_TIMER_MS))
  const signals = [limit, signal, init.signal].filter((one) => one !== undefined && one !== null)
  try {
    const ending = AbortSignal.any(signals)
    // A credential may be asked for elsewhere, and that may take its time too.
    const headers = await orAborted(requestHeaders(config, exchange, init, idempotencyKey), ending)
    sent.isOut = true
    const response = await config.fetch(url.href, {
      ...init,
      method,
      headers,
      // Credentials travel in headers that this client sets; a redirect could carry them to another host.
      redirect: 'manual',
      credentials: 'omit',
      signal: ending,
    })
    ensureNoRedirect(response, url)
    const { status, statusText, headers: received } = response
    const body = isBodiless(status) ? null : await bodyOf(response, url)
    return () => new Response(body, { status, statusText, headers: received })
  } catch (cause) {
    if (signal?.aborted) throw new AbortedError(signal.reason)
    if (limit.aborted)
      throw new TimeoutError(`${url.host} did not answer in time`, { host: url.host, afterMs: timeoutMs, cause })
    throw cause
  }
}

/** More than any honest answer has: 10,000 items with their proofs are a tenth of it. */
const MAX_ANSWER_BYTES = 134_217_728

/** The whole body, or a refusal before there is room made for more than an answer may have. */
async function bodyOf(response: Response, { host }: URL): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = (): ConnectionError =>
    new ConnectionError(`${host} answers with more than an answer may have`, {
      host,
      code: 'limit_exceeded',
      retryable: false,
      hint: 'Something between this client and the server may have answered in its place.',
    })
  const refuse = async (): Promise<never> => {
    await response.body?.cancel().catch(() => undefined)
    throw tooLarge()
  }
  if (Number(response.headers.get('content-length') ?? 0) > MAX_ANSWER_BYTES) return refuse()
  const parts: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    size += read.value.length
    if (size > MAX_ANSWER_BYTES) {
      reader?.releaseLock()
      return refuse()
    }
    parts.push(read.value)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const isBodiless = (status: number): boolean => status === 204 || status === 205 || status === 304

export async function requestHeaders(
  config: Config,
  exchange: Pick<Exchange, 'headers'>,
  init: RequestInit,
  idempotencyKey: string | undefined,
): Promise<Headers> {
  const headers = new Headers(config.headers)
  for (const [name, value] of Object.entries(exchange.headers)) headers.set(name, value)
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value)
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)
  for (const [name, value] of Object.entries(await config.credential())) headers.set(name, value)
  return headers
}

export function ensureNoRedirect({ type, status }: Response, { host }: URL): void {
  if (type !== 'opaqueredirect' && (status < 300 || status >= 400 || status === 304)) return
  throw new ConnectionError(`${host} answered with a redirect, which this client does not follow`, {
    host,
    code: 'redirect_refused',
    retryable: false,
    hint: 'Give the address that answers by itself.',
  })
}

/** The refusal in an answer; a ConnectionError if the answer is not one of this API. */
export async function refusalIn(
  response: Response,
  idempotencyKey: string | undefined,
  host: string,
): Promise<StrongroomError> {
  const { status, headers } = response
  const body = (await response.json().catch(() => undefined)) as { error?: RefusalBody } | null | undefined
  if (typeof body?.error?.code !== 'string')
    return new ConnectionError(`${host} answered ${status} without a body of this API`, {
      host,
      code: 'unexpected_answer',
      retryable: status === 408 || status === 429 || status >= 500,
      hint: 'Something between this client and the server may have answered in its place.',
    })
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  const error = new ApiError(body.error, status, Number.isFinite(seconds) ? seconds : undefined)
  return promote(error, { headers, idempotencyKey })
}
