import { ApiError } from '../errors.ts'

// JSON.parse blocks for seconds on deep nesting and keeps the last of two equal keys. So a body is scanned once before it is
// parsed: depth, number of strings, duplicate keys, keys that reach prototypes, and numbers that are read as other numbers.

const MAX_DEPTH = 32
/** Strings are what takes long. The longest lists that routes describe (parts to finalize) have one in more bytes than this of what they take. */
const BYTES_PER_STRING = 50
const FEWEST_STRINGS = 20_000

const mostStrings = (bodyLimit: number): number => Math.max(FEWEST_STRINGS, Math.floor(bodyLimit / BYTES_PER_STRING))

const refuse = (reason: string): never => {
  throw new ApiError('invalid_json', { details: { reason } })
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The index after the closing quote of the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === BACKSLASH) i++
    else if (code === QUOTE) return i + 1
  }
  return refuse('a string does not end')
}

const NUMBER = /[-+.0-9eE]+/y

/** The index after a number that is read as it is written: JSON.parse makes 1e400 infinite, and of 2^53 + 1 another number. */
function endOfNumber(text: string, start: number): number {
  NUMBER.lastIndex = start
  const [literal = ''] = NUMBER.exec(text) ?? []
  const value = Number(literal)
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER || Object.is(value, -0)) refuse('a number is too large, or minus zero')
  return start + literal.length
}

/** One entry per open bracket: the keys of an object, or null for an array. */
function scan(text: string, maxStrings: number): void {
  const open: (Set<string> | null)[] = []
  let strings = 0
  let expectsKey = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === '"') {
      const end = endOfString(text, i)
      if (++strings > maxStrings) refuse('too many strings')
      const keys = open.at(-1)
      if (keys && expectsKey) noteKey(keys, text.slice(i, end))
      expectsKey = false
      i = end - 1
    } else if (char === '{' || char === '[') {
      if (open.length === MAX_DEPTH) refuse('nested too deeply')
      open.push(char === '{' ? new Set() : null)
      expectsKey = char === '{'
    } else if (char === '}' || char === ']') {
      open.pop()
      expectsKey = false
    } else if (char === ',') expectsKey = open.at(-1) instanceof Set
    else if (char === '-' || (char >= '0' && char <= '9')) i = endOfNumber(text, i) - 1
  }
}

function noteKey(keys: Set<string>, quoted: string): void {
  const key = unquote(quoted)
  if (keys.has(key)) refuse('a key occurs twice')
  if (key === '__proto__' || key === 'constructor' || key === 'prototype') refuse('a key is not allowed')
  keys.add(key)
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return refuse('a key is not a string')
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `bodyLimit` is that of the route: one that takes large bodies takes long lists. */
export function parseJson(bytes: Buffer, bodyLimit: number): unknown {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return refuse('not UTF-8')
  }
  scan(text, mostStrings(bodyLimit))
  try {
    const value: unknown = JSON.parse(text)
    if (!text.isWellFormed() || /\\u[dD][89a-fA-F]/.test(text)) ensureWellFormed(value)
    return value
  } catch (error) {
    if (error instanceof ApiError) throw error
    return refuse('not JSON')
  }
}

/** Lone surrogates can hide behind escapes; PostgreSQL and every hash would see something else than the client sent. */
function ensureWellFormed(value: unknown): void {
  if (typeof value === 'string' && !value.isWellFormed()) refuse('a string is not well-formed Unicode')
  if (typeof value !== 'object' || value === null) return
  for (const [key, entry] of Object.entries(value)) {
    ensureWellFormed(key)
    ensureWellFormed(entry)
  }
}
