import type { WebhookMessage } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { command, flag } from '../../model/command.ts'
import { safeText } from '../../output/safe-text.ts'
import { shortTime } from '../../output/time.ts'
import { type Forwarded, forward, forwardAddress, type Signing, signingFor } from './forward.ts'
import { readTypes } from './look.ts'

// For a program under development: events come over the stream of the server, so that no address has to be public, and go on as signed
// requests to an address that only this machine needs to reach.

const shapes = () => import('../../schemas/webhook.ts')

const answerText = ({ style }: Cli, { status, error, durationMs }: Forwarded): string => {
  const said = `${status ?? error}  ${durationMs} ms`
  return error === null ? `${style.good('→')} ${said}` : `${style.bad('✗')} ${said}`
}

function tell(cli: Cli, { event }: WebhookMessage, forwarded: Forwarded | null): void {
  const parts = [shortTime(event.timestamp), event.type, event.id].map(safeText)
  const line = [...parts, ...(forwarded ? [answerText(cli, forwarded)] : [])].join('  ')
  cli.emit({ type: 'event', event, forwarded }, line)
}

interface Listening {
  readonly eventTypes: readonly string[]
  readonly forwardTo: URL | undefined
  readonly signing: Signing
  readonly count: number
}

/** Says once where it listens and what it signs with, and later only that the stream broke off and is back. */
function tellState(cli: Cli, { eventTypes, forwardTo, signing }: Listening): { onOpen(): void; onLost(): void } {
  let isFirst = true
  const listening = (): void => {
    const secret = forwardTo && signing.isNew ? signing.secret : null
    const href = forwardTo?.href ?? null
    if (cli.isJson) cli.emit({ type: 'listening', eventTypes, forwardTo: href, secret }, '')
    cli.say(`listening for ${safeText(eventTypes.join(', '))}${href === null ? '' : ` → ${href}`}   Ctrl-C ends it`)
    if (secret !== null) cli.say(`signed with ${secret}   made for this run`)
  }
  const change = (type: 'lost' | 'back', text: string): void => {
    if (cli.isJson) cli.emit({ type }, '')
    else cli.say(text)
  }
  return {
    onOpen: () => {
      if (isFirst) listening()
      else change('back', 'connected again: nothing was missed')
      isFirst = false
    },
    onLost: () => change('lost', 'the connection broke off, trying again'),
  }
}

interface Told {
  readonly events: number
  readonly failed: number
}

async function follow(cli: Cli, listening: Listening): Promise<Told> {
  const { eventTypes, forwardTo, signing, count } = listening
  const strongroom = await cli.strongroom()
  let [events, failed] = [0, 0]
  const options = { eventTypes, signal: cli.signal, ...tellState(cli, listening) }
  for await (const message of strongroom.webhooks.listen(options)) {
    const forwarded = forwardTo ? await forward(forwardTo, signing, message, cli.signal) : null
    tell(cli, message, forwarded)
    events += 1
    failed += forwarded?.error ? 1 : 0
    if (events >= count) break
  }
  return { events, failed }
}

export const listen = command({
  summary: 'hear events here, and forward them to a local address',
  about:
    'Needs no public address: events come over a connection that this command opens. Each is forwarded as the request that a webhook makes, signed with a secret that is made for this run and printed once; STRONGROOM_WEBHOOK_SECRET gives one of your own. You hear what you can read. Needs machine.monitoring.read.',
  args: {},
  flags: {
    'forward-to': flag.text('send each event there, such as localhost:3000/hooks', 'URL'),
    events: flag.many('only these types, such as budget.*', 'TYPES'),
    count: flag.count('end after so many events'),
  },
  examples: [
    {
      run: 'strongroom webhook listen --forward-to localhost:3000/hooks',
      does: 'a line for each event, with what your program answered',
    },
    { run: "strongroom webhook listen --events 'vault_item.*' --json", does: 'a line of JSON for each' },
  ],
  next: 'strongroom webhook create URL',
  output: async () => (await shapes()).listenShape,
  run: async (cli, { flags }) => {
    const listening = {
      eventTypes: flags.events.length > 0 ? readTypes(flags.events) : ['*'],
      forwardTo: flags['forward-to'] === undefined ? undefined : forwardAddress(flags['forward-to']),
      signing: signingFor(cli.io.env.STRONGROOM_WEBHOOK_SECRET),
      count: flags.count ?? Number.POSITIVE_INFINITY,
    }
    const { events, failed } = await follow(cli, listening)
    const { reason } = cli.signal
    if (cli.signal.aborted && !(reason instanceof CliError && reason.code === 'interrupted')) throw reason
    cli.say(`${events} ${events === 1 ? 'event' : 'events'}${failed > 0 ? `, ${failed} not taken` : ''}`)
    return undefined
  },
})
