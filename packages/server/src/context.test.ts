import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../test/harness.ts'
import { inOrg } from './context.ts'

// Catches: what the database says when it is busy taken for a bug (a code missing in RETRYABLE): callers would get a 500 where
// the same request succeeds a moment later.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

it('tells the caller to come again when a statement or a lock takes too long', async () => {
  const { orgId } = await h.org('busy')
  const slow = inOrg(h.deps, orgId, async (db) => {
    await sql`set local statement_timeout = '20ms'`.execute(db)
    await sql`select pg_sleep(5)`.execute(db)
  })
  await expect(slow).rejects.toMatchObject({ code: 'overloaded', status: 503, headers: { 'retry-after': '1' } })
  const waiting = inOrg(h.deps, orgId, async (db) => {
    await sql`select from org where org_id = ${orgId} for update`.execute(db)
    await inOrg(h.deps, orgId, async (other) => {
      await sql`set local lock_timeout = '20ms'`.execute(other)
      await sql`select from org where org_id = ${orgId} for update`.execute(other)
    })
  })
  await expect(waiting).rejects.toMatchObject({ code: 'overloaded', status: 503 })
})
