import { api, type Route } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../../server/test/process.ts'
import type { RequestOptions } from '../../src/strongroom/call.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { NodeStrongroom } from '../../src/strongroom/strongroom-node.ts'
import { ASKING } from '../../src/strongroom/transport.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// Writes that were made while their answer was lost. Catches: one that is told as not made, or without the key under which it can be
// repeated, so that whoever repeats it pays twice; one whose loss is forgotten because a later attempt was sent away for the moment.
// Seen red: every write but a commit ended in `connection_failed` without a key; a commit that was in ended in `not_ready` or
// `rate_limited`, and with a key of the caller's in one that was never sent; a purchase into a vault that is there was made again.

let world: World
beforeAll(async () => {
  world = await startWorld()
  await world.alice.licenses.testCredit()
})
afterAll(() => world.close())

const QUICKLY: StrongroomOptions = { retry: { baseDelayMs: 1, maxDelayMs: 2 }, maxRetries: 2 }

type Lost = 'lost' | 'kept' | { readonly status: number; readonly code: string }

/** A client whose writes reach the server; what comes of each attempt is said in turn, the last for ever. */
function losing(fates: readonly Lost[], options: StrongroomOptions = {}) {
  const keys: string[] = []
  const network: typeof fetch = async (input, init = {}) => {
    const { pathname } = new URL(String(input))
    if ((init.method ?? 'GET') === 'GET' || ASKING.test(pathname)) return fetch(input, init)
    keys.push(new Headers(init.headers).get('idempotency-key') ?? '')
    const fate = fates[Math.min(keys.length, fates.length) - 1] ?? 'kept'
    if (typeof fate === 'object')
      return Response.json({ error: { code: fate.code, message: 'not now' } }, { status: fate.status })
    const response = await fetch(input, init)
    if (fate === 'kept') return response
    await response.arrayBuffer()
    throw new TypeError('socket closed')
  }
  return { client: world.device({ ...QUICKLY, ...options, fetch: network }).client, keys }
}

type Write = (client: Strongroom, name: string, options?: RequestOptions) => Promise<unknown>

const WRITES: Readonly<Record<string, Write>> = {
  'licenses.buy': (client, name, options) =>
    client.licenses.buy({ license: 'sandbox-once', vault: { create: name } }, options),
  'agents.create': (client, name, options) => client.agents.create({ name }, options),
  'webhooks.create': (client, name, options) =>
    client.webhooks.create({ url: `https://example.com/${name}`, eventTypes: ['vault.item.created'] }, options),
  'projects.create': (client, name, options) => client.projects.create({ name, slug: name }, options),
  'vaults.create': (client, name, options) => client.vaults.create({ name }, options),
  request: (client, name, options) =>
    client.request(
      {
        method: 'POST',
        path: '/webhook',
        body: { url: `https://example.com/${name}`, eventTypes: ['vault.item.created'] },
      },
      options,
    ),
}

it.each(Object.entries(WRITES))('says of %s that nobody knows, with the key of the caller', async (_, write) => {
  const { client, keys } = losing(['lost'])
  const idempotencyKey = crypto.randomUUID()
  const error = await errorOf(write(client, unique('lost'), { idempotencyKey }))
  expect(error).toMatchObject({ name: 'OutcomeUnknownError', code: 'outcome_unknown', retryable: true, idempotencyKey })
  expect(keys).toEqual([idempotencyKey, idempotencyKey, idempotencyKey])
})

it.each(Object.entries(WRITES))('gives the key that %s was sent with where the caller had none', async (_, write) => {
  const { client, keys } = losing(['lost'])
  const { name, idempotencyKey } = await errorOf(write(client, unique('lost')))
  expect([name, ...keys]).toEqual(['OutcomeUnknownError', idempotencyKey, idempotencyKey, idempotencyKey])
})

const available = async (): Promise<string> => (await world.alice.billing.balance()).available.amount

it('buys once where the purchase is repeated with that key, also into a vault that is there', async () => {
  const { vaultId } = await world.alice.vaults.create({ name: unique('there') })
  for (const vault of [{ create: unique('new') }, { existing: vaultId }]) {
    const order = { license: 'sandbox-once', vault }
    const error = await errorOf(losing(['lost']).client.licenses.buy(order))
    const before = await available()
    const idempotencyKey = String(error.idempotencyKey)
    const purchase = await world.device().client.licenses.buy(order, { idempotencyKey })
    expect(await available()).toBe(before)
    await purchase.wait({ pollMs: 20 })
  }
})

const PASSING = [
  { status: 503, code: 'not_ready' },
  { status: 429, code: 'rate_limited' },
  { status: 409, code: 'idempotency_in_progress' },
  { status: 500, code: 'internal_error' },
  { status: 401, code: 'unauthorized' },
]

it.each(PASSING)('does not forget an attempt that was lost for a $status after it', async (refusal) => {
  const vault = unique('vault')
  await world.alice.vaults.create({ name: vault })
  const { client, keys } = losing(['lost', refusal])
  const error = await errorOf(client.secrets.set(`sr://${vault}/db/PASSWORD`, 'hunter2'))
  expect(error).toMatchObject({ name: 'OutcomeUnknownError', idempotencyKey: keys[0], cause: { code: refusal.code } })
  expect((await world.alice.secrets.get(`sr://${vault}/db/PASSWORD`)).reveal()).toBe('hunter2')
  const other = losing(['lost', refusal])
  const unknown = await errorOf(other.client.projects.create({ name: 'Shop', slug: unique('shop') }))
  expect(unknown).toMatchObject({ name: 'OutcomeUnknownError', idempotencyKey: other.keys[0] })
})

it('takes the answer that a later attempt gets, be it what was made or a refusal for good', async () => {
  const slug = unique('shop')
  const { client, keys } = losing(['lost', { status: 503, code: 'not_ready' }, 'kept'])
  expect(await client.projects.create({ name: 'Shop', slug })).toMatchObject({ slug, version: 1 })
  expect(new Set(keys).size).toBe(1)
  const refused = losing(['lost', { status: 422, code: 'validation_failed' }])
  expect(await errorOf(refused.client.projects.create({ name: 'Shop', slug: unique('shop') }))).toMatchObject({
    code: 'validation_failed',
    idempotencyKey: refused.keys[0],
  })
})

it('leaves a refusal that passes what it is where every attempt was answered', async () => {
  const { client } = losing([{ status: 503, code: 'not_ready' }])
  const error = await errorOf(
    client.webhooks.create({ url: 'https://example.com/', eventTypes: ['vault.item.created'] }),
  )
  expect(error).toMatchObject({ name: 'ServerError', code: 'not_ready' })
})

it('says that the server could not be reached where nothing went out', async () => {
  const away = new NodeStrongroom({
    ...QUICKLY,
    server: `http://127.0.0.1:${await freePort()}`,
    accessToken: world.founder.accessToken,
  })
  const body = { url: 'https://example.com/', eventTypes: ['vault.item.created'] as const }
  expect(await errorOf(away.request({ method: 'POST', path: '/webhook', body }))).toMatchObject({
    name: 'ConnectionError',
    code: 'connection_failed',
  })
  const silent = world.device({
    ...QUICKLY,
    accessToken: async () => {
      throw new Error('no session')
    },
  })
  expect(await errorOf(silent.client.request({ method: 'POST', path: '/webhook', body }))).toMatchObject({
    name: 'ConnectionError',
  })
})

it('takes for questions what the contract has as such, and no change', () => {
  const routes: Route[] = Object.values(api).flatMap((noun) => Object.values<Route>(noun))
  const asking = routes.filter(({ method, path }) => method !== 'GET' && ASKING.test(path))
  expect(asking.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    ...['POST /agent/:id/simulate', 'POST /licenses/quote', 'POST /search'],
  ])
})

it('does not speak of a change where a question was asked', async () => {
  const network: typeof fetch = async () => {
    throw new TypeError('socket closed')
  }
  const { client } = world.device({ ...QUICKLY, fetch: network })
  expect(await errorOf(client.licenses.quote('sandbox-once'))).toMatchObject({ name: 'ConnectionError' })
  expect(await errorOf(client.search.query('db'))).toMatchObject({ name: 'ConnectionError' })
})
