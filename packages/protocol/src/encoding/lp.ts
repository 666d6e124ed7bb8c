import { type Bytes, concat, u32be, u64be, utf8 } from './bytes.ts'

/** One part of an LP encoding: text as UTF-8, integers as u64be, bytes as they are. */
export type LpPart = string | number | Uint8Array

const toBytes = (part: LpPart): Uint8Array =>
  typeof part === 'string' ? utf8(part) : typeof part === 'number' ? u64be(part) : part

/**
 * Section 2.2: LP(label, p1..pn) = u32be(n+1) ‖ u32be(len label) ‖ label ‖ Σ (u32be(len pi) ‖ pi).
 * Injective, so two different contexts never give the same key or the same associated data; never parsed.
 */
export function lp(label: string, ...parts: readonly LpPart[]): Bytes {
  const pieces: Uint8Array[] = [u32be(parts.length + 1)]
  for (const part of [label, ...parts]) {
    const bytes = toBytes(part)
    pieces.push(u32be(bytes.length), bytes)
  }
  return concat(...pieces)
}
