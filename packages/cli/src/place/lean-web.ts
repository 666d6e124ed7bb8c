import { randomFillSync, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

// `fetch` for a process that asks one question and is gone. Node's own takes as long to load as Node itself takes to start, and twice
// that to ask; this is as much of it as the SDK uses for a question and its answer. Redirects are not followed, answers are not
// decompressed because none are asked for, and whoever wants a stream of events or an attachment uses Node's.

type HeadersInit = ConstructorParameters<typeof Headers>[0]

function pairsOf(init: HeadersInit): Iterable<readonly [string, string]> {
  if (init === undefined || init === null) return []
  return Symbol.iterator in Object(init)
    ? (init as Iterable<readonly [string, string]>)
    : Object.entries(init as Record<string, string>)
}

/** The names of headers have no case. A class, because it stands in for one. */
class LeanHeaders {
  readonly #values = new Map<string, string>()
  constructor(init?: HeadersInit) {
    for (const [name, value] of pairsOf(init)) this.append(name, value)
  }
  append(name: string, value: string): void {
    const before = this.get(name)
    this.set(name, before === null ? value : `${before}, ${value}`)
  }
  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value))
  }
  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null
  }
  has(name: string): boolean {
    return this.#values.has(name.toLowerCase())
  }
  delete(name: string): void {
    this.#values.delete(name.toLowerCase())
  }
  [Symbol.iterator](): Iterator<[string, string]> {
    return this.#values[Symbol.iterator]()
  }
}

interface ResponseMembers {
  readonly status?: number
  readonly statusText?: string
  readonly headers?: HeadersInit
}

/** An answer that is there as a whole. */
class LeanResponse {
  readonly type = 'default'
  readonly status: number
  readonly statusText: string
  readonly headers: LeanHeaders
  readonly #bytes: Uint8Array
  constructor(body: Uint8Array | null, { status = 200, statusText = '', headers }: ResponseMembers = {}) {
    this.#bytes = body ?? new Uint8Array()
    this.status = status
    this.statusText = statusText
    this.headers = new LeanHeaders(headers)
  }
  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }
  async text(): Promise<string> {
    return Buffer.from(this.#bytes).toString('utf8')
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
  clone(): LeanResponse {
    return this
  }
}

/** The answer while it comes: read piece by piece, so that whoever reads can stop. */
function answerOf(message: IncomingMessage): unknown {
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = message
  const single = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  const chunks = message[Symbol.asyncIterator]()
  return {
    type: 'default',
    status,
    statusText,
    headers: new LeanHeaders(single as [string, string][]),
    body: {
      getReader: () => ({ read: () => chunks.next(), releaseLock: () => undefined }),
      cancel: async () => {
        message.destroy()
      },
    },
  }
}

function leanFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = new URL(String(input))
  const { method = 'GET', headers, body, signal } = init
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  return new Promise((resolve, reject) => {
    const call = request(url, {
      agent: false,
      method,
      headers: Object.fromEntries(new LeanHeaders(headers as HeadersInit)),
      ...(signal && { signal }),
    })
    call.once('error', reject)
    call.once('response', (message) => resolve(answerOf(message) as Response))
    call.end(typeof body === 'string' ? body : undefined)
  })
}

/** From here on this process has no other web than this one. */
export function useLeanWeb(): typeof fetch {
  // Assigned and not defined: to look at what is there is to load it.
  Object.assign(globalThis, {
    Headers: LeanHeaders,
    Response: LeanResponse,
    performance: { now: () => process.uptime() * 1000 },
  })
  const value = { randomUUID, getRandomValues: randomFillSync }
  Object.defineProperty(globalThis, 'crypto', { value, configurable: true, enumerable: true, writable: true })
  return leanFetch as typeof fetch
}
