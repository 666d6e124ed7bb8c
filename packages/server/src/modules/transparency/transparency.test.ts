import {
  auditLeaf,
  claimedKind,
  createVault,
  decodeProof,
  documentHash,
  documentsOf,
  type Envelope,
  kidName,
  leafHash,
  makeLedger,
  parseLeaf,
  verifyCheckpoint,
  verifyInclusion,
  verifyTransparency,
} from '@strongroom/protocol'
import type { Client } from '@strongroom/sdk'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identityOf } from '../../../test/actors.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { FRESH, type LogOrg, makeLogOrg, T0 } from '../../../test/log-org.ts'
import { seedOperator, seedUser } from '../../../test/principals.ts'
import { inOrg } from '../../context.ts'

// Catches: a leaf or document shown to another organisation, a tile that is not of its level, a partial tile served as a full
// one, an answer without bounds, a proof for another size than its checkpoint, a document about a vault shown to somebody
// who is not on its access list, a wrapped key read without a trace.

const READ = 'machine.transparency.read'
const KEYS = 300

let h: Harness
let org: LogOrg
let client: Client
let stranger: Client
let wrapHash = ''
let headHash = ''
beforeAll(async () => {
  h = await startHarness()
  org = await makeLogOrg(h, 'acme')
  const other = await makeLogOrg(h, 'globex')
  client = (await h.agent(org, [READ])).client
  stranger = (await h.agent(other, [READ])).client
  for (let i = 1; i < KEYS; i++) await org.append([await org.keyAdd(await identityOf('deploy', `agent:ag_t${i}xx`))])
  const meta = { name: 'Payments', classification: 'confidential', status: 'active' } as const
  const acl = [{ p: org.founder.key.principal, role: 'admin' }] as const
  const made = await createVault({ org: org.orgId, at: T0, meta, acl, recipients: [org.founder.key] }, org.founder)
  await org.append([made.commit.head, ...made.commit.docs])
  headHash = documentHash(made.commit.head)
  wrapHash = documentHash(made.commit.docs.find((doc) => claimedKind(doc) === 'wrapped-dek'))
})
afterAll(() => h.close())

const SIZE = KEYS + 1
const trust = () => ({ origin: org.pin.origin, logKeys: org.pin.logKeys })
const bytes = (text: string): Buffer => Buffer.from(text, 'base64')
const nodeOf = async (left: Uint8Array, right: Uint8Array): Promise<Buffer> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.concat([Buffer.of(1), left, right])))

const refusedAll = (calls: readonly Promise<unknown>[], refusal: object): Promise<unknown> =>
  Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(refusal)))

/** The root of a complete subtree, hashed from its leaves as RFC 6962 says. */
async function rootOf(hashes: readonly Buffer[]): Promise<Buffer> {
  if (hashes.length === 1) return hashes[0] as Buffer
  const half = hashes.length / 2
  return nodeOf(await rootOf(hashes.slice(0, half)), await rootOf(hashes.slice(half)))
}

describe('checkpoint', () => {
  it('is the newest one, signed by the log', async () => {
    const { checkpoint, size } = await client.transparency.checkpoint()
    expect(size).toBe(SIZE)
    expect((await verifyCheckpoint(checkpoint, trust())).size).toBe(SIZE)
  })

  it('does not exist before anything was logged', async () => {
    const silent = await h.agent(await h.org('silent'), [READ])
    await expect(silent.client.transparency.checkpoint()).rejects.toMatchObject({ code: 'leaf_not_found', status: 404 })
  })
})

describe('tiles', () => {
  const tile = (level: number, index: number, width?: number) =>
    client.transparency.tile({ params: { level, index }, query: width === undefined ? {} : { width } })

  it('hold leaf hashes at level 0 and the roots over whole tiles at level 1', async () => {
    const full = (await tile(0, 0)).hashes.map(bytes)
    expect(full).toHaveLength(256)
    const { entries } = await client.transparency.entriesTile({ params: { index: 0 } })
    expect(entries.map((leaf) => Buffer.from(leafHash(bytes(leaf))))).toEqual(full)
    const { hashes } = await tile(1, 0, 1)
    expect(hashes.map(bytes)).toEqual([await rootOf(full)])
  })

  it('are served in any width the log has, and never wider', async () => {
    const rest = SIZE - 256
    expect((await tile(0, 1, rest)).hashes).toHaveLength(rest)
    expect((await tile(0, 0, 255)).hashes).toHaveLength(255)
    expect(
      (await client.transparency.entriesTile({ params: { index: 1 }, query: { width: rest } })).entries,
    ).toHaveLength(rest)
    const missing = [
      tile(0, 1),
      tile(0, 1, rest + 1),
      tile(0, 2, 1),
      tile(1, 0),
      tile(1, 0, 2),
      tile(1, 1, 1),
      tile(6, 0, 1),
      tile(0, 2 ** 45),
    ]
    await refusedAll(missing, { code: 'leaf_not_found', status: 404 })
    await expect(client.transparency.entriesTile({ params: { index: 1 } })).rejects.toMatchObject({ status: 404 })
  })

  it('have a width from 1 to 255 and a level from 0 to 6', async () => {
    await refusedAll([tile(0, 0, 0), tile(0, 0, 256), tile(7, 0), tile(-1, 0), tile(0, -1), tile(0.5, 0)], {
      code: 'validation_failed',
      status: 400,
    })
  })
})

const document = async (reader: Client, hash: string): Promise<Envelope> =>
  (await reader.transparency.document({ params: { hash } })).document

describe('entries', () => {
  it('let an auditor replay the whole log and reach the root that the last leaf names', async () => {
    const auditor = (await seedOperator(h, org)).client
    const ledger = makeLedger(org.orgId)
    let last = ''
    for (let next: number | null = 0; next !== null; ) {
      const page = await auditor.transparency.entries({ query: { start: next, end: next + 64 } })
      for (const { index, leaf, documents, updates } of page.entries) {
        expect(index).toBe(ledger.size())
        const named = documentsOf(parseLeaf(bytes(leaf)), documents === undefined ? undefined : bytes(documents))
        const docs = await Promise.all(named.map((hash) => document(auditor, hash)))
        await auditLeaf(ledger, { leaf: bytes(leaf), docs, ...(updates !== undefined && { updates: bytes(updates) }) })
        last = leaf
      }
      expect(page.size).toBe(SIZE)
      next = ledger.size() < SIZE ? ledger.size() : null
    }
    expect(parseLeaf(bytes(last)).r).toBe(Buffer.from(ledger.map.root()).toString('base64url'))
  })

  it('end where they were asked to end, or where the log ends, and say where to go on', async () => {
    const entries = (start: number, end: number) => client.transparency.entries({ query: { start, end } })
    expect(await entries(5, 7)).toMatchObject({ entries: [{ index: 5 }, { index: 6 }], size: SIZE, next: null })
    expect((await entries(SIZE - 1, SIZE + 1000)).next).toBeNull()
    await expect(entries(SIZE, SIZE + 1)).rejects.toMatchObject({ code: 'leaf_not_found', status: 404 })
    await refusedAll([entries(5, 5), entries(6, 5), entries(-1, 5)], { status: 400 })
  })

  it('are cut at 4 MiB, never before the first', async () => {
    const { orgId, ...rest } = await makeLogOrg(h, 'heavy')
    const heavy = await h.agent({ orgId, ...rest }, [READ])
    // Leaves as large as the largest, put beside the rules: only their size matters here.
    await inOrg(h.deps, orgId, async (db) => {
      await sql`insert into log_leaf (org_id, leaf_index, size, leaf, updates)
        select ${orgId}, i, i + 1, '{}', convert_to(repeat('x', case i when 1 then 5000000 else 1000000 end), 'UTF8') from generate_series(1, 9) as i`.execute(
        db,
      )
      await sql`insert into log_checkpoint (org_id, size, leaf_index, note, created_at)
        select ${orgId}, i + 1, i, '', now() from generate_series(1, 9) as i`.execute(db)
      await sql`update log_state set size = 10 where org_id = ${orgId}`.execute(db)
    })
    const from = async (start: number) => {
      const { entries, next } = await heavy.client.transparency.entries({ query: { start, end: 10 } })
      return [entries.map(({ index }) => index), next]
    }
    expect(await from(1)).toEqual([[1], 2])
    expect(await from(2)).toEqual([[2, 3, 4, 5], 6])
    expect(await from(6)).toEqual([[6, 7, 8, 9], null])
  })
})

describe('proof', () => {
  it('leads from any leaf to the checkpoint of any size it is in', async () => {
    for (const [index, size] of [
      [0, 1],
      [0, SIZE],
      [255, 256],
      [255, 257],
      [SIZE - 1, SIZE],
      [7, undefined],
    ] as const) {
      const answer = await client.transparency.proof({ params: { index }, query: size === undefined ? {} : { size } })
      expect(answer).toMatchObject({ index, size: size ?? SIZE })
      const { root } = await verifyCheckpoint(answer.checkpoint, trust())
      verifyInclusion({
        leafHash: bytes(answer.leafHash),
        index,
        size: answer.size,
        proof: decodeProof(answer.hashes),
        root,
      })
    }
  })

  it('does not exist for a leaf outside of the size, or a size the log never had', async () => {
    for (const [index, size] of [
      [SIZE, undefined],
      [5, 5],
      [0, SIZE + 1],
    ] as const) {
      const one = client.transparency.proof({ params: { index }, query: size === undefined ? {} : { size } })
      await expect(one).rejects.toMatchObject({ code: 'leaf_not_found', status: 404 })
    }
  })
})

describe('state', () => {
  it('is proven where it is and where it is not, and that the log only grew', async () => {
    const name = kidName(org.founder.kid)
    const present = await client.transparency.state({ query: { name } })
    expect((await verifyTransparency(present, org.pin, FRESH)).states.get(name)).toMatchObject({ status: 'active' })
    const { checkpoint } = await client.transparency.proof({ params: { index: 0 }, query: { size: 100 } })
    const absent = await client.transparency.state({ query: { name: 'vault/none', have: 100 } })
    const pin = { ...org.pin, seen: await verifyCheckpoint(checkpoint, trust()) }
    expect((await verifyTransparency(absent, pin, FRESH)).states.get('vault/none')).toBeNull()
  })

  it('has a name as the log writes them', async () => {
    for (const name of ['', 'kid/', 'KID/x', 'a/b/c/d/e', 'kid/a b'])
      await expect(client.transparency.state({ query: { name } })).rejects.toMatchObject({ status: 400 })
  })
})

describe('documents', () => {
  it('are had by the hash of their payload', async () => {
    const hash = documentHash(org.genesis)
    const found = await document(client, hash)
    expect(found).toEqual(org.genesis)
    expect(documentHash(found)).toBe(hash)
  })

  it('about a vault do not exist for who is not on its access list, whatever their permissions', async () => {
    const agent = (await h.agent(org, ['machine.all'])).client
    for (const hash of [wrapHash, headHash])
      await expect(document(agent, hash)).rejects.toMatchObject({ code: 'document_not_found', status: 404 })
    const member = await seedUser(h, org, { tenantRoles: ['TENANT_ADMIN'] })
    await expect(document(member.client, headHash)).rejects.toMatchObject({ code: 'document_not_found' })
  })

  it('are all there for who audits the log: owners, admins, and keys of the operator', async () => {
    const admin = await seedUser(h, org, { orgRoles: ['ORG_ADMIN'] })
    const operator = await seedOperator(h, org)
    for (const auditor of [admin.client, operator.client])
      for (const hash of [wrapHash, headHash]) expect(documentHash(await document(auditor, hash))).toBe(hash)
    const traces = await inOrg(h.deps, org.orgId, (db) =>
      db.selectFrom('audit_event').select('actor_type').where('action', '=', 'transparency.wrapped-key.read').execute(),
    )
    expect(new Set(traces.map(({ actor_type }) => actor_type))).toEqual(new Set(['operator', 'user']))
  })
})

it('shows another organisation its own log only: foreign and absent documents are refused alike', async () => {
  const { checkpoint, size } = await stranger.transparency.checkpoint()
  expect(size).toBe(1)
  await expect(verifyCheckpoint(checkpoint, trust())).rejects.toMatchObject({ code: 'log_key' })
  expect((await stranger.transparency.entries({ query: { start: 0, end: 100 } })).entries).toHaveLength(1)
  const name = kidName((await identityOf('deploy', 'agent:ag_t1xx')).kid)
  expect((await stranger.transparency.state({ query: { name } })).map[0]?.state).toBeNull()
  const refusals = await Promise.all(
    [documentHash(org.genesis), 'A'.repeat(43)].map((hash) =>
      document(stranger, hash).then(
        () => undefined,
        ({ code, status, message, hint, details }) => ({ code, status, message, hint, details }),
      ),
    ),
  )
  expect(refusals[0]).toMatchObject({ code: 'document_not_found', status: 404 })
  expect(refusals[0]).toEqual(refusals[1])
})

it('answers nothing without the permission', async () => {
  const { transparency } = (await h.agent(org, ['machine.vault.all'])).client
  const calls = [
    transparency.checkpoint(),
    transparency.tile({ params: { level: 0, index: 0 } }),
    transparency.entriesTile({ params: { index: 0 } }),
    transparency.entries({ query: { start: 0, end: 1 } }),
    transparency.document({ params: { hash: wrapHash } }),
    transparency.proof({ params: { index: 0 } }),
    transparency.state({ query: { name: 'policy' } }),
  ]
  await refusedAll(calls, { code: 'machine_permission_denied', details: { permission: READ } })
})
