// Random numbers that follow from a seed, the name of a parser and the number of a case: every case can be made again alone.

export interface Random {
  /** From 0 to `below` - 1. */
  int(below: number): number
  /** True once in `times`. */
  once(times: number): boolean
  pick<T>(list: readonly T[]): T
  bytes(length: number): Uint8Array<ArrayBuffer>
}

export interface CaseRandom extends Random {
  /** Starts the numbers of another case. */
  start(index: number): void
}

const scramble = (value: number): number => {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** sfc32, which passes the usual test batteries; good enough to choose mutations with, and fast. */
export function makeRandom(seed: number, name: string): CaseRandom {
  const base = scramble(seed ^ hashOf(name))
  let a = 0
  let b = 0
  let c = 0
  let counter = 1
  const next = (): number => {
    const result = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + result
    return result >>> 0
  }
  const int = (below: number): number => Math.floor((next() / 0x1_0000_0000) * below)
  return {
    start: (index) => {
      a = base
      b = scramble(index + 0x9e3779b9)
      c = scramble(base ^ index)
      counter = 1
      for (let i = 0; i < 8; i++) next()
    },
    int,
    once: (times) => int(times) === 0,
    pick: <T>(list: readonly T[]): T => list[int(list.length)] as T,
    bytes: (length) => Uint8Array.from({ length }, () => next() & 255),
  }
}
