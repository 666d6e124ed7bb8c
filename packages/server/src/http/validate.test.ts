import { api, type Route } from '@strongroom/contract'
import { type TProperties, Type } from 'typebox'
import { expect, it } from 'vitest'
import { inputReader } from './validate.ts'

// Catches: a refusal whose words are those of the library and not of the caller's mistake, one mistake told twice, a value told back; a
// list that is never cut into pages and refuses to be asked for one. Seen red: `schema is false` for a member that the route does not have,
// and a second problem for the same member; page and limit refused for environment fields, public keys, tenant roles and sync; `limit`
// of a feed that is read on from a place taken for one that says nothing; a body other than an empty object taken where there is none.

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
  const { environmentFields, list, publicKeys, wrappedKey } = api.vaults
  const { metricStats, entityCounts } = api.monitoring
  const [inVault, about] = [{ vaultId: `v${'a'.repeat(32)}` }, { domain: 'acme.dev' }]
  for (const [whole, params, more] of [
    [list],
    ...[environmentFields, publicKeys, wrappedKey, api.items.list].map((route) => [route, inVault] as const),
    ...[metricStats, entityCounts, api.sync.sync, api.sync.vaultsData].map((route) => [route] as const),
    [api.agents.tenantRoles, { id: 'agt_1' }],
    [api.projects.environment, { projectId: 'shop' }],
    [api.licenses.environment, { licenseInstanceId: 'lic_1' }],
    [api.domains.records, {}, about],
  ] as readonly (readonly [Route, object?, object?])[]) {
    const read = (query: object): unknown =>
      inputReader(whole)({ params: params ?? {}, query: { ...more, ...query }, body: undefined })
    expect(read({ page: '2', limit: '1000' }), whole.path).toMatchObject({ query: { page: '2', limit: '1000' } })
    expect(() => read({ sort: 'name' }), whole.path).toThrow()
  }
})

it('takes limit for what it says where a feed is read on from a place, and for nothing where all of it is asked for', () => {
  const read = (query: object): unknown =>
    inputReader(api.monitoring.vaultActivityEvents)({ params: {}, query, body: undefined })
  expect(read({ limit: '1000' })).toEqual({ query: {} })
  expect(read({ after: '7', limit: '100' })).toEqual({ query: { after: 7, limit: 100 } })
  expect(read({ page: '2', limit: '100' })).toEqual({ query: { page: 2, limit: 100 } })
  for (const place of [{ after: '7' }, { page: '2' }]) expect(() => read({ ...place, limit: '101' })).toThrow()
})

it('takes an empty object, and nothing else, where a route takes no body', () => {
  const read = (body: unknown): unknown => inputReader(api.agents.archive)({ params: { id: 'agt_1' }, query: {}, body })
  for (const body of [undefined, {}]) expect(read(body)).toEqual({ params: { id: 'agt_1' }, query: {} })
  for (const body of [null, [], '', 0, false, { a: 1 }]) expect(() => read(body)).toThrow()
})
