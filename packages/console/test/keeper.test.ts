import { expect, it } from 'vitest'
import { type FromKeeper, makeKeeper, type Port, type ToKeeper } from '../src/session/keeper.ts'
import type { OpenedPerson } from '../src/session/key-questions.ts'

// What the worker that tabs share decides; lock.test.ts sees the tabs themselves. Seen red: keys for whoever asks, keys that stay when
// the last tab that had them left or went, a session that ended for the tabs of somebody else, an older session that ends a newer one.

const ada = { email: 'ada@northwind.example', trustAnchor: 'vta1.a', accessToken: 'a1' } as OpenedPerson
const bob = { email: 'bob@northwind.example', trustAnchor: 'vta1.a', accessToken: 'b1' } as OpenedPerson

function room() {
  const keeper = makeKeeper()
  return () => {
    const heard: FromKeeper[] = []
    const port: Port = { postMessage: (message) => void heard.push(message) }
    const say = (message: Exclude<ToKeeper, { kind: 'hello' }>): void => keeper.hear(port, message)
    /** What this tab is given when it asks for somebody. */
    const ask = (who: OpenedPerson): OpenedPerson | undefined => {
      say({ kind: 'ask', who })
      const last = heard.pop()
      return last?.kind === 'given' ? last.person : undefined
    }
    return { say, ask, heard }
  }
}

it('gives keys to tabs of the same person in the same organisation only', () => {
  const tab = room()
  tab().say({ kind: 'keep', person: ada })
  expect(tab().ask({ ...ada, email: 'Ada@Northwind.example' })).toBe(ada)
  expect(tab().ask(bob)).toBeUndefined()
  expect(tab().ask({ ...ada, trustAnchor: 'vta1.b' })).toBeUndefined()
})

it('forgets what no tab holds: gone, left, or become somebody else', () => {
  const tab = room()
  const [first, second, third] = [tab(), tab(), tab()]
  first.say({ kind: 'keep', person: ada })
  expect(second.ask(ada)).toBe(ada)
  first.say({ kind: 'gone' })
  expect(third.ask(ada)).toBe(ada)
  third.say({ kind: 'leave' })
  second.say({ kind: 'keep', person: bob })
  expect(tab().ask(ada)).toBeUndefined()
  second.say({ kind: 'gone' })
  expect(tab().ask(bob)).toBeUndefined()
})

it('tells the tabs of a person who goes on, and those alone', () => {
  const tab = room()
  const [first, second, other, left] = [tab(), tab(), tab(), tab()]
  first.say({ kind: 'keep', person: ada })
  second.ask(ada)
  other.say({ kind: 'keep', person: bob })
  left.ask(ada)
  left.say({ kind: 'leave' })
  const renewed = { ...ada, accessToken: 'a2' }
  first.say({ kind: 'keep', person: renewed })
  expect(second.heard).toEqual([{ kind: 'kept', person: renewed }])
  // The older session has ended; the newer one has not.
  second.say({ kind: 'end', accessToken: 'a1' })
  expect(first.heard).toEqual([])
  expect(tab().ask(ada)).toBe(renewed)
  first.say({ kind: 'end', accessToken: 'a2' })
  expect(second.heard.at(-1)).toEqual({ kind: 'ended', accessToken: 'a2' })
  expect([...other.heard, ...left.heard]).toEqual([])
  expect(tab().ask(bob)).toBe(bob)
})

it('locks every tab, whoever is in it', () => {
  const tab = room()
  const [first, other] = [tab(), tab()]
  first.say({ kind: 'keep', person: ada })
  other.say({ kind: 'keep', person: bob })
  first.say({ kind: 'lock', because: 'idle' })
  expect(other.heard).toEqual([{ kind: 'locked', because: 'idle' }])
  expect([tab().ask(ada), tab().ask(bob)]).toEqual([undefined, undefined])
})
