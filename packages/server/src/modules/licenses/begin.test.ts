import { money } from '@strongroom/contract'
import { rotateKey } from '@strongroom/protocol'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../../test/actors.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { codeOf, outcomes } from '../../../test/people.ts'
import {
  type Buyer,
  buy,
  giveCredit,
  type LicenseOrg,
  makeBuyer,
  makeLicenseOrg,
} from '../../../test/provider/license-buyer.ts'
import { inOrg } from '../../context.ts'
import { creditOf } from '../../ledger/ledger.ts'
import { bodyOf } from '../../outbox/outbox.ts'

// A purchase that is begun in one statement. Catches: a decision over documents that are not the newest any more, a refusal that comes before
// an answer that is stored, something left of a refusal, thresholds told in another shape or more than once. Seen red: documents not
// compared; the stored answer not looked for; the refusal of the ledger not raised; a budget without room taken for told.

let h: Harness
let org: LicenseOrg
let buyer: Buyer
beforeAll(async () => {
  h = await startHarness()
  org = await makeLicenseOrg(h, 'acme')
  buyer = await makeBuyer(h, org)
  await giveCredit(h, org.orgId, 1_000_000_000n)
})
afterAll(() => h.close())

const rowsOf = async (type: string): Promise<{ id: string; body: string; at: Date; tenantId: string | null }[]> =>
  (
    await inOrg(h.deps, org.orgId, (db) =>
      sql<{ id: string; body: string; at: Date; tenantId: string | null }>`
        select event_id as id, body, occurred_at as at, tenant_id as "tenantId" from outbox_event where type = ${type} order by seq`.execute(
        db,
      ),
    )
  ).rows
const body = { licenseId: 'sandbox-once', vault: { mode: 'new', name: 'Licences' } } as const
const withKey = (who: Buyer, idempotencyKey: string, quantity = 1) =>
  who.client.licenses.purchase({ body: { ...body, quantity } }, { idempotencyKey })

it('answers the same to the same key, whatever has become of the buyer since, and refuses the key for another request', async () => {
  const keyed = await makeBuyer(h, org, 'bob')
  const [first, twin] = await Promise.all([withKey(keyed, 'one'), withKey(keyed, 'one')])
  expect(twin).toEqual(first)
  expect(await codeOf(withKey(keyed, 'one', 2))).toBe('idempotency_key_reused')
  await inOrg(h.deps, org.orgId, (db) =>
    sql`update tenant set status = 'archived' where tenant_id = ${org.tenantId}`.execute(db),
  )
  expect(await codeOf(withKey(keyed, 'two'))).toBe('billing_not_ready')
  expect(await withKey(keyed, 'one')).toEqual(first)
  await inOrg(h.deps, org.orgId, (db) =>
    sql`update tenant set status = 'active' where tenant_id = ${org.tenantId}`.execute(db),
  )
  // What was refused is not stored.
  expect((await withKey(keyed, 'two')).status).toBe('reserved')
})

it('seals to the key that the buyer has now, also when an older one is remembered', async () => {
  const before = await buy(buyer, 'sandbox-once')
  const next = await identityOf('carol', `agent:${buyer.agentId}`)
  const { event } = await rotateKey({ org: org.orgId, at: Date.now(), held: [] }, buyer.identity, next)
  await buyer.client.keys.register({ body: { event } })
  const after = await buy(buyer, 'sandbox-once')
  expect([before.recipientKeyId, after.recipientKeyId]).toEqual([buyer.identity.kid, next.kid])
})

it('leaves nothing of a purchase that is refused', async () => {
  const counts = () =>
    inOrg(h.deps, org.orgId, async (db) => {
      const count = async (table: string): Promise<number> => {
        const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(db)
        return rows[0]?.n ?? 0
      }
      const tables = ['license_purchase', 'license_transition', 'budget_reservation', 'ledger_transfer', 'idempotency']
      return Promise.all([...tables, 'outbox_sequence', 'outbox_event'].map(count))
    })
  const before = await counts()
  const price = { body: { ...body, quantity: 1000 } }
  expect(await codeOf(buyer.client.licenses.purchase(price))).toBe('insufficient_credit')
  const small = { ...body, maxPrice: money(1n) }
  expect(await codeOf(buyer.client.licenses.purchase({ body: small }))).toBe('quote_expired')
  const elsewhere = { ...body, vault: { mode: 'existing', vaultId: `v${'a'.repeat(32)}` } } as const
  expect(await codeOf(buyer.client.licenses.purchase({ body: elsewhere }))).toBe('vault_not_found')
  expect(await counts()).toEqual(before)
  expect((await inOrg(h.deps, org.orgId, (db) => creditOf(db, org.orgId))).available).toBeGreaterThan(0n)
})

it('tells of every threshold once, in the shape of every other event', async () => {
  const thrifty = await makeBuyer(h, org, 'hybrid')
  const windows = [{ kind: 'total', limit: money(10_000_000n) } as const]
  const { budgetId } = await org.founder.client.budgets.create({
    body: { subjectType: 'agent', subjectId: thrifty.agentId, windows, thresholds: [20, 50, 100] },
  })
  const ends = await outcomes(Array.from({ length: 8 }, () => buy(thrifty, 'sandbox-once')))
  expect(ends.filter((end) => end === 'ok')).toHaveLength(5)
  const told = await rowsOf('budget.threshold_reached')
  const bodies = told.map((row) => JSON.parse(row.body) as { data: { object: { threshold: number } } })
  expect(bodies.map(({ data }) => data.object.threshold)).toEqual([20, 50, 100])
  told.forEach(({ id, at, tenantId }, i) => {
    const threshold = [20, 50, 100][i] ?? 0
    const object = { type: 'budget', id: budgetId, ruleNo: 0, startsAt: expect.any(String), threshold }
    const expected = { id, type: 'budget.threshold_reached', at, sequence: i + 2, object, tenantId } as const
    expect(bodies[i]).toEqual({ ...JSON.parse(bodyOf(org.orgId, expected)), data: { object } })
  })
  expect(await rowsOf('budget.exceeded')).toHaveLength(1)
})
