import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Harness } from '../harness.ts'
import { documentedRoutes, startWithRoutes } from './inventory.ts'
import type { Row } from './oracle.ts'
import { ASKERS } from './principals.ts'
import type { Principal } from './relations.ts'
import { ROWS } from './rows.ts'
import { type Bench, runRow } from './run.ts'
import { openState, type State } from './state.ts'
import { makeWorld } from './world.ts'

// Every route of the running router, asked by everybody, for objects in every relation to them: status and code are those of the
// oracle, what is foreign answers like what is absent, no answer shows a canary of others, no refusal changes a row of any
// organisation, every refusal of somebody known leaves one audit event, every success has the shape of the contract. How a row
// is written is said in oracle.ts.
//
// Catches, each seen red: a permission check, a tenant role check or a role check of people left out; the tenant filter left out
// of a list, a read or a lock; the sight of tenant admins widened to roles that run nothing, or to everybody; sessions of others
// listed or ended; audit events of other tenants shown; another body for an object of another tenant; refusals not recorded, or
// twice; a write that stays although it was refused; an archived agent changed, or its key taken; a token from another device;
// a route without a row, a row without a route, a route that is not in the OpenAPI document.
// Of vaults: the access filter left out of openVault, or taking in those who were removed; the list of vaults, search, counts,
// the activity feed or waiting keys without it; roles or the end of a vault not looked at before a write; an item or a field of
// another vault had through the own one; a read of ciphertexts not recorded; an agent linked to an item out of sight; documents about
// vaults, or wrapped keys, shown to everybody who reads the log; an item shown to more people than its vault; the one statement that
// reads an environment without its access filter. Of the limits of agents: a route that answers after their end or to another network,
// and a refusal for them that is not recorded.

/** Routes of the server that are no API; what addresses of objects refuse is tested with the attachments. */
const OTHERS = [
  ...['/healthz', '/readyz', '/metrics', '/api/v1/openapi.json', '/docs', '/docs/*', '/docs/style.css'].map(
    (path) => `GET ${path}`,
  ),
  // The console, where one was built.
  ...['/', '/build.json', '/seal.svg', '/assets/:name'].map((path) => `GET ${path}`),
  'GET /.well-known/license-issuer-keys.json',
  'POST /provider-callbacks/:provider',
  'GET /objects/:key',
  'PUT /objects/:key/parts/:partNumber',
]

let h: Harness
let state: State
let routes: readonly string[]
let bench: Bench
beforeAll(async () => {
  const started = await startWithRoutes()
  h = started.h
  routes = started.routes
  state = await openState(h)
  const world = await makeWorld(h)
  const principals: Principal[] = []
  for (const { name, make } of ASKERS) principals.push({ ...(await make(world)), name })
  const counts = { cases: 0, refused: 0, succeeded: 0, relations: new Set<string>() }
  bench = { world, state, principals, askers: ASKERS, counts }
})
afterAll(async () => {
  const { counts, principals } = bench
  console.log(
    `authorization matrix: ${counts.cases} cases (${counts.refused} refused, ${counts.succeeded} succeeded), ` +
      `${new Set(ROWS.map(({ route }) => route)).size} routes, ${principals.length} principals, ` +
      `${counts.relations.size} relations`,
  )
  await state.close()
  await h.close()
})

describe('the inventory', () => {
  it('has a row for every route of the running router, and no row without a route', () => {
    const mounted = routes.filter((route) => !OTHERS.includes(route))
    const rows = [...new Set(ROWS.map(({ route }) => route.replace(' ', ' /api/v1')))]
    expect(rows.sort()).toEqual([...mounted].sort())
  })

  it('has every route of the running router in the OpenAPI document, and no other', () => {
    const mounted = routes.filter((route) => !OTHERS.includes(route))
    expect(documentedRoutes().sort()).toEqual([...mounted].sort())
  })
})

describe('the set-up', () => {
  it('has every table of vaults and keys in the digest', async () => {
    const tables = new Set([...(await state.digest()).keys()].map((name) => name.split(' ')[0]))
    const due = ['vault', 'vault_access', 'vault_item', 'vault_item_gone', 'vault_field', 'pending_key', 'map_state']
    expect(due.filter((table) => !tables.has(table))).toEqual([])
  })

  it('shows no name of anybody in what everybody may read', async () => {
    for (const [method, path] of OTHERS.map((route) => route.split(' ')).filter(([, path]) => !path?.includes(':')))
      expect(await (await fetch(`${h.url}${path}`, { method: method ?? 'GET' })).text()).not.toMatch(/canary/i)
  })
})

const title = ({ route, ids = {} }: Row): string => [route, ...Object.keys(ids)].join(' ')

describe('answers as the oracle says, shows nothing foreign, changes nothing it refuses, and records each refusal', () => {
  it.each(ROWS.map((row) => [title(row), row] as const))('%s', async (_, row) => {
    expect(await runRow(bench, row)).toEqual([])
  })
})
