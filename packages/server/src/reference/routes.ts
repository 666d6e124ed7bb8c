import { api, describeApi, type Routes } from '@strongroom/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { referenceIndex, referencePage } from './api-page.ts'
import { docsFolders, findDocs } from './docs-files.ts'
import { escapeHtml } from './html.ts'
import { STYLE } from './shell.ts'
import { makeSite, type Served, type Site } from './site.ts'

const POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** The address in the pages; what is read here is about this server. */
const WRITTEN_ORIGIN = 'http://127.0.0.1:8420'

/** Names besides loopback ones are behind something that speaks TLS. */
function originOf({ headers: { host = '' } }: FastifyRequest): string {
  const isLoopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(host)
  return `${isLoopback ? 'http' : 'https'}://${escapeHtml(host)}`
}

const send = (reply: FastifyReply, { type, body }: Served, origin: string): FastifyReply =>
  reply
    .headers({
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': POLICY,
      'cache-control': 'no-cache',
    })
    .send(body.replaceAll(WRITTEN_ORIGIN, origin))

function reference(path: string, { framed }: Site): Served | undefined {
  const title = 'API reference'
  if (path === 'api') return { type: 'text/html', body: framed(path, title, referenceIndex(api)) }
  const found = Object.entries<Routes>(api).find(([group]) => path === `api/${group}`)
  return found && { type: 'text/html', body: framed(path, `${found[0]} · ${title}`, referencePage(...found)) }
}

/** Each page is made once, when it is first asked for. */
function makePages(folders: () => readonly string[]): (path: string) => Served | undefined {
  const kept = new Map<string, Served>()
  let site: Site | undefined
  return (path) => {
    site ??= makeSite(findDocs(folders()))
    const before = kept.get(path)
    if (before) return before
    const page = reference(path, site) ?? site.at(path)
    if (page) kept.set(path, page)
    return page
  }
}

/** OpenAPI, the reference from the contract that is mounted, and the pages of `docs`: all without a script. */
export function mountReference(
  app: FastifyInstance,
  version: string,
  folders: () => readonly string[] = docsFolders,
): void {
  const openapi = describeApi(api, version)
  const page = makePages(folders)
  const answer = (path: string, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const found = page(path)
    if (!found) throw new ApiError('route_not_found')
    return send(reply, found, originOf(request))
  }
  app.get('/api/v1/openapi.json', async () => openapi)
  app.get('/docs', async (request, reply) => answer('', request, reply))
  app.get('/docs/style.css', async (_, reply) =>
    reply.headers({ 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' }).send(STYLE),
  )
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const path = request.params['*']
    // The index has one address.
    if (path === '') throw new ApiError('route_not_found')
    return answer(path, request, reply)
  })
}
