import { API_PREFIX, api, type Input, type Output, type Route, type Routes } from '@strongroom/contract'
import { ApiError, TransportError } from './errors.ts'
import { StrongroomError } from './strongroom/strongroom-error.ts'

// A function for every operation of the contract. Nothing is generated; this is the only file that speaks HTTP.

export interface ClientOptions {
  readonly baseUrl: string
  readonly apiKey?: string
  readonly accessToken?: string
  readonly deviceInstallationId?: string
  readonly setupToken?: string
  readonly fetch?: typeof fetch
}

export interface CallOptions {
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
  /** The size of the log that is known already: the answer then proves that the log only grew since. */
  readonly have?: number
  /** What the answer of a conflict brought: whoever comes back with it in a moment goes first. */
  readonly turn?: string | undefined
}

/** `query` may be left out where all of its members may. */
type Loose<I> = I extends { query: infer Q } ? (Partial<Q> extends Q ? Omit<I, 'query'> & { query?: Q } : I) : I
type Call<R extends Route> =
  Partial<Loose<Input<R>>> extends Loose<Input<R>>
    ? (input?: Loose<Input<R>>, options?: CallOptions) => Promise<Output<R>>
    : (input: Loose<Input<R>>, options?: CallOptions) => Promise<Output<R>>
type GroupCalls<G extends Routes> = { readonly [K in keyof G]: Call<G[K]> }
export type Client = { readonly [G in keyof typeof api]: GroupCalls<(typeof api)[G]> }

interface AnyInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

function urlOf(base: string, route: Route, input: AnyInput): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input.params?.[name])))
  const given = Object.entries(input.query ?? {}).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return `${base.replace(/\/$/, '')}${API_PREFIX[route.api]}${path}${query.size > 0 ? `?${query}` : ''}`
}

function headersOf(
  options: ClientOptions,
  hasBody: boolean,
  call: CallOptions,
  isWrite: boolean,
): Record<string, string> {
  return {
    accept: 'application/json',
    ...(hasBody && { 'content-type': 'application/json' }),
    ...(options.apiKey !== undefined && { 'x-api-key': options.apiKey }),
    ...(options.accessToken !== undefined && { authorization: `Bearer ${options.accessToken}` }),
    ...(options.deviceInstallationId !== undefined && { 'x-device-installation-id': options.deviceInstallationId }),
    ...(options.setupToken !== undefined && { 'x-setup-token': options.setupToken }),
    ...(call.have !== undefined && { 'tlog-have': String(call.have) }),
    ...(call.turn !== undefined && { 'vault-turn': call.turn }),
    ...(isWrite && { 'idempotency-key': call.idempotencyKey ?? crypto.randomUUID() }),
  }
}

async function call(
  options: ClientOptions,
  route: Route,
  input: AnyInput = {},
  callOptions: CallOptions = {},
): Promise<unknown> {
  const send = options.fetch ?? fetch
  const hasBody = input.body !== undefined
  const response = await send(urlOf(options.baseUrl, route, input), {
    method: route.method,
    // A redirect could carry the credential to another host.
    redirect: 'error',
    headers: headersOf(options, hasBody, callOptions, route.method !== 'GET'),
    ...(hasBody && { body: JSON.stringify(input.body) }),
    ...(callOptions.signal && { signal: callOptions.signal }),
  }).catch((cause: unknown) => {
    if (StrongroomError.is(cause)) throw cause
    throw new TransportError(`${route.method} ${route.path} did not reach the server`, { cause })
  })
  const body = (await response.json().catch(() => undefined)) as
    | { error?: ConstructorParameters<typeof ApiError>[0] }
    | undefined
  if (response.ok && body !== undefined) return body
  if (!body?.error)
    throw new TransportError(`${route.method} ${route.path} answered ${response.status} without a body of this API`)
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  throw new ApiError(body.error, response.status, Number.isFinite(retryAfter) ? retryAfter : undefined)
}

/** Every route of the API by noun and name, as it answers: nothing is verified or decrypted, which `Strongroom` is for. */
export function createClient(options: ClientOptions): Client {
  const group = (routes: Routes) =>
    Object.fromEntries(
      Object.entries(routes).map(([name, route]) => [
        name,
        (input?: AnyInput, callOptions?: CallOptions) => call(options, route, input, callOptions),
      ]),
    )
  // Most clients call routes of one or two groups, so a group is made when it is first asked for.
  const client = {}
  for (const name of Object.keys(api) as (keyof typeof api)[]) {
    let made: ReturnType<typeof group> | undefined
    const get = (): ReturnType<typeof group> => {
      made ??= group(api[name])
      return made
    }
    Object.defineProperty(client, name, { enumerable: true, get })
  }
  return client as Client
}
