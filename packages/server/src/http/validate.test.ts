import { api, type Route } from '@strongroom/contract'
import { type TProperties, Type } from 'typebox'
import { expect, it } from 'vitest'
import { inputReader } from './validate.ts'

// Catches: a refusal whose words are those of the library and not of the caller's mistake, one mistake told twice, a value told back; a
// list that is never cut into pages and refuses to be asked for one. Seen red: `schema is false` for a member that the route does not have,
// and a second problem for the same member; page and limit refused for environment fields.

const closed = <T extends TProperties>(members: T) => Type.Object(members, { additionalProperties: false })

const route = {
  method: 'POST',
  path: '/thing',
  api: 'machine',
  summary: '',
  access: { kind: 'public' },
  query: closed({ page: Type.Optional(Type.Integer({ minimum: 1 })) }),
  body: closed({ name: Type.String(), inner: Type.Optional(closed({ size: Type.Integer() })) }),
  response: closed({}),
} as const satisfies Route

const problemsOf = (query: object, body: object): unknown => {
  try {
    inputReader(route)({ params: {}, query, body })
  } catch (error) {
    return (error as { details: { problems: unknown } }).details.problems
  }
  return undefined
}

it('says of a member that the route does not have that it has none such, once, wherever it is', () => {
  const problem = 'is not a member that this route takes'
  expect(problemsOf({ sort: 'name' }, { name: 'x' })).toEqual([{ path: '/sort', problem }])
  expect(problemsOf({}, { name: 'x', title: 'sk_live_1', inner: { size: 1, weight: 2 } })).toEqual([
    { path: '/title', problem },
    { path: '/inner/weight', problem },
  ])
})

it('says what is missing and what is of another kind, and repeats no value', () => {
  expect(problemsOf({}, { title: 'x' })).toContainEqual({ path: '/', problem: 'must have required properties name' })
  expect(problemsOf({}, { name: 7 })).toEqual([{ path: '/name', problem: 'must be string' }])
  expect(problemsOf({ page: 'sk_live_1' }, { name: 'x' })).toEqual([{ path: '/page', problem: 'must be integer' }])
  expect(problemsOf({ page: '1' }, { name: 'x' })).toBeUndefined()
})

it('takes page and limit where a list is always whole, without an effect', () => {
  const { environmentFields, list } = api.vaults
  for (const whole of [
    list,
    environmentFields,
    api.items.list,
    api.monitoring.metricStats,
    api.monitoring.entityCounts,
  ]) {
    const params = { vaultId: `v${'a'.repeat(32)}` }
    const read = (query: object): unknown => inputReader(whole)({ params, query, body: undefined })
    expect(read({ page: '2', limit: '1000' }), whole.path).toMatchObject({ query: { page: '2', limit: '1000' } })
    expect(() => read({ sort: 'name' }), whole.path).toThrow()
  }
})
