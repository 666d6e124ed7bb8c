import type { ErrorCode } from '@strongroom/contract'

// A case is bytes and what must come of them. Texts are Latin-1, so that "\xff" is one byte; {KEY}, {TOKEN} and {AGENT} stand
// for a valid API key, a valid access token and an agent's id.

export interface RawCase {
  readonly name: string
  readonly text: string
  /** One status for each answer, in order. */
  readonly status: readonly number[]
  /** The code of the last answer, if it is a refusal. */
  readonly code?: ErrorCode
  /** The server must end the connection; otherwise it must keep it open. Not said where the client asks for it itself. */
  readonly closes?: boolean
  /** Our side ends after sending. */
  readonly half?: boolean
  readonly isHead?: boolean
  /** Answered with 2xx although nobody is known. */
  readonly isOpen?: boolean
}

type Rest = Partial<Omit<RawCase, 'name' | 'text' | 'status' | 'code'>>

export const HOST = 'Host: localhost'
export const KEY = 'X-API-Key: {KEY}'
export const JSON_TYPE = 'Content-Type: application/json'
export const ME = '/api/v1/machine/me'
export const AGENTS = '/api/v1/machine/agent'
export const VAULTS = '/api/v1/machine/vault'

/** A request head and what follows it, as written. */
export const raw = (line: string, headers: readonly string[] = [], body = ''): string =>
  [line, ...headers, '', body].join('\r\n')

export const get = (target: string, ...headers: readonly string[]): string =>
  raw(`GET ${target} HTTP/1.1`, [HOST, KEY, ...headers])

/** A GET that brings no credential. */
export const getBare = (target: string, ...headers: readonly string[]): string =>
  raw(`GET ${target} HTTP/1.1`, [HOST, ...headers])

/** A POST that would create an agent if its body did not keep it from that. */
export const post = (body: string, ...headers: readonly string[]): string =>
  raw(`POST ${AGENTS} HTTP/1.1`, [HOST, KEY, JSON_TYPE, ...headers, `Content-Length: ${body.length}`], body)

export const VALID = '{"name":"raw","permissions":[]}'

/** The same POST, with framing headers of its own and any bytes after them. */
export const framed = (headers: readonly string[], body: string): string =>
  raw(`POST ${AGENTS} HTTP/1.1`, [HOST, KEY, JSON_TYPE, ...headers], body)

export const refused = (name: string, text: string, status: number, code: ErrorCode, rest: Rest = {}): RawCase => ({
  name,
  text,
  status: [status],
  code,
  ...rest,
})

/** Refused by the parser: the connection cannot be used any more. */
export const broken = (name: string, text: string, rest: Rest = {}): RawCase =>
  refused(name, text, 400, 'bad_request', { closes: true, ...rest })

export const served = (name: string, text: string, rest: Rest = {}): RawCase => ({ name, text, status: [200], ...rest })
