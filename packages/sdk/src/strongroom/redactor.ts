import { toBase64url } from '@strongroom/protocol'

// Masks values in a stream of text, in the forms that programs print them in, however the stream is cut into pieces.

export interface Redactor {
  /** What may be shown of the text so far. The end of it is held back while it could be the beginning of a value. */
  write(chunk: string): string
  /** The rest. */
  end(): string
  /** How often each value was masked. */
  readonly hits: Readonly<Record<string, number>>
}

export interface RedactorOptions {
  readonly label?: (name: string) => string
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const toBase64 = (bytes: Uint8Array): string => {
  const url = toBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/')
  return url + '='.repeat((4 - (url.length % 4)) % 4)
}
const toHex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

const SHORTEST_PART = 8

/** The characters of base64 that a value alone decides when something else stands before or behind it. */
function base64Inside(bytes: Uint8Array): readonly string[] {
  return [0, 1, 2].map((before) => {
    const shifted = new Uint8Array(before + bytes.length)
    shifted.set(bytes, before)
    const bits = shifted.length * 8
    return toBase64(shifted).slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6))
  })
}

const BASE64_WIDTHS = [64, 76]
const HEX_WIDTHS = [60, 64]

/** As tools wrap long lines: all of them, for an end that is too short to be looked for alone, and each by itself. */
const wrapped = (text: string, widths: readonly number[]): readonly string[] =>
  widths
    .filter((width) => text.length > width)
    .flatMap((width) => {
      const lines = text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []
      return [lines.join('\n'), ...lines]
    })

const escapeBeyondAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const inString = (text: string): string => JSON.stringify(text).slice(1, -1)

function jsonForms(value: string): readonly string[] {
  const once = inString(value)
  return [once, once.replaceAll('/', '\\/'), escapeBeyondAscii(once), inString(once)]
}

function urlForms(value: string): readonly string[] {
  if (!value.isWellFormed()) return []
  const encoded = encodeURIComponent(value)
  const form = new URLSearchParams([['', value]]).toString().slice(1)
  const lower = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
  return [encoded, lower(encoded), form, lower(form), encodeURI(value)]
}

/** What is shorter is in every text, and no secret. */
export const SHORTEST_VALUE = 4

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Every form a value is looked for in; none for a value that is too short. */
export function formsOf(bytes: Uint8Array): readonly string[] {
  // Many a program takes the mark for no part of the text, and prints the rest.
  const isMarked = BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte)
  const unmarked = isMarked ? formsOf(bytes.subarray(BYTE_ORDER_MARK.length)) : []
  return [...new Set([...formsAsGiven(bytes), ...unmarked])]
}

function formsAsGiven(bytes: Uint8Array): readonly string[] {
  if (bytes.length < SHORTEST_VALUE) return []
  const value = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const base64 = toBase64(bytes)
  const hex = [toHex(bytes), toHex(bytes).toUpperCase()]
  const whole = [base64, base64.replace(/=+$/, ''), toBase64url(bytes), ...hex]
  const [alone = '', ...shifted] = base64Inside(bytes)
  const inside = [alone, ...shifted].flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')])
  // `echo` puts a line break behind the value, which is encoded with it.
  const inLines = [base64, alone].flatMap((text) => wrapped(text, BASE64_WIDTHS))
  const hexInLines = hex.flatMap((text) => wrapped(text, HEX_WIDTHS))
  const lines = value.includes('\n') ? [...value.split(/\r?\n/), value.replaceAll('\n', '\r\n')] : []
  const isText = toBase64(utf8(value)) === base64
  const texts = isText ? [value, ...jsonForms(value), ...urlForms(value)] : []
  const parts = [...(isText ? lines : []), ...inside, ...inLines, ...hexInLines]
  const all = [...texts, ...whole, ...parts.filter((text) => text.length >= SHORTEST_PART)]
  return all.filter((text) => text.length > 0)
}

interface Node {
  readonly next: Map<number, Node>
  /** Whose form ends here. */
  name?: string
}

function trieOf(values: Iterable<readonly [name: string, bytes: Uint8Array]>): Node {
  const root: Node = { next: new Map() }
  for (const [name, bytes] of values)
    for (const form of formsOf(bytes)) {
      let node = root
      for (let i = 0; i < form.length; i += 1) {
        const unit = form.charCodeAt(i)
        const child = node.next.get(unit) ?? { next: new Map() }
        node.next.set(unit, child)
        node = child
      }
      node.name ??= name
    }
  return root
}

interface Match {
  readonly name: string | undefined
  readonly length: number
  /** More text could make it longer, or make one. */
  readonly isOpen: boolean
}

/** The longest form that begins here. */
function matchAt(root: Node, text: string, at: number): Match {
  let node = root
  let name: string | undefined
  let length = 0
  for (let i = at; i < text.length; i += 1) {
    const child = node.next.get(text.charCodeAt(i))
    if (!child) return { name, length, isOpen: false }
    node = child
    if (node.name === undefined) continue
    name = node.name
    length = i + 1 - at
  }
  return { name, length, isOpen: node.next.size > 0 }
}

/** Masks these values in text that comes in pieces, also where one is cut in two. Call `end()` for what is still held back. */
export function makeRedactor(
  values: Iterable<readonly [name: string, bytes: Uint8Array]>,
  { label = (name) => `‹${name}›` }: RedactorOptions = {},
): Redactor {
  const root = trieOf(values)
  const hits: Record<string, number> = {}
  let held = ''
  const scan = (isLast: boolean): string => {
    let shown = ''
    let plainFrom = 0
    let at = 0
    while (at < held.length) {
      const { name, length, isOpen } = matchAt(root, held, at)
      if (isOpen && !isLast) break
      if (name === undefined) {
        at += 1
        continue
      }
      hits[name] = (hits[name] ?? 0) + 1
      shown += held.slice(plainFrom, at) + label(name)
      at += length
      plainFrom = at
    }
    shown += held.slice(plainFrom, at)
    held = held.slice(at)
    return shown
  }
  return {
    write: (chunk) => {
      held += chunk
      return scan(false)
    },
    end: () => scan(true),
    hits,
  }
}
