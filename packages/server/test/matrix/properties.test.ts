import type { ErrorCode } from '@strongroom/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Harness } from '../harness.ts'
import { bodyOf, type Case, casesOf, isWrite, mayCall } from './cases.ts'
import { contractOf, startWithRoutes } from './inventory.ts'
import type { Row } from './oracle.ts'
import { ASKERS } from './principals.ts'
import type { Principal } from './relations.ts'
import { ROWS } from './rows.ts'
import { type Bench, runStill } from './run.ts'
import { openState, type State } from './state.ts'
import { makeWorld } from './world.ts'

// Nobody sets what is the server's to set. Whoever may call a route adds one member too many, in every object of the body: the
// request is refused as out of shape, and nothing is stored. Answers have closed shapes, so none carries more than it says.
//
// Catches: an open shape in a body, a query or an answer; a body taken where the contract has none. Seen red: the closed shape
// of a rename made open; an answer whose shape was left open.

const SERVER_OWNED: Readonly<Record<string, unknown>> = {
  orgId: 'org_00000000000000000000000',
  domainTenantId: 'ten_0000000000000000000000',
  createdBy: 'user:somebody',
  role: 'TENANT_ADMIN',
  permissions: ['machine.all'],
  balance: { amount: '1', currency: 'USD', scale: 6 },
  status: 'active',
  archivedAt: null,
  apiKeyHash: 'AAAA',
  globalAdmin: true,
  constructor: { prototype: { globalAdmin: true } },
}
const NAMES = [...Object.keys(SERVER_OWNED), '__proto__']
const QUERY = ['orgId=org_00000000000000000000000', 'domainTenantId=ten_x', 'userId=usr_x', 'role=ORG_OWNER']

let h: Harness
let state: State
let bench: Bench
beforeAll(async () => {
  h = (await startWithRoutes()).h
  state = await openState(h)
  const world = await makeWorld(h)
  const principals: Principal[] = []
  for (const { name, make } of ASKERS.filter(({ name }) => MIGHTY.includes(name)))
    principals.push({ ...(await make(world)), name })
  const counts = { cases: 0, refused: 0, succeeded: 0, relations: new Set<string>() }
  bench = { world, state, principals, askers: ASKERS, counts }
})
afterAll(async () => {
  console.log(`server-owned members: ${bench.counts.cases} cases`)
  await state.close()
  await h.close()
})

/** Between them they may call everything. */
const MIGHTY = ['an org owner', 'an agent with all permissions', 'an operator key']

/** The request of somebody who may, with all ids in order. */
async function baseOf(row: Row): Promise<Case> {
  const asker = bench.principals.find((principal) => mayCall(row, principal))
  if (!asker) throw new Error(`nobody may call ${row.route}`)
  const [base] = await casesOf(bench.world, row, [asker])
  if (!base) throw new Error(`${row.route} has no case`)
  return base
}

const textOf = (name: string): string =>
  name === '__proto__'
    ? '"__proto__":{"globalAdmin":true}'
    : `${JSON.stringify(name)}:${JSON.stringify(SERVER_OWNED[name])}`

/** The body with the member added at the start of each of its objects in turn; ciphertexts have names of their own. */
function extended(body: string, name: string): string[] {
  const starts = [...body.matchAll(/(?<!"values":)\{/g)].map(({ index }) => index)
  return starts.map((at) => {
    const rest = body.slice(at + 1)
    return `${body.slice(0, at + 1)}${textOf(name)}${rest.startsWith('}') ? '' : ','}${rest}`
  })
}

/** Names that reach prototypes are refused while the JSON is read; where there is to be no body, it is not read at all. */
const codeFor = ({ body }: Row, name: string): ErrorCode =>
  body && (name === '__proto__' || name === 'constructor') ? 'invalid_json' : 'validation_failed'

async function withMembers(base: Case): Promise<Case[]> {
  const { row } = base
  const plain = (await bodyOf(bench.world, base)) ?? '{}'
  return NAMES.filter((name) => !row.takes?.includes(name)).flatMap((name) =>
    extended(plain, name)
      .filter((body) => !isTwice(body))
      .map((body) => ({ ...base, body, refusal: codeFor(row, name) })),
  )
}

/** A name the object has already is its own matter: that is a duplicate key. */
const isTwice = (text: string): boolean =>
  Object.keys(SERVER_OWNED).some((name) => new RegExp(`\\{"${name}":[^{}]*"${name}":`).test(text))

const once = [...new Map(ROWS.filter(({ by }) => !by).map((row) => [row.route, row])).values()]

describe('refuses members that are the server’s own, and stores nothing', () => {
  it.each(once.filter(isWrite).map((row) => [row.route, row] as const))('%s', async (_, row) => {
    expect(await runStill(bench, await withMembers(await baseOf(row)))).toEqual([])
  })
})

describe('refuses names in the query that it does not know', () => {
  it.each(once.map((row) => [row.route, row] as const))('%s', async (_, row) => {
    const base = await baseOf(row)
    const cases = QUERY.map((moreQuery): Case => ({ ...base, moreQuery, refusal: 'validation_failed' }))
    expect(await runStill(bench, cases)).toEqual([])
  })
})

/** Every object in a shape, with the path to it. */
function objectsIn(schema: unknown, path = ''): [string, Record<string, unknown>][] {
  if (typeof schema !== 'object' || schema === null) return []
  const own: [string, Record<string, unknown>][] =
    'type' in schema && schema.type === 'object' ? [[path, schema as Record<string, unknown>]] : []
  return [...own, ...Object.entries(schema).flatMap(([name, part]) => objectsIn(part, `${path}/${name}`))]
}

/** Members with names of their own. */
const OPEN = [
  'GET /machine/monitoring/audit-events /properties/data/items/properties/metadata',
  'POST /machine/agent/:id/simulate /properties/refusal/anyOf/0/properties/details',
  'GET /machine/vault/:vaultId/items/:itemId /properties/values',
  'GET /machine/vault/:vaultId/items/:itemId/versions/:itemVersion /properties/values',
  'GET /machine/vault/sync /properties/vaults/items/properties/items/items/properties/values',
  'GET /machine/vaults-data /properties/data/items/properties/items/items/properties/values',
  'GET /machine/vaults/:vaultId/items/:itemId /properties/values',
]

it('answers with closed shapes only', () => {
  const open = once.flatMap(({ route }) =>
    objectsIn(contractOf(route).response)
      .filter(([, schema]) => schema.additionalProperties !== false)
      .map(([path]) => `${route} ${path}`),
  )
  expect(open).toEqual(OPEN)
})
