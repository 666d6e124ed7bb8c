import {
  buildCommit,
  type ItemEdit,
  openVerifiedField,
  planItem,
  signItem,
  termsOf,
  valueText,
} from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, refusal } from '../../../test/people.ts'
import {
  currentDek,
  edit,
  itemsCommit,
  makeVault,
  moveCommits,
  openVault,
  readItem,
  vaultKeys,
  type Writer,
  writeItems,
} from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'

// Catches: a route that takes another kind of change than its own (a rule left out), a field that takes over another item's row
// (`where vault_field.item_id =` left out), an id used twice in the organisation, fields left behind by an edit, an item that is
// in two vaults or in none after a move, a value that is not the one its detail names; a conflict that tells the client to read again though
// its head is current, a character that the database does not take answered with 500; an item that is changed, or a vault that is
// renamed, while it is archived or created; a leaf for an item that is archived already.
// Seen red: `archivesOnly` without its comparison, without its refusal of what is archived; `ensureSameVault` without the comparison.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
let vaultId: string
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
})
afterAll(() => h.close())

const commitOf = async (edits: Parameters<typeof itemsCommit>[2], id = vaultId) =>
  (await itemsCommit(alice, id, edits)).commit
/** An edit that leaves every ciphertext as it is stored. */
const untouched = (itemId: string, labels: readonly string[], more: Partial<ItemEdit>): ItemEdit => {
  const { fields, ...rest } = edit(itemId, Object.fromEntries(labels.map((label) => [label, ''])), more)
  return { ...rest, fields: fields.map(({ value: _, ...field }) => field) }
}
const size = () =>
  inOrg(h.deps, alice.orgId, async (db) => (await db.selectFrom('log_state').select('size').executeTakeFirst())?.size)
/** The next version of an item of this vault, or its first. */
async function signedItem(one: ItemEdit) {
  const known = await readItem(alice, vaultId, one.itemId).catch(() => undefined)
  const base = known && { detail: known.item.document.payload, hash: known.item.document.hash }
  const plan = await planItem(await currentDek(alice, vaultId), base, one)
  return signItem(plan, { org: alice.orgId, vaultId, at: Date.now() }, alice.identity)
}
const rowsOf = (itemId: string) =>
  inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('vault_field').select(['vault_id', 'label']).where('item_id', '=', itemId).orderBy('label').execute(),
  )

it('creates, edits and archives an item, each by its own route, and a reader opens it by its path', async () => {
  const { client } = alice
  const created = await client.items.create({
    params: { vaultId },
    body: { commit: await commitOf([edit('itm_one', { A: '1', b: '2' })]) },
  })
  expect(created.vault.itemCount).toBe(1)
  const keys = await vaultKeys(bot, vaultId)
  const { item, values } = await readItem(bot, vaultId, 'itm_one')
  const opened = await Promise.all(
    item.fields.map((field) => openVerifiedField(keys, field, values[field.fieldId] ?? '')),
  )
  expect(opened.map(valueText)).toEqual(['1', '2'])
  const changed = await commitOf([edit('itm_one', { A: 'changed' }, { name: 'renamed' })])
  await client.items.update({ params: { id: 'itm_one' }, body: { commit: changed } })
  expect((await rowsOf('itm_one')).map(({ label }) => label)).toEqual(['A'])
  const field = await bot.client.items.field({ params: { vaultId, fieldId: 'fld_itm_one_A' } })
  expect(field.row.name).toBe('renamed')
  const archiving = await commitOf([untouched('itm_one', ['A'], { name: 'renamed', status: 'archived' })])
  expect(await codeOf(client.items.update({ params: { id: 'itm_one' }, body: { commit: archiving } }))).toBe(
    'invalid_document',
  )
  const archived = await client.items.archive({ params: { vaultId, itemId: 'itm_one' }, body: { commit: archiving } })
  expect(archived.vault.itemCount).toBe(0)
  const { content } = await openVault(bot, vaultId)
  expect(content.items.get('itm_one')?.status).toBe('archived')
  expect([...content.env.keys()]).toEqual([])
})

it('takes by each route only its own kind of change; nothing is logged', async () => {
  await writeItems(alice, vaultId, [edit('itm_kind', { K: '1' })])
  const two = await commitOf([edit('itm_x', { X: '1' }), edit('itm_y', { Y: '1' })])
  const again = await commitOf([edit('itm_kind', { K: '2' })])
  const before = await size()
  const { items } = alice.client
  expect(await codeOf(items.create({ params: { vaultId }, body: { commit: two } }))).toBe('invalid_document')
  expect(await codeOf(items.create({ params: { vaultId }, body: { commit: again } }))).toBe('invalid_document')
  expect(await codeOf(items.import({ params: { vaultId }, body: { commit: again } }))).toBe('invalid_document')
  expect(await codeOf(items.update({ params: { id: 'itm_kind' }, body: { commit: two } }))).toBe('invalid_document')
  expect(await codeOf(items.update({ params: { id: 'itm_absent' }, body: { commit: again } }))).toBe(
    'vault_item_not_found',
  )
  expect(await codeOf(items.archive({ params: { vaultId, itemId: 'itm_kind' }, body: { commit: again } }))).toBe(
    'invalid_document',
  )
  expect(await codeOf(items.archive({ params: { vaultId, itemId: 'itm_absent' }, body: { commit: again } }))).toBe(
    'vault_item_not_found',
  )
  expect(await size()).toBe(before)
})

it('archives an item as it is: nothing else of it or of the vault changes in passing; nothing is logged', async () => {
  await writeItems(alice, vaultId, [edit('itm_away', { AWAY: '1', note: '2' })])
  const put = { status: 'archived' } as const
  const labels = ['AWAY', 'note']
  const { commit, opened } = await itemsCommit(alice, vaultId, [untouched('itm_away', labels, put)])
  const { head, content } = opened
  const place = { org: alice.orgId, vaultId, at: Date.now() }
  const row = content.items.get('itm_away')
  const meta = { ...head.payload.meta, name: 'renamed in passing' }
  const others = [
    untouched('itm_away', labels, { ...put, name: 'another' }),
    untouched('itm_away', labels, { ...put, website: 'https://example.org' }),
    untouched('itm_away', ['AWAY'], put),
    edit('itm_away', { AWAY: '1', note: '2' }, put),
  ]
  const archive = (body: { commit: typeof commit }) =>
    refusal(alice.client.items.archive({ params: { vaultId, itemId: 'itm_away' }, body }))
  const before = await size()
  for (const other of others)
    expect(await archive({ commit: await commitOf([other]) })).toMatchObject({
      code: 'invalid_document',
      details: { rule: 'only_the_status_changes' },
    })
  expect(row?.status).toBe('active')
  const signed = await signedItem(untouched('itm_away', labels, put))
  const terms = { ...termsOf(head.payload), meta }
  const renaming = await buildCommit({ ...place, base: head, content, terms, items: [signed] }, alice.identity)
  expect(await archive({ commit: renaming.commit })).toMatchObject({ details: { rule: 'only_items_change' } })
  expect(await size()).toBe(before)
  await alice.client.items.archive({ params: { vaultId, itemId: 'itm_away' }, body: { commit } })
})

it('refuses to rename the vault by a route of its items', async () => {
  const { head, content } = await openVault(alice, vaultId)
  const place = { org: alice.orgId, vaultId, at: Date.now() }
  const terms = { ...termsOf(head.payload), meta: { ...head.payload.meta, name: 'in passing' } }
  const items = [await signedItem(edit('itm_passing', { PASSING: '1' }))]
  const { commit } = await buildCommit({ ...place, base: head, content, terms, items }, alice.identity)
  const before = await size()
  for (const route of ['create', 'import'] as const)
    expect(await refusal(alice.client.items[route]({ params: { vaultId }, body: { commit } }))).toMatchObject({
      code: 'invalid_document',
      details: { rule: 'only_items_change' },
    })
  expect(await size()).toBe(before)
})

it('refuses to archive what is archived, with a code of its own; nothing is logged', async () => {
  await writeItems(alice, vaultId, [edit('itm_twice', { TWICE: '1' })])
  const archive = async () => {
    const commit = await commitOf([untouched('itm_twice', ['TWICE'], { status: 'archived' })])
    return alice.client.items.archive({ params: { vaultId, itemId: 'itm_twice' }, body: { commit } })
  }
  await archive()
  const before = await size()
  expect(await refusal(archive())).toMatchObject({ code: 'item_archived', status: 409 })
  expect(await size()).toBe(before)
})

it('lists items in the order of every list, the newest first, whatever was changed since', async () => {
  const id = await makeVault(alice)
  for (const names of [['itm_first'], ['itm_second', 'itm_third'], ['itm_last']]) {
    await writeItems(
      alice,
      id,
      names.map((name) => edit(name, { note: '1' })),
    )
    h.advance(1000)
  }
  await writeItems(alice, id, [edit('itm_first', { note: '2' })])
  const listed = async () =>
    (await alice.client.items.list({ params: { vaultId: id } })).data.map(({ itemId }) => itemId)
  expect(await listed()).toEqual(['itm_last', 'itm_third', 'itm_second', 'itm_first'])
  const many = Array.from({ length: 600 }, (_, i) => `itm_${String(i).padStart(4, '0')}`)
  for (const half of [many.slice(0, 300), many.slice(300)])
    await writeItems(
      alice,
      id,
      half.map((name) => edit(name, {})),
    )
  expect((await listed()).slice(0, 300)).toEqual(many.slice(300).reverse())
})

it('imports as many items as one commit has, each with more fields than most have', async () => {
  const id = await makeVault(alice)
  const fields = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`field${i}`, '']))
  const commit = await commitOf(
    Array.from({ length: 500 }, (_, i) => edit(`itm_wide${i}`, fields)),
    id,
  )
  const { vault } = await alice.client.items.import({ params: { vaultId: id }, body: { commit } })
  expect(vault.itemCount).toBe(500)
})

it('imports many items in one leaf', async () => {
  const target = await makeVault(alice)
  const edits = Array.from({ length: 120 }, (_, i) => edit(`itm_import${i}`, { [`VAR_${i}`]: String(i) }))
  const before = await size()
  const { vault } = await alice.client.items.import({
    params: { vaultId: target },
    body: { commit: await commitOf(edits, target) },
  })
  expect(vault.itemCount).toBe(120)
  expect(await size()).toBe((before ?? 0) + 1)
  expect((await openVault(alice, target)).content.env.size).toBe(120)
})

it('refuses an id that another vault uses, and a field that another item owns; both stay as they were', async () => {
  const other = await makeVault(alice)
  await writeItems(alice, vaultId, [edit('itm_own', { note: '1' })])
  const stolen = await commitOf([edit('itm_own', { Z: '1' })], other)
  expect(await codeOf(alice.client.items.create({ params: { vaultId: other }, body: { commit: stolen } }))).toBe(
    'id_conflict',
  )
  const [taking] = [edit('itm_thief', { note: 'x' })].map((one) => ({
    ...one,
    fields: one.fields.map((field) => ({ ...field, fieldId: 'fld_itm_own_note' })),
  }))
  const commit = await commitOf(taking ? [taking] : [])
  expect(await codeOf(alice.client.items.create({ params: { vaultId }, body: { commit } }))).toBe('id_conflict')
  expect(await rowsOf('itm_own')).toHaveLength(1)
  expect(await rowsOf('itm_thief')).toHaveLength(0)
})

it('refuses an id that the same vault uses, on its current head, as what it is: reading again would not help', async () => {
  await writeItems(alice, vaultId, [edit('itm_there', { T: '1' })])
  const before = await size()
  const { commit } = await itemsCommit(alice, vaultId, [edit('itm_there', { T: '2' })], true)
  const body = { commit }
  for (const sent of [
    alice.client.vaults.commit({ params: { vaultId }, body }),
    alice.client.items.create({ params: { vaultId }, body }),
  ])
    expect(await refusal(sent)).toMatchObject({ code: 'id_conflict', status: 409, details: { itemId: 'itm_there' } })
  expect(await size()).toBe(before)
})

it('refuses characters that no hash and no key id has, before anybody looks at them', async () => {
  const commit = await commitOf([edit('itm_nul', { N: '1' })])
  const before = await size()
  const [first, ...rest] = commit.docs
  const named = (keyid: string) => ({ ...first, signatures: first?.signatures.map((one) => ({ ...one, keyid })) })
  for (const broken of [
    { ...commit, expect: { ...commit.expect, headHash: '\u0000' } },
    { ...commit, docs: [named('a\u0000'), ...rest] },
  ]) {
    const body = { commit: broken as typeof commit }
    expect(await codeOf(alice.client.vaults.commit({ params: { vaultId }, body }))).toBe('validation_failed')
    expect(await codeOf(alice.client.items.create({ params: { vaultId }, body }))).toBe('validation_failed')
  }
  expect(await size()).toBe(before)
})

it('refuses a value that its detail does not name', async () => {
  const commit = await commitOf([edit('itm_swap', { S: '1' })])
  const other = await commitOf([edit('itm_swap', { S: '2' })])
  const swapped = { ...commit, values: other.values }
  expect(await refusal(alice.client.items.create({ params: { vaultId }, body: { commit: swapped } }))).toMatchObject({
    code: 'envelope_rejected',
    status: 422,
    details: { rule: 'field_swap' },
  })
})

/** Both halves of a move, for an item of this vault. */
const moving = (itemId: string, to: string) => moveCommits(alice, edit(itemId, { MOVED: '1' }), { from: vaultId, to })

it('moves an item in one leaf: it is in the one vault and gone from the other, also for readers', async () => {
  const to = await makeVault(alice)
  await writeItems(alice, vaultId, [edit('itm_move', { MOVED: '1' })])
  const body = await moving('itm_move', to)
  const before = await size()
  const answer = await alice.client.items.move({ params: { id: 'itm_move' }, body })
  expect(await size()).toBe((before ?? 0) + 1)
  expect([answer.from.vault.vaultId, answer.to.vault.vaultId]).toEqual([vaultId, to])
  expect((await openVault(bot, vaultId)).content.items.has('itm_move')).toBe(false)
  expect((await openVault(alice, to)).content.items.has('itm_move')).toBe(true)
  expect(await codeOf(bot.client.items.get({ params: { vaultId, itemId: 'itm_move' } }))).toBe('vault_item_not_found')
  expect(await rowsOf('itm_move')).toEqual([{ vault_id: to, label: 'MOVED' }])
})

it('takes the link of an agent along when the item with its key moves', async () => {
  const to = await makeVault(alice)
  await writeItems(alice, vaultId, [edit('itm_key', { apiKey: '1' })])
  const { agents, items } = alice.client
  await agents.linkVaultItem({ params: { id: bot.agentId }, body: { vaultId, itemId: 'itm_key' } })
  await items.move({ params: { id: 'itm_key' }, body: await moving('itm_key', to) })
  const { agent } = await agents.get({ params: { id: bot.agentId } })
  expect(agent.vaultItem).toEqual({ vaultId: to, itemId: 'itm_key' })
})

it('moves nothing into a vault the caller cannot write, nor for somebody else, nor half', async () => {
  const foreign = await makeVault(bot, { name: 'of the agent', with: [{ identity: alice.identity, role: 'read' }] })
  const to = await makeVault(alice)
  await writeItems(alice, vaultId, [edit('itm_stay', { STAYS: '1' })])
  const body = await moving('itm_stay', to)
  const before = await size()
  const move = (who: Pick<TestAgent, 'client'>, commits: typeof body) =>
    who.client.items.move({ params: { id: 'itm_stay' }, body: commits })
  expect(await codeOf(move(bot, body))).toBe('vault_access_denied')
  expect(await codeOf(move(alice, await moving('itm_stay', foreign)))).toBe('vault_access_denied')
  const half = await commitOf([edit('itm_other', { OTHER: '1' })], to)
  expect(await codeOf(move(alice, { from: body.from, to: half }))).toBe('invalid_document')
  expect(await codeOf(alice.client.vaults.commit({ params: { vaultId }, body: { commit: body.from } }))).toBe(
    'root_mismatch',
  )
  expect(await size()).toBe(before)
})
