import type { FastifyInstance } from 'fastify'
import type { Deps } from '../../context.ts'
import { issuerJwks } from '../../licenses/issuer-ring.ts'
import { provisioningKey } from '../../licenses/sealer.ts'

/** The keys that licence keys of this server are verified with, and the one its hand-offs are signed with. For everybody. */
export function mountIssuerKeys(app: FastifyInstance, deps: Deps): void {
  app.get('/.well-known/license-issuer-keys.json', async (_, reply) => {
    reply.header('cache-control', 'public, max-age=300')
    const { kid, key } = await provisioningKey(deps)
    return { keys: await issuerJwks(deps), provisioner: { principal: key.principal, kid, key: key.bundle } }
  })
}
