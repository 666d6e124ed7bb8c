import { money, type Purchase } from '@strongroom/contract'
import { createClient } from '@strongroom/sdk'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { outcomes } from '../../../test/people.ts'
import {
  type Buyer,
  giveCredit,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
} from '../../../test/provider/license-buyer.ts'
import { deadlocksIn } from '../../../test/races/races.ts'
import { inOrg } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ledgerDifferences } from '../../ledger/ledger.ts'
import { budgetDifferences } from '../budgets/reserve.ts'

// Purchases that are begun in one transaction. Catches: one that leaves something else than it would alone, a refusal that takes others
// along or stays, two requests with one key, locks in another order than everybody's, and begun again what may be stored. Seen red: the
// windows not locked first; a key used before not looked at; the refusal of one answered to all; a connection that has ended taken for
// taken back, and what was taken back for unknown; the rows of the first written for all; nobody let go together; one window of two locked.

const PRICE = 2_000_000n

let h: Harness
let postgres: pg.Client
let org: LicenseOrg
let [rich, poor]: Buyer[] = []
beforeAll(async () => {
  h = await startHarness()
  const { rows } = await h.deps.database.pool.query<{ name: string }>('select current_database() as name')
  postgres = new pg.Client({ ...inject('postgres').superuser, database: rows[0]?.name })
  await postgres.connect()
})
afterAll(async () => {
  await postgres.end()
  await h.close()
})
beforeEach(async () => {
  org = await makeLicenseOrg(h, 'acme')
  await giveCredit(h, org.orgId, 1000n * PRICE)
  rich = await makeBuyer(h, org, 'deploy')
  poor = await makeBuyer(h, org, 'bob')
  // Who buys is decided at the first purchase; after that they go together.
  for (const buyer of [rich, poor]) await buy(buyer, 'first')
})

const body = { licenseId: 'sandbox-once', vault: { mode: 'new', name: 'Licences' } } as const
const buy = (buyer: Buyer | undefined, idempotencyKey: string, client = buyer?.client) => {
  if (!client) throw new Error('nobody buys')
  return client.licenses.purchase({ body }, { idempotencyKey })
}
const inside = <T>(work: (db: Db) => Promise<T>): Promise<T> => inOrg(h.deps, org.orgId, work)
/** Without what the founder has asked for to make all this. */
const BY_AGENTS = `idempotency where principal like 'agent:%'`
const countOf = async (db: Db, what: string): Promise<number> =>
  Number((await sql<{ n: string }>`select count(*) as n from ${sql.raw(what)}`.execute(db)).rows[0]?.n)

const limit = (buyer: Buyer | undefined, amount: bigint, kind: 'total' | 'daily' = 'total') =>
  org.founder.client.budgets.create({
    body: { subjectType: 'agent', subjectId: buyer?.agentId ?? '', windows: [{ kind, limit: money(amount) }] },
  })

/** Holds the credit of the organisation while `work` runs: whoever comes waits, and those behind it in line. */
const holdingCredit = <T>(work: () => Promise<T>): Promise<T> =>
  inside(async (db) => {
    await sql`select 1 from ledger_account where account = 'credit' for update`.execute(db)
    return work()
  })

/** Sends all of them while the first of them has to wait. */
async function inACrowd<T>(send: () => readonly Promise<T>[]): Promise<string[]> {
  const sent = await holdingCredit(async () => {
    // Wrapped, so that nobody waits for them here.
    const ends = { all: outcomes(send()) }
    await expect.poll(waiting).toBeGreaterThan(0)
    return ends
  })
  return sent.all
}
const waiting = async (): Promise<number | null> => (await postgres.query(`select 1 from ${WAITING}`)).rowCount
const WAITING = `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

async function expectBooksToAddUp(): Promise<void> {
  const wrong = await inside(async (db) => [
    ...(await ledgerDifferences(db, org.orgId)),
    ...(await budgetDifferences(db, org.orgId)),
  ])
  expect(wrong).toEqual([])
}

it('begins several in one transaction, and each leaves what it would alone', async () => {
  const keys = Array.from({ length: 24 }, (_, i) => `key-${i}`)
  const buyAll = () => keys.map((key, i) => buy(i % 2 ? rich : poor, key))
  const bought: Purchase[] = []
  const ends = await inACrowd(() => buyAll().map(async (one, i) => (bought[i] = await one)))
  expect(new Set(ends)).toEqual(new Set(['ok']))
  expect(new Set(bought.map(({ purchaseId }) => purchaseId)).size).toBe(24)
  // A repeated request is answered as it was.
  expect(await Promise.all(buyAll())).toEqual(bought)
  await inside(async (db) => {
    const transactions = await countOf(db, '(select distinct xmin::text from license_purchase) as x')
    expect(transactions).toBeLessThan(2 + 24)
    // Alone (the first of each buyer) and together, told apart by nothing but who, what and when.
    const holds = `ledger_transfer where phase = 'pending'`
    const kinds: Record<string, string> = {
      license_purchase: `slug, name, provider, sku, term, quantity, amount, fields, vault_mode, vault_name, vault_id, state, version,
        tenant_id, cardinality(subjects), next_at = created_at, updated_at = created_at, principal = 'agent:' || split_part(subjects[3], ' ', 2)`,
      license_transition: 'seq, from_state, to_state, cause',
      budget_reservation: 'amount, state',
      [holds]: `dr, cr, amount, phase, code, ref_type, ref_id = split_part(transfer_id, ':', 2)`,
      [BY_AGENTS]: `status, body ->> 'status', octet_length(request_hash)`,
    }
    for (const [table, columns] of Object.entries(kinds)) {
      const distinct = await countOf(db, `(select distinct ${columns} from ${table}) as x`)
      const all = await countOf(db, table)
      expect({ table, distinct, all }).toEqual({ table, distinct: 1, all: 26 })
    }
    const perPurchase = async (rows: string): Promise<number> =>
      countOf(db, `(select 1 from license_purchase p where (select count(*) from ${rows}) <> 1) as x`)
    for (const type of ['license.purchase.reserved', 'billing.hold.created'])
      expect(
        await perPurchase(
          `outbox_event e where e.type = '${type}' and e.body::jsonb -> 'data' -> 'object' ->> 'id' = p.purchase_id
            and e.tenant_id = p.tenant_id and e.occurred_at = p.created_at`,
        ),
      ).toBe(0)
    expect(
      await perPurchase(
        `audit_event a where a.action = 'license.purchase' and a.outcome = 'success' and a.actor_id = p.principal
          and a.targets -> 0 ->> 'id' = p.purchase_id and a.targets -> 1 ->> 'id' = p.instance_id`,
      ),
    ).toBe(0)
  })
  await expectBooksToAddUp()
})

it('begins the others where one is refused, and leaves nothing of that one', async () => {
  await limit(poor, PRICE - 1n)
  const ends = await inACrowd(() => Array.from({ length: 12 }, (_, i) => buy(i % 4 === 3 ? poor : rich, `crowd-${i}`)))
  expect(ends.map((end, i) => (i % 4 === 3 ? end : `bought: ${end}`))).toEqual(
    Array.from({ length: 12 }, (_, i) => (i % 4 === 3 ? 'budget_exceeded' : 'bought: ok')),
  )
  expect(await inside((db) => countOf(db, 'license_purchase'))).toBe(2 + 9)
  expect(await inside((db) => countOf(db, BY_AGENTS))).toBe(2 + 9)
  await expectBooksToAddUp()
})

it('takes two requests with one key for one purchase, and refuses the key for another request', async () => {
  const keys = ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'd']
  const bought = await Promise.all(keys.map((key) => buy(rich, `twin-${key}`)))
  expect(bought[3]).toEqual(bought[0])
  expect(new Set(bought.map(({ purchaseId }) => purchaseId)).size).toBe(4)
  const other = { body: { ...body, quantity: 2 } }
  const ends = await outcomes([
    ...['e', 'f', 'g'].map((key) => buy(rich, `twin-${key}`)),
    ...(rich ? [rich.client.licenses.purchase(other, { idempotencyKey: 'twin-a' })] : []),
  ])
  expect(ends).toEqual(['ok', 'ok', 'ok', 'idempotency_key_reused'])
  expect(await inside((db) => countOf(db, 'license_purchase'))).toBe(2 + 7)
})

it('takes locks in the order of everybody, whatever the order of buyers is', async () => {
  for (const buyer of [rich, poor]) await limit(buyer, 1000n * PRICE)
  const sibling = await h.sibling()
  try {
    const there = (buyer: Buyer | undefined) => createClient({ baseUrl: sibling.url, apiKey: buyer?.apiKey ?? '' })
    const all = Array.from({ length: 120 }, (_, i) => {
      const [one, other] = [i % 2 ? rich : poor, i % 2 ? poor : rich]
      return i % 3 ? buy(one, `cross-${i}`) : buy(other, `cross-${i}`, there(other))
    })
    expect(new Set(await outcomes(all))).toEqual(new Set(['ok']))
  } finally {
    await sibling.close()
  }
  expect(await deadlocksIn(inject('postgres').superuser, String(postgres.database))).toBe(0)
  await expectBooksToAddUp()
})

it('locks both windows where some ask before midnight and some after', async () => {
  const { budgetId } = await limit(poor, 1000n * PRICE, 'daily')
  const windows = () => inside((db) => countOf(db, `budget_window where budget_id = '${budgetId}'`))
  const lock = (since: string, until: string) =>
    inside((db) =>
      sql`select lock_windows(${org.orgId}, ${[`agent ${poor?.agentId}`]}, ${since}, ${until})`.execute(db),
    )
  await lock('2030-01-01T10:00:00Z', '2030-01-01T10:00:05Z')
  expect(await windows()).toBe(1)
  await lock('2030-01-03T23:59:58Z', '2030-01-04T00:00:03Z')
  expect(await windows()).toBe(3)
})

/** Ends what eight at once have to wait in, twice: the statement of one that went ahead, if one did, and that of those that go together. */
async function endTwice(how: 'pg_terminate_backend(pid, 5000)' | 'pg_cancel_backend(pid)'): Promise<string[]> {
  const headers = { 'x-api-key': rich?.apiKey ?? '', 'content-type': 'application/json' }
  const send = async (): Promise<string> => {
    const url = `${h.url}/api/v1/machine/licenses/purchase`
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return ((await answer.json()) as { error?: { code: string } }).error?.code ?? 'ok'
  }
  const { all } = await holdingCredit(async () => {
    let left = 8
    const sent = { all: Promise.all(Array.from({ length: 8 }, () => send().finally(() => --left))) }
    await expect.poll(waiting).toBe(1)
    // The others are in line when who comes after them has been answered.
    for (let i = 0; i < 3; i++) await rich?.client.identity.me()
    for (let i = 0; i < 2; i++) {
      await expect.poll(async () => left === 0 || (await waiting()) !== 0).toBe(true)
      await postgres.query(`select ${how} from ${WAITING}`)
    }
    return sent
  })
  return all
}

it('does not begin again what may be stored, where the connection ends', async () => {
  const ends = await endTwice('pg_terminate_backend(pid, 5000)')
  const refused = ends.filter((end) => end === 'not_ready')
  expect(refused.length).toBeGreaterThan(2)
  expect(ends.filter((end) => end !== 'not_ready').every((end) => end === 'ok')).toBe(true)
  expect(await inside((db) => countOf(db, 'license_purchase'))).toBe(2 + 8 - refused.length)
})

it('begins each alone where the database has taken all of them back', async () => {
  const ends = await endTwice('pg_cancel_backend(pid)')
  const begun = ends.filter((end) => end === 'ok')
  // At most two are at the credit by themselves, and are told to come again.
  expect(begun.length).toBeGreaterThanOrEqual(6)
  expect(ends.filter((end) => end !== 'ok').every((end) => end === 'overloaded')).toBe(true)
  expect(await inside((db) => countOf(db, 'license_purchase'))).toBe(2 + begun.length)
})
