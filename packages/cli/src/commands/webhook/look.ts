import { shellLine } from '@strongroom/contract'
import type { WebhookEndpoint } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command } from '../../model/command.ts'
import { facts, table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'

const shapes = () => import('../../schemas/webhook.ts')
export const WEBHOOK = arg.one('id, address or description of an endpoint')

/** By its id, or by an address or a description that no other has. */
export async function findWebhook(cli: Cli, asked: string): Promise<WebhookEndpoint> {
  const all = await (await cli.strongroom()).webhooks.list({}, { signal: cli.signal }).all()
  const [found, ...others] = all.filter(
    ({ webhookId, url, description }) => webhookId === asked || url === asked || description === asked,
  )
  if (!found)
    throw new CliError('webhook_not_found', `there is no endpoint ${asked} of yours`, {
      fix: 'strongroom webhook list',
    })
  if (others.length > 0)
    throw new CliError('ambiguous_name', `several endpoints are called ${asked}`, {
      fix: `use an id: ${[found, ...others].map(({ webhookId }) => webhookId).join(', ')}`,
    })
  return found
}

/** `--events 'budget.*,license.*'`, also more than once. */
export const readTypes = (given: readonly string[]): string[] =>
  given.flatMap((text) => text.split(',')).map((text) => text.trim())

const stateOf = ({ status, disabledReason }: WebhookEndpoint): string =>
  status === 'active' ? 'active' : `disabled (${disabledReason ?? 'manual'})`

export const webhookFacts = (cli: Cli, endpoint: WebhookEndpoint, secret?: string): string =>
  facts(
    [
      ['id', endpoint.webhookId],
      ['address', endpoint.url],
      ['description', endpoint.description],
      ['events', endpoint.eventTypes.join(', ')],
      ['state', stateOf(endpoint)],
      ['failing since', endpoint.failingSince === null ? undefined : shortTime(endpoint.failingSince)],
      ['signed with', endpoint.signing],
      ['public key', endpoint.publicKey ?? undefined],
      ['secret', secret],
      ['old secret', endpoint.oldSecretUntil === null ? undefined : `until ${shortTime(endpoint.oldSecretUntil)}`],
    ],
    cli.style,
  )

export const list = command({
  summary: 'your endpoints, and how they are',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom webhook list', does: 'addresses, types of events, what is disabled' }],
  next: 'strongroom webhook deliveries WEBHOOK',
  output: async () => (await shapes()).webhooksShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).webhooks.list({}, { signal: cli.signal }).all()
    if (data.length === 0) cli.say('no endpoints')
    const text = table(
      data,
      [
        { title: 'ADDRESS', of: ({ url }) => url },
        { title: 'EVENTS', of: ({ eventTypes }) => eventTypes.join(', ') },
        { title: 'STATE', of: stateOf },
        { title: 'ID', of: ({ webhookId }) => webhookId },
      ],
      cli.style,
    )
    const next = data.length === 0 ? 'strongroom webhook create URL' : 'strongroom webhook deliveries WEBHOOK'
    return { data, meta: { total: data.length }, ...(data.length > 0 && { text }), next }
  },
})

export const show = command({
  summary: 'one endpoint',
  args: { webhook: WEBHOOK },
  flags: {},
  examples: [{ run: 'strongroom webhook show https://hooks.acme.dev/strongroom', does: 'all about it but its secret' }],
  next: 'strongroom webhook deliveries WEBHOOK',
  output: async () => (await shapes()).webhookShape,
  run: async (cli, { args }) => {
    const data = await findWebhook(cli, args.webhook)
    return { data, text: webhookFacts(cli, data), next: shellLine`strongroom webhook deliveries ${data.webhookId}` }
  },
})

export const types = command({
  summary: 'every type of event, and the permission that hears it',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom webhook types', does: 'what --events takes; budget.* means all that begin so' }],
  next: 'strongroom webhook listen',
  output: async () => (await shapes()).eventTypesShape,
  run: async (cli) => {
    const data = await (await cli.strongroom()).webhooks.eventTypes({ signal: cli.signal })
    const text = table(
      data,
      [
        { title: 'TYPE', of: ({ type }) => type },
        { title: 'NEEDS', of: ({ permission }) => permission },
      ],
      cli.style,
    )
    return { data, meta: { total: data.length }, text, next: 'strongroom webhook listen' }
  },
})
