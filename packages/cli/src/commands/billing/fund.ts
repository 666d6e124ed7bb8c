import { shellLine } from '@strongroom/contract'
import type { FundingIntent } from '@strongroom/sdk'
import { type Cli, confirm } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, flag, type Result } from '../../model/command.ts'
import { readMoney, shownMoney } from '../../output/money.ts'
import { PLAIN } from '../../output/style.ts'
import { facts, table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'
import { withProgress } from '../../prompt/progress.ts'

const shapes = () => import('../../schemas/funding.ts')
const INTENT = arg.one('id of a funding intent')

/** What somebody has to know who pays: how much of what, on which chain, to which address. */
export const paymentText = (cli: Cli, intent: FundingIntent): string => {
  const { asset, network, address, paymentUri, target, credited, expiresAt, intentId } = intent
  return facts(
    [
      ['pay', `${shownMoney(target)} in ${asset.symbol} on ${network}`],
      ['credited', BigInt(credited.amount) > 0n ? shownMoney(credited) : undefined],
      ['to', address],
      ['token', asset.contract],
      ['link', paymentUri],
      ['until', `${shortTime(expiresAt)}; what comes later is credited too`],
      ['id', intentId],
    ],
    cli.style,
  )
}

/** Where it stands, in a few words: seen, so many of so many confirmations, credited. */
export function standingText({
  status,
  deposits,
  confirmationsRequired,
  credited,
  incoming,
  target,
}: FundingIntent): string {
  const waiting = deposits.filter(({ state }) => state === 'seen').map(({ confirmations }) => confirmations)
  if (status === 'funded') return `credited ${shownMoney(credited)}`
  if (waiting.length > 0) {
    const least = Math.min(confirmationsRequired, ...waiting)
    return `seen ${shownMoney(incoming)}: ${least} of ${confirmationsRequired} confirmations`
  }
  if (BigInt(credited.amount) > 0n) return `credited ${shownMoney(credited)} of ${shownMoney(target)}`
  return status === 'requires_payment' ? 'waiting for the payment' : status.replace('_', ' ')
}

/** For a camera that looks at a terminal; nothing elsewhere. */
async function drawCode(cli: Cli, { paymentUri }: FundingIntent): Promise<void> {
  const { stderr } = cli.io
  if (!stderr.isTTY || cli.errorStyle === PLAIN || cli.isJson || cli.isQuiet) return
  const { qrText, qrWidth } = await import('../../output/qr.ts')
  const code = await qrText(paymentUri)
  if (qrWidth(code) <= stderr.columns) cli.say(`\n${code}\n`)
}

const plain = ({ wait: _, ...data }: FundingIntent): Omit<FundingIntent, 'wait'> => data

const endText = (cli: Cli, intent: FundingIntent): string => `${cli.style.good('✓')} ${standingText(intent)}`

/** Waits and says how it goes: on a terminal in one line, elsewhere a line for each change, with --json as JSON. */
async function waitFor(cli: Cli, intent: FundingIntent): Promise<Result | undefined> {
  const isDrawn = Boolean(cli.io.stderr.isTTY)
  const funded = await withProgress(cli, 'waiting for the payment', (progress) =>
    intent.wait({
      signal: cli.signal,
      onProgress: (now) => {
        if (cli.isJson) cli.emit({ type: 'intent', ...plain(now) }, '')
        else if (isDrawn) progress.update(standingText(now))
        else if (now.status !== 'funded') cli.say(standingText(now))
      },
    }),
  ).catch((error: unknown) => {
    if (cli.signal.aborted) cli.say(`not waiting any more; a payment is credited all the same: ${intent.intentId}`)
    throw error
  })
  if (cli.isJson) return undefined
  return { data: plain(funded), text: endText(cli, funded), next: 'strongroom billing balance' }
}

const DAY_MS = 86_400_000
const LONGEST_MS = 7 * DAY_MS
const SHORTEST_MS = 900_000

function secondsOf(ms: number | undefined): { readonly expiresInSeconds?: number } {
  if (ms === undefined) return {}
  if (ms < SHORTEST_MS || ms > LONGEST_MS)
    throw new CliError('usage', '--expires is from 15m to 7d', { fix: 'leave it out for a day' })
  return { expiresInSeconds: Math.round(ms / 1000) }
}

export const fund = command({
  summary: 'pay credit in with stablecoins: an address, a link, progress',
  about:
    'Nothing is paid by this command: it asks for an address of its own and waits until a wallet has paid there. Whatever is confirmed is credited, however much and whenever it comes. Ctrl-C only ends the waiting.',
  args: { amount: arg.one('dollars, such as 25 or 25.50') },
  flags: {
    asset: flag.text('symbol of the stablecoin, where there are several', 'SYMBOL'),
    expires: flag.duration('how long to wait for it; a day if not given', '24h'),
    'no-wait': flag.on('print the address and end'),
  },
  examples: [
    { run: 'strongroom billing fund 25', does: 'shows where to pay, and waits until it is credited' },
    { run: 'strongroom billing fund 25 --no-wait --json', does: 'the intent, for a program that pays' },
  ],
  next: 'strongroom billing balance',
  output: async () => (await shapes()).intentShape,
  run: async (cli, { args, flags }) => {
    const { asset } = flags
    const amount = readMoney(args.amount, 'AMOUNT')
    const params = { amount, ...(asset !== undefined && { asset }), ...secondsOf(flags.expires) }
    const intent = await (await cli.strongroom()).billing.fund(params, { signal: cli.signal })
    const text = paymentText(cli, intent)
    if (!flags['no-wait']) cli.say(text)
    await drawCode(cli, intent)
    if (flags['no-wait'])
      return { data: plain(intent), text, next: shellLine`strongroom billing intent ${intent.intentId} --wait` }
    return waitFor(cli, intent)
  },
})

export const intent = command({
  summary: 'one funding intent, with every payment that was seen',
  args: { intent: INTENT },
  flags: { wait: flag.on('until it is credited') },
  examples: [{ run: 'strongroom billing intent INTENT --wait', does: 'goes on waiting where fund was ended' }],
  next: 'strongroom billing balance',
  output: async () => (await shapes()).intentShape,
  run: async (cli, { args, flags }) => {
    const found = await (await cli.strongroom()).billing.intent(args.intent, { signal: cli.signal })
    if (flags.wait) return waitFor(cli, found)
    const payments = table(
      found.deposits,
      [
        { title: 'PAID', of: ({ paidAt }) => shortTime(paidAt) },
        { title: 'AMOUNT', of: ({ amount }) => shownMoney(amount), right: true },
        { title: 'STATE', of: ({ state }) => state },
        { title: 'CONFIRMATIONS', of: ({ confirmations }) => confirmations, right: true },
        { title: 'TRANSACTION', of: ({ txHash }) => txHash },
      ],
      cli.style,
    )
    const about = [`${standingText(found)}${found.exceptions.length > 0 ? ` (${found.exceptions.join(', ')})` : ''}`]
    const parts = [paymentText(cli, found), ...about, ...(found.deposits.length > 0 ? [payments] : [])]
    return { data: plain(found), text: parts.join('\n\n'), next: 'strongroom billing balance' }
  },
})

export const intents = command({
  summary: 'what was asked to be paid in, newest first',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom billing intents', does: 'addresses, what came, what is missing' }],
  next: 'strongroom billing intent INTENT',
  output: async () => (await shapes()).intentsShape,
  run: async (cli) => {
    const rows = await (await cli.strongroom()).billing.intents({}, { signal: cli.signal }).all()
    if (rows.length === 0) cli.say('nothing was asked to be paid in')
    const text = table(
      rows,
      [
        { title: 'WHEN', of: ({ createdAt }) => shortTime(createdAt) },
        { title: 'STATUS', of: ({ status }) => status },
        { title: 'CREDITED', of: ({ credited }) => shownMoney(credited), right: true },
        { title: 'OF', of: ({ target }) => shownMoney(target), right: true },
        { title: 'ADDRESS', of: ({ address }) => address },
        { title: 'ID', of: ({ intentId }) => intentId },
      ],
      cli.style,
    )
    const next = rows.length > 0 ? 'strongroom billing intent INTENT' : 'strongroom billing fund 25'
    return { data: rows.map(plain), meta: { total: rows.length }, ...(rows.length > 0 && { text }), next }
  },
})

export const cancel = command({
  summary: 'stop waiting for a payment that has not come',
  about: 'Should it come all the same, it is credited. What was paid in part stays credited.',
  args: { intent: INTENT },
  flags: {},
  examples: [{ run: 'strongroom billing cancel INTENT --yes', does: 'asks nothing' }],
  next: 'strongroom billing intents',
  output: async () => (await shapes()).intentShape,
  run: async (cli, { args }) => {
    await confirm(cli, `Stop waiting for the payment of ${args.intent}?`)
    const cancelled = await (await cli.strongroom()).billing.cancelIntent(args.intent, { signal: cli.signal })
    const text = `${cli.style.good('✓')} ${cancelled.intentId} is cancelled; a payment that comes all the same is credited`
    return { data: plain(cancelled), text, next: 'strongroom billing intents' }
  },
})
