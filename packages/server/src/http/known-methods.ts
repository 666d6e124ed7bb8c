import { ERRORS } from '@strongroom/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closeIfUnread, errorBody } from './answer-errors.ts'
import { pathOf } from './guard.ts'

/** The methods a path knows; none where there is no such path. */
export type KnownMethods = (path: string) => readonly string[]

/** Not everybody may know that these are there. */
const HIDDEN = new Set(['/metrics'])

/** Remembers what is mounted from now on. */
export function rememberMethods(app: FastifyInstance): KnownMethods {
  const routes: { readonly method: string; readonly pattern: RegExp }[] = []
  app.addHook('onRoute', ({ method, url }) => {
    if (HIDDEN.has(url)) return
    const pattern = new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]+')}$`)
    for (const one of [method].flat()) routes.push({ method: one, pattern })
  })
  return (path) => [
    ...new Set(
      routes
        .filter(({ pattern }) => pattern.test(path))
        .map(({ method }) => method)
        .sort(),
    ),
  ]
}

/** A path that knows other methods is answered with 405 and their names, everything else with the same 404. */
export const answerNotFound =
  (knownMethods: KnownMethods) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const methods = knownMethods(pathOf(request.url))
    const code = methods.length > 0 ? 'method_not_allowed' : 'route_not_found'
    request.errorCode = code
    if (methods.length > 0) reply.header('allow', methods.join(', '))
    closeIfUnread(request, reply)
    return reply.code(ERRORS[code].status).send(errorBody(code, request.id))
  }
