import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monthAfter, monthsAfter } from '../../src/licenses/proration.ts'
import { isSigned, signedHeaders } from '../../src/licenses/signed-http.ts'

// A provider of licences as the HTTP adapter expects one, that can be told to misbehave. It counts what it was asked and what it has
// really done, so that a test can compare: one order for one id, however often it was asked.

/** Of tests: shared by buyer and provider. */
export const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
export const PRICE = 31_000_000n

/** What is left of a period that is short. */
export const SHORT_MS = 12 * 3_600_000

export const FAULTS = [
  /** Answers late. */
  'delay',
  /** Has done it, and says 500. */
  'error_after_commit',
  /** Has done it, and says nothing. */
  'lost_answer',
  /** Has not even looked at it, and says 503. */
  'error_before',
  /** Takes the order and needs time. */
  'pending',
  'rejected',
  /** Wants more than was agreed. */
  'wrong_amount',
  /** Signs with another secret. */
  'bad_signature',
  /** Gives other fields than were bought. */
  'other_fields',
  'cancel_refused',
  /** Gives back more than was paid. */
  'wrong_refund',
  /** Lists everything twice. */
  'duplicate_lines',
  /** Names a day that no calendar has. */
  'impossible_day',
  'impossible_time',
  /** What it delivers has ended long ago. */
  'past_period',
  /** What it delivers ends before the day is over. */
  'short_period',
  /** Does not say when it ends. */
  'no_period',
] as const
export type Fault = (typeof FAULTS)[number]

export interface ProvidedOrder {
  readonly externalId: string
  readonly account: string
  readonly sku: string
  readonly quantity: number
  readonly term: string
  readonly orderedAt: Date
  readonly instanceRef: string
  readonly credential: Readonly<Record<string, string>>
  /** Further periods, by the key they were asked for with. */
  readonly renewals: Map<string, { readonly amount: string; readonly periodEnd: string }>
  status: 'active' | 'pending' | 'rejected' | 'cancelled'
  amount: string
}

/** What was used besides what was bought. */
export interface ProvidedUsage {
  readonly lineId: string
  readonly externalId: string
  readonly date: string
  readonly quantity: number
  readonly amount: string
}

export interface ReferenceProvider {
  readonly url: string
  readonly orders: ReadonlyMap<string, ProvidedOrder>
  /** Requests that arrived, as `METHOD path`. */
  readonly asked: readonly string[]
  /** For the next requests, one each. */
  misbehave(...faults: readonly Fault[]): void
  /** What was pending is ready. */
  approve(externalId: string): void
  /** Reports it from now on, in the month that it names or, where it comes late, in another one. */
  use(usage: ProvidedUsage, month?: string): void
  /** An order of the first sku that it has had for a while. */
  place(externalId: string, account: string): void
  /** Tells the buyer that there is news of an order, whether there is or not; gives the status of the answer. */
  callBack(address: string, externalId: string, secret?: string): Promise<number>
  close(): Promise<void>
}

export interface ReferenceProviderOptions {
  readonly secret: string
  /** Price of one, by sku, in micro-units. */
  readonly prices: Readonly<Record<string, bigint>>
  /** Labels of the credential, by sku; each gets a value that holds the canary. */
  readonly labels: Readonly<Record<string, readonly string[]>>
  readonly canary?: string
  readonly delayMs?: number
  readonly port?: number
  now?(): Date
}

interface World {
  readonly options: ReferenceProviderOptions
  readonly orders: Map<string, ProvidedOrder>
  readonly asked: string[]
  readonly faults: Fault[]
  readonly usage: { readonly month: string; readonly line: ProvidedUsage }[]
  now(): Date
}

interface Request {
  readonly method: string
  readonly path: string
  readonly key: string
}

interface Said {
  readonly status: number
  readonly body: object
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function credentialFor({ options }: World, sku: string, fault: Fault | undefined): Record<string, string> {
  const labels = fault === 'other_fields' ? ['SOMETHING_ELSE'] : (options.labels[sku] ?? [])
  return Object.fromEntries(labels.map((label) => [label, `${options.canary ?? 'secret'}-${randomUUID()}`]))
}

type Wanted = Pick<ProvidedOrder, 'externalId' | 'account' | 'sku' | 'quantity' | 'term'>

/** One order for one id: whoever asks again is told of the first. */
function place(world: World, wanted: Wanted, fault: Fault | undefined): ProvidedOrder {
  const known = world.orders.get(wanted.externalId)
  if (known) return known
  const { externalId, account, sku, quantity, term } = wanted
  const price = (world.options.prices[sku] ?? 1n) * BigInt(quantity)
  const made: ProvidedOrder = {
    ...{ externalId, account, sku, quantity, term },
    orderedAt: world.now(),
    instanceRef: `ref-${externalId}`,
    renewals: new Map(),
    credential: credentialFor(world, sku, fault),
    status: fault === 'pending' ? 'pending' : fault === 'rejected' ? 'rejected' : 'active',
    amount: String(fault === 'wrong_amount' ? price * 2n : price),
  }
  world.orders.set(externalId, made)
  return made
}

/** What it says instead of an end, where it misbehaves about it; undefined for a day of its own. */
function endFor({ now }: World, fault: Fault | undefined): string | null | undefined {
  switch (fault) {
    case 'impossible_day':
      return `${now().getUTCFullYear() + 1}-02-31T10:00:00Z`
    case 'impossible_time':
      return `${now().getUTCFullYear() + 1}-02-28T99:99:99Z`
    case 'past_period':
      return '2020-01-01T00:00:00Z'
    case 'short_period':
      return new Date(now().getTime() + SHORT_MS).toISOString()
    case 'no_period':
      return null
    default:
      return undefined
  }
}

function tell(world: World, order: ProvidedOrder, fault: Fault | undefined): Said {
  const { externalId, status, instanceRef, amount, credential, term, orderedAt } = order
  if (status === 'rejected') return { status: 200, body: { status, externalId, code: 'out_of_stock' } }
  if (status === 'pending')
    return { status: 202, body: { status, externalId, providerRef: instanceRef, pollAfterMs: 30_000 } }
  const said = endFor(world, fault)
  const end = said === undefined ? monthAfter(orderedAt).toISOString() : said
  const periodEnd = term === 'month' && end !== null ? { periodEnd: end } : {}
  return { status: 200, body: { status: 'active', externalId, instanceRef, amount, credential, ...periodEnd } }
}

function cancel(world: World, order: ProvidedOrder, effective: string, fault: Fault | undefined): Said {
  const { externalId } = order
  const at = world.now()
  if (fault === 'cancel_refused' && effective === 'immediate') {
    const earliestDate = monthAfter(at).toISOString()
    return { status: 200, body: { status: 'refused', externalId, code: 'commitment', earliestDate } }
  }
  const end = monthAfter(order.orderedAt)
  if (effective === 'period_end' && order.term === 'month' && end > at)
    return { status: 200, body: { status: 'scheduled', externalId, effectiveAt: end.toISOString() } }
  order.status = 'cancelled'
  const refund = fault === 'wrong_refund' ? { refund: String(BigInt(order.amount) * 3n) } : {}
  const effectiveAt = endFor(world, fault) ?? at.toISOString()
  return { status: 200, body: { status: 'cancelled', externalId, effectiveAt, ...refund } }
}

/** One period for one key. */
function renew(world: World, order: ProvidedOrder, key: string, fault: Fault | undefined): Said {
  const { externalId, renewals, orderedAt, sku, quantity } = order
  if (fault === 'rejected' || order.status !== 'active')
    return { status: 200, body: { status: 'rejected', externalId, code: 'not_for_sale' } }
  const price = (world.options.prices[sku] ?? 1n) * BigInt(quantity)
  const made = {
    amount: String(fault === 'wrong_amount' ? price * 2n : price),
    periodEnd: monthsAfter(orderedAt, renewals.size + 2).toISOString(),
  }
  const renewal = renewals.get(key) ?? made
  renewals.set(key, renewal)
  const said = endFor(world, fault)
  const periodEnd = said === undefined ? renewal.periodEnd : said
  const { amount } = renewal
  return { status: 200, body: { status: 'renewed', externalId, amount, ...(periodEnd !== null && { periodEnd }) } }
}

const LINES_PER_PAGE = 2

/** The usage of a month, page by page. */
function list(world: World, path: string, fault: Fault | undefined): Said {
  const asked = new URL(path, 'http://provider').searchParams
  const from = Number(asked.get('cursor') ?? 0)
  const all = world.usage.filter(({ month }) => month === asked.get('month'))
  const shown = all.slice(from, from + LINES_PER_PAGE).map(({ line }) => ({
    ...line,
    account: world.orders.get(line.externalId)?.account ?? 'org_unknown',
    amount: String(BigInt(line.amount) * (fault === 'wrong_amount' ? 2n : 1n)),
  }))
  const lines = fault === 'duplicate_lines' ? [...shown, ...shown] : shown
  const next = from + LINES_PER_PAGE < all.length ? { next: String(from + LINES_PER_PAGE) } : {}
  return { status: 200, body: { lines, ...next } }
}

function answer(world: World, { method, path, key }: Request, body: Buffer, fault: Fault | undefined): Said {
  const absent = { status: 404, body: { error: 'not_found' } }
  if (method === 'POST' && path === '/orders')
    return tell(world, place(world, JSON.parse(body.toString()), fault), fault)
  if (method === 'GET' && path.startsWith('/charges?')) return list(world, path, fault)
  const [, id = '', action] = /^\/orders\/([A-Za-z0-9_-]+)(\/cancel|\/renew)?$/.exec(path) ?? []
  const order = world.orders.get(id)
  if (!order) return absent
  if (method === 'GET' && !action) return tell(world, order, fault)
  if (method === 'POST' && action === '/renew') return renew(world, order, key, fault)
  if (method === 'POST' && action) return cancel(world, order, String(JSON.parse(body.toString()).effective), fault)
  return absent
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function serve(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { options, asked, faults } = world
  const { method = '', url: path = '' } = request
  const body = await bodyOf(request)
  asked.push(`${method} ${path}`)
  if (!isSigned(options.secret, request.headers, body, world.now())) {
    response.writeHead(401).end()
    return
  }
  const fault = faults.shift()
  if (fault === 'error_before') {
    response.writeHead(503).end()
    return
  }
  const key = String(request.headers['idempotency-key'] ?? '')
  const said = answer(world, { method, path, key }, body, fault)
  if (fault === 'delay') await pause(options.delayMs ?? 50)
  if (fault === 'lost_answer') {
    request.socket.destroy()
    return
  }
  const status = fault === 'error_after_commit' ? 500 : said.status
  const bytes = Buffer.from(JSON.stringify(said.body))
  const secret = fault === 'bad_signature' ? `whsec_${Buffer.alloc(32, 9).toString('base64')}` : options.secret
  const headers = signedHeaders(secret, randomUUID(), world.now(), bytes)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes)
}

export async function startReferenceProvider(options: ReferenceProviderOptions): Promise<ReferenceProvider> {
  const now = (): Date => options.now?.() ?? new Date()
  const world: World = { options, orders: new Map(), asked: [], faults: [], usage: [], now }
  const server = createServer((request, response) => {
    serve(world, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders: world.orders,
    asked: world.asked,
    misbehave: (...faults) => world.faults.push(...faults),
    approve: (externalId) => {
      const order = world.orders.get(externalId)
      if (order) order.status = 'active'
    },
    use: (line, month = line.date.slice(0, 7)) => world.usage.push({ month, line }),
    place: (externalId, account) => {
      const [sku = ''] = Object.keys(options.prices)
      place(world, { externalId, account, sku, quantity: 1, term: 'month' }, undefined)
    },
    callBack: async (address, externalId, secret = options.secret) => {
      const account = world.orders.get(externalId)?.account
      const body = Buffer.from(JSON.stringify({ type: 'order.updated', externalId, account }))
      const headers = { 'content-type': 'application/json', ...signedHeaders(secret, randomUUID(), now(), body) }
      return (await fetch(address, { method: 'POST', headers, body })).status
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
