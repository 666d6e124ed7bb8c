import type { Evidence } from '@strongroom/protocol'
import { type Client, createClient } from '../client.ts'
import type { Actor } from '../engine/actor.ts'
import { toPublic } from './error-map.ts'
import type { Config } from './options.ts'
import { AbortedError } from './public-errors.ts'
import type { Session } from './session.ts'
import { type Exchange, fetchFor, type ResponseMeta } from './transport.ts'

// One call of a caller, however many requests it takes: one signal, one set of options, one error, one answer.

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /** Of one attempt, in milliseconds. */
  readonly timeout?: number
  readonly maxRetries?: number
  /**
   * Made once for each thing a call writes if absent. With one of the caller's own a call is made once: repeated, it has the same
   * answer, or, where it is signed anew as every change of a vault is, it is refused with `idempotency_key_reused`.
   */
  readonly idempotencyKey?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
}

export interface ApiPromise<T> extends Promise<T> {
  /** The last answer as it came; its body holds ciphertexts, never values. */
  asResponse(): Promise<Response>
  withResponse(): Promise<{ data: T; meta: ResponseMeta }>
}

/** What the work of a call has in hand. */
export interface Scope {
  readonly config: Config
  readonly client: Client
  readonly exchange: Exchange
  readonly signal: AbortSignal | undefined
  /** For the engine: its options take what is there, and no undefined. */
  readonly options: { readonly signal?: AbortSignal }
  readonly fetch: typeof fetch
  /** The client whose requests count only while what they change is as it was read. */
  matching(etag: string): Client
  /** With keys; refuses with a ConfigError without them. */
  actor(): Promise<Actor>
}

/** Made when asked for: whoever answers from a cache does not need the machinery behind `Headers`. */
const noAnswer = (): ResponseMeta => ({ requestId: '', status: 0, headers: new Headers(), attempts: 0 })

const definedOnly = (query: RequestOptions['query'] = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  )

function scopeFor(config: Config, session: Session, options: RequestOptions, keep: (text: string) => void): Scope {
  const { signal, timeout, maxRetries, idempotencyKey, headers = {}, query } = options
  const exchange: Exchange = {
    signal,
    timeoutMs: timeout ?? config.timeoutMs,
    maxRetries: maxRetries ?? config.retry.maxRetries,
    idempotencyKey,
    headers,
    query: definedOnly(query),
  }
  const network = fetchFor(config, exchange)
  const client = createClient({ baseUrl: config.server, fetch: network })
  const onEvidence = async (evidence: Evidence): Promise<string> => {
    const place = await config.onEvidence?.(evidence)
    const text = typeof place === 'string' ? place : JSON.stringify(evidence)
    keep(text)
    return typeof place === 'string' ? place : ''
  }
  return {
    config,
    client,
    exchange,
    signal,
    options: signal ? { signal } : {},
    fetch: network,
    matching: (etag) => createClient({ baseUrl: config.server, fetch: withHeader(network, 'if-match', etag) }),
    actor: async () => ({
      ...(await session.open(config, client, signal)),
      client,
      onEvidence,
      onVerify: (verification) => config.hooks.onVerify?.(verification),
    }),
  }
}

const withHeader =
  (network: typeof fetch, name: string, value: string): typeof fetch =>
  (input, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set(name, value)
    return network(input, { ...init, headers })
  }

/** Runs the work of a call; whatever it throws is of the public tree. */
export async function runCall<T>(
  config: Config,
  session: Session,
  options: RequestOptions,
  work: (scope: Scope) => Promise<T>,
): Promise<{ readonly data: T; readonly exchange: Exchange }> {
  let evidence: string | undefined
  const scope = scopeFor(config, session, options, (text) => {
    evidence = text
  })
  const { signal } = options
  try {
    if (signal?.aborted) throw new AbortedError(signal.reason)
    return { data: await work(scope), exchange: scope.exchange }
  } catch (error) {
    const { headers, idempotencyKey } = scope.exchange.last?.meta ?? {}
    // With a key of its own a call is repeated as a whole, whatever key followed from it for the request that failed.
    const key = idempotencyKey && (options.idempotencyKey ?? idempotencyKey)
    throw toPublic(error, { signal, evidence, headers, idempotencyKey: key })
  }
}

/** A promise of what a call gives, with the answer it came in beside it. */
export function apiPromise<T>(start: () => ReturnType<typeof runCall<T>>): ApiPromise<T> {
  const running = start()
  const promise = running.then(({ data }) => data)
  /** Whoever asks for the response hears of a failure there, and only there. */
  const answered = (): typeof running => {
    promise.catch(() => undefined)
    return running
  }
  return Object.assign(promise, {
    asResponse: async () => {
      const { exchange } = await answered()
      return exchange.last?.response() ?? Response.json(null)
    },
    withResponse: async () => {
      const { data, exchange } = await answered()
      return { data, meta: exchange.last?.meta ?? noAnswer() }
    },
  })
}
