import { API_PREFIX } from '@strongroom/contract'
import type { Scope } from './call.ts'
import { ConfigError } from './public-errors.ts'
import { refusalIn } from './transport.ts'

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** `/vault/…` under the machine API, or a whole path from `/api/` on. */
  readonly path: string
  readonly body?: unknown
}

/** Any route, with the same credentials, retries and errors. What comes back is the server's word: nothing is verified. */
export async function sendRaw(scope: Scope, { method, path, body }: RawRequest): Promise<unknown> {
  const { server } = scope.config
  const url = new URL(`${server}${path.startsWith('/api/') ? '' : API_PREFIX.machine}${path}`)
  if (!path.startsWith('/') || url.origin !== new URL(server).origin)
    throw new ConfigError('a path begins with / and stays on the server', { code: 'config_invalid' })
  const hasBody = body !== undefined
  const response = await scope.fetch(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(hasBody && { 'content-type': 'application/json' }),
      ...(method !== 'GET' && { 'idempotency-key': crypto.randomUUID() }),
    },
    ...(hasBody && { body: JSON.stringify(body) }),
    ...(scope.signal && { signal: scope.signal }),
  })
  if (!response.ok) throw await refusalIn(response, scope.exchange.last?.meta.idempotencyKey, url.host)
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return isJson ? response.json() : response.text()
}
