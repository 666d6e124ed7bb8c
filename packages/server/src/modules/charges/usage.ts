import { sql } from 'kysely'
import { inOrg } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { applyTransfers } from '../../ledger/ledger.ts'
import type { LicenseProvider, UsageLine } from '../../licenses/provider.ts'
import { tellReached } from '../../outbox/budget-events.ts'
import { countSpent } from '../budgets/count.ts'
import { endTestCredit } from '../licenses/test-credit-store.ts'
import type { Works } from '../licenses/turns.ts'
import { dayOf, monthOf } from './rules.ts'
import { writeLines } from './write.ts'

// Usage that providers report afterwards. Every line of theirs is one of ours and one transfer, however often and in whatever order it is
// listed. It is known by its licence, its day and its name; the first one counts, and what is to be corrected comes under a name of its own.

const MOST_PAGES = 1000

interface Licensed {
  readonly instanceId: string
  readonly purchaseId: string
  readonly tenantId: string
  /** In whose budgets it counts. */
  readonly subjects: readonly string[]
  readonly createdAt: Date
  /** Null while it runs. */
  readonly endedAt: Date | null
}

/** The licence that an order of theirs has become. */
async function licensedBy(db: Db, provider: string, { account, externalId }: UsageLine): Promise<Licensed | undefined> {
  const { rows } = await sql<Licensed>`
    select i.instance_id as "instanceId", i.purchase_id as "purchaseId", i.tenant_id as "tenantId", p.subjects, i.created_at as "createdAt",
      i.terminated_at as "endedAt"
    from license_purchase p join license_instance i on i.org_id = p.org_id and i.purchase_id = p.purchase_id
    where p.org_id = ${account} and p.provider = ${provider} and p.purchase_id = split_part(${externalId}, '-', 1)
      and ${externalId} = p.purchase_id || case p.hold_no when 1 then '' else '-' || p.hold_no end`.execute(db)
  return rows[0]
}

interface Known {
  readonly orgId: string
  readonly instanceId: string
  readonly line: UsageLine
}

const sourceOf = ({ date, lineId }: UsageLine): string => `usage:${date}:${lineId}`

/** What it was charged with. Lines of before had their name alone as their source, and a name has no colon. */
async function writtenAmount(db: Db, { orgId, instanceId, line }: Known): Promise<bigint | undefined> {
  const { rows } = await sql<{ amount: string }>`
    select amount::text as amount from charge_line
    where org_id = ${orgId} and instance_id = ${instanceId} and (source = ${sourceOf(line)}
      or source = ${`usage:${line.lineId}`} and coalesce(corrects_date, date) = ${line.date})`.execute(db)
  return rows[0] && BigInt(rows[0].amount)
}

type Ending = 'written' | 'known' | 'changed' | 'not_ours' | 'not_yet' | 'after_its_end'

/** The line, what it counts in budgets and its transfer in one transaction: budgets first, the ledger last. */
const charge = ({ deps, worker }: Works, provider: string, line: UsageLine): Promise<Ending> =>
  inOrg({ database: worker }, line.account, async (db) => {
    const { account: orgId, lineId, date, quantity, amount } = line
    const license = await licensedBy(db, provider, line)
    if (!license || date < dayOf(license.createdAt)) return 'not_ours'
    if (date > dayOf(deps.now())) return 'not_yet'
    // A licence that has ended is used no more, whoever says so.
    if (license.endedAt !== null && date > dayOf(license.endedAt)) return 'after_its_end'
    const { instanceId, purchaseId, tenantId } = license
    const endingOf = (charged: bigint | undefined): Ending => (charged === amount ? 'known' : 'changed')
    const known = { orgId, instanceId, line }
    const charged = await writtenAmount(db, known)
    if (charged !== undefined) return endingOf(charged)
    const source = sourceOf(line)
    const transferId = `charge:${provider}:${instanceId}:${date}:${lineId}`
    const spending = { owner: transferId, amount, subjects: license.subjects }
    await tellReached(deps, db, orgId, await countSpent(db, orgId, spending, deps.now()))
    const wanted = { instanceId, date, quantity, amount, source, transferId, kind: 'usage' } as const
    const written = await writeLines(deps, db, { orgId, tenantId }, [wanted])
    if (written.length === 0) return endingOf(await writtenAmount(db, known))
    const about = { id: transferId, group: `charge:${instanceId}`, code: 'charge', refType: 'license' } as const
    const legs = { dr: 'credit', cr: `payable:${provider}`, amount, phase: 'single' } as const
    await endTestCredit(db, { orgId, purchaseId }, deps.now())
    await applyTransfers(db, orgId, [{ ...about, ...legs, refId: instanceId }], deps.now())
    return 'written'
  })

const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? 'error'

/** What the credit does not cover, or what fails, is not written and keeps nothing else from it: it is listed again, and tried again. */
async function take(works: Works, provider: string, line: UsageLine): Promise<void> {
  const ending = await charge(works, provider, line).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'insufficient_credit') return 'not_covered' as const
    return `failed:${codeOf(error)}` as const
  })
  if (ending !== 'written' && ending !== 'known' && ending !== 'not_yet')
    works.deps.log.warn({ event: 'provider_usage_line', provider, lineId: line.lineId, ending })
}

async function fetchMonth(works: Works, { id, usage }: LicenseProvider, month: string): Promise<void> {
  let cursor: string | null = null
  const seen = new Set<string>()
  const stop = (cause: string): void =>
    works.deps.log.warn({ event: 'provider_usage_not_listed', provider: id, month, cause })
  while (usage) {
    const listed = await usage({ month, cursor, key: works.deps.newId('use') })
    if (listed.kind !== 'listed') return stop(listed.cause)
    for (const line of listed.lines) await take(works, id, line)
    cursor = listed.next
    if (cursor === null) return
    // Its pages go round in a circle, or on for ever.
    if (seen.has(cursor) || seen.size >= MOST_PAGES) return stop('too_many_pages')
    seen.add(cursor)
  }
}

async function fetchFrom(works: Works, provider: LicenseProvider, months: readonly string[]): Promise<void> {
  for (const month of months)
    await fetchMonth(works, provider, month).catch((error: unknown) => {
      const about = { provider: provider.id, month, cause: codeOf(error) }
      works.deps.log.warn({ event: 'provider_usage_not_listed', ...about })
    })
}

/**
 * Of this month and the one before: what comes later than that is listed in the month it comes in. Each provider by itself: one that is slow
 * keeps no other waiting.
 */
export async function fetchUsage(works: Works): Promise<void> {
  const month = monthOf(dayOf(works.deps.now()))
  const before = new Date(`${month}-01T00:00:00.000Z`)
  before.setUTCDate(0)
  const months = [monthOf(dayOf(before)), month]
  await Promise.all([...works.providers.values()].map((provider) => fetchFrom(works, provider, months)))
}
