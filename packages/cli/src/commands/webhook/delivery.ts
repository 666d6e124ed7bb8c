import { shellLine } from '@strongroom/contract'
import type { WebhookDeliveryDetail } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { arg, command } from '../../model/command.ts'
import { safeText } from '../../output/safe-text.ts'
import { facts, table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'
import { findWebhook, WEBHOOK } from './look.ts'

type Attempt = WebhookDeliveryDetail['attempts'][number]

const STEPS = [
  ['lookup', 'lookupMs'],
  ['connect', 'connectMs'],
  ['TLS', 'tlsMs'],
  ['wait', 'waitMs'],
] as const satisfies readonly (readonly [string, keyof Attempt['timing']])[]

/** `lookup 4 ms, connect 2 ms, TLS 31 ms, wait 176 ms`: of what came about. */
function spentOn({ timing }: Attempt): string | undefined {
  const words = STEPS.filter(([, step]) => timing[step] !== null).map(([name, step]) => `${name} ${timing[step]} ms`)
  return words.length === 0 ? undefined : words.join(', ')
}

const showAttempts = (cli: Cli, attempts: readonly Attempt[]): string =>
  table(
    attempts,
    [
      { title: 'TRY', of: ({ attempt }) => attempt, right: true },
      { title: 'TIME', of: ({ startedAt }) => shortTime(startedAt) },
      { title: 'ANSWER', of: ({ responseStatus, error }) => responseStatus ?? error ?? undefined },
      { title: 'MS', of: ({ durationMs }) => durationMs ?? undefined, right: true },
      { title: 'SPENT ON', of: spentOn },
    ],
    cli.style,
  )

/** As it went out, and below it what its signature is of. */
function showRequest({ url, request }: Attempt, body: string): string {
  const headers = Object.entries(request?.headers ?? {}).map(([name, value]) => safeText(`${name}: ${value}`))
  return [`POST ${safeText(url)}`, ...headers, '', safeText(body)].join('\n')
}

function show(cli: Cli, delivery: WebhookDeliveryDetail): string {
  const { deliveryId, eventId, eventType, synthetic, state, nextAttemptAt, attempts, body } = delivery
  const about = facts(
    [
      ['id', deliveryId],
      ['event', `${eventType}${synthetic ? ' (test)' : ''} ${eventId}`],
      ['state', state],
      ['next try', nextAttemptAt === null ? undefined : shortTime(nextAttemptAt)],
      ['body', body === null ? 'not shown: you may no longer read what it is about' : undefined],
    ],
    cli.style,
  )
  const last = attempts.findLast(({ request }) => request !== null)
  const parts = [about, ...(attempts.length === 0 ? [] : [showAttempts(cli, attempts)])]
  if (last && body !== null)
    parts.push(showRequest(last, body), facts([['signed', last.request?.baseString]], cli.style))
  return parts.join('\n\n')
}

export const delivery = command({
  summary: 'one delivery: how the time of each try was spent, and what was sent',
  about:
    'Shows the request of the last try: its headers, its body, and the text that its signature is of. --json has those of every try. Of an answer only its status is kept.',
  args: { webhook: WEBHOOK, delivery: arg.one('id of a delivery') },
  flags: {},
  examples: [
    { run: 'strongroom webhook delivery WEBHOOK DELIVERY', does: 'enough to check a signature by hand' },
    {
      run: `strongroom webhook delivery WEBHOOK DELIVERY --pick 'data.attempts[].timing'`,
      does: 'milliseconds of each step',
    },
  ],
  next: 'strongroom webhook resend WEBHOOK DELIVERY',
  output: async () => (await import('../../schemas/webhook.ts')).deliveryDetailShape,
  run: async (cli, { args }) => {
    const { webhookId } = await findWebhook(cli, args.webhook)
    const data = await (await cli.strongroom()).webhooks.delivery(webhookId, args.delivery, { signal: cli.signal })
    return { data, text: show(cli, data), next: shellLine`strongroom webhook resend ${webhookId} ${data.deliveryId}` }
  },
})
