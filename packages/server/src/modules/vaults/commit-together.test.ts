import { createHash } from 'node:crypto'
import type { CommitReceipt } from '@strongroom/contract'
import { type Commit, verifyVaultAnswer } from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { audit } from '../../../test/log-audit.ts'
import { foundOrg } from '../../../test/people.ts'
import { edit, itemsCommit, makeVault, trustOf, type Writer } from '../../../test/vault-writer.ts'
import { type Ctx, inOrg } from '../../context.ts'
import type { ApiError } from '../../errors.ts'
import type { Ready } from '../../http/one-trip.ts'
import { commit as commitRoute } from './service.ts'

// Commits that go in one transaction. Catches: a receipt that proves another moment than that of its own leaf, a refusal that takes others
// along or leaves its key claimed, two commits of one vault or of one key taken for independent, an answer without its audit row. Seen
// red: nodes of leaves that are not stored yet left out of a proof; the map not told what the leaf before has changed; keys of refused
// commits left claimed; a second commit of the same key let into the group; the log of the first handed to all.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
const vaultIds: string[] = []
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  for (let i = 0; i < 5; i++)
    vaultIds.push(await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] }))
})
afterAll(() => h.close())

let made = 0
const commitOf = async (vaultId: string, itemId?: string): Promise<Commit> => {
  made += 1
  return (await itemsCommit(bot, vaultId, [edit(itemId ?? `itm_group${made}`, { [`LABEL_${made}`]: 'x' })])).commit
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

interface Sent {
  readonly vaultId: string
  readonly commit: Commit
  readonly key?: string
  readonly have?: number
}

/** As the mount calls it: whatever is called in one turn of the event loop waits together. */
async function send({ vaultId, commit, key, have }: Sent): Promise<CommitReceipt> {
  const ctx = {
    ...h.deps,
    principal: { type: 'agent', id: bot.identity.key.principal, orgId: bot.orgId },
    request: { requestId: `req_${made}`, ip: '', userAgent: '', routeName: 'vaults.commit', have },
    idempotent: key && { keyHash: sha256(key), requestHash: sha256(commit.head.payload), status: 201, onceOnly: [] },
    connection: () => ({ isOpen: () => true }),
  }
  const bytes = (await commitRoute(ctx as unknown as Ctx, { params: { vaultId }, body: { commit } } as never)) as Ready
  return JSON.parse(bytes.toString()) as CommitReceipt
}

const outcome = (sent: Sent): Promise<number | string> =>
  send(sent).then(
    ({ index }) => index,
    ({ code }: ApiError) => code,
  )

const transactionsFrom = (index: number): Promise<string[]> =>
  inOrg(h.deps, bot.orgId, async (db) => {
    const { rows } = await sql<{ tx: string }>`
      select xmin::text as tx from log_leaf where leaf_index >= ${index} order by leaf_index`.execute(db)
    return rows.map(({ tx }) => tx)
  })

const countAudited = (): Promise<number> =>
  inOrg(h.deps, bot.orgId, async (db) => {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from audit_event where action = 'vault.commit' and outcome = 'success'`.execute(db)
    return rows[0]?.n ?? 0
  })

const sizeNow = async (): Promise<number> => (await bot.client.transparency.checkpoint()).size

it('gives each of several commits its own leaf, audit row and receipt, proven from every size, in one transaction', async () => {
  const size = await sizeNow()
  const audited = await countAudited()
  const commits = await Promise.all(vaultIds.map((vaultId) => commitOf(vaultId)))
  const haves = [undefined, 1, size - 1, size, size]
  const receipts = await Promise.all(
    vaultIds.map((vaultId, i) => {
      const have = haves[i]
      return send({ vaultId, commit: commits[i] as Commit, key: `own ${i}`, ...(have !== undefined && { have }) })
    }),
  )
  expect(receipts.map(({ index }) => index)).toEqual(vaultIds.map((_, i) => size + i))
  expect(new Set(await transactionsFrom(size)).size).toBe(1)
  expect(await countAudited()).toBe(audited + vaultIds.length)
  for (const [i, { signed, vault }] of receipts.entries()) {
    const head = await verifyVaultAnswer(signed, vaultIds[i] as string, trustOf(bot))
    expect(head.payload.headVersion).toBe(vault.headVersion)
    const { consistency } = signed.transparency as { consistency?: { from: number; hashes: string[] } }
    expect(consistency?.from).toBe(haves[i])
  }
  const { ledger } = await audit(h.deps, alice)
  expect(ledger.size()).toBe(size + vaultIds.length)
})

it('refuses one among others as it would alone, and takes nobody along', async () => {
  const [a = '', b = '', c = '', d = '', e = ''] = vaultIds
  const stale = await commitOf(a)
  await send({ vaultId: a, commit: await commitOf(a), key: 'before' })
  const taken = await commitOf(c, 'itm_taken')
  const again = await commitOf(e)
  const first = await send({ vaultId: e, commit: again, key: 'again' })
  const broken = await commitOf(b)
  const values = Object.fromEntries(Object.keys(broken.values).map((fieldId) => [fieldId, 'c3Ryb25n']))
  const good = await commitOf(d)
  const size = await sizeNow()
  const results = await Promise.all([
    outcome({ vaultId: a, commit: stale, key: 'stale' }),
    outcome({ vaultId: b, commit: { ...broken, values }, key: 'broken' }),
    outcome({ vaultId: c, commit: taken, key: 'taken' }),
    outcome({ vaultId: d, commit: good, key: 'good' }),
    outcome({ vaultId: e, commit: again, key: 'again' }),
  ])
  expect(results).toEqual(['vault_head_conflict', expect.stringMatching(/^invalid_/), size, size + 1, first.index])
  // A refused request leaves its key free for what is sent next.
  expect(await outcome({ vaultId: b, commit: broken, key: 'broken' })).toBe(size + 2)
  expect(await outcome({ vaultId: d, commit: good, key: 'good' })).toBe(size + 1)
  expect(await sizeNow()).toBe(size + 3)
})

it('stores the others where the database refuses one of them', async () => {
  const [a = '', b = '', c = ''] = vaultIds
  await send({ vaultId: a, commit: await commitOf(a, 'itm_once') })
  const sent = [
    { vaultId: b, commit: await commitOf(b, 'itm_once') },
    { vaultId: c, commit: await commitOf(c) },
  ]
  const size = await sizeNow()
  expect(await Promise.all(sent.map(outcome))).toEqual(['id_conflict', size])
  expect(await sizeNow()).toBe(size + 1)
})

it('makes one leaf of a request that is sent twice at once, and lets one key serve one vault only', async () => {
  const [, , a = '', b = '', c = ''] = vaultIds
  const [one, other, third] = [await commitOf(a), await commitOf(b), await commitOf(c)]
  const size = await sizeNow()
  expect(
    await Promise.all([other, third].map((commit, i) => outcome({ vaultId: i ? c : b, commit, key: 'both' }))),
  ).toEqual([size, 'idempotency_key_reused'])
  const twice = [1, 2].map(() => outcome({ vaultId: a, commit: one, key: 'twice' }))
  expect(await Promise.all(twice)).toEqual([size + 1, size + 1])
  expect(await sizeNow()).toBe(size + 2)
})
