import type { domains, Input } from '@strongroom/contract'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { emit } from '../../outbox/outbox.ts'
import { hasSeveralOrgs } from '../setup/org.ts'
import { betweenTransactions } from './between.ts'
import { inDns } from './names.ts'
import type { PowerDns, ZoneFacts } from './power-dns.ts'
import { readRecords, type ZoneRecord } from './records.ts'
import { makeOwnerCheck, type Own, powerDnsOf, recordChange } from './service.ts'
import * as store from './store.ts'

// Records in the database are replaced in one transaction, those in PowerDNS between two.

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

interface Begun {
  readonly domain: string
  readonly records: readonly ZoneRecord[]
  readonly requireOwn: Own
}

async function begin(ctx: TxCtx, { params, body }: Asked): Promise<Begun> {
  const { domain } = await lockManaged(ctx, params.domain)
  const requireOwn = makeOwnerCheck(ctx, await hasSeveralOrgs(ctx.db))
  return { domain, records: readRecords(domain, body.records), requireOwn }
}

/** What is there already needs no serial: it may be this very change, made before its answer was lost. */
async function replace(powerDns: PowerDns, { domain, records, requireOwn }: Begun, ifSerial: number | undefined) {
  const check = (zone: ZoneFacts, isThere: boolean): void => {
    requireOwn(zone)
    if (!isThere) requireSerial(zone.serial, ifSerial)
  }
  return { domain, serial: await powerDns.replace(domain, records, check) }
}

const setThere = (ctx: Ctx, powerDns: PowerDns, asked: Asked): Promise<Answer> =>
  betweenTransactions(ctx, {
    begin: (ctx) => begin(ctx, asked),
    there: (begun) => replace(powerDns, begun, asked.body.ifSerial),
    finish: (ctx, { records }, replaced) => tell(ctx, replaced, records.length),
  })

export const setRecords: Handler<typeof domains.setRecords> = (ctx, asked) => {
  const powerDns = powerDnsOf(ctx)
  return powerDns ? setThere(ctx, powerDns, asked) : setHere(ctx, asked)
}
