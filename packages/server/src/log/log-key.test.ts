import { parseVkey } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../test/actors.ts'
import { type Harness, startHarness } from '../../test/harness.ts'
import { makeGenesis, makeLogOrg, secondDatabase } from '../../test/log-org.ts'
import { inOrg } from '../context.ts'
import { openRootKey } from '../secrets/root-key.ts'
import { appendAct } from './append.ts'
import { LOG_KEY, logVkey, newLogOrigin, openLog, openLogKey } from './log-key.ts'
import { logAnchor } from './transparency.ts'

// Catches: two processes with a key each, a key that is not sealed, a checkpoint signed with another key than clients pinned.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const sealedKeys = () =>
  h.deps.database.kysely.selectFrom('server_secret').select('sealed').where('name', '=', LOG_KEY).execute()

it('has one key, whichever of many processes makes the first log', async () => {
  const second = secondDatabase(h.deps)
  const orgs = await Promise.all(Array.from({ length: 8 }, (_, i) => h.org(`first ${i}`)))
  const keys = await Promise.all(
    orgs.map(({ orgId }, i) =>
      inOrg({ database: i % 2 === 0 ? h.deps.database : second }, orgId, async (db) => {
        await openLog(h.deps, db, orgId)
        return parseVkey(await logVkey(h.deps, db, 'log.test/a')).vkey
      }),
    ),
  ).finally(() => second.close())
  expect(new Set(keys).size).toBe(1)
  expect(await sealedKeys()).toHaveLength(1)
})

it('keeps the key sealed: it opens with the root key and with no other', async () => {
  await makeLogOrg(h, 'sealed')
  const [row] = await sealedKeys()
  const sealed = row?.sealed ?? Buffer.alloc(0)
  expect(openLogKey(h.deps, sealed).publicKey).toHaveLength(32)
  const other = { rootKey: openRootKey(new Uint8Array(32).fill(8)) }
  expect(() => openLogKey(other, sealed)).toThrow('does not open')
  const pkcs8 = h.deps.rootKey.open(LOG_KEY, sealed)
  expect(pkcs8 && sealed.includes(pkcs8.subarray(-32))).toBe(false)
})

it('signs nothing with a key that the log did not begin with', async () => {
  const org = await makeLogOrg(h, 'other key')
  const docs = [await org.keyAdd(await identityOf('deploy', 'agent:ag_deploy'))]
  const attempt = inOrg(h.deps, org.orgId, async (db) => {
    await db
      .updateTable('log_state')
      .set({ vkey: org.pin.logKeys[0]?.replace(/\+.*/, '+00000000+x') ?? '' })
      .where('org_id', '=', org.orgId)
      .execute()
    return appendAct(h.deps, db, org.orgId, { docs })
  })
  await expect(attempt).rejects.toThrow('not the one it began with')
})

it('names every log by the host and 128 random bits, and pins genesis, origin, key and size', async () => {
  expect(newLogOrigin({ host: '127.0.0.1', hosts: [] })).toMatch(/^127\.0\.0\.1\/[0-9a-f]{32}$/)
  expect(newLogOrigin({ host: '0.0.0.0', hosts: ['vault.example'] })).toMatch(/^vault\.example\/[0-9a-f]{32}$/)
  const { orgId } = await h.org('anchored')
  const anchor = () => inOrg(h.deps, orgId, (db) => logAnchor(db, orgId))
  expect(await anchor()).toBeUndefined()
  await inOrg(h.deps, orgId, (db) => openLog(h.deps, db, orgId))
  expect(await anchor()).toBeUndefined()
  const docs = [await makeGenesis(orgId, [await identityOf('alice', 'user:ou_alice')])]
  const { transition } = await inOrg(h.deps, orgId, (db) => appendAct(h.deps, db, orgId, { docs }))
  const vkey = await inOrg(h.deps, orgId, (db) => logVkey(h.deps, db, `test/${orgId}`))
  expect(await anchor()).toEqual({
    genesis: transition.d[0],
    origin: `test/${orgId}`,
    vkey,
    minimum: { size: 1, root: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) },
  })
})
