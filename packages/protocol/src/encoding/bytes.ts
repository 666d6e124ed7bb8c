import { ensure } from '../errors.ts'

/** Byte work that everything else stands on: each encoder exists once, here. */
export type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const utf8 = (text: string): Bytes => encoder.encode(text)

/** Fatal: bytes that are not UTF-8 are refused, never replaced. A byte order mark is kept, so that it is seen. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    ensure(false, 'malformed', 'text is not valid UTF-8', { cause: String(cause) })
  }
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  let length = 0
  for (const part of parts) length += part.length
  const out = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    out.set(part, offset)
    offset += part.length
  }
  return out
}

export function u32be(value: number): Bytes {
  const out = new Uint8Array(4)
  new DataView(out.buffer).setUint32(0, value)
  return out
}

/** Integers up to 2^53-1 in eight bytes. */
export function writeU64be(view: DataView, offset: number, value: number): void {
  ensure(Number.isSafeInteger(value) && value >= 0, 'malformed', 'an integer is out of range')
  view.setUint32(offset, Math.floor(value / 0x1_0000_0000))
  view.setUint32(offset + 4, value >>> 0)
}

export function u64be(value: number): Bytes {
  const out = new Uint8Array(8)
  writeU64be(new DataView(out.buffer), 0, value)
  return out
}

export const readU32be = (bytes: Uint8Array, offset: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(offset)

/** Takes the same time wherever the first difference is. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i] as number)
  return difference === 0
}

/** Order of unsigned bytes, shorter first: the order of every sorted list in the protocol (ASCII strings compare alike). */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

interface NativeBuffer {
  from(data: ArrayBuffer, offset: number, length: number): { toString(encoding: 'hex'): string }
}
const native = (globalThis as { Buffer?: NativeBuffer }).Buffer

export const toHex = (bytes: Uint8Array): string =>
  native
    ? native.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength).toString('hex')
    : Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export function fromHex(text: string): Bytes {
  ensure(text.length % 2 === 0 && /^[0-9a-f]*$/.test(text), 'malformed', 'not lower-case hex')
  const out = new Uint8Array(text.length / 2)
  for (let i = 0; i < out.length; i++) out[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return out
}
