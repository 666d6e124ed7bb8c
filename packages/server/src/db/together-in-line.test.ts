import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Database } from './database.ts'
import { makeLines } from './together-in-line.ts'

// Catches: groups that leave without those who were answered a moment ago and come again; waiting for somebody who never comes; more in a
// group than may be. Seen red: no `gather`; `come` never called; no time after which the group goes; a full group that waits; `most` not
// looked at.

// The only clock is the one that says when a group has waited for long enough.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Lines whose groups are written down; `again` says who comes once more when its group is answered. */
function makeScene(most: number, again: (name: string) => string | undefined) {
  const groups: string[][] = []
  let isHeard: (() => void) | undefined
  const line = makeLines<string>({
    most,
    namesOf: (name) => [name],
    go: async (group) => {
      groups.push([...group])
      for (const [i, name] of group.entries()) {
        const next = again(name)
        // One by one, as callers do.
        if (next !== undefined) void turns(i + 1).then(() => ask(next))
      }
      isHeard?.()
    },
  })
  const database = {} as Database
  const ask = (name: string): void => line(database, 'line', name)
  const untilSaid = (count: number): Promise<void> =>
    new Promise((resolve) => {
      isHeard = () => {
        if (groups.flat().length >= count) resolve()
      }
      isHeard()
    })
  return { groups, ask, untilSaid }
}

it('keeps together who was answered together and comes again', async () => {
  const { groups, ask, untilSaid } = makeScene(16, (name) => (name.length < 3 ? `${name}+` : undefined))
  for (const name of ['a', 'b', 'c']) ask(name)
  await untilSaid(9)
  expect(groups).toEqual([
    ['a', 'b', 'c'],
    ['a+', 'b+', 'c+'],
    ['a++', 'b++', 'c++'],
  ])
})

it('goes on without whoever does not come again, and begins anew when all have gone', async () => {
  const { groups, ask, untilSaid } = makeScene(16, (name) => (name === 'a' ? 'late' : undefined))
  for (const name of ['a', 'b', 'c']) ask(name)
  await untilSaid(3)
  await turns(5)
  expect(groups).toHaveLength(1)
  vi.runAllTimers()
  await untilSaid(4)
  await turns(1)
  ask('new')
  await untilSaid(5)
  expect(groups).toEqual([['a', 'b', 'c'], ['late'], ['new']])
})

it('waits for nobody once a group is full', async () => {
  const { groups, ask, untilSaid } = makeScene(2, () => undefined)
  for (const name of ['a', 'b', 'c', 'd']) ask(name)
  await untilSaid(4)
  expect(groups).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
})
