import { API_PREFIX } from '@strongroom/contract'
import { orAborted, pause } from '../engine/queue.ts'
import type { WebhookEvent } from '../webhooks.ts'
import type { Core } from './core.ts'
import { eventsIn } from './events.ts'
import { ConnectionError } from './public-errors.ts'
import { StrongroomError } from './strongroom-error.ts'
import { ensureNoRedirect, refusalIn, requestHeaders } from './transport.ts'
import type { ListenOptions, WebhookMessage } from './webhooks.ts'

// What an endpoint would be sent, over a stream that is taken up again where it broke off.

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** The server says something every 15 seconds. A machine that slept does not hear that its connection is gone. */
const SILENCE_MS = 45_000

/** Follows the stream until `signal` ends it. Rejects when the server refuses; a connection that breaks is taken up again. */
export async function* listenAsWebhook(
  core: Core,
  { eventTypes = ['*'], signal, onOpen, onLost }: ListenOptions = {},
): AsyncGenerator<WebhookMessage> {
  let after: string | undefined
  for (let failures = 0; !signal?.aborted; ) {
    const opened = await open(core, eventTypes, signal, after).catch((error: unknown) => passing(error, signal))
    try {
      if (opened) {
        failures = 0
        onOpen?.()
        for await (const { id, data } of untilBroken(eventsIn(opened.body))) {
          if (data !== '') yield { event: eventIn(data, core), body: data }
          // Only now is it taken: a stream that is taken up again goes on behind it.
          after = id ?? after
        }
        if (!signal?.aborted) onLost?.()
      }
    } finally {
      opened?.end()
    }
    failures += 1
    const window = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
    await pause(Math.random() * window, signal).catch(() => undefined)
  }
}

/** Nothing, for a failure that may pass. */
function passing(error: unknown, signal: AbortSignal | undefined): undefined {
  if (signal?.aborted || (StrongroomError.is(error) && error.retryable)) return undefined
  throw error
}

function eventIn(data: string, { config }: Core): WebhookEvent {
  try {
    return JSON.parse(data) as WebhookEvent
  } catch (cause) {
    const { host } = new URL(config.server)
    const code = 'unexpected_answer'
    throw new ConnectionError(`${host} told of something that is no event`, { host, code, retryable: false, cause })
  }
}

async function* untilBroken<T>(events: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = events[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await iterator.next().catch(() => undefined)
      if (!next || next.done) return
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}

interface Opened {
  readonly body: ReadableStream<Uint8Array>
  end(): void
}

async function open(
  { config }: Core,
  eventTypes: readonly string[],
  signal: AbortSignal | undefined,
  after: string | undefined,
): Promise<Opened> {
  const url = new URL(`${config.server}${API_PREFIX.machine}/events`)
  url.searchParams.set('webhooks', eventTypes.join(','))
  const init = { headers: { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': after }) } }
  const headers = await orAborted(requestHeaders(config, { headers: {} }, init, undefined), signal)
  const ended = new AbortController()
  const end = (): void => {
    signal?.removeEventListener('abort', end)
    ended.abort()
  }
  signal?.addEventListener('abort', end, { once: true })
  try {
    const response = await config
      .fetch(url.href, { headers, redirect: 'manual', credentials: 'omit', signal: ended.signal })
      .catch((cause: unknown) => {
        throw new ConnectionError(`${url.host} could not be reached`, { host: url.host, cause })
      })
    ensureNoRedirect(response, url)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    if (!response.ok || !isStream || !response.body) throw await refusalIn(response, undefined, url.host)
    return { body: withoutSilence(response.body, end), end }
  } catch (error) {
    end()
    throw error
  }
}

/** The same, given up when nothing comes for too long. The time that its reader takes does not count. */
function withoutSilence(body: ReadableStream<Uint8Array>, giveUp: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const timer = setTimeout(giveUp, SILENCE_MS)
    try {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    } finally {
      clearTimeout(timer)
    }
  }
  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 })
}
