import { ensure } from '../errors.ts'
import { fromBase64url } from './base64.ts'

/**
 * Shapes of documents and rows. A shape takes an unknown value and gives it back typed, or refuses with `malformed`.
 * Records are exact: a member too many is refused like a member too few, so nothing unsigned rides along.
 */
export type Shape<T> = (value: unknown, path: string) => T
export type Of<S> = S extends Shape<infer T> ? T : never

const refuse = (path: string, expected: string): never => {
  ensure(false, 'malformed', `${path} is not ${expected}`)
}

export const text =
  (pattern?: RegExp, maxLength = 4096): Shape<string> =>
  (value, path) =>
    typeof value === 'string' && value.length <= maxLength && (!pattern || pattern.test(value))
      ? value
      : refuse(path, 'the expected text')

/** Text that people wrote: any well-formed Unicode, bounded. */
export const words =
  (maxLength: number): Shape<string> =>
  (value, path) =>
    typeof value === 'string' && value.length <= maxLength && value.isWellFormed()
      ? value
      : refuse(path, `text of at most ${maxLength} characters`)

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** One line that people read, such as a name: no control characters, which could forge another line or end a text early. */
export const line =
  (maxLength: number): Shape<string> =>
  (value, path) => {
    const checked = words(maxLength)(value, path)
    return CONTROL.test(checked) ? refuse(path, 'one line without control characters') : checked
  }

export const integer =
  (min = 0, max = Number.MAX_SAFE_INTEGER): Shape<number> =>
  (value, path) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max && !Object.is(value, -0)
      ? value
      : refuse(path, 'an integer in range')

export const bool: Shape<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'true or false')

export const literal =
  <const T extends string | number>(...allowed: readonly T[]): Shape<T> =>
  (value, path) =>
    allowed.includes(value as T) ? (value as T) : refuse(path, `one of ${allowed.join(', ')}`)

export const nullable =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value, path) =>
    value === null ? null : shape(value, path)

const HASH = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/** SHA-256 as base64url: 43 characters, the last of which carries four zero bits less. */
export const hash: Shape<string> = text(HASH)
/** A hash, or the empty string where there is nothing before. */
export const hashOrNone: Shape<string> = (value, path) => (value === '' ? '' : hash(value, path))

/** Bytes as canonical base64url text, checked for length but kept as text. */
export const bytesText =
  (minBytes: number, maxBytes: number): Shape<string> =>
  (value, path) => {
    if (typeof value !== 'string' || value.length > Math.ceil((maxBytes * 4) / 3))
      return refuse(path, 'base64url bytes')
    const length = fromBase64url(value).length
    return length >= minBytes && length <= maxBytes ? value : refuse(path, `${minBytes} to ${maxBytes} bytes`)
  }

export const list =
  <T>(shape: Shape<T>, maxLength: number): Shape<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value) || value.length > maxLength) return refuse(path, `a list of at most ${maxLength}`)
    for (let i = 0; i < value.length; i++) shape(value[i], `${path}[${i}]`)
    return value as readonly T[]
  }

/** A list in strictly rising order of `key`: sorted and free of duplicates in one comparison. */
export const sortedList =
  <T>(shape: Shape<T>, maxLength: number, key: (entry: T) => string): Shape<readonly T[]> =>
  (value, path) => {
    const entries = list(shape, maxLength)(value, path)
    for (let i = 1; i < entries.length; i++) {
      if (key(entries[i - 1] as T) >= key(entries[i] as T)) return refuse(path, 'sorted without duplicates')
    }
    return entries
  }

/** Leaf indexes in strictly rising order: the history of something that changes one leaf at a time. */
export const risingIntegers =
  (maxLength: number): Shape<readonly number[]> =>
  (value, path) => {
    const entries = list(integer(), maxLength)(value, path)
    for (let i = 1; i < entries.length; i++) {
      if ((entries[i - 1] as number) >= (entries[i] as number)) return refuse(path, 'strictly rising')
    }
    return entries
  }

type Members = Record<string, Shape<unknown>>
type Exactly<R extends Members, O extends Members> = { readonly [K in keyof R]: Of<R[K]> } & {
  readonly [K in keyof O]?: Of<O[K]>
}

/** An object with exactly the `required` members and any of the `optional` ones. */
export function record<R extends Members, O extends Members = Record<never, never>>(
  required: R,
  optional?: O,
): Shape<Exactly<R, O>> {
  const requiredKeys = Object.keys(required)
  const optionalKeys = Object.keys(optional ?? {})
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(path, 'an object')
    const members = value as Record<string, unknown>
    let seen = 0
    for (const key of requiredKeys) {
      if (!Object.hasOwn(members, key)) return refuse(`${path}.${key}`, 'present')
      ;(required[key] as Shape<unknown>)(members[key], `${path}.${key}`)
      seen++
    }
    for (const key of optionalKeys) {
      if (!Object.hasOwn(members, key)) continue
      ;((optional as Members)[key] as Shape<unknown>)(members[key], `${path}.${key}`)
      seen++
    }
    if (Object.keys(members).length !== seen) return refuse(path, 'free of unknown members')
    return value as Exactly<R, O>
  }
}
