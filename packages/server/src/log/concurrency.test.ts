import {
  documentHash,
  kidName,
  POLICY_NAME,
  peekCheckpoint,
  verifyCheckpoint,
  verifyTransparency,
} from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { identityOf } from '../../test/actors.ts'
import { type Harness, startHarness } from '../../test/harness.ts'
import { audit } from '../../test/log-audit.ts'
import { FRESH, makeLogOrg, secondDatabase } from '../../test/log-org.ts'
import { inOrg } from '../context.ts'
import { transparencyOf } from './transparency.ts'

// Catches: an append that does not hold the row of its log (one index twice, two roots of one size), a reader that sees the
// checkpoint of one moment and the map of another.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

const WRITERS = 64

/** A writer that waited too long for its turn is told to come again, and does. */
const insist = <T>(write: () => Promise<T>): Promise<T> =>
  write().catch((error: { code?: string }) => {
    if (error.code === 'overloaded') return insist(write)
    throw error
  })

it('gives 64 writers of two processes with ten connections each one index apiece, without gap and with one root per size', async () => {
  const org = await makeLogOrg(h, 'writers')
  const second = secondDatabase(h.deps)
  const acts = await Promise.all(
    Array.from(
      { length: WRITERS },
      async (_, i) => [await org.keyAdd(await identityOf('deploy', `agent:ag_w${i}xx`))] as const,
    ),
  )
  const appended = await Promise.all(
    acts.map((docs, i) => insist(() => org.append(docs, i % 2 === 0 ? h.deps.database : second))),
  ).finally(() => second.close())
  expect(appended.map(({ index }) => index).sort((a, b) => a - b)).toEqual(
    Array.from({ length: WRITERS }, (_, i) => i + 1),
  )

  const { leaves } = await audit(h.deps, org)
  expect(leaves).toHaveLength(WRITERS + 1)
  const stored = await inOrg(h.deps, org.orgId, async (db) => ({
    checkpoints: await db.selectFrom('log_checkpoint').select(['size', 'note']).orderBy('size').execute(),
    documents: await db.selectFrom('log_document').select('doc_hash').execute(),
  }))
  const notes = new Map(stored.checkpoints.map(({ size, note }) => [size, note]))
  for (const { size, checkpoint } of appended) expect(notes.get(size)).toBe(checkpoint)
  for (const { size, note } of stored.checkpoints)
    expect((await verifyCheckpoint(note, { origin: org.pin.origin, logKeys: org.pin.logKeys })).size).toBe(size)
  expect(
    new Set(stored.checkpoints.map(({ note }) => Buffer.from(peekCheckpoint(note).root).toString('hex'))).size,
  ).toBe(WRITERS + 1)
  const hashes = new Set(stored.documents.map(({ doc_hash }) => doc_hash))
  expect(acts.every(([doc]) => hashes.has(documentHash(doc)))).toBe(true)
})

it('of two acts that exclude each other logs one and refuses the other', async () => {
  const org = await makeLogOrg(h, 'rivals')
  const who = await identityOf('deploy', 'agent:ag_rival')
  const docs = [await org.keyAdd(who)]
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => org.append(docs)))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(19)
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'log_conflict' })
  expect((await audit(h.deps, org)).leaves).toHaveLength(2)
})

it('proves to readers one moment of the log while others write', async () => {
  const org = await makeLogOrg(h, 'readers')
  const people = await Promise.all(Array.from({ length: 24 }, (_, i) => identityOf('deploy', `agent:ag_s${i}xx`)))
  const acts = await Promise.all(people.map(async (who) => [await org.keyAdd(who)]))
  let writing = true
  const read = async (): Promise<number> => {
    let reads = 0
    let seen: { size: number; root: Uint8Array } | null = null
    while (writing) {
      const asked = [POLICY_NAME, ...people.map(({ kid }) => kidName(kid))]
      const answer = await inOrg(h.deps, org.orgId, (db) => transparencyOf(db, org.orgId, asked, seen?.size))
      const view = await verifyTransparency(answer, { ...org.pin, seen }, FRESH)
      const present = [...view.states.values()].filter((state) => state !== null)
      expect(present).toHaveLength(view.checkpoint.size)
      seen = { size: view.checkpoint.size, root: view.checkpoint.root }
      reads++
    }
    return reads
  }
  const readers = [read(), read(), read()]
  for (const docs of acts) await org.append(docs)
  writing = false
  for (const reads of await Promise.all(readers)) expect(reads).toBeGreaterThan(2)
})
