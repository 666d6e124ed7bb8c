import type { NewField, NewItem } from '@strongroom/sdk'

// What every importer makes of a file: items by vault, and what it had to leave out, with the reason.

/** A file of an item; its content is read when it is asked for. */
export interface FoundFile {
  readonly name: string
  readonly mediaType: string
  readonly size: number
  readonly sha256: string
  open(): AsyncIterable<Uint8Array>
}

export interface FoundItem extends NewItem {
  /** The folder or vault it was in. */
  readonly from: string
  readonly files?: readonly FoundFile[]
  /** Labels that its fields get here, since several had one. */
  readonly renamed?: readonly string[]
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
  /** Once nothing is read any more, where there is something to close. */
  close?(): Promise<void>
}

/** One line without control characters, as names must be. */
export const nameFrom = (text: string | null | undefined, otherwise: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  const line = (text ?? '').replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
  return line === '' ? otherwise : line.slice(0, 200)
}

/** Names of their own, in the same order: the second `password` becomes `password 2`, or `password 3` where the file has a `password 2`. */
function ownNames(names: readonly string[]): readonly string[] {
  const given = new Set(names)
  const used = new Set<string>()
  return names.map((name) => {
    let own = name
    for (let times = 2; used.has(own) || (own !== name && given.has(own)); times += 1) own = `${name} ${times}`
    used.add(own)
    return own
  })
}

/** An item whose fields have labels of their own. */
function withOwnLabels(item: FoundItem): FoundItem {
  const labels = ownNames(item.fields.map(({ label }) => label))
  const fields = item.fields.map((field, i) => ({ ...field, label: labels[i] ?? field.label }))
  return { ...item, fields, renamed: labels.filter((label, i) => label !== item.fields[i]?.label) }
}

/** Items of one vault with names of their own, whichever folders they come from, and fields with labels of their own. */
export function distinctItems(items: readonly FoundItem[]): readonly FoundItem[] {
  const names = ownNames(items.map(({ name }) => name))
  return items.map((item, i) => ({ ...withOwnLabels(item), name: names[i] ?? item.name }))
}

/** A field, unless there is nothing in it. */
export const fieldFrom = (label: string, value: string | null | undefined): readonly NewField[] =>
  value === null || value === undefined || value === '' ? [] : [{ label: nameFrom(label, 'field'), value }]
