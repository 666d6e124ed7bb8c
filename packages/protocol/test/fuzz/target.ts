import type { Random } from './random.ts'

/** One parser, the inputs it gets, and what must hold for what it accepts. */
export interface Target {
  readonly name: string
  /** The part of the asked number of cases: less than one where a case costs signatures or a whole read. */
  readonly share: number
  input(random: Random): unknown
  /** Refuses with a ProtocolError, or returns; what it accepts is checked by `agree`. */
  run(input: never): unknown
}

/** What was accepted is not what it must be: worse than a crash. */
export class FalseAcceptance extends Error {
  override name = 'FalseAcceptance'
}

export function agree(holds: boolean, what: string): void {
  if (!holds) throw new FalseAcceptance(what)
}

export const target = <I>(
  name: string,
  share: number,
  input: (random: Random) => I,
  run: (input: I) => unknown,
): Target => ({ name, share, input, run: run as (input: never) => unknown })

/** Two JSON values are the same, whatever the order of their members. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [keysOfA, keysOfB] = [Object.keys(a), Object.keys(b)]
  return (
    keysOfA.length === keysOfB.length &&
    keysOfA.every((key) => Object.hasOwn(b, key) && same(Reflect.get(a, key), Reflect.get(b, key)))
  )
}
