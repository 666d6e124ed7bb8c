import type { Domain, domains } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { type Limit, makeRateLimiter } from '../../http/rate-limit.ts'
import { hasSeveralOrgs } from '../setup/org.ts'
import { betweenTransactions } from './between.ts'
import { checkRecords } from './check.ts'
import { inDns, requireName, within } from './names.ts'
import { makePowerDns, type PowerDns, type ZoneFacts } from './power-dns.ts'
import { show, type Zone } from './records.ts'
import * as store from './store.ts'

// A name that the organisation does not have is not found, whoever else has it; one that it has and that is not managed here is said
// to be so.

const showDomain = ({ domain, managed, createdAt }: store.DomainRow): Domain => ({
  domain,
  managed,
  createdAt: createdAt.toISOString(),
})

export const powerDnsOf = ({ config }: Ctx): PowerDns | undefined =>
  config.powerDns ? makePowerDns(config.powerDns) : undefined

export type Own = <Z extends Pick<ZoneFacts, 'account'>>(zone: Z | undefined) => Z

/**
 * Anybody can say that a domain is theirs; a zone of PowerDNS is whose its operator says there, by its account. Where there is one
 * organisation, every zone is its. Whatever else is not managed here, as if there were no zone.
 */
export function makeOwnerCheck({ principal }: Ctx, isShared: boolean): Own {
  return (zone) => {
    if (zone && (!isShared || zone.account === principal.orgId)) return zone
    if (!isShared) throw new ApiError('domain_not_managed')
    throw new ApiError('domain_not_managed', {
      message: 'The name server has no zone of this name for the organisation.',
      details: { account: principal.orgId },
    })
  }
}

/** The domain that the name lies in. */
async function openManaged({ db, principal }: TxCtx, name: string): Promise<store.DomainRow> {
  const domain = found(await store.longest(db, principal.orgId, within(name)), 'domain_not_found')
  if (!domain.managed) throw new ApiError('domain_not_managed')
  return domain
}

interface Question {
  readonly domain: string
  readonly type?: string
  readonly name?: string
}

/** The records that a question is about. PowerDNS is asked between transactions, never inside one. */
async function readZone(ctx: Ctx, query: Question): Promise<Zone & { readonly domain: string }> {
  const name = requireName(query.domain)
  const wanted = query.name === undefined ? undefined : requireName(query.name)
  const powerDns = powerDnsOf(ctx)
  const { domain, read } = await transact(ctx, async (ctx) => {
    const row = await openManaged(ctx, name)
    const { domain } = row
    if (powerDns) {
      const requireOwn = makeOwnerCheck(ctx, await hasSeveralOrgs(ctx.db))
      return { domain, read: async () => requireOwn(await powerDns.zone(domain)) }
    }
    const kept = await store.zoneOf(ctx.db, ctx.principal.orgId, row)
    return { domain, read: async () => kept }
  })
  const zone: Zone = await read()
  const fitting = zone.records.filter(
    (one) => (query.type === undefined || one.type === query.type) && (wanted === undefined || one.name === wanted),
  )
  return { domain, serial: zone.serial, records: fitting }
}

export const records: Handler<typeof domains.records> = async (ctx, { query }) => {
  const { domain, serial, records } = await readZone(ctx, query)
  return { domain, managed: true, serial, records: records.map(show) }
}

/** In memory, since a check changes nothing: each process counts for itself. */
const checks = makeRateLimiter()
const CHECKS: Limit = { perMinute: 20, burst: 10 }

function requireTurn({ principal, now }: Ctx): void {
  const { allowed, resetSeconds } = checks.take(principal.id, CHECKS, now().getTime())
  if (!allowed) throw new ApiError('rate_limited', { headers: { 'retry-after': String(resetSeconds) } })
}

export const check: Handler<typeof domains.check> = async (ctx, { query }) => {
  const { domain, serial, records } = await readZone(ctx, query)
  requireTurn(ctx)
  const checkedAt = ctx.now().toISOString()
  return { domain, serial, checkedAt, ...(await checkRecords(ctx.config, records)) }
}

export const list: Handler<typeof domains.list> = (ctx, { query }) =>
  transact(ctx, async ({ db, principal }) =>
    listAnswer('data', await store.list(db, principal.orgId, query), showDomain),
  )

export const recordChange = (ctx: TxCtx, action: string, domain: string, metadata: Record<string, unknown> = {}) =>
  record(ctx, { action, targets: [{ type: 'domain', id: domain }], metadata })

async function claim(ctx: TxCtx, name: string, managed: boolean): Promise<Domain> {
  const { orgId, id: createdBy } = ctx.principal
  const at = ctx.now()
  if (!(await store.insertDomain(ctx.db, orgId, { name, managed, createdBy, at }))) throw new ApiError('domain_taken')
  await recordChange(ctx, 'domain.add', name, { managed })
  return { domain: name, managed, createdAt: at.toISOString() }
}

export const add: Handler<typeof domains.add> = async (ctx, { body: { domain, managed } }) => {
  const name = requireName(domain)
  const powerDns = powerDnsOf(ctx)
  if (!managed || !powerDns) return transact(ctx, (ctx) => claim(ctx, name, managed))
  return betweenTransactions(ctx, {
    begin: ({ db }) => hasSeveralOrgs(db),
    // Where others could have it, what is not the caller's is not claimed either: it would stand in the way of whose it is.
    there: async (isShared) => {
      if (isShared) makeOwnerCheck(ctx, isShared)(await powerDns.zone(name))
    },
    finish: (ctx) => claim(ctx, name, managed),
  })
}

export const remove: Handler<typeof domains.remove> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const name = inDns(params.domain) ?? ''
    if (!(await store.deleteDomain(ctx.db, ctx.principal.orgId, name))) throw new ApiError('domain_not_found')
    await recordChange(ctx, 'domain.remove', name)
    return { domain: name }
  })
