import { API_PREFIX } from '@strongroom/contract'
import { orAborted, pause } from '../engine/queue.ts'
import type { Core } from './core.ts'
import { ensureNoRedirect, requestHeaders } from './transport.ts'

// The stream of changes (server-sent events). What it says is a hint of the server and proves nothing.

export interface VaultEvent {
  readonly seq: number
  readonly id: string
  readonly vaultId: string
  readonly action: string
  readonly actor: string
  readonly subject: string
  readonly occurredAt: string
  readonly requestId: string
}

export interface Listener {
  onEvent(event: VaultEvent): void
  /** The stream stands: what happens from now on is told. */
  onOpen?(): void
  /** There is no stream for this caller, now or ever: look by yourself. */
  onRefused?(): void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Follows the stream until `signal` ends it, and takes it up again where it broke off. Never rejects. */
export async function followEvents(core: Core, signal: AbortSignal, listener: Listener): Promise<void> {
  let after: string | undefined
  for (let failures = 0; !signal.aborted; ) {
    const outcome = await listen(core, signal, after, listener).catch(() => undefined)
    if (outcome === 'refused') return listener.onRefused?.()
    after = outcome?.after ?? after
    failures = outcome ? 0 : failures + 1
    const window = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
    await pause(Math.random() * window, signal).catch(() => undefined)
  }
}

type Ended = 'refused' | { readonly after: string | undefined }

async function listen(core: Core, signal: AbortSignal, after: string | undefined, listener: Listener): Promise<Ended> {
  const { config } = core
  const url = new URL(`${config.server}${API_PREFIX.machine}/events`)
  const init = { headers: { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': after }) } }
  const headers = await orAborted(requestHeaders(config, { headers: {} }, init, undefined), signal)
  const response = await config.fetch(url.href, { headers, redirect: 'manual', credentials: 'omit', signal })
  ensureNoRedirect(response, url)
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  if (!response.ok || !isStream || !response.body) {
    await response.body?.cancel()
    return response.status >= 500 || response.status === 429 ? Promise.reject(new Error('later')) : 'refused'
  }
  listener.onOpen?.()
  let last = after
  for await (const { id, data } of eventsIn(response.body)) {
    last = id ?? last
    const event = parse(data)
    if (event) listener.onEvent(event)
  }
  return { after: last }
}

function parse(data: string): VaultEvent | undefined {
  try {
    const event = JSON.parse(data) as VaultEvent | null
    return typeof event?.vaultId === 'string' ? event : undefined
  } catch {
    return undefined
  }
}

/** A server that sends without an end of an event is not listened to for ever. */
const MAX_EVENT_LENGTH = 1_048_576

export async function* eventsIn(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ id: string | undefined; data: string }> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      if (text.length > MAX_EVENT_LENGTH) return
      for (const block of blocks) {
        const lines = block.split('\n')
        const id = lines.find((line) => line.startsWith('id: '))?.slice(4)
        const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6))
        // A place alone comes where nothing has happened.
        if (data.length > 0 || id !== undefined) yield { id, data: data.join('\n') }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
