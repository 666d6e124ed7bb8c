import { shellLine } from '@strongroom/contract'
import type { WebhookDelivery } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { EXIT } from '../../errors/codes.ts'
import { arg, command, flag } from '../../model/command.ts'
import { table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'
import { findWebhook, WEBHOOK } from './look.ts'

const LATEST = 50
const STATES = [
  'pending',
  'delivering',
  'retrying',
  'delivered',
  'exhausted',
  'discarded',
] as const satisfies readonly WebhookDelivery['state'][]
const shapes = () => import('../../schemas/webhook.ts')

/** `204 in 12 ms`, `timeout`. */
function answerOf({ attempts }: WebhookDelivery): string | undefined {
  const last = attempts.at(-1)
  if (!last) return undefined
  const { responseStatus, error, durationMs } = last
  const said = responseStatus ?? error
  return said === null ? undefined : `${said}${durationMs === null ? '' : ` in ${durationMs} ms`}`
}

const show = (cli: Cli, rows: readonly WebhookDelivery[]): string =>
  table(
    rows,
    [
      { title: 'TIME', of: ({ createdAt }) => shortTime(createdAt) },
      { title: 'EVENT', of: ({ eventType, synthetic }) => (synthetic ? `${eventType} (test)` : eventType) },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'TRIES', of: ({ attempts }) => attempts.length, right: true },
      { title: 'ANSWER', of: answerOf },
      {
        title: 'NEXT TRY',
        of: ({ nextAttemptAt }) => (nextAttemptAt === null ? undefined : shortTime(nextAttemptAt)),
      },
      { title: 'ID', of: ({ deliveryId }) => deliveryId },
    ],
    cli.style,
  )

export const test = command({
  summary: 'send one synthetic event now, and say how it went',
  about: 'Also to an endpoint that is disabled. Ends with 12 if the receiver did not take it.',
  args: { webhook: WEBHOOK },
  flags: { event: flag.text('a type of strongroom webhook types; webhook.test if not given', 'TYPE') },
  examples: [{ run: 'strongroom webhook test https://hooks.acme.dev/strongroom', does: 'signed like every other' }],
  next: 'strongroom webhook deliveries WEBHOOK',
  output: async () => (await shapes()).deliveryShape,
  run: async (cli, { args, flags }) => {
    const { webhookId, url } = await findWebhook(cli, args.webhook)
    const params = flags.event === undefined ? {} : { eventType: flags.event }
    const data = await (await cli.strongroom()).webhooks.test(webhookId, params, { signal: cli.signal })
    const isTaken = data.state === 'delivered'
    const { good, bad } = cli.style
    const said = answerOf(data) ?? data.state
    return {
      data,
      text: isTaken ? `${good('✓')} ${url} took it   ${said}` : `${bad('✗')} ${url} did not take it   ${said}`,
      next: shellLine`strongroom webhook deliveries ${webhookId}`,
      ...(!isTaken && { exitCode: EXIT.partly }),
    }
  },
})

export const deliveries = command({
  summary: 'what was sent to an endpoint, newest first',
  args: { webhook: WEBHOOK },
  flags: {
    state: flag.choice('only those', STATES),
    limit: flag.count('at most so many; 50 if not given'),
  },
  examples: [
    { run: 'strongroom webhook deliveries WEBHOOK', does: 'every delivery of 30 days with its answer' },
    { run: 'strongroom webhook deliveries WEBHOOK --state exhausted', does: 'what never arrived' },
  ],
  next: 'strongroom webhook delivery WEBHOOK DELIVERY',
  output: async () => (await shapes()).deliveriesShape,
  run: async (cli, { args, flags }) => {
    const { webhookId } = await findWebhook(cli, args.webhook)
    const params = flags.state === undefined ? {} : { state: flags.state }
    const pages = (await cli.strongroom()).webhooks.deliveries(webhookId, params, { signal: cli.signal })
    const data = await pages.all({ max: flags.limit ?? LATEST })
    if (data.length === 0) cli.say('nothing was sent')
    const next = shellLine`strongroom webhook delivery ${webhookId} DELIVERY`
    return { data, meta: { total: data.length }, ...(data.length > 0 && { text: show(cli, data), next }) }
  },
})

export const resend = command({
  summary: 'send an event again, with the id it has always had',
  args: { webhook: WEBHOOK, delivery: arg.one('id of a delivery') },
  flags: {},
  examples: [{ run: 'strongroom webhook resend WEBHOOK DELIVERY', does: 'a receiver that has it knows it by its id' }],
  next: 'strongroom webhook deliveries WEBHOOK',
  output: async () => (await shapes()).deliveryShape,
  run: async (cli, { args }) => {
    const { webhookId } = await findWebhook(cli, args.webhook)
    const data = await (await cli.strongroom()).webhooks.redeliver(webhookId, args.delivery, { signal: cli.signal })
    return { data, text: show(cli, [data]), next: shellLine`strongroom webhook deliveries ${webhookId}` }
  },
})
