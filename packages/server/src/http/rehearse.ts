import { type agents, ERRORS, type Input, type Output, type Route } from '@strongroom/contract'
import { sql } from 'kysely'
import { ensureWithinLimits } from '../access/limits.ts'
import type { Ctx, Principal, TxCtx } from '../context.ts'
import type { Database, Db } from '../db/database.ts'
import { ApiError } from '../errors.ts'
import { ensureAccess, isPublic } from './access.ts'
import type { Mounted } from './mounted.ts'
import { inputReader } from './validate.ts'

// What a call of somebody would meet: the checks of the gate in their order, by the gate's own functions, then the handler. It is not
// counted against any limit, nothing of it stays, and of its answer only the status is told.

export type Rehearsal = Pick<Output<typeof agents.simulate>, 'outcome' | 'status' | 'checks' | 'refusal'>
type Check = Rehearsal['checks'][number]

export interface RehearsedCall extends Mounted {
  readonly name: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** The address it would come from, if that is to be judged. */
  readonly from: string | undefined
  /** Whoever would call; refuses whom the gate does not know. */
  caller(): Principal
}

/** Passes if it returns nothing, is not tried for the reason it returns, refuses by what it throws. */
type Step = () => string | undefined | Promise<string | undefined>

/** Reads that do more than read from the database. Each is named here: a transaction takes back nothing of the outside world. */
const UNTRIED: Readonly<Record<string, string>> = {
  'attachments.initialize': 'The call begins an upload in the object storage, and is not tried.',
  'attachments.upload': 'The call asks the object storage, and is not tried.',
  'domains.check': 'The call asks name servers, and is not tried.',
  'domains.records': 'The call may ask the name server, and is not tried.',
  'events.stream': 'The answer goes on while something happens, and is not begun.',
}

const SECOND_CONNECTION = 'The call reads outside of the organisation, and is not tried.'
const NOBODY_ASKED = 'Anybody may make this call: no key is looked at.'

function untried(name: string, { method, access, body }: Route): string | undefined {
  if (method !== 'GET')
    return `The call writes, and is not tried${body ? ': what the service would decide depends on its body' : ''}.`
  return isPublic(access) ? SECOND_CONNECTION : UNTRIED[name]
}

/** In the caller's transaction; whatever it changes is taken back before this returns. */
export async function rehearse(ctx: TxCtx, call: RehearsedCall): Promise<Rehearsal> {
  await sql`savepoint rehearsal`.execute(ctx.db)
  try {
    return await meet(stepsOf(ctx, call), call.route)
  } finally {
    await takeBack(ctx.db)
  }
}

const takeBack = (db: Db) => sql`rollback to savepoint rehearsal`.execute(db)

async function meet(steps: Readonly<Record<Check['check'], Step>>, { status = 200 }: Route): Promise<Rehearsal> {
  const checks: Check[] = []
  let refused: ApiError | undefined
  for (const [name, step] of Object.entries(steps)) {
    const check = name as Check['check']
    try {
      const reason = refused ? 'An earlier check refuses the call.' : await step()
      checks.push(reason === undefined ? { check, result: 'passed' } : { check, result: 'not_tried', reason })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      refused = error
      checks.push({ check, result: 'refused' })
    }
  }
  if (refused) return { outcome: 'refused', status: refused.status, checks, refusal: shown(refused) }
  const isAnswered = checks.every(({ result }) => result === 'passed')
  return { outcome: isAnswered ? 'answered' : 'admitted', status: isAnswered ? status : null, checks, refusal: null }
}

const shown = ({ status, code, message, details }: ApiError): Rehearsal['refusal'] => ({
  status,
  code,
  message,
  hint: ERRORS[code].hint,
  ...(details && { details }),
})

function stepsOf(ctx: TxCtx, call: RehearsedCall): Readonly<Record<Check['check'], Step>> {
  const { route, from, caller } = call
  const ofSomebody = (step: (principal: Principal) => string | undefined) => (): string | undefined =>
    isPublic(route.access) ? NOBODY_ASKED : step(caller())
  const input = inputOf(call)
  return {
    key: ofSomebody(() => undefined),
    expiry: ofSomebody((principal) => {
      const { limits } = principal
      ensureWithinLimits(limits ? { ...principal, limits: { ...limits, networks: [] } } : principal, '', ctx.now())
      return undefined
    }),
    network: ofSomebody((principal) => {
      if (from === undefined && principal.limits && principal.limits.networks.length > 0)
        return 'Its keys may be used from some networks only, and no address is given.'
      ensureWithinLimits(principal, from ?? '', ctx.now())
      return undefined
    }),
    permission: ofSomebody((principal) => {
      ensureAccess(route.access, principal)
      return undefined
    }),
    input: () => {
      input()
      return undefined
    },
    service: () => untried(call.name, route) ?? serve(ctx, call, input()),
  }
}

/** What the URL says. The body is not there: it is what the service would have to judge. */
function inputOf({ route, params, query }: RehearsedCall): () => Input<Route> {
  const { body: _, ...withoutBody } = route
  const validate = inputReader(withoutBody)
  return () => validate({ params, query, body: undefined }) as Input<Route>
}

async function serve(ctx: TxCtx, call: RehearsedCall, input: Input<Route>): Promise<string | undefined> {
  const { requestId, ip, userAgent } = ctx.request
  const alone: TxCtx = {
    ...ctx,
    principal: call.caller(),
    idempotent: undefined,
    request: { requestId, ip: call.from ?? ip, userAgent, routeName: call.name },
    database: ONLY_THIS_TRANSACTION,
    connection: refuseSecond,
  }
  try {
    await call.handle(alone, input)
    return undefined
  } catch (error) {
    if (error instanceof SecondConnection) return SECOND_CONNECTION
    throw error
  }
}

/** A handler reached beyond the transaction. Nobody waits for a second connection while holding the first. */
class SecondConnection extends Error {
  override name = 'SecondConnection'
}

const refuseSecond: Ctx['connection'] = () => {
  throw new SecondConnection()
}

const ONLY_THIS_TRANSACTION: Database = {
  get pool() {
    return refuseSecond() as never
  },
  get kysely() {
    return refuseSecond() as never
  },
  findKey: refuseSecond as never,
  readEnvironment: refuseSecond as never,
  close: refuseSecond as never,
}
