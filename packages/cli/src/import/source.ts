import { createHash } from 'node:crypto'
import { MAX_NAME, MAX_VALUE_BYTES, MAX_WEBSITE } from '@strongroom/protocol'
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

/** At most so many characters, the last of them whole. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g

/** One line without control characters, as names must be. */
const lineFrom = (text: string): string => text.toWellFormed().replace(CONTROL, ' ').trim()

export const nameFrom = (text: string | null | undefined, otherwise: string): string =>
  cut(lineFrom(text ?? ''), MAX_NAME) || otherwise

/** The first address is the website of an item, if it is one that has room there; the others are fields. */
export function websiteFrom(urls: readonly (string | null | undefined)[]): Pick<NewItem, 'website' | 'fields'> {
  const all = [...new Set(urls.filter((url) => typeof url === 'string' && url !== ''))] as string[]
  const website = all.find((url) => /^https?:\/\//.test(url) && url.length <= MAX_WEBSITE && lineFrom(url) === url)
  const fields = all.filter((url) => url !== website).flatMap((url) => fieldFrom('website', url))
  return { ...(website !== undefined && { website }), fields }
}

/** The name of the second one, the third one and so on. */
export const numbered = (name: string, times: number): string => `${cut(name, MAX_NAME - ` ${times}`.length)} ${times}`

/** Names of their own, in the same order: the second `password` becomes `password 2`, or `password 3` where the file has a `password 2`. */
function ownNames(names: readonly string[]): readonly string[] {
  const given = new Set(names)
  const used = new Set<string>()
  return names.map((name) => {
    let own = name
    for (let times = 2; used.has(own) || (own !== name && given.has(own)); times += 1) own = numbered(name, times)
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
export function fieldFrom(label: string, value: unknown): readonly NewField[] {
  if (value === null || value === undefined || value === '') return []
  return [{ label: nameFrom(label, 'field'), value: typeof value === 'string' ? value : JSON.stringify(value) }]
}

/** A file that is in hand. */
export const fileFrom = (name: string, content: Uint8Array): FoundFile => ({
  name: nameFrom(name, 'file'),
  mediaType: 'application/octet-stream',
  size: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
  async *open() {
    yield content
  },
})

function whyNot({ value }: NewField): string | undefined {
  if (typeof value === 'string' && !value.isWellFormed()) return 'not text: it has half of a surrogate pair'
  return Buffer.byteLength(value) > MAX_VALUE_BYTES
    ? 'larger than 64 KiB: put it there with strongroom file put'
    : undefined
}

/** What there is room for; what there is not is left out and named, so that an import does not end half-way. */
export function storable(found: Found): Found {
  const leftOut = [...found.leftOut]
  const items = found.items.flatMap((item) => {
    const fields = item.fields.filter((field) => {
      const reason = whyNot(field)
      if (reason !== undefined) leftOut.push({ name: `${item.name}/${field.label}`, reason })
      return reason === undefined
    })
    return fields.length + (item.files?.length ?? 0) === 0 ? [] : [{ ...item, fields }]
  })
  return { ...found, items, leftOut }
}
