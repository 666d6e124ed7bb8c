import { api, describeApi } from '@strongroom/contract'
import type { FastifyInstance } from 'fastify'
import { errorsPage, referencePage, styleSheet } from './pages.ts'

const POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** OpenAPI and the reference pages: written once at start, from the contract that is mounted. */
export function mountReference(app: FastifyInstance, version: string): void {
  const html =
    (body: string) =>
    async (_: unknown, reply: { headers(all: Record<string, string>): { send(body: string): unknown } }) =>
      reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': POLICY,
          'cache-control': 'no-cache',
        })
        .send(body)
  const openapi = describeApi(api, version)
  app.get('/api/v1/openapi.json', async () => openapi)
  app.get('/docs', html(referencePage(api)))
  app.get('/docs/errors', html(errorsPage()))
  app.get('/docs/style.css', async (_, reply) =>
    reply.headers({ 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' }).send(styleSheet()),
  )
}
