import { type AclEntry, type Commit, changeAccess } from '@strongroom/protocol'
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
  openVault,
  vaultKeys,
  type Writer,
  writeItems,
} from '../../../test/vault-writer.ts'

// Catches: a list replaced by a writer who is no admin ('admin' left out in both places that ask for it), an own entry lost in passing (ensureStays left
// out), an older list over a newer one (If-Match unread), an item shown to more people than its vault (ensureNarrower left out),
// one etag for the list of an item whether it is its own or the vault's (seen red), a list of an item that is wider than its vault's once that
// one has changed (seen red: who left is still in it, who has less has as much as before, a list that all have left is everybody's, an editor
// of it puts back who leaves in that moment).

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
let stranger: TestAgent
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
  stranger = await h.agent(alice, ['machine.all'])
})
afterAll(() => h.close())

const me = () => ({ p: alice.identity.key.principal, role: 'admin' as const })
const agent = (role: AclEntry['role']) => ({ p: bot.identity.key.principal, role })

/** A commit that makes the list exactly this, with keys for whoever joins and a new key when a reader leaves. */
async function accessCommit(by: Writer, vaultId: string, acl: readonly AclEntry[]): Promise<Commit> {
  const { head, content } = await openVault(by, vaultId)
  const before = head.vault.acl.acl
  const joins = acl.some(({ p }) => p === agent('read').p) && !before.some(({ p }) => p === agent('read').p)
  const leaves = before.some(({ p }) => !acl.some((entry) => entry.p === p))
  const keyOf = ({ p }: AclEntry) => (p === agent('read').p ? bot.identity.key : alice.identity.key)
  const change = await changeAccess(
    {
      head,
      content,
      acl,
      ...(leaves && { rotate: { reason: 'member-removed' as const, recipients: acl.map(keyOf) } }),
      ...(joins && { grants: [{ dek: await currentDek(by, vaultId), to: bot.identity.key }] }),
      at: Date.now(),
    },
    by.identity,
  )
  return change.commit
}

const set = (who: Pick<TestAgent, 'client'>, vaultId: string, commit: Commit, allowSelfRemoval?: boolean) =>
  who.client.permissions.setVault({
    params: { vaultId },
    query: { ...(allowSelfRemoval !== undefined && { allowSelfRemoval }) },
    body: { commit },
  })

it('gives a reader access and the key in one commit, and takes both away in another', async () => {
  const vaultId = await makeVault(alice)
  await writeItems(alice, vaultId, [edit('itm_a', { A: '1' })])
  expect(await codeOf(bot.client.vaults.get({ params: { vaultId } }))).toBe('vault_not_found')
  await set(alice, vaultId, await accessCommit(alice, vaultId, [me(), agent('read')]))
  expect((await vaultKeys(bot, vaultId)).size).toBe(1)
  expect((await bot.client.permissions.vault({ params: { vaultId } })).data).toEqual(
    [
      { principal: agent('read').p, role: 'READ' },
      { principal: me().p, role: 'ADMIN' },
    ].sort((a, b) => (a.principal < b.principal ? -1 : 1)),
  )
  await set(alice, vaultId, await accessCommit(alice, vaultId, [me()]))
  expect(await codeOf(bot.client.vaults.environmentFields({ params: { vaultId } }))).toBe('vault_not_found')
  expect((await openVault(alice, vaultId)).head.payload.dekVersion).toBe(2)
})

it('refuses a list by a writer, by a stranger, without a list, with content, or without the caller; nothing changes', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] })
  const mine = await accessCommit(alice, vaultId, [me(), agent('read')])
  const own = await accessCommit(bot, vaultId, [me(), agent('admin')])
  const before = await alice.client.permissions.vault({ params: { vaultId } })
  expect(await codeOf(set(bot, vaultId, own))).toBe('vault_access_denied')
  expect(await codeOf(set(stranger, vaultId, mine))).toBe('vault_not_found')
  const { commit: content } = await itemsCommit(alice, vaultId, [edit('itm_p', { A: '1' })])
  expect(await codeOf(set(alice, vaultId, content))).toBe('invalid_document')
  const demoted = await accessCommit(alice, vaultId, [{ ...me(), role: 'write' }, agent('admin')])
  expect(await refusal(set(alice, vaultId, demoted))).toMatchObject({ code: 'self_lockout', status: 409 })
  const nobody = await accessCommit(alice, vaultId, [{ ...me(), role: 'write' }, agent('read')])
  expect(await codeOf(set(alice, vaultId, nobody, true))).toBe('last_admin')
  expect((await alice.client.permissions.vault({ params: { vaultId } })).etag).toBe(before.etag)
  expect((await set(alice, vaultId, demoted, true)).vault.role).toBe('WRITE')
})

it('keeps two editors of one list apart by its etag', async () => {
  const vaultId = await makeVault(alice)
  const read = () => alice.client.permissions.vault({ params: { vaultId } })
  const { etag } = await read()
  const commit = await accessCommit(alice, vaultId, [me(), agent('read')])
  const url = `${h.url}/api/v1/machine/vault/${vaultId}/permissions`
  const put = (ifMatch: string) =>
    fetch(url, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${alice.accessToken}`,
        'content-type': 'application/json',
        'if-match': ifMatch,
      },
      body: JSON.stringify({ commit }),
    })
  expect((await put('"another"')).status).toBe(409)
  expect((await put(etag)).status).toBe(200)
  const after = await fetch(url, { headers: { authorization: `Bearer ${alice.accessToken}` } })
  expect(after.headers.get('etag')).not.toBe(etag)
  expect(after.headers.get('etag')).toBe((await read()).etag)
})

it('narrows who is shown an item, and inherits again from an empty list', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] })
  await writeItems(alice, vaultId, [edit('itm_n', { A: '1' })])
  const params = { id: 'itm_n' }
  const { client } = alice
  expect(await client.permissions.item({ params })).toMatchObject({ inherited: true })
  const only = [{ principal: me().p, role: 'ADMIN' as const }]
  expect(await client.permissions.setItem({ params, body: { entries: only } })).toMatchObject({
    data: only,
    inherited: false,
  })
  expect(await client.permissions.setItem({ params, body: { entries: [] } })).toMatchObject({ inherited: true })
})

it('tells a list that an item inherits from the same list of its own, and holds an editor to which of them was read', async () => {
  const vaultId = await makeVault(alice)
  await writeItems(alice, vaultId, [edit('itm_e', { A: '1' })])
  const params = { id: 'itm_e' }
  const inherited = await alice.client.permissions.item({ params })
  const own = await alice.client.permissions.setItem({ params, body: { entries: inherited.data } })
  expect([own.data, own.inherited]).toEqual([inherited.data, false])
  expect(own.etag).not.toBe(inherited.etag)
  const put = (ifMatch: string) =>
    fetch(`${h.url}/api/v1/machine/vault-item/itm_e/permissions`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${alice.accessToken}`,
        'content-type': 'application/json',
        'if-match': ifMatch,
      },
      body: JSON.stringify({ entries: [] }),
    })
  expect((await put(inherited.etag)).status).toBe(409)
  expect((await put(own.etag)).status).toBe(200)
  expect(await alice.client.permissions.item({ params })).toMatchObject({ inherited: true, etag: inherited.etag })
})

it('shows an item to no more people than its vault, and lets only its admins decide', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] })
  await writeItems(alice, vaultId, [edit('itm_w', { A: '1' })])
  const params = { id: 'itm_w' }
  const own = { principal: me().p, role: 'ADMIN' as const }
  const put = (who: Pick<TestAgent, 'client'>, entries: { principal: string; role: 'READ' | 'ADMIN' }[]) =>
    who.client.permissions.setItem({ params, body: { entries } })
  expect(await codeOf(put(alice, [own, { principal: agent('read').p, role: 'ADMIN' }]))).toBe('wider_than_vault')
  expect(await codeOf(put(alice, [own, { principal: 'user:usr_stranger', role: 'READ' }]))).toBe('wider_than_vault')
  expect(await codeOf(put(alice, [{ principal: agent('read').p, role: 'READ' }]))).toBe('self_lockout')
  expect(await codeOf(put(bot, [{ principal: agent('read').p, role: 'READ' }]))).toBe('vault_access_denied')
  expect(await codeOf(put(alice, [own, { ...own, role: 'READ' }]))).toBe('validation_failed')
  expect(await codeOf(put(stranger, []))).toBe('vault_item_not_found')
  expect(await alice.client.permissions.item({ params })).toMatchObject({ inherited: true })
})

const itemList = async (id: string) => (await alice.client.permissions.item({ params: { id } })).data
const setItem = (id: string, entries: readonly { principal: string; role: 'READ' | 'WRITE' | 'ADMIN' }[]) =>
  alice.client.permissions.setItem({
    params: { id },
    query: { allowSelfRemoval: true },
    body: { entries: [...entries] },
  })
const mine = () => ({ principal: me().p, role: 'ADMIN' as const })
const bots = (role: 'READ' | 'WRITE') => ({ principal: agent('read').p, role })

it('leaves in the list of an item nobody who left its vault, so that the list can be sent back as it is', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  const elsewhere = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [edit('itm_l1', { a: '1' }), edit('itm_l2', { a: '1' })])
  await writeItems(alice, elsewhere, [edit('itm_l3', { a: '1' })])
  for (const id of ['itm_l1', 'itm_l3']) await setItem(id, [mine(), bots('READ')])
  const before = await itemList('itm_l1')
  const refused = await accessCommit(alice, vaultId, [{ ...me(), role: 'write' }])
  expect(await codeOf(set(alice, vaultId, refused, true))).toBe('last_admin')
  expect(await itemList('itm_l1')).toEqual(before)
  await set(alice, vaultId, await accessCommit(alice, vaultId, [me()]))
  expect(await itemList('itm_l1')).toEqual([mine()])
  expect(await setItem('itm_l1', await itemList('itm_l1'))).toMatchObject({ data: [mine()], inherited: false })
  expect(await alice.client.permissions.item({ params: { id: 'itm_l2' } })).toMatchObject({ inherited: true })
  expect(await itemList('itm_l3')).toEqual(before)
  // Who comes back is shown what is shown to all, and no more.
  await set(alice, vaultId, await accessCommit(alice, vaultId, [me(), agent('read')]))
  expect(await itemList('itm_l1')).toEqual([mine()])
})

it('gives nobody more in the list of an item than they have in its vault', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] })
  await writeItems(alice, vaultId, [edit('itm_r1', { a: '1' }), edit('itm_r2', { a: '1' })])
  await setItem('itm_r1', [mine(), bots('WRITE')])
  await setItem('itm_r2', [mine(), bots('READ')])
  const lowered = await itemList('itm_r2')
  await set(alice, vaultId, await accessCommit(alice, vaultId, [me(), agent('read')]))
  expect(await itemList('itm_r1')).toEqual(lowered)
  expect((await setItem('itm_r1', lowered)).data).toEqual(lowered)
  await set(alice, vaultId, await accessCommit(alice, vaultId, [me(), agent('admin')]))
  expect([await itemList('itm_r1'), await itemList('itm_r2')]).toEqual([lowered, lowered])
})

it("leaves an item whose list all have left to the vault's admins, and shows it to nobody else", async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [edit('itm_o1', { a: '1' })])
  await setItem('itm_o1', [bots('READ')])
  await set(alice, vaultId, await accessCommit(alice, vaultId, [me()]))
  await set(alice, vaultId, await accessCommit(alice, vaultId, [me(), agent('read')]))
  expect(await alice.client.permissions.item({ params: { id: 'itm_o1' } })).toMatchObject({
    data: [mine()],
    inherited: false,
  })
})

it('lets no editor of the list of an item put back who leaves the vault in that moment', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  const ids = Array.from({ length: 12 }, (_, i) => `itm_m${i}`)
  await writeItems(
    alice,
    vaultId,
    ids.map((id) => edit(id, { a: '1' })),
  )
  const commit = await accessCommit(alice, vaultId, [me()])
  const [left] = await Promise.allSettled([
    set(alice, vaultId, commit),
    ...ids.map((id) => setItem(id, [mine(), bots('READ')])),
  ])
  expect(left?.status).toBe('fulfilled')
  for (const id of ids) expect(await itemList(id)).toEqual([mine()])
})
