import { CliError } from '../errors/cli-error.ts'

// `vault/item/field` wherever a reference is taken, with or without `sr://` before it; a slash in a name is written %2F, and a
// space may be written as it is: a shell keeps what is in quotes.

export interface ItemPlace {
  readonly vault: string
  readonly item: string
}

export interface FieldPlace extends ItemPlace {
  readonly field: string
}

const EXAMPLE = 'write it like prod/stripe/STRIPE_SECRET_KEY'
const ESCAPES = `${EXAMPLE}; in a name, / is %2F and % is %25`

function partsOf(text: string): readonly string[] {
  const given = text.replace(/^sr:\/\//, '')
  try {
    const parts = given.split('/').map(decodeURIComponent)
    if (!/[?#]|[^\S ]/.test(given) && parts.every((part) => part !== '')) return parts
  } catch {
    // Said below, once for both.
  }
  throw new CliError('usage', 'this is not a reference to a secret', { fix: ESCAPES })
}

/** One field. What was given is not repeated: it may be a secret that was put here by mistake. */
export function fieldPlace(text: string): FieldPlace {
  const [vault, item, field, ...more] = partsOf(text)
  if (vault !== undefined && item !== undefined && field !== undefined && more.length === 0)
    return { vault, item, field }
  throw new CliError('usage', 'a secret is named by vault/item/field', { fix: more.length > 0 ? ESCAPES : EXAMPLE })
}

/** A field, or the whole item it would be in. */
export function fieldOrItem(text: string): FieldPlace | ItemPlace {
  const [vault, item, ...more] = partsOf(text)
  if (vault !== undefined && item !== undefined && more.length === 0) return { vault, item }
  return fieldPlace(text)
}

/** An item, and no field of it. */
export function itemPlace(text: string): ItemPlace {
  const [vault, item, ...more] = partsOf(text)
  if (vault !== undefined && item !== undefined && more.length === 0) return { vault, item }
  throw new CliError('usage', 'an item is written vault/item', { fix: 'write it like prod/stripe' })
}

export const isField = (place: FieldPlace | ItemPlace): place is FieldPlace => 'field' in place

const partOf = (name: string): string => name.replace(/[%/?#\s]/g, encodeURIComponent)

/** As it is shown and as it can be pasted. */
export const referenceOf = ({ vault, item, field }: FieldPlace): string =>
  `sr://${partOf(vault)}/${partOf(item)}/${partOf(field)}`

/** As it is typed: blanks stay, since a shell line puts quotes around them. */
export const typedPlace = (...names: readonly string[]): string =>
  names.map((name) => name.replace(/[%/?#]/g, encodeURIComponent)).join('/')

/** Whether a process could get it under this name. */
export const isVariableName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
