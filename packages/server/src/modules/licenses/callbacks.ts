import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Deps, inOrg } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import { isSigned } from '../../licenses/signed-http.ts'
import { hurryPurchase } from './purchase-store.ts'

// What a provider says without being asked. It is a hint to look and never a statement: whatever it says, as often and as late as it
// likes, the provider is asked, and its answer counts. Outside the JSON API, since the very bytes are signed.

const MAX_BYTES = 16_384
const Callback = Type.Object({
  externalId: Type.String({ pattern: '^[A-Za-z0-9_-]{1,80}$' }),
  account: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
})
const reads = Compile(Callback)

function parsed(body: Buffer): Static<typeof Callback> {
  try {
    const read: unknown = JSON.parse(body.toString())
    if (reads.Check(read)) return read
  } catch {
    // Not JSON: refused like everything else that is no callback.
  }
  throw new ApiError('invalid_json')
}

async function take(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { provider } = request.params as { readonly provider: string }
  const { secret } = found(deps.config.catalogue.providers.get(provider), 'route_not_found')
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  if (!isSigned(secret, request.headers, body, deps.now())) throw new ApiError('unauthorized')
  const { externalId, account } = parsed(body)
  // A further round has a number behind its id.
  const purchaseId = externalId.replace(/-[0-9]+$/, '')
  await inOrg(deps, account, (db) => hurryPurchase(db, { orgId: account, purchaseId, provider }, deps.now()))
  // The same for an order that nobody knows: a provider learns nothing of purchases from others.
  return reply.code(204).send()
}

export function mountProviderCallbacks(app: FastifyInstance, deps: Deps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (_: FastifyRequest, body: Buffer) => body,
    )
    scope.route({
      method: 'POST',
      url: '/provider-callbacks/:provider',
      bodyLimit: MAX_BYTES,
      handler: (request, reply) => take(deps, request, reply),
    })
  })
}
