import { afterAll, expect } from 'vitest'

// The files of a worker share its globals, and one that replaces something would fail another a hundred files later. Seen red: `run`
// in the tests' own process replacing Response for good.

const NAMES = [
  'fetch',
  'Headers',
  'Request',
  'Response',
  'setTimeout',
  'setInterval',
  'Date',
  'crypto',
  'JSON',
] as const
const KEY = Symbol.for('strongroom.globals-at-the-start')

type Globals = Readonly<Record<string, unknown>>
const globals = globalThis as unknown as Globals
const holder = globalThis as { [KEY]?: Globals }
holder[KEY] ??= Object.fromEntries(NAMES.map((name) => [name, globals[name]]))
const atTheStart = holder[KEY]

afterAll(() => {
  expect(NAMES.filter((name) => globals[name] !== atTheStart[name])).toEqual([])
})
