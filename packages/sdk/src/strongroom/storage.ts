import { checkStorageUrl, ProtocolError } from '@strongroom/protocol'
import type { ObjectAnswer, ObjectStore } from '../engine/object-store.ts'
import { ApiError, type RefusalBody } from '../errors.ts'
import { promote } from './error-map.ts'
import type { Config } from './options.ts'
import { ConnectionError, TimeoutError } from './public-errors.ts'
import { StrongroomError } from './strongroom-error.ts'
import { ensureNoRedirect } from './transport.ts'

// The network beside the API: parts of attachments go to addresses that are credentials themselves. Nothing else of this client goes
// there, neither its key nor its headers.

/** A part has to arrive whole, however short other requests are. */
const LEAST_PART_MS = 60_000

export function storageOf(config: Config): ObjectStore {
  const { server, storageOrigins: origins, timeoutMs } = config
  return {
    address: (candidate) => checkStorageUrl(candidate, { server, origins }),
    put: async (address, body, signal) => {
      const limitMs = Math.max(timeoutMs, LEAST_PART_MS)
      const request = { method: 'PUT', body: body as Uint8Array<ArrayBuffer>, headers: OCTETS }
      const ending = endOf(signal, limitMs)
      const response = await send(config, address, request, ending)
      await response.body?.cancel()
      return response.headers.get('etag')?.replaceAll('"', '')
    },
    get: async (address, from, signal) => {
      const ending = endOf(signal, timeoutMs)
      const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {}
      const response = await send(config, address, { method: 'GET', headers }, ending)
      return { ...placeOf(response), body: bytesOf(response, address, ending) }
    },
  }
}

const OCTETS = { 'content-type': 'application/octet-stream' }

/** When to end a request: as its caller says, or when nothing came for too long. */
interface Ending {
  readonly signal: AbortSignal
  readonly caller: AbortSignal | undefined
  readonly limitMs: number
  readonly controller: AbortController
  restart(): void
  stop(): void
}

function endOf(caller: AbortSignal | undefined, limitMs: number): Ending {
  const controller = new AbortController()
  const late = (): void => controller.abort(new Error('nothing came for too long'))
  let timer = setTimeout(late, limitMs)
  const stop = (): void => clearTimeout(timer)
  const restart = (): void => {
    stop()
    timer = setTimeout(late, limitMs)
  }
  const signal = caller ? AbortSignal.any([caller, controller.signal]) : controller.signal
  return { signal, caller, limitMs, controller, restart, stop }
}

async function send(config: Config, address: URL, init: RequestInit, ending: Ending): Promise<Response> {
  try {
    const response = await config.fetch(address.href, {
      ...init,
      redirect: 'manual',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      signal: ending.signal,
    })
    ensureNoRedirect(response, address)
    config.log('debug', `${init.method} ${address.origin} ${response.status}`)
    if (!response.ok) throw await refusalOf(response, address)
    return response
  } catch (cause) {
    throw connectionError(address, ending, cause)
  } finally {
    ending.stop()
  }
}

function connectionError({ host }: URL, ending: Ending, cause: unknown): unknown {
  const { caller, controller, limitMs } = ending
  if (caller?.aborted) return caller.reason
  if (StrongroomError.is(cause) || cause instanceof ProtocolError) return cause
  if (controller.signal.aborted)
    return new TimeoutError(`${host} did not answer in time`, { host, afterMs: limitMs, cause })
  return new ConnectionError(`the connection to ${host} failed`, {
    host,
    cause,
    hint: 'Check the network, and whether the object store can be reached from here.',
  })
}

const PASSING: ReadonlySet<number> = new Set([403, 408, 429, 500, 502, 503, 504])
const LONGEST_REFUSAL = 65_536

/** An address that is no longer good is refused with 403: a new one may pass. */
async function refusalOf(response: Response, { host }: URL): Promise<unknown> {
  const { status, headers } = response
  if (status === 416)
    return new ProtocolError('asset_mismatch', 'an attachment is shorter in storage than its checkpoint says')
  const body = await refusalBody(response)
  if (body && status !== 403) return promote(new ApiError(body, status), { headers })
  return new ConnectionError(`${host} answered ${status} for the content of an attachment`, {
    host,
    code: body?.code ?? 'unexpected_answer',
    retryable: PASSING.has(status),
    hint: 'Try again; if it persists, ask the operator to look at the object store.',
  })
}

async function refusalBody(response: Response): Promise<RefusalBody | undefined> {
  const isShort = Number(response.headers.get('content-length') ?? Number.NaN) <= LONGEST_REFUSAL
  if (!isShort) {
    await response.body?.cancel()
    return undefined
  }
  const body = (await response.json().catch(() => undefined)) as { error?: RefusalBody } | null | undefined
  return typeof body?.error?.code === 'string' ? body.error : undefined
}

const RANGE = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/

/** Where in the object the answer begins, and how long the whole is: claims, held against what is signed. */
function placeOf({ status, headers }: Response): Omit<ObjectAnswer, 'body'> {
  if (status === 206) {
    const [, start, size] = RANGE.exec(headers.get('content-range') ?? '') ?? []
    if (start === undefined)
      throw new ProtocolError('asset_mismatch', 'an object store does not say which bytes these are')
    return { start: Number(start), size: size === '*' ? undefined : Number(size) }
  }
  const length = headers.get('content-length')
  const isPlain = length !== null && !headers.has('content-encoding')
  return { start: 0, size: isPlain ? Number(length) : undefined }
}

async function* bytesOf(response: Response, address: URL, ending: Ending): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader()
  // A body that somebody else has made may not know of the signal.
  const end = (): void => void reader?.cancel().catch(() => undefined)
  ending.signal.addEventListener('abort', end, { once: true })
  try {
    for (;;) {
      ending.restart()
      const next = await reader?.read()
      ending.stop()
      ending.signal.throwIfAborted()
      if (!next || next.done) return
      yield next.value
    }
  } catch (cause) {
    throw connectionError(address, ending, cause)
  } finally {
    ending.stop()
    ending.signal.removeEventListener('abort', end)
    end()
  }
}
