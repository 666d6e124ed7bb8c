import { expect, it } from 'vitest'
import { makeNames } from './named.ts'

// Catches: a name that two statements share, a statement that never gets one, texts that come once and fill every connection.

it('names a statement when it comes again and again, and always the same', () => {
  const nameOf = makeNames()
  expect([nameOf('select 1'), nameOf('select 1')]).toEqual([undefined, undefined])
  const name = nameOf('select 1')
  expect(name).toBeTypeOf('string')
  expect(nameOf('select 1')).toBe(name)
  for (let i = 0; i < 2; i++) expect(nameOf('select 2')).toBeUndefined()
  expect(nameOf('select 2')).not.toBe(name)
})

it('names no more than a connection can hold, and forgets what came once', () => {
  const nameOf = makeNames()
  const names = new Set<string | undefined>()
  for (let i = 0; i < 5000; i++) names.add(nameOf(`select ${i}`))
  expect(names).toEqual(new Set([undefined]))
  for (let i = 0; i < 1000; i++) for (let times = 0; times < 4; times++) names.add(nameOf(`select $1, ${i}`))
  expect(names.size).toBe(301)
})
