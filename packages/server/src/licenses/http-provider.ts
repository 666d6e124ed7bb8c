import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { HttpProviderSettings } from './catalogue.ts'
import type { CancelOutcome, CancelRequest, Capabilities, LicenseOrder, OrderOutcome, Seller } from './provider.ts'
import type { Seal, SecretField } from './seal.ts'
import { failureOf, isSigned, type Outbound, type Reply, signedHeaders } from './signed-http.ts'

// Any provider that speaks four requests: order, look up, cancel, and a callback that says "look again". Its secrets are in the clear
// from the socket until they are sealed a moment later, and nowhere else: sealed on receipt, in a process of its own (`apart.ts`).

const TIMEOUT_MS = 20_000
const MAX_BYTES = 262_144
const LEAST_POLLING_MS = 1_000
const MOST_POLLING_MS = 86_400_000

export const Amount = Type.String({ pattern: '^(?:0|[1-9][0-9]{0,17})$' })
/** There is such a day, and it is of our time: the clock of a language makes the third of March of the 31st of February. */
const isMoment = (text: string): boolean => {
  const at = new Date(text)
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text.slice(0, 10)
}
export const Moment = Type.Refine(Type.String({ pattern: '^[2-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$' }), isMoment)
/** Half a character has no bytes: another one would be kept in its place. */
const isWhole = (text: string): boolean => text.isWellFormed()
/** What is kept of theirs: the database has no room for a zero byte. */
export const Ref = Type.Refine(
  Type.String({ minLength: 1, maxLength: 200 }),
  (text) => isWhole(text) && !text.includes('\0'),
)
export const Code = Type.String({ pattern: '^[a-z0-9_]{1,64}$' })

const OrderAnswer = Type.Union([
  Type.Object({
    status: Type.Literal('active'),
    externalId: Ref,
    instanceRef: Ref,
    amount: Amount,
    periodEnd: Type.Optional(Moment),
    credential: Type.Record(Type.String(), Type.Refine(Type.String({ maxLength: 32_768 }), isWhole)),
  }),
  Type.Object({
    status: Type.Literal('pending'),
    externalId: Ref,
    providerRef: Ref,
    pollAfterMs: Type.Integer({ minimum: 0 }),
  }),
  Type.Object({ status: Type.Literal('rejected'), externalId: Ref, code: Code }),
])
const CancelAnswer = Type.Union([
  Type.Object({
    status: Type.Literal('cancelled'),
    externalId: Ref,
    effectiveAt: Moment,
    refund: Type.Optional(Amount),
  }),
  Type.Object({ status: Type.Literal('scheduled'), externalId: Ref, effectiveAt: Moment }),
  Type.Object({
    status: Type.Literal('refused'),
    externalId: Ref,
    code: Code,
    earliestDate: Type.Optional(Moment),
  }),
])
const readsOrder = Compile(OrderAnswer)
const readsCancel = Compile(CancelAnswer)

export interface HttpProviderDeps {
  readonly outbound: Outbound
  readonly seal: Seal
  now(): Date
}

interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly id: string
  readonly body?: object
}

/** Signed both ways; whatever is not an answer of theirs says whether they may have got it. */
export async function ask(
  deps: Pick<HttpProviderDeps, 'outbound' | 'now'>,
  { url, secret }: HttpProviderSettings,
  asked: Asked,
): Promise<Reply> {
  const body = Buffer.from(asked.body ? JSON.stringify(asked.body) : '')
  const headers = {
    ...signedHeaders(secret, asked.id, deps.now(), body),
    'idempotency-key': asked.id,
    ...(asked.body && { 'content-type': 'application/json' }),
    accept: 'application/json',
  }
  const outgoing = { url: url + asked.path, method: asked.method, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }
  try {
    const answer = await deps.outbound({ ...outgoing, ...(asked.body && { body }) })
    // Behind a status of theirs stands whatever broke, and nobody knows when.
    if (answer.status >= 500 || answer.isCut) return { kind: 'unknown', cause: `status_${answer.status}` }
    if (!isSigned(secret, answer.headers, answer.body, deps.now())) return { kind: 'unknown', cause: 'not_signed' }
    return { kind: 'answered', status: answer.status, body: answer.body }
  } catch (error) {
    return failureOf(error)
  }
}

export function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  } finally {
    // What was in the clear is not left lying in the buffer of the connection.
    body.fill(0)
  }
}

const garbled = { kind: 'unknown', cause: 'not_understood' } as const

/** Exactly the fields that were bought, in their order. */
function secretsOf(
  { fields }: LicenseOrder,
  credential: Readonly<Record<string, string>>,
): readonly SecretField[] | undefined {
  if (Object.keys(credential).length !== fields.length) return undefined
  const found = fields.flatMap(({ label, env }) => {
    const value = credential[label]
    return value === undefined ? [] : [{ label, env, bytes: new Uint8Array(Buffer.from(value)) }]
  })
  return found.length === fields.length ? found : undefined
}

async function orderOutcome(
  seal: Seal,
  order: LicenseOrder,
  answer: Static<typeof OrderAnswer>,
): Promise<OrderOutcome> {
  if (answer.externalId !== order.externalId) return garbled
  switch (answer.status) {
    case 'pending': {
      const { providerRef, pollAfterMs } = answer
      const afterMs = Math.max(LEAST_POLLING_MS, Math.min(pollAfterMs, MOST_POLLING_MS))
      return { kind: 'pending', providerRef, pollAfterMs: afterMs }
    }
    case 'rejected':
      return { kind: 'rejected', code: answer.code }
    case 'active': {
      const secrets = secretsOf(order, answer.credential)
      if (!secrets) return garbled
      const sealed = await seal(order, 'on_receipt', secrets)
      const periodEnd = answer.periodEnd === undefined ? null : new Date(answer.periodEnd)
      return { kind: 'active', instanceRef: answer.instanceRef, sealed, amount: BigInt(answer.amount), periodEnd }
    }
  }
}

async function readOrder(
  seal: Seal,
  order: LicenseOrder,
  reply: Reply,
  { isLookUp = false } = {},
): Promise<OrderOutcome> {
  if (reply.kind !== 'answered') return { kind: reply.kind, cause: reply.cause }
  const read = parsed(reply.body)
  if (reply.status === 429) return { kind: 'unavailable', cause: 'too_many_requests' }
  if (readsOrder.Check(read)) return orderOutcome(seal, order, read)
  // Whoever does not say what became of an order has not refused it.
  if (isLookUp) return garbled
  // A refusal without a reason of its own is still a refusal; that it is there already is none.
  const isRefusal = reply.status >= 400 && reply.status < 500 && reply.status !== 409 && reply.status !== 404
  return isRefusal ? { kind: 'rejected', code: `status_${reply.status}` } : garbled
}

function readCancel({ externalId }: CancelRequest, reply: Reply): CancelOutcome {
  if (reply.kind !== 'answered') return { kind: reply.kind, cause: reply.cause }
  const read = parsed(reply.body)
  if (!readsCancel.Check(read) || read.externalId !== externalId) return garbled
  switch (read.status) {
    case 'cancelled': {
      const refundable = read.refund === undefined ? null : BigInt(read.refund)
      return { kind: 'cancelled', effectiveAt: new Date(read.effectiveAt), refundable }
    }
    case 'scheduled':
      return { kind: 'scheduled', effectiveAt: new Date(read.effectiveAt) }
    case 'refused': {
      const earliestAt = read.earliestDate === undefined ? null : new Date(read.earliestDate)
      return { kind: 'refused', code: read.code, earliestAt }
    }
  }
}

export const HTTP_CAPABILITIES: Capabilities = {
  idempotentOrder: true,
  lookupByExternalId: true,
  credentialReplay: 'replay',
  cancel: 'windowed',
  charges: 'pull_daily',
}

export function httpProvider(deps: HttpProviderDeps, settings: HttpProviderSettings): Seller {
  const orderPath = (externalId: string): string => `/orders/${encodeURIComponent(externalId)}`
  return {
    order: async (order) => {
      const { externalId, sku, quantity, term, orgId: account } = order
      const body = { externalId, account, sku, quantity, term }
      return readOrder(
        deps.seal,
        order,
        await ask(deps, settings, { method: 'POST', path: '/orders', id: externalId, body }),
      )
    },
    getOrder: async (order) => {
      const path = orderPath(order.externalId)
      const reply = await ask(deps, settings, { method: 'GET', path, id: `look-${order.externalId}` })
      if (reply.kind === 'answered' && reply.status === 404) return { kind: 'not_found' }
      return readOrder(deps.seal, order, reply, { isLookUp: true })
    },
    cancel: async (request) => {
      const { externalId, effective, key } = request
      const path = `${orderPath(externalId)}/cancel`
      return readCancel(
        request,
        await ask(deps, settings, { method: 'POST', path, id: key, body: { externalId, effective } }),
      )
    },
  }
}
