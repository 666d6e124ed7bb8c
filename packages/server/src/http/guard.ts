import type { IncomingMessage } from 'node:http'
import type { Config } from '../config.ts'
import { ApiError } from '../errors.ts'

// What is refused before a route is looked at: targets and headers that two programs could read in two ways. Nothing here
// costs a database query.

const MAX_URL = 2048
export const MAX_HEADERS = 64

/** Headers of which two would mean that somebody else may have read the other one. */
const CREDENTIALS = new Set(['authorization', 'x-api-key', 'x-setup-token', 'x-device-installation-id'])
const ONCE = new Set([
  'host',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'idempotency-key',
  'tlog-have',
  'vault-turn',
  'expect',
])

export function guard(config: Config, request: IncomingMessage): void {
  ensureTarget(request.url ?? '')
  ensureHeaders(request)
  ensureFraming(request)
  ensureHost(config, request)
}

/** Absolute form, authority form and the asterisk are for proxies; this is none. */
function ensureTarget(url: string): void {
  if (url.length > MAX_URL) throw new ApiError('uri_too_long')
  if (!/^\/[\x21\x22\x24-\x7e]*$/.test(url)) throw new ApiError('bad_request')
  if (!isCanonical(pathOf(url))) throw new ApiError('route_not_found')
}

export const pathOf = (url: string): string => url.split('?', 1)[0] as string

const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})+$/
/** Escapes of what stands unescaped (letters, digits, `-._~`), of `/` and `\`, and of control characters. */
const NEEDLESS = /%(?:[01].|2[DEF]|3[0-9]|4[1-9A-F]|5[0-9ACF]|6[1-9A-F]|7[0-9AEF])/

/** Nothing in it could be written in two ways: nearly every path is of this form. */
const SIMPLE = /^(?:\/[A-Za-z0-9_-]+)+$/

/** One spelling for each path: what a proxy in front allows or denies is then what is served here. */
const isCanonical = (path: string): boolean =>
  SIMPLE.test(path) || path === '/' || path.slice(1).split('/').every(isSegment)

const isSegment = (segment: string): boolean =>
  segment !== '.' && segment !== '..' && SEGMENT.test(segment) && !NEEDLESS.test(segment) && isUtf8(segment)

function isUtf8(segment: string): boolean {
  if (!segment.includes('%')) return true
  try {
    return decodeURIComponent(segment) !== ''
  } catch {
    return false
  }
}

function ensureHeaders({ rawHeaders, headers }: IncomingMessage): void {
  if (rawHeaders.length > 2 * MAX_HEADERS) throw new ApiError('headers_too_large')
  // As many names as lines: none is repeated.
  if (2 * Object.keys(headers).length === rawHeaders.length) return
  const names: string[] = []
  const repeated: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    ;(names.includes(name) ? repeated : names).push(name)
  }
  if (repeated.some((name) => CREDENTIALS.has(name))) throw new ApiError('unauthorized')
  if (repeated.some((name) => ONCE.has(name))) throw new ApiError('bad_request')
}

/** Archiving takes a signed commit, so DELETE may have a body; a route without one refuses it. */
const BODYLESS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

const VERSIONS = new Set(['1.0', '1.1'])

function ensureFraming({ method = '', httpVersion, headers }: IncomingMessage): void {
  if (!VERSIONS.has(httpVersion)) throw new ApiError('bad_request')
  const { 'transfer-encoding': coding, 'content-length': length, expect } = headers
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0'))
    throw new ApiError('bad_request')
  if (BODYLESS.has(method) && (coding !== undefined || (length ?? '0') !== '0')) throw new ApiError('bad_request')
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') throw new ApiError('expectation_failed')
}

const LOOPBACK = /^(localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/

/** A foreign name in `Host` is how links in mails and caches get poisoned. */
function ensureHost(config: Config, { headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion !== '1.0') throw new ApiError('bad_request')
  const host = headers.host?.toLowerCase() ?? ''
  const name = host.replace(/:[0-9]{1,5}$/, '')
  if (LOOPBACK.test(host) || config.hosts.includes(host) || config.hosts.includes(name) || name === config.host) return
  throw new ApiError('wrong_host')
}
