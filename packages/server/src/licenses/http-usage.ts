import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { HttpProviderSettings } from './catalogue.ts'
import { ask, type HttpProviderDeps, parsed } from './http-provider.ts'
import type { UsageOutcome, UsageRequest } from './provider.ts'
import type { Reply } from './signed-http.ts'

// What was used besides what was paid in advance, as a provider lists it: `GET /charges?month=2026-11`, page by page.

const MOST_LINES = 1000

/** Whatever it is, one that is nobody's keeps no other line from being charged. */
const Named = Type.String({ minLength: 1, maxLength: 200 })
const UsageAnswer = Type.Object({
  lines: Type.Array(
    Type.Object({
      lineId: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$' }),
      account: Named,
      externalId: Named,
      date: Type.String({ pattern: '^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$' }),
      quantity: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
      amount: Type.String({ pattern: '^[1-9][0-9]{0,17}$' }),
    }),
    { maxItems: MOST_LINES },
  ),
  next: Type.Optional(Named),
})
const readsUsage = Compile(UsageAnswer)

/** A provider that lists nothing says so with 404. */
function readUsage(reply: Reply): UsageOutcome {
  if (reply.kind !== 'answered') return { kind: reply.kind, cause: reply.cause }
  const read = parsed(reply.body)
  if (reply.status === 404) return { kind: 'listed', lines: [], next: null }
  if (reply.status !== 200) return { kind: 'unavailable', cause: `status_${reply.status}` }
  if (!readsUsage.Check(read)) return { kind: 'unknown', cause: 'not_understood' }
  const lines = read.lines.map(({ amount, ...line }) => ({ ...line, amount: BigInt(amount) }))
  return { kind: 'listed', lines, next: read.next ?? null }
}

export const httpUsage =
  (deps: Pick<HttpProviderDeps, 'outbound' | 'now'>, settings: HttpProviderSettings) =>
  async ({ month, cursor, key }: UsageRequest): Promise<UsageOutcome> => {
    const query = new URLSearchParams({ month, ...(cursor !== null && { cursor }) })
    return readUsage(await ask(deps, settings, { method: 'GET', path: `/charges?${query}`, id: key }))
  }
