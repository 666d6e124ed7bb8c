import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import pg from 'pg'
import { inOrg } from '../../src/context.ts'
import { ledgerDifferences } from '../../src/ledger/ledger.ts'
import { budgetDifferences } from '../../src/modules/budgets/reserve.ts'
import type { Random } from '../crash/random.ts'
import type { Harness } from '../harness-on.ts'
import { outcomes } from '../people.ts'
import { buy, giveCredit, type LicenseOrg, makeBuyer, makeLicenseOrg } from '../provider/license-buyer.ts'
import type { Writer } from '../vault-writer.ts'

// Two hundred at once where there is room for ten, again and again: exactly ten, whatever the room is of, and books that add up.

export const LEVELS = ['balance', 'org', 'tenant', 'user', 'agent'] as const
export type Level = (typeof LEVELS)[number]

const PRICE = 2_000_000n
const [MANY, ROOM] = [200, 10]
const A_MINUTE_MS = 60_000

export interface Track {
  readonly level: Level
  /** One race; says what was wrong with it. */
  run(random: Random): Promise<string | undefined>
}

async function wrongBooks(h: Harness, orgId: string): Promise<string[]> {
  return inOrg(h.deps, orgId, async (db) => {
    const { rows } = await sql<{ posted: string; pending: string; purchases: string }>`
      select (select sum(cr_posted - dr_posted) from ledger_account where org_id = ${orgId})::text as posted,
        (select sum(cr_pending - dr_pending) from ledger_account where org_id = ${orgId})::text as pending`.execute(db)
    const [sums] = rows
    const zero = sums?.posted === '0' && sums.pending === '0'
    return [
      ...(zero ? [] : [`the ledger sums to ${sums?.posted} and ${sums?.pending}`]),
      ...(await ledgerDifferences(db, orgId)).map((account) => `the account ${account} differs`),
      ...(await budgetDifferences(db, orgId)).map((budget) => `the budget ${budget} differs`),
    ]
  })
}

const purchasesOf = (h: Harness, orgId: string): Promise<number> =>
  inOrg(h.deps, orgId, async (db) => {
    const { count } = await db
      .selectFrom('license_purchase')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .executeTakeFirstOrThrow()
    return Number(count)
  })

/** Makes room for ten more, in the credit or in the budget. */
async function makeRoom(h: Harness, org: LicenseOrg, level: Level, subjectId: string): Promise<(n: number) => unknown> {
  if (level === 'balance') return (n) => giveCredit(h, org.orgId, PRICE * BigInt(ROOM), `round-${n}`)
  await giveCredit(h, org.orgId, 1_000_000_000n * PRICE)
  const { budgets } = org.founder.client
  const windows = (n: number) => [{ kind: 'total', limit: money(PRICE * BigInt(ROOM * n)) } as const]
  const { budgetId: id } = await budgets.create({ body: { subjectType: level, subjectId, windows: windows(0) } })
  return (n) => budgets.update({ params: { id }, body: { windows: windows(n) } })
}

export async function makeTrack(h: Harness, level: Level): Promise<Track> {
  const org = await makeLicenseOrg(h, `races for the ${level}`)
  const agents = [await makeBuyer(h, org, 'deploy'), await makeBuyer(h, org, 'bob')] as const
  const userId = org.founder.identity.key.principal.slice('user:'.length)
  const subjects = { balance: '', org: org.orgId, tenant: org.tenantId, agent: agents[0].agentId, user: userId }
  const buyers: readonly Writer[] = level === 'user' ? [org.founder] : level === 'agent' ? [agents[0]] : agents
  const refused = level === 'balance' ? 'insufficient_credit' : 'budget_exceeded'
  const expected = JSON.stringify({ ok: ROOM, [refused]: MANY - ROOM })
  const room = await makeRoom(h, org, level, subjects[level])
  let round = 0
  const run = async (random: Random): Promise<string | undefined> => {
    round += 1
    await room(round)
    // Nobody is slowed down for asking too often: that is another test.
    h.advance(A_MINUTE_MS)
    const calls = Array.from({ length: MANY }, () => buyers[random.below(buyers.length)] ?? org.founder)
    const ends = await outcomes(calls.map((buyer) => buy(buyer, 'sandbox-once')))
    const counts: Record<string, number> = { ok: 0 }
    for (const end of ends) counts[end] = (counts[end] ?? 0) + 1
    const made = await purchasesOf(h, org.orgId)
    const wrong = await wrongBooks(h, org.orgId)
    if (JSON.stringify(counts) !== expected) wrong.unshift(JSON.stringify(counts))
    if (made !== ROOM * round) wrong.push(`${made} purchases after ${round} rounds`)
    return wrong.length === 0 ? undefined : wrong.join('; ')
  }
  return { level, run }
}

const LOCKS = [
  ['budget_reserve', 'for update of x;', ';'],
  ['ledger_apply', 'for update;', ';'],
] as const

/** In this database a look comes first and a change afterwards, and nothing in between keeps others out. */
export async function checkThenAct(owner: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...owner, options: '-c search_path=strongroom' })
  await client.connect()
  try {
    for (const [name, lock, none] of LOCKS) {
      const { rows } = await client.query<{ text: string }>(
        'select pg_get_functiondef(oid) as text from pg_proc where proname = $1',
        [name],
      )
      const text = rows[0]?.text ?? ''
      const mutant = text.replace(lock, none)
      if (mutant === text) throw new Error(`${name} takes another lock than this mutant leaves out`)
      await client.query(mutant)
    }
  } finally {
    await client.end()
  }
}

export async function deadlocksIn(superuser: pg.ClientConfig, database: string): Promise<number> {
  const client = new pg.Client(superuser)
  await client.connect()
  try {
    const { rows } = await client.query<{ deadlocks: string }>(
      'select deadlocks from pg_stat_database where datname = $1',
      [database],
    )
    return Number(rows[0]?.deadlocks ?? 0)
  } finally {
    await client.end()
  }
}
