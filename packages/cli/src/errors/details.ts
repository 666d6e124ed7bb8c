// What a refusal of the server says beside its message: hints speak of it ("details name the permission"). It is the server's word, so
// only what is short and plain is passed on, and never a document.

const LONGEST_TEXT = 200
const LARGEST = 2_000

type Plain = string | number | boolean | null
export type Details = Readonly<Record<string, unknown>>

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'string'
    ? value.length <= LONGEST_TEXT
    : value === null || typeof value === 'number' || typeof value === 'boolean'

const isFlat = (value: unknown): boolean =>
  isPlain(value) ||
  (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isPlain))

/** Undefined where there is nothing that can be shown. */
export function plainDetails(details: unknown): Details | undefined {
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return undefined
  const kept = Object.entries(details).filter(([, value]) =>
    Array.isArray(value) ? value.every(isFlat) : isFlat(value),
  )
  const shown = Object.fromEntries(kept)
  return kept.length > 0 && JSON.stringify(shown).length <= LARGEST ? shown : undefined
}

const words = (value: unknown): string =>
  isPlain(value)
    ? String(value)
    : Object.entries(value as object)
        .map(([name, one]) => `${name} ${one}`)
        .join(' ')

/** A line for each, such as `permission machine.vault.write`. */
export const detailLines = (details: Details): readonly string[] =>
  Object.entries(details).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one) => `${name} ${words(one)}`) : [`${name} ${words(value)}`],
  )
