import type { Bytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'

// Section 2.4: values are padded to buckets, so that a ciphertext says little about the length of its secret.

/** 0 bytes, 1 UTF-8 text, 2 JSON. */
export type ValueType = 0 | 1 | 2

/** 64, then steps of 64 up to 1024, then Padmé: at most 12 % waste. */
export function bucket(length: number): number {
  if (length <= 64) return 64
  if (length <= 1024) return Math.ceil(length / 64) * 64
  const exponent = Math.floor(Math.log2(length))
  const step = 2 ** (exponent - (Math.floor(Math.log2(exponent)) + 1))
  return Math.ceil(length / step) * step
}

/** type ‖ value ‖ 0x80 ‖ 0x00… */
export function pad(type: ValueType, value: Uint8Array): Bytes {
  const out = new Uint8Array(bucket(value.length + 2))
  out[0] = type
  out.set(value, 1)
  out[value.length + 1] = 0x80
  return out
}

/** Accepts exactly what `pad` writes: one padding for one value. */
export function unpad(padded: Uint8Array): { type: ValueType; value: Bytes } {
  let marker = padded.length - 1
  while (marker > 0 && padded[marker] === 0) marker--
  ensure(marker > 0 && padded[marker] === 0x80, 'padding', 'a value has no padding marker')
  ensure(padded.length === bucket(marker + 1), 'padding', 'a value is padded to another length than its bucket')
  const type = padded[0]
  ensure(type === 0 || type === 1 || type === 2, 'padding', 'a value has an unknown type')
  return { type, value: padded.slice(1, marker) }
}
