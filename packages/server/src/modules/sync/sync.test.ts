import {
  changeAccess,
  openVerifiedField,
  valueText,
  verifyItem,
  verifyItems,
  verifyVaultAnswer,
} from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg } from '../../../test/people.ts'
import {
  currentDek,
  edit,
  makeVault,
  metaCommit,
  openVault,
  trustOf,
  vaultKeys,
  type Writer,
  writeItems,
} from '../../../test/vault-writer.ts'

// Catches: a change that no delta brings (changed_index not written, or compared with > instead of >=), access that ended and is
// still synced, access that began and brings only changes, a cursor of somebody else.

let h: Harness
let alice: FirstPerson
let bot: TestAgent & Writer
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  bot = await agentWriter(h, alice, 'deploy')
})
afterAll(() => h.close())

type Answer = Awaited<ReturnType<typeof alice.client.sync.sync>>

/** What a client keeps: items with their versions, vault by vault. */
type Kept = Map<string, Map<string, string>>

function apply(kept: Kept, { full, removed, vaults }: Answer): Kept {
  const next: Kept = new Map(full ? [] : [...kept].map(([id, items]) => [id, new Map(items)]))
  for (const id of removed) next.delete(id)
  for (const { vault, complete, gone, items } of vaults) {
    const content = complete ? new Map<string, string>() : (next.get(vault.vaultId) ?? new Map<string, string>())
    for (const id of gone) content.delete(id)
    for (const { row } of items) content.set(row.itemId, row.detailHash)
    next.set(vault.vaultId, content)
  }
  return next
}

const plain = (kept: Kept) =>
  [...kept].map(([id, items]) => [id, [...items].sort()] as const).sort(([a], [b]) => (a < b ? -1 : 1))

const sync = (who: Pick<TestAgent, 'client'>, cursor?: string) =>
  who.client.sync.sync(cursor === undefined ? {} : { query: { cursor } })

async function setAccess(vaultId: string, withBot: boolean): Promise<void> {
  const { head, content } = await openVault(alice, vaultId)
  const me = { p: alice.identity.key.principal, role: 'admin' as const }
  const agent = { p: bot.identity.key.principal, role: 'read' as const }
  const dek = await currentDek(alice, vaultId)
  const { commit } = await changeAccess(
    {
      head,
      content,
      acl: withBot ? [me, agent] : [me],
      ...(withBot
        ? { grants: [{ dek, to: bot.identity.key }] }
        : { rotate: { reason: 'member-removed' as const, recipients: [alice.identity.key] } }),
      at: Date.now(),
    },
    alice.identity,
  )
  await alice.client.permissions.setVault({ params: { vaultId }, body: { commit } })
}

it('brings every vault whole at first, each proven, and a few bytes when nothing changed', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [edit('itm_s1', { A: '1' }), edit('itm_s2', { B: '2' })])
  const first = await sync(bot)
  expect(first.full).toBe(true)
  const synced = first.vaults.find(({ vault }) => vault.vaultId === vaultId)
  if (!synced) throw new Error('the vault was not synced')
  const head = await verifyVaultAnswer(synced.signed, vaultId, trustOf(bot))
  const rows = verifyItems(
    head,
    synced.items.map(({ row }) => row),
  )
  const keys = await vaultKeys(bot, vaultId)
  const opened: string[] = []
  for (const [i, row] of rows.entries()) {
    const stored = synced.items[i]
    const { fields } = await verifyItem(head, row, stored?.detail as never)
    for (const field of fields)
      opened.push(valueText(await openVerifiedField(keys, field, stored?.values[field.fieldId] ?? '')))
  }
  expect(opened).toEqual(['1', '2'])
  const again = await sync(bot, first.cursor)
  expect(again).toMatchObject({ full: false, removed: [], vaults: [] })
})

it('ends equal to a full sync after every step of a random walk of writes, vaults and items put away and brought back, access given and taken', async () => {
  const vaultIds = [
    await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] }),
    await makeVault(alice),
  ]
  let kept: Kept = new Map()
  let { cursor, ...first } = await sync(bot)
  kept = apply(kept, { cursor, ...first })
  const access = new Map(vaultIds.map((id, i) => [id, i === 0]))
  const away = new Set<string>()
  const putAwayOrBack = async (vaultId: string): Promise<void> => {
    const isBack = away.delete(vaultId)
    if (!isBack) away.add(vaultId)
    const commit = await metaCommit(alice, vaultId, { status: isBack ? 'active' : 'archived' })
    await alice.client.vaults[isBack ? 'restore' : 'archive']({ params: { vaultId }, body: { commit } })
  }
  let random = 7
  const next = (below: number): number => {
    random = (random * 48_271) % 2_147_483_647
    return random % below
  }
  for (let step = 0; step < 32; step++) {
    const vaultId = vaultIds[next(2)] as string
    const itemId = `itm_walk${vaultIds.indexOf(vaultId)}${next(4)}`
    if (away.has(vaultId) || next(6) === 0) await putAwayOrBack(vaultId)
    else if (next(4) === 0) {
      access.set(vaultId, !access.get(vaultId))
      await setAccess(vaultId, access.get(vaultId) === true)
    } else {
      const status = next(3) === 0 ? ('archived' as const) : ('active' as const)
      await writeItems(alice, vaultId, [edit(itemId, { [`V_${itemId.toUpperCase()}`]: String(step) }, { status })])
    }
    if (next(2) === 0) continue
    const delta = await sync(bot, cursor)
    cursor = delta.cursor
    kept = apply(kept, delta)
    expect(plain(kept)).toEqual(plain(apply(new Map(), await sync(bot))))
  }
})

it('brings nothing of vaults the caller is not on, nor of another organisation, and takes no cursor of somebody else', async () => {
  const secret = await makeVault(alice, { name: 'not for the agent' })
  const foreign = await h.agent(await h.org('foreign'), ['machine.all'])
  expect((await sync(foreign)).vaults).toEqual([])
  const answer = await sync(bot)
  expect(JSON.stringify(answer)).not.toContain(secret)
  for (const who of [foreign, alice]) expect(await codeOf(sync(who, answer.cursor))).toBe('validation_failed')
  expect(await codeOf(sync(bot, 'AAAA'))).toBe('validation_failed')
})

it('streams every vault with its ciphertexts, to those on its list and in its order', async () => {
  const { data } = await bot.client.sync.vaultsData()
  const own = (await bot.client.vaults.list()).data.map(({ vaultId }) => vaultId)
  expect(data.map(({ vault }) => vault.vaultId)).toEqual(own)
  const reader = await h.agent(alice, ['machine.vault.read'])
  expect(await codeOf(reader.client.sync.vaultsData())).toBe('machine_permission_denied')
})
