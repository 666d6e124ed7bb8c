import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { asSuperuser } from '../../test/principals.ts'
import { inOrg } from '../context.ts'
import { nextHash } from './chain.ts'
import { sealAudit } from './seal.ts'
import * as store from './store.ts'
import { type AuditVerdict, type ChainEnd, verifyAuditChain } from './verify.ts'

// Catches: a change, removal, reordering or insertion anywhere in 10,000 sealed events that the verifier does not name. Every
// case changes rows as the superuser, past row-level security and foreign keys, and puts them back. Seen red: leaving a column
// out of the canonical form; not comparing with the recorded end.

const EVENTS = 10_000

let h: Harness
let orgId: string
let end: ChainEnd
beforeAll(async () => {
  h = await startHarness()
  orgId = (await h.org('verified')).orgId
  const other = (await h.org('other')).orgId
  await asSuperuser(h, async (client) => {
    await client.query("set session_replication_role = 'origin'")
    for (const [org, count] of [
      [orgId, EVENTS],
      [other, 3],
    ] as const) {
      await client.query(
        `insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, targets, outcome, error_code, request_id, ip, user_agent, metadata)
         select $1, 'aud_' || n, 'item.update', now() - n * interval '1 second', 'agent', 'agent:agt_' || n % 7, '[{"type":"item","id":"itm_1"}]', 'refused', 'item_not_found', 'req_' || n, '10.0.0.1', 'curl/8.5.0', jsonb_build_object('name', 'n' || n)
         from generate_series(1, $2) n order by n`,
        [org, count],
      )
    }
  })
  await sealAudit(h.deps, h.worker)
  await asSuperuser(h, async (client) => {
    for (const table of Object.keys(KEYS)) await client.query(`create table copy_${table} as select * from ${table}`)
  })
  const verdict = await verify()
  if (!verdict.intact) throw new Error(`the chain is bad from the start: ${JSON.stringify(verdict)}`)
  end = verdict.end
}, 120_000)
afterAll(() => h.close())

const verify = (remembered?: ChainEnd): Promise<AuditVerdict> =>
  verifyAuditChain(h.deps, orgId, remembered ? { remembered } : {})

const KEYS = { audit_event: 'event_id', audit_seal: 'position', audit_head: 'org_id' } as const

/** What the verifier says after `change`, which is then undone from copies. */
async function verdictAfter(
  change: (client: pg.Client) => Promise<unknown>,
  remembered?: ChainEnd,
): Promise<AuditVerdict> {
  return asSuperuser(h, async (client) => {
    await change(client)
    try {
      return await verify(remembered)
    } finally {
      for (const [table, key] of Object.entries(KEYS)) {
        await client.query(
          `delete from ${table} t using (select * from ${table} except select * from copy_${table}) d where t.org_id = d.org_id and t.${key} = d.${key}`,
        )
        await client.query(
          `insert into ${table} ${table === 'audit_event' ? 'overriding system value' : ''} select * from copy_${table} except select * from ${table}`,
        )
      }
    }
  })
}

const positions = [1, 2, 777, 1000, 1001, 5432, EVENTS - 1, EVENTS]
const eventAt = (position: number): string =>
  `(select event_id from audit_seal where org_id = '${orgId}' and position = ${position})`

it('says where an untouched chain of 10,000 events ends', async () => {
  expect(end).toEqual({ position: EVENTS, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(await verify(end)).toMatchObject({ intact: true })
})

describe('names the event whose column was changed', () => {
  const changes: Readonly<Record<string, string>> = {
    action: "'item.read'",
    occurred_at: "occurred_at + interval '1 microsecond'",
    actor_type: "'user'",
    actor_id: "'agent:agt_other'",
    targets: `'[{"type":"item","id":"itm_2"}]'`,
    outcome: "'success'",
    error_code: 'null',
    request_id: "'req_other'",
    ip: "'10.0.0.2'",
    user_agent: "''",
    metadata: `'{"name":"other"}'`,
  }
  for (const [i, [column, value]] of Object.entries(changes).entries()) {
    const position = positions[i % positions.length] ?? 1
    it(`${column}, at position ${position}`, async () => {
      const verdict = await verdictAfter((client) =>
        client.query(
          `update audit_event set ${column} = ${value} where org_id = '${orgId}' and event_id = ${eventAt(position)}`,
        ),
      )
      expect(verdict).toMatchObject({ intact: false, problem: 'event_changed', position })
    })
  }
})

describe('names the position', () => {
  for (const position of [1, 1001, EVENTS]) {
    it(`${position} when its event was deleted`, async () => {
      const verdict = await verdictAfter((client) =>
        client.query(`delete from audit_event where org_id = '${orgId}' and event_id = ${eventAt(position)}`),
      )
      expect(verdict).toMatchObject({ intact: false, problem: 'event_missing', position })
    })
    it(`${position} when event and seal were deleted`, async () => {
      const verdict = await verdictAfter(async (client) => {
        await client.query(`delete from audit_event where org_id = '${orgId}' and event_id = ${eventAt(position)}`)
        await client.query(`delete from audit_seal where org_id = '${orgId}' and position = ${position}`)
      })
      expect(verdict).toMatchObject({
        intact: false,
        problem: position === EVENTS ? 'end_missing' : 'position_missing',
        position,
      })
    })
  }
  it('where two events changed places', async () => {
    const verdict = await verdictAfter(async (client) => {
      const { rows } = await client.query<{ event_id: string }>(
        `select event_id from audit_seal where org_id = '${orgId}' and position in (500, 501) order by position`,
      )
      for (const [position, id] of [
        [500, 'aud_none'],
        [501, rows[0]?.event_id],
        [500, rows[1]?.event_id],
      ])
        await client.query('update audit_seal set event_id = $1 where org_id = $2 and position = $3', [
          id,
          orgId,
          position,
        ])
    })
    expect(verdict).toMatchObject({ intact: false, problem: 'event_changed', position: 500 })
  })
  it('where whole rows changed places', async () => {
    const verdict = await verdictAfter(async (client) => {
      for (const [from, to] of [
        [700, 0],
        [701, 700],
        [0, 701],
      ] as const)
        await client.query(`update audit_seal set position = ${to} where org_id = '${orgId}' and position = ${from}`)
    })
    expect(verdict).toMatchObject({ intact: false, problem: 'link_broken', position: 700 })
  })
  it('where an event was inserted', async () => {
    const verdict = await verdictAfter(async (client) => {
      await client.query(
        `update audit_seal set position = position + 100000 where org_id = '${orgId}' and position >= 42`,
      )
      await client.query(
        `update audit_seal set position = position - 99999 where org_id = '${orgId}' and position >= 42`,
      )
      await client.query(
        `insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, outcome, request_id) values ('${orgId}', 'aud_new', 'item.read', now(), 'user', 'user:x', 'success', 'req_x')`,
      )
      await client.query(
        `insert into audit_seal select org_id, 42, 'aud_new', hash, sha256(hash), now() from audit_seal where org_id = '${orgId}' and position = 41`,
      )
    })
    expect(verdict).toMatchObject({ intact: false, problem: 'event_changed', position: 42, eventId: 'aud_new' })
  })
})

it('names an event that was slipped in beside the chain', async () => {
  const verdict = await verdictAfter((client) =>
    client.query(
      `insert into audit_event (org_id, event_id, action, occurred_at, actor_type, actor_id, outcome, request_id) values ('${orgId}', 'aud_beside', 'item.read', now() - interval '1 hour', 'user', 'user:x', 'success', 'req_x')`,
    ),
  )
  expect(verdict).toEqual({ intact: false, problem: 'event_unsealed', position: null, eventId: 'aud_beside' })
})

it('sees a chain that was recomputed behind a change only with a remembered end, and then names it', async () => {
  const from = EVENTS - 20
  const recompute = async (client: pg.Client): Promise<void> => {
    await client.query(
      `update audit_event set actor_id = 'agent:innocent' where org_id = '${orgId}' and event_id = ${eventAt(from)}`,
    )
    const rows = await inOrg(h.deps, orgId, (db) => store.sealedRows(db, orgId, from - 2, 100))
    let previous = rows[0]?.hash ?? Buffer.alloc(0)
    for (const { position, event } of rows.slice(1)) {
      if (!event) throw new Error('an event is missing')
      const hash = nextHash(previous, orgId, event)
      await client.query(
        `update audit_seal set prev_hash = $1, hash = $2 where org_id = '${orgId}' and position = $3`,
        [previous, hash, position],
      )
      previous = hash
    }
    await client.query(`update audit_head set hash = $1 where org_id = '${orgId}'`, [previous])
  }
  expect(await verdictAfter(recompute)).toMatchObject({ intact: true })
  expect(await verdictAfter(recompute, end)).toMatchObject({
    intact: false,
    problem: 'history_rewritten',
    position: EVENTS,
  })
  expect(
    await verdictAfter(
      (client) => client.query(`delete from audit_seal where org_id = '${orgId}' and position > ${from}`),
      end,
    ),
  ).toMatchObject({ intact: false, problem: 'history_rewritten', position: from + 1 })
})

it('is intact again after every change was undone', async () => {
  expect(await verify(end)).toEqual({ intact: true, end })
})
