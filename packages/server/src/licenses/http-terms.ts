import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { HttpProviderSettings } from './catalogue.ts'
import { Amount, ask, Code, type HttpProviderDeps, Moment, parsed, Ref } from './http-provider.ts'
import type { RenewOutcome, RenewRequest } from './provider.ts'
import type { Reply } from './signed-http.ts'

// What is asked of a provider without a secret in it: another period of what it has sold already, with the credential that is there.

const RenewAnswer = Type.Union([
  Type.Object({
    status: Type.Literal('renewed'),
    externalId: Ref,
    amount: Amount,
    periodEnd: Type.Optional(Moment),
  }),
  Type.Object({ status: Type.Literal('rejected'), externalId: Ref, code: Code }),
])
const readsRenewal = Compile(RenewAnswer)

const outcomeOf = (answer: Static<typeof RenewAnswer>): RenewOutcome =>
  answer.status === 'rejected'
    ? { kind: 'rejected', code: answer.code }
    : {
        kind: 'renewed',
        amount: BigInt(answer.amount),
        periodEnd: answer.periodEnd === undefined ? null : new Date(answer.periodEnd),
      }

/** A provider that sells no further periods says so with 404: nothing has happened there. */
function readRenewal({ externalId }: RenewRequest, reply: Reply): RenewOutcome {
  if (reply.kind !== 'answered') return { kind: reply.kind, cause: reply.cause }
  const read = parsed(reply.body)
  if (reply.status === 429) return { kind: 'unavailable', cause: 'too_many_requests' }
  if (readsRenewal.Check(read) && read.externalId === externalId) return outcomeOf(read)
  const isRefusal = reply.status >= 400 && reply.status < 500 && reply.status !== 409
  return isRefusal ? { kind: 'rejected', code: `status_${reply.status}` } : { kind: 'unknown', cause: 'not_understood' }
}

type Needs = Pick<HttpProviderDeps, 'outbound' | 'now'>

export const httpRenewal =
  (deps: Needs, settings: HttpProviderSettings) =>
  async (request: RenewRequest): Promise<RenewOutcome> => {
    const { externalId, quantity, from, key } = request
    const path = `/orders/${encodeURIComponent(externalId)}/renew`
    const body = { externalId, quantity, from: from.toISOString() }
    return readRenewal(request, await ask(deps, settings, { method: 'POST', path, id: key, body }))
  }
