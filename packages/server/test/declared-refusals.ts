import { api, callsOf, errorsOf } from '@strongroom/contract'
import type { FastifyInstance } from 'fastify'

/** Of HTTP itself, before anybody looks which route it is for. */
const OF_HTTP: ReadonlySet<string> = new Set([
  'bad_request',
  'expectation_failed',
  'headers_too_large',
  'request_timeout',
  'route_not_found',
  'uri_too_long',
])

/** Watches that a route answers with no refusal but those that the contract names; what is given throws if one did. */
export function watchRefusals(app: FastifyInstance): () => void {
  const calls = callsOf(api)
  const undeclared = new Set<string>()
  app.addHook('onResponse', async ({ errorCode, routeOptions }) => {
    const { routeName = '' } = routeOptions.config
    const route = calls.get(routeName)
    if (!route || errorCode === null || OF_HTTP.has(errorCode)) return
    const declared: readonly string[] = errorsOf(route)
    if (!declared.includes(errorCode)) undeclared.add(`${routeName} ${errorCode}`)
  })
  return () => {
    if (undeclared.size > 0) throw new Error(`not in the contract: ${[...undeclared].sort().join(', ')}`)
  }
}
