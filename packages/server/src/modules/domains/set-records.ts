import type { domains, Input } from '@strongroom/contract'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import { dropLease, finishIdempotent, isLease, type Lease, renewLease } from '../../http/idempotency.ts'
import type { Handler } from '../../http/mount.ts'
import { emit } from '../../outbox/outbox.ts'
import { hasSeveralOrgs } from '../setup/org.ts'
import { inDns } from './names.ts'
import type { PowerDns, ZoneFacts } from './power-dns.ts'
import { readRecords, type ZoneRecord } from './records.ts'
import { makeOwnerCheck, type Own, powerDnsOf, recordChange } from './service.ts'
import * as store from './store.ts'

// Records in the database are replaced in one transaction. Those in PowerDNS are replaced between two: the first claims the idempotency
// key of the request, before anything is changed, and the second keeps the answer for it.

type Asked = Input<typeof domains.setRecords>

interface Answer {
  readonly domain: string
  readonly serial: number
}

async function lockManaged({ db, principal }: TxCtx, text: string): Promise<store.DomainRow> {
  const row = found(await store.lockDomain(db, principal.orgId, inDns(text) ?? ''), 'domain_not_found')
  if (!row.managed) throw new ApiError('domain_not_managed')
  return row
}

/** Whoever sends all records has read them before; what was changed in between would be lost. */
function requireSerial(serial: number, expected: number | undefined): void {
  if (expected !== undefined && expected !== serial) throw new ApiError('records_changed', { details: { serial } })
}

async function tell(ctx: TxCtx, { domain, serial }: Answer, count: number): Promise<Answer> {
  await recordChange(ctx, 'domain.set-records', domain, { records: count })
  const object = { type: 'domain', id: domain, serial }
  await emit(ctx, ctx.db, ctx.principal.orgId, { type: 'domain.dns_records.changed', object })
  return { domain, serial }
}

const setHere = (ctx: Ctx, { params, body }: Asked): Promise<Answer> =>
  transact(ctx, async (ctx) => {
    const { domain, serial } = await lockManaged(ctx, params.domain)
    requireSerial(serial, body.ifSerial)
    const records = readRecords(domain, body.records)
    const next = await store.replaceRecords(ctx.db, ctx.principal.orgId, domain, records)
    return tell(ctx, { domain, serial: next }, records.length)
  })

/** Longer than PowerDNS may take for all that it is asked, and the database afterwards. */
const LEASE_MS = 30_000

interface Begun {
  readonly domain: string
  readonly records: readonly ZoneRecord[]
  readonly requireOwn: Own
  readonly lease: Lease
}

async function begin(ctx: TxCtx, { params, body }: Asked): Promise<Begun> {
  const { domain } = await lockManaged(ctx, params.domain)
  return {
    domain,
    records: readRecords(domain, body.records),
    requireOwn: makeOwnerCheck(ctx, await hasSeveralOrgs(ctx.db)),
    lease: { leasedUntil: new Date(ctx.now().getTime() + LEASE_MS).toISOString() },
  }
}

async function beginAgain(ctx: TxCtx, asked: Asked, kept: unknown): Promise<Begun | Answer> {
  if (!isLease(kept)) return kept as Answer
  const begun = await begin(ctx, asked)
  if (ctx.idempotent) await renewLease(ctx, ctx.idempotent, begun.lease)
  return begun
}

/** What is there already needs no serial: it may be this very change, made before its answer was lost. */
async function replace(powerDns: PowerDns, { domain, records, requireOwn }: Begun, ifSerial: number | undefined) {
  const check = (zone: ZoneFacts, isThere: boolean): void => {
    requireOwn(zone)
    if (!isThere) requireSerial(zone.serial, ifSerial)
  }
  return { domain, serial: await powerDns.replace(domain, records, check) }
}

async function setThere(ctx: Ctx, powerDns: PowerDns, asked: Asked): Promise<Answer> {
  const { idempotent } = ctx
  const begun = await transact<Begun | Answer>(ctx, (ctx) => begin(ctx, asked), {
    replay: {
      kept: (result) => ('lease' in result ? result.lease : result),
      again: (ctx, kept) => beginAgain(ctx, asked, kept),
    },
  })
  if (!('lease' in begun)) return begun
  const afterwards: Ctx = { ...ctx, idempotent: undefined }
  try {
    const replaced = await replace(powerDns, begun, asked.body.ifSerial)
    return await transact(afterwards, async (ctx) => {
      const answer = await tell(ctx, replaced, begun.records.length)
      if (idempotent) await finishIdempotent(ctx, idempotent, answer)
      return answer
    })
  } catch (error) {
    // If not even that can be written, the lease ends by itself.
    if (idempotent) await transact(afterwards, (ctx) => dropLease(ctx, idempotent, begun.lease)).catch(() => undefined)
    throw error
  }
}

export const setRecords: Handler<typeof domains.setRecords> = (ctx, asked) => {
  const powerDns = powerDnsOf(ctx)
  return powerDns ? setThere(ctx, powerDns, asked) : setHere(ctx, asked)
}
