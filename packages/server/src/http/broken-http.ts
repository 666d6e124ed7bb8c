import { type IncomingMessage, METHODS, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { ERRORS, type ErrorCode } from '@strongroom/contract'
import type { Deps } from '../context.ts'
import { errorBody } from './answer-errors.ts'
import { pathOf } from './guard.ts'
import type { KnownMethods } from './known-methods.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

// What never became a request still gets the one error body and the headers of every answer.

interface ParserError {
  readonly code?: string
  /** The bytes the parser was given, whatever its types say. */
  readonly rawPacket?: unknown
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

interface Refusal {
  readonly code: ErrorCode
  readonly allow?: readonly string[]
}

/** A method Node's parser does not know is one no route knows: the same answer as for one it does know. */
function refusalOf({ code = '', rawPacket }: ParserError, knownMethods: KnownMethods): Refusal {
  if (code === 'HPE_INVALID_METHOD') {
    const [, method, url] = /^([A-Za-z-]{1,32}) (\/[\x21-\x7e]{0,2047}) HTTP\/1\.[01]\r\n/.exec(textOf(rawPacket)) ?? []
    // A known method is that of an earlier request in the same packet: whose the error is cannot be said.
    if (method !== undefined && url !== undefined && !METHODS.includes(method)) {
      const allow = knownMethods(pathOf(url))
      return allow.length > 0 ? { code: 'method_not_allowed', allow } : { code: 'route_not_found' }
    }
  }
  return { code: CODES[code] ?? 'bad_request' }
}

const textOf = (packet: unknown): string => (Buffer.isBuffer(packet) ? packet.subarray(0, 4096).toString('latin1') : '')

function end(deps: Deps, socket: Duplex, { code, allow }: Refusal): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { status } = ERRORS[code]
  const requestId = deps.newId('req')
  deps.telemetry.metrics.count('none', 'malformed', status, 0)
  const body = JSON.stringify(errorBody(code, requestId))
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...SECURITY_HEADERS,
    'x-request-id': requestId,
    ...(allow && { allow: allow.join(', ') }),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy())
}

export interface BrokenHttp {
  /** Answers what the parser refuses, once per connection, and after what was asked before it. */
  answer(error: ParserError, socket: Duplex): void
  /** Answers what Node would end without a word. */
  watch(server: Server): void
}

interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const isOpen = ({ response }: Asked): boolean => !response.writableFinished

export function makeBrokenHttp(deps: Deps, knownMethods: KnownMethods): BrokenHttp {
  const asked = new WeakMap<Duplex, readonly Asked[]>()
  const answered = new WeakSet<Duplex>()
  return {
    answer: (error, socket) => {
      if (answered.has(socket)) return
      answered.add(socket)
      const refusal = refusalOf(error, knownMethods)
      const open = (asked.get(socket) ?? []).filter(isOpen)
      // Whose body is broken is answered by this; whoever asked before it, and has sent everything, is answered first.
      const earlier = open.findLast(({ request }) => request.complete)
      const isAnswered = open.some(({ request, response }) => !request.complete && response.headersSent)
      if (error.code === 'ECONNRESET' || isAnswered) socket.destroy()
      else if (earlier) earlier.response.once('close', () => end(deps, socket, refusal))
      else end(deps, socket, refusal)
    },
    watch: (server) => {
      server.prependListener('request', (request, response) => {
        asked.set(request.socket, [...(asked.get(request.socket) ?? []).filter(isOpen), { request, response }])
      })
      server.on('connect', (request, socket) => {
        const allow = knownMethods(pathOf(request.url ?? ''))
        end(deps, socket, allow.length > 0 ? { code: 'method_not_allowed', allow } : { code: 'bad_request' })
      })
    },
  }
}
