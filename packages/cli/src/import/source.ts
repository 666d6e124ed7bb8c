import type { NewField, NewItem } from '@strongroom/sdk'

// What every importer makes of a file: items by vault, and what it had to leave out, with the reason.

export interface FoundItem extends NewItem {
  /** The folder or vault it was in. */
  readonly from: string
}

/** The reason to leave out what holds nothing: it is no loss. */
export const EMPTY = 'nothing in it'

export interface LeftOut {
  readonly name: string
  readonly reason: string
}

export interface Found {
  readonly items: readonly FoundItem[]
  readonly leftOut: readonly LeftOut[]
}

/** One line without control characters, as names must be. */
export const nameFrom = (text: string | null | undefined, otherwise: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  const line = (text ?? '').replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  return line === '' ? otherwise : line.slice(0, 200)
}

/** Fields with labels of their own: the second `password` becomes `password 2`. */
export function distinct(fields: readonly NewField[]): readonly NewField[] {
  const seen = new Map<string, number>()
  return fields.map((field) => {
    const times = (seen.get(field.label) ?? 0) + 1
    seen.set(field.label, times)
    return times === 1 ? field : { ...field, label: `${field.label} ${times}` }
  })
}

/** Items with names of their own in each vault. */
export function distinctItems(items: readonly FoundItem[]): readonly FoundItem[] {
  const seen = new Map<string, number>()
  return items.map((item) => {
    const key = `${item.from}\u0000${item.name}`
    const times = (seen.get(key) ?? 0) + 1
    seen.set(key, times)
    return times === 1 ? item : { ...item, name: `${item.name} ${times}` }
  })
}

/** A field, unless there is nothing in it. */
export const fieldFrom = (label: string, value: string | null | undefined): readonly NewField[] =>
  value === null || value === undefined || value === '' ? [] : [{ label: nameFrom(label, 'field'), value }]
