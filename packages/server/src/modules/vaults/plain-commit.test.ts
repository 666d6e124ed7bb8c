import { kidName, POLICY_NAME, vaultName, verifyMapProof, verifyVaultAnswer } from '@strongroom/protocol'
import { createClient, type FirstPerson } from '@strongroom/sdk'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { audit } from '../../../test/log-audit.ts'
import { codeOf, foundOrg } from '../../../test/people.ts'
import {
  edit,
  itemsCommit,
  makeVault,
  moveCommits,
  openVault,
  readItem,
  trustOf,
  type Writer,
  writeItems,
} from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'
import { bitsOf, keyOfName, type MapNode } from '../../log/map-nodes.ts'
import { pathAmong, readPaths, upsertNodes } from '../../log/map-store.ts'

// Commits of items, which are read in one statement and written in one. Catches: a receipt that proves something else than the log
// says, a leaf that no auditor would replay, content of an older head kept in a process, a way in the state map that is cut off, a
// field that stays when its item has it no more. Seen red: the frontier taken for that after the leaf; content kept under its vault
// instead of its head; the levels of the map ending at the first look-up; documents at hand not added to those that were read.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
let vaultId: string
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] })
})
afterAll(() => h.close())

it('answers with a receipt that proves the new head from every size a client may know, and an auditor replays it all', async () => {
  for (const [i, known] of ([undefined, 1, 2, 3, 'all', 'all'] as const).entries()) {
    const { size } = await bot.client.transparency.checkpoint()
    const have = known === 'all' ? size : known
    const { commit } = await itemsCommit(bot, vaultId, [edit(`itm_proof_${i}`, { [`KEY_${i}`]: 'x' })])
    const call = { params: { vaultId }, body: { commit } }
    const { index, signed, vault } = await bot.client.vaults.commit(call, have === undefined ? {} : { have })
    expect(index).toBe(size)
    const { log, ...trust } = trustOf(bot)
    const head = await verifyVaultAnswer(signed, vaultId, { log, ...trust })
    expect(head.payload).toMatchObject({ headVersion: vault.headVersion, vaultId })
    const { consistency, tip } = signed.transparency as { consistency?: { from: number }; tip: unknown }
    expect(consistency?.from).toBe(have)
    const later = (await bot.client.vaults.get({ params: { vaultId } }, have === undefined ? {} : { have })).signed
    expect(later.transparency).toMatchObject({ tip, ...(consistency && { consistency }) })
    expect({ ...signed, transparency: undefined }).toEqual({ ...later, transparency: undefined })
  }
  const { ledger } = await audit(h.deps, alice)
  const { size } = await bot.client.transparency.checkpoint()
  expect(ledger.size()).toBe(size)
})

it('builds on what others wrote, in another process or by another route, and on no content of an older head', async () => {
  const other = await h.sibling()
  try {
    const elsewhere = { ...bot, client: createClient({ baseUrl: other.url, apiKey: bot.apiKey }) }
    for (const [i, writer] of [bot, elsewhere, elsewhere, bot].entries())
      await writeItems(writer, vaultId, [edit('itm_shared', { TOKEN: `value ${i}`, note: 'x' })])
    const target = await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] })
    await writeItems(bot, vaultId, [edit('itm_leaves', { LEAVES: 'x' })])
    const commits = await moveCommits(bot, edit('itm_leaves', { LEAVES: 'x' }), { from: vaultId, to: target })
    await elsewhere.client.items.move({ params: { id: 'itm_leaves' }, body: commits })
    await writeItems(bot, vaultId, [edit('itm_shared', { TOKEN: 'last', note: 'x' })])
    await writeItems(bot, target, [edit('itm_leaves', { LEAVES: 'y' })])
    const { content } = await openVault(elsewhere, vaultId)
    expect(content.items.get('itm_shared')?.itemVersion).toBe(5)
    expect(content.items.has('itm_leaves')).toBe(false)
  } finally {
    await other.close()
  }
})

it('removes what an item has no more, and refuses a repeated version without a trace', async () => {
  await writeItems(bot, vaultId, [edit('itm_fields', { STAYS: 'a', GOES: 'b' })])
  const { commit } = await itemsCommit(bot, vaultId, [edit('itm_fields', { STAYS: 'a' })])
  await bot.client.vaults.commit({ params: { vaultId }, body: { commit } })
  const { size } = await bot.client.transparency.checkpoint()
  expect(await codeOf(bot.client.vaults.commit({ params: { vaultId }, body: { commit } }))).toBe('vault_head_conflict')
  expect((await bot.client.transparency.checkpoint()).size).toBe(size)
  const { values } = await readItem(bot, vaultId, 'itm_fields')
  expect(Object.keys(values)).toEqual(['fld_itm_fields_STAYS'])
  const { content } = await openVault(bot, vaultId)
  expect([...content.env.values()].filter(({ itemId }) => itemId === 'itm_fields')).toHaveLength(1)
})

type NodeTexts = readonly [path: string, hash: string, key: string | null, value: string | null]

const nodesAround = async (orgId: string, names: readonly string[]): Promise<Map<string, MapNode>> => {
  const { rows } = await inOrg(h.deps, orgId, (db) =>
    sql<{ nodes: NodeTexts[] }>`select map_nodes_around(${orgId}, ${[...names]}::text[]) as nodes`.execute(db),
  )
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
  return new Map(
    (rows[0]?.nodes ?? []).map(([path, hash, key, value]): [string, MapNode] => [
      path,
      { path, hash: bytes(hash), leaf: key && value ? { key: bytes(key), value: bytes(value) } : null },
    ]),
  )
}

it('finds the same way in the state map as the step by step reading, for names that are there and names that are not', async () => {
  const names = [POLICY_NAME, vaultName(vaultId), kidName(bot.identity.kid), 'policy/none', 'vault/none']
  const nodes = await nodesAround(alice.orgId, names)
  const expected = await inOrg(h.deps, alice.orgId, (db) => readPaths(db, alice.orgId, names))
  for (const path of expected) {
    const found = pathAmong(path.name, path.state, nodes)
    expect({ ...found, nodes: undefined }).toEqual({ ...path, nodes: undefined })
    expect(new Set(found.nodes.map((node) => node.path))).toEqual(new Set(path.nodes.map((node) => node.path)))
  }
  const root = nodes.get('')?.hash as Buffer
  expect(() => verifyMapProof(root, 'vault/none', null, pathAmong('vault/none', null, nodes))).not.toThrow()
})

it('follows a way that is deeper than what is looked up at once', async () => {
  const { orgId } = await h.org('deep')
  const DEPTH = 40
  const bits = bitsOf(keyOfName('policy/deep'))
  const leaf = { key: keyOfName('policy/deep'), value: Buffer.alloc(32, 3) }
  const way = Array.from(
    { length: DEPTH },
    (_, depth): MapNode => ({
      path: bits.slice(0, depth),
      hash: Buffer.alloc(32, depth + 1),
      leaf: null,
    }),
  )
  const end = { path: bits.slice(0, DEPTH), hash: Buffer.alloc(32, 99), leaf }
  const beside = {
    path: bits.slice(0, DEPTH - 1) + (bits[DEPTH - 1] === '0' ? '1' : '0'),
    hash: Buffer.alloc(32, 98),
    leaf,
  }
  await inOrg(h.deps, orgId, (db) => sql`${upsertNodes(orgId, [...way, end, beside])}`.execute(db))
  const found = pathAmong('policy/deep', null, await nodesAround(orgId, ['policy/deep']))
  expect(found.siblings).toHaveLength(DEPTH)
  expect(found.siblings.at(-1)).toEqual(beside.hash)
  expect(found.terminal).toEqual([leaf.key, leaf.value])
})
