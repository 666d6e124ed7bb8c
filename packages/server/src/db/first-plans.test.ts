import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'

// In a database nobody has used yet, statements that keep their plans look rows up by their keys. Catches: a plan that reads everything an
// organisation has, kept for as long as nobody has analysed the table. Seen red: without migration 0064.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

it.each([
  ['audit_event', 'event_id'],
  ['ledger_transfer', 'transfer_id'],
  ['outbox_event', 'event_id'],
])('finds a row of %s by its key', async (table, column) => {
  const client = await h.deps.database.pool.connect()
  try {
    await client.query('begin')
    await client.query("set local plan_cache_mode = 'force_generic_plan'")
    await client.query('set local enable_seqscan = off')
    await client.query(
      `prepare ${table}_by_key (text, text) as select 1 from ${table} where org_id = $1 and ${column} = $2`,
    )
    const { rows } = await client.query<Record<string, string>>(`explain execute ${table}_by_key ('a', 'b')`)
    const plan = rows.flatMap((row) => Object.values(row)).join('\n')
    expect(plan).toMatch(new RegExp(`using ${table}_pkey`))
  } finally {
    await client.query('rollback')
    client.release()
  }
})
