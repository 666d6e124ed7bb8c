import { expect, it } from 'vitest'
import { makeRecent } from './recent.ts'

// Seen red: an entry that is used not moved to the younger generation; generations never turned.

it('keeps what is used, and no more than its size of anything', () => {
  const recent = makeRecent<number>(100)
  recent.set('used', 0)
  for (let i = 1; i <= 1000; i++) {
    recent.set(`n${i}`, i)
    expect(recent.get('used')).toBe(0)
  }
  const kept = Array.from({ length: 1000 }, (_, i) => recent.get(`n${i + 1}`)).filter((value) => value !== undefined)
  expect(kept.length).toBeLessThanOrEqual(100)
  expect(recent.get('n1000')).toBe(1000)
})

it('counts by the size of its values', () => {
  const recent = makeRecent<string>(10, ({ length }) => length)
  for (const name of ['a', 'b', 'c', 'd']) recent.set(name, 'xxxx')
  expect(['a', 'b', 'c', 'd'].map((name) => recent.get(name) !== undefined)).toEqual([false, false, true, true])
})
