import { api, type Route } from '@strongroom/contract'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { onceFor } from './once-for.ts'
import { serialiser, writerOf } from './serialise.ts'
import { readerOf } from './validate.ts'

// Readers and writers of routes are made when they are first needed, so a start does not show that they can be. Seen red: made anew each
// time; answers written as they are; a route with a shape that nobody can write.

const routes = Object.entries(api).flatMap(([group, members]) =>
  Object.entries(members as Readonly<Record<string, Route>>).map(([name, route]) => ({
    name: `${group}.${name}`,
    route,
  })),
)

it('can read the input and write the answers of every route', () => {
  const broken = routes.filter(({ route }) => !canBeMade(route)).map(({ name }) => name)
  expect(routes.length).toBeGreaterThan(150)
  expect(broken).toEqual([])
})

function canBeMade(route: Route): boolean {
  try {
    return typeof writerOf(route) === 'function' && typeof readerOf(route) === 'function'
  } catch {
    return false
  }
}

const [{ route }] = routes as [(typeof routes)[number]]

it('makes what belongs to a route once, also where that is nothing', () => {
  const asked: Route[] = []
  const of = onceFor((one) => void asked.push(one))
  const another = { ...route }
  for (const one of [route, another, route]) of(one)
  expect(asked).toEqual([route, another])
})

it('leaves out what the contract does not name', () => {
  const narrow = { ...route, response: Type.Object({ name: Type.String() }) }
  expect(serialiser(narrow)({ name: 'prod', hash: 'of a passphrase' })).toBe('{"name":"prod"}')
})
