import { ERRORS, type Output, type webhooks as routes } from '@strongroom/contract'
import type { Scope } from './call.ts'
import { ConfigError, NotFoundError } from './public-errors.ts'
import { Secret } from './secret.ts'
import type { CreatedWebhook, WebhookEndpoint } from './webhooks.ts'

// Endpoints as the client shows them.

/** More than a key can have, so that one page is all. */
const ALL = 100

/** Of the list: a key has few, and there is no route for one. */
export async function findEndpoint({ client, options }: Scope, id: string): Promise<WebhookEndpoint> {
  const { data } = await client.webhooks.list({ query: { page: 1, limit: ALL } }, options)
  const found = data.find(({ webhookId }) => webhookId === id)
  if (found) return found
  const code = 'webhook_not_found'
  const { status, message, hint } = ERRORS[code]
  throw new NotFoundError({ code, message, hint }, status)
}

export function withSecret({ secret, secretRedacted, ...endpoint }: Output<typeof routes.create>): CreatedWebhook {
  if (secretRedacted)
    throw new ConfigError('this call was made before: its secret was shown then, and is not shown twice', {
      code: 'secret_already_shown',
      hint: 'Make a new one with webhooks.rotateSecret.',
    })
  const ref = `signing secret of webhook ${endpoint.webhookId}`
  const signingSecret = secret === null ? undefined : new Secret(secret, { ref, name: 'signing secret' })
  return { endpoint, signingSecret }
}
