import { ensure } from '../errors.ts'
import { type Bytes, decodeUtf8, utf8 } from './bytes.ts'

/** Section 2.3: the JSON subset that is ever signed or hashed. No floats, no negative numbers, no map-like objects. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

export const MAX_DOCUMENT_BYTES = 1_048_576
export const MAX_DEPTH = 16

const KEY = /^[a-zA-Z][a-zA-Z0-9]{0,31}$/
// A string without these needs no escaping and no surrogate check: the fast path of every row.
const PLAIN = /^[\u0020-\u0021\u0023-\u005b\u005d-\ud7ff\ue000-\uffff]*$/

function serialiseString(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  ensure(text.isWellFormed(), 'malformed', 'a string is not well-formed UTF-16')
  return JSON.stringify(text)
}

function serialise(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return serialiseString(value)
    case 'number':
      ensure(
        Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0),
        'malformed',
        'a number is not an integer from 0 to 2^53-1',
      )
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      break
    default:
      ensure(false, 'malformed', 'a value is not JSON')
  }
  if (value === null) return 'null'
  ensure(depth < MAX_DEPTH, 'limit_exceeded', 'a document is nested too deeply')
  if (Array.isArray(value)) {
    let out = '['
    for (let i = 0; i < value.length; i++) out += (i > 0 ? ',' : '') + serialise(value[i], depth + 1)
    return `${out}]`
  }
  return serialiseObject(value as Record<string, unknown>, depth)
}

function serialiseObject(value: Record<string, unknown>, depth: number): string {
  // Keys are ASCII, so the default order (UTF-16 code units) is the order of RFC 8785.
  const keys = Object.keys(value).sort()
  let out = '{'
  for (const key of keys) {
    ensure(KEY.test(key), 'malformed', 'an object key is not of the allowed form')
    out += `${out.length > 1 ? ',' : ''}"${key}":${serialise(value[key], depth + 1)}`
  }
  return `${out}}`
}

/** The one byte form of a document, as text (RFC 8785 subset). */
export const canonicalText = (value: unknown): string => serialise(value, 0)

/** The one byte form of a document. */
export const canonical = (value: unknown): Bytes => utf8(canonicalText(value))

/** Where the string that begins at `start` ends: at the next quote that is not escaped. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at
    while (text[first - 1] === '\\') first -= 1
    if ((at - first) % 2 === 0) return at
  }
  return text.length
}

/** JSON.parse blocks for seconds on deep nesting, so depth is counted before it runs. Brackets inside strings do not count. */
function checkDepth(text: string): void {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) i = endOfString(text, i)
    else if (code === 0x7b || code === 0x5b)
      ensure(++depth <= MAX_DEPTH, 'limit_exceeded', 'a document is nested too deeply')
    else if (code === 0x7d || code === 0x5d) depth--
  }
}

/**
 * Section 2.3: parses bytes that are exactly the canonical form of their content, and nothing else.
 * Serialising again and comparing refuses duplicate keys, other orders, white space, 1.0, 1e2, \u0061, lone surrogates and -0.
 */
export function parseStrict(bytes: Uint8Array): Json {
  ensure(bytes.length <= MAX_DOCUMENT_BYTES, 'limit_exceeded', 'a document is larger than 1 MiB')
  const text = decodeUtf8(bytes)
  checkDepth(text)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    ensure(false, 'malformed', 'a document is not JSON')
  }
  ensure(canonicalText(value) === text, 'malformed', 'a document is not in canonical form')
  return value
}
