import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

// What a client keeps of servers is kept for each file: the servers of tests are copies of one another with logs of their own, and whoever
// remembers one takes the next for a liar. And nothing of it belongs into the home of whoever runs the tests.
const home = mkdtempSync(join(process.env.STRONGROOM_TEST_DATA ?? tmpdir(), 'sr-home-'))
process.env.STRONGROOM_TRUST_STORE = join(home, 'trust.json')
process.env.STRONGROOM_CACHE_DIR = join(home, 'cache')

afterAll(() => {
  rmSync(home, { recursive: true, force: true })
  expect(NAMES.filter((name) => globals[name] !== atTheStart[name])).toEqual([])
})
