import { ConfigError } from './public-errors.ts'
import type { SecretRef } from './secret.ts'

export interface ParsedRef {
  readonly vault: string
  readonly item: string
  readonly field: string
}

const SCHEME = 'sr://'

/** The parts of `sr://vault/item/field`, by names or ids; null for anything else. A slash in a name is written %2F. */
export function parseRef(text: string): ParsedRef | null {
  if (!text.startsWith(SCHEME) || /[?#]/.test(text)) return null
  const parts = text.slice(SCHEME.length).split('/')
  if (parts.length !== 3) return null
  try {
    const [vault = '', item = '', field = ''] = parts.map((part) => decodeURIComponent(part).normalize())
    return vault && item && field ? { vault, item, field } : null
  } catch {
    return null
  }
}

/** `sr://vault/item/field`, with whatever the names hold. */
export const formatRef = ({ vault, item, field }: ParsedRef): SecretRef =>
  `${SCHEME}${partOf(vault)}/${partOf(item)}/${partOf(field)}` as SecretRef

/** Names stay readable: only what would be read otherwise is escaped. */
const partOf = (name: string): string => name.replace(/[%/?#\s]/g, encodeURIComponent)

export function requireRef(text: string): ParsedRef {
  const parsed = parseRef(text)
  if (parsed) return parsed
  throw new ConfigError('this is not a reference to a secret', {
    code: 'reference_invalid',
    hint: 'Write sr://vault/item/field, with names or ids.',
  })
}
