import { ensure } from '../errors.ts'
import { type Bytes, writeU64be } from './bytes.ts'

/** One part of an LP encoding: text as UTF-8, integers as u64be, bytes as they are. */
export type LpPart = string | number | Uint8Array

const encoder = new TextEncoder()

/** The most bytes a part can take: a UTF-16 code unit is at most three in UTF-8. */
const room = (part: LpPart): number =>
  4 + (typeof part === 'string' ? part.length * 3 : typeof part === 'number' ? 8 : part.length)

// Every field of every read builds one of these, so short ones share a buffer that is copied out at the end.
const SCRATCH_BYTES = 4096
const scratch = new Uint8Array(SCRATCH_BYTES)
const scratchView = new DataView(scratch.buffer)

function writeText(out: Uint8Array, start: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80) {
      // The encoder would write every lone surrogate alike, and two texts would give one encoding.
      ensure(text.isWellFormed(), 'malformed', 'a text is not well-formed UTF-16')
      return encoder.encodeInto(text, out.subarray(start)).written
    }
    out[start + i] = code
  }
  return text.length
}

function writePart(out: Uint8Array, view: DataView, offset: number, part: LpPart): number {
  const start = offset + 4
  let length = 8
  if (typeof part === 'number') writeU64be(view, start, part)
  else if (typeof part === 'string') length = writeText(out, start, part)
  else {
    out.set(part, start)
    length = part.length
  }
  view.setUint32(offset, length)
  return start + length
}

/**
 * Section 2.2: LP(label, p1..pn) = u32be(n+1) ‖ u32be(len label) ‖ label ‖ Σ (u32be(len pi) ‖ pi).
 * Injective, so two different contexts never give the same key or the same associated data; never parsed.
 */
export function lp(label: string, ...parts: readonly LpPart[]): Bytes {
  let size = 4 + room(label)
  for (const part of parts) size += room(part)
  const out = size <= SCRATCH_BYTES ? scratch : new Uint8Array(size)
  const view = out === scratch ? scratchView : new DataView(out.buffer)
  view.setUint32(0, parts.length + 1)
  let end = writePart(out, view, 4, label)
  for (const part of parts) end = writePart(out, view, end, part)
  return out.slice(0, end)
}
