import { openEnvironment, valueText, verifyVaultAnswer } from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf, foundOrg, outcomes, refusal, seedUser } from '../../../test/people.ts'
import { asSuperuser } from '../../../test/principals.ts'
import {
  edit,
  itemsCommit,
  makeVault,
  metaCommit,
  openVault,
  trustOf,
  vaultCommit,
  type Writer,
  writeItems,
} from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'

// Catches: rows of another moment than the proofs (atOneMoment left out), a vault shown to somebody its access list does not name
// (the join on vault_access left out), a commit by a reader or with somebody else's signature, one on an older head, a change
// that two commits both made, a route that takes another kind of change than its own, a vault that a writer
// restores (ensureRestorable without the role), or that comes back under another name (onlyStatus taken for onlyMeta).

let h: Harness
let alice: FirstPerson
let reader: TestAgent & Writer
let stranger: TestAgent
beforeAll(async () => {
  h = await startHarness()
  alice = await foundOrg(h)
  reader = await agentWriter(h, alice, 'deploy')
  stranger = await h.agent(alice, ['machine.all'])
})
afterAll(() => h.close())

/** Everything of vaults that a refused change must leave alone. */
const stored = () =>
  inOrg(h.deps, alice.orgId, async (db) => {
    const all: unknown[] = []
    for (const table of ['vault', 'vault_access', 'vault_item', 'vault_field', 'log_leaf'] as const)
      all.push((await db.selectFrom(table).selectAll().execute()).map((row) => JSON.stringify(row)).sort())
    return JSON.stringify(all)
  })

const readEnvironment = async (writer: Writer, vaultId: string) => {
  const answer = await writer.client.vaults.environmentFields({
    params: { vaultId },
    query: { include: 'wrapped-key,signers' },
  })
  const { data, signed, wrappedKeys } = answer
  const opened = await openEnvironment(
    { ...signed, wrappedKeys, fields: data },
    vaultId,
    trustOf(writer),
    writer.identity,
  )
  return Object.fromEntries(opened.fields.map(({ row, value }) => [row.label, valueText(value)]))
}

it('gives a reader the environment in one request, verified and opened', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: reader.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [
    edit('itm_db', { DATABASE_URL: 'postgres://x', note: 'n' }),
    edit('itm_b', { KEY: 'k' }),
  ])
  expect(await readEnvironment(reader, vaultId)).toEqual({ DATABASE_URL: 'postgres://x', KEY: 'k' })
})

it('gives the same request by request, as a client without includes asks', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: reader.identity, role: 'read' }] })
  await writeItems(alice, vaultId, [edit('itm_seq', { TOKEN: 't' })])
  const { client } = reader
  expect((await client.vaults.list()).data.map((vault) => vault.vaultId)).toContain(vaultId)
  const { wrappedKeys, signed } = await client.vaults.wrappedKey({ params: { vaultId } })
  const keys = await client.vaults.publicKeys({ params: { vaultId } })
  const { data, headHash, ...rest } = await client.vaults.environmentFields({ params: { vaultId } })
  expect(rest).toEqual({ headVersion: 2 })
  const head = await verifyVaultAnswer(keys.signed, vaultId, trustOf(reader))
  expect(head.hash).toBe(headHash)
  const opened = await openEnvironment(
    { ...signed, wrappedKeys, fields: data },
    vaultId,
    trustOf(reader),
    reader.identity,
  )
  expect(opened.fields.map(({ value }) => valueText(value))).toEqual(['t'])
})

it('lists to each exactly the vaults whose access list names them, also in another organisation', async () => {
  const vaultId = await makeVault(alice, { name: 'only mine' })
  const other = await h.org('other')
  const foreign = await h.agent(other, ['machine.all'])
  const ids = async (client: TestAgent['client']) => (await client.vaults.list()).data.map((vault) => vault.vaultId)
  expect(await ids(alice.client)).toContain(vaultId)
  for (const { client } of [reader, stranger, foreign]) expect(await ids(client)).not.toContain(vaultId)
  expect((await foreign.client.vaults.list()).data).toEqual([])
  const absent = `v${'a'.repeat(32)}`
  const calls = (id: string, { client }: Pick<TestAgent, 'client'>) => [
    client.vaults.get({ params: { vaultId: id } }),
    client.vaults.publicKeys({ params: { vaultId: id } }),
    client.vaults.wrappedKey({ params: { vaultId: id } }),
    client.vaults.environmentFields({ params: { vaultId: id } }),
    client.items.list({ params: { vaultId: id } }),
    client.items.get({ params: { vaultId: id, itemId: 'itm_x' } }),
    client.items.field({ params: { vaultId: id, fieldId: 'fld_x' } }),
  ]
  for (const caller of [stranger, foreign])
    for (const id of [vaultId, absent])
      expect(new Set(await outcomes(calls(id, caller)))).toEqual(new Set(['vault_not_found']))
})

it('renames and archives by a signed head, and changes nothing afterwards', async () => {
  const vaultId = await makeVault(alice)
  const commit = await metaCommit(alice, vaultId, { name: 'renamed', classification: 'restricted' })
  const { vault } = await alice.client.vaults.update({ params: { id: vaultId }, body: { commit } })
  expect(vault).toMatchObject({ name: 'renamed', classification: 'restricted', headVersion: 2 })
  const archiving = await metaCommit(alice, vaultId, { status: 'archived' })
  expect(await codeOf(alice.client.vaults.update({ params: { id: vaultId }, body: { commit: archiving } }))).toBe(
    'invalid_document',
  )
  const archived = await alice.client.vaults.archive({ params: { vaultId }, body: { commit: archiving } })
  expect(archived.vault.status).toBe('archived')
  const late = await metaCommit(alice, vaultId, { name: 'late', status: 'active' })
  expect(await codeOf(alice.client.vaults.update({ params: { id: vaultId }, body: { commit: late } }))).toBe(
    'vault_archived',
  )
  expect((await alice.client.vaults.get({ params: { vaultId } })).vault.name).toBe('renamed')
})

it('restores an archived vault as it was, by an administrator of it and by nothing but the status', async () => {
  const writer = await agentWriter(h, alice, 'worker')
  const vaultId = await makeVault(alice, { with: [{ identity: writer.identity, role: 'write' }] })
  await writeItems(alice, vaultId, [edit('itm_back', { BACK: '1' })])
  const restore = (who: Pick<TestAgent, 'client'>, commit: Awaited<ReturnType<typeof metaCommit>>) =>
    who.client.vaults.restore({ params: { vaultId }, body: { commit } })
  const early = await metaCommit(alice, vaultId, {})
  expect(await codeOf(restore(alice, early))).toBe('vault_not_archived')
  const archiving = await metaCommit(alice, vaultId, { status: 'archived' })
  await alice.client.vaults.archive({ params: { vaultId }, body: { commit: archiving } })
  const before = await stored()
  expect(await codeOf(restore(writer, await metaCommit(writer, vaultId, { status: 'active' })))).toBe(
    'vault_access_denied',
  )
  expect(await codeOf(restore(stranger, await metaCommit(alice, vaultId, { status: 'active' })))).toBe(
    'vault_not_found',
  )
  expect(await codeOf(restore(alice, archiving))).toBe('vault_head_conflict')
  for (const meta of [{}, { status: 'active', name: 'other' }, { status: 'active', classification: 'public' }] as const)
    expect(await codeOf(restore(alice, await metaCommit(alice, vaultId, meta)))).toBe('invalid_document')
  expect(await stored()).toEqual(before)
  const { vault } = await restore(alice, await metaCommit(alice, vaultId, { status: 'active' }))
  expect(vault).toMatchObject({ status: 'active', name: 'payments', itemCount: 1 })
  // It takes changes again, and its values are given again.
  await writeItems(writer, vaultId, [edit('itm_more', { MORE: '1' })])
  const { data } = await alice.client.vaults.environmentFields({ params: { vaultId } })
  expect(data.map(({ row }) => row.label).sort()).toEqual(['BACK', 'MORE'])
})

it('refuses a commit of a reader, of somebody else’s signature, of another vault and of a stranger; nothing changes', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: reader.identity, role: 'read' }] })
  const elsewhere = await makeVault(alice)
  const { commit } = await itemsCommit(alice, vaultId, [edit('itm_r', { A: '1' })])
  const writer = await agentWriter(h, alice, 'worker')
  const shared = await makeVault(alice, { with: [{ identity: writer.identity, role: 'write' }] })
  const { commit: hers } = await itemsCommit(alice, shared, [edit('itm_s', { A: '1' })])
  const own = await metaCommit(reader, vaultId, { name: 'mine now' })
  const before = await stored()
  const put = (who: Pick<TestAgent, 'client'>, id: string, body: typeof commit) =>
    who.client.vaults.commit({ params: { vaultId: id }, body: { commit: body } })
  expect(await codeOf(put(reader, vaultId, own))).toBe('vault_access_denied')
  expect(await codeOf(put(stranger, vaultId, commit))).toBe('vault_not_found')
  expect(await codeOf(put(alice, elsewhere, commit))).toBe('invalid_document')
  expect(await codeOf(put(writer, shared, hers))).toBe('signer_not_authorised')
  const colleague = await seedUser(h, alice, { orgRoles: ['ORG_ADMIN'] })
  expect(await codeOf(put(colleague, vaultId, commit))).toBe('vault_not_found')
  const foreign = await vaultCommit(alice)
  expect(await codeOf(stranger.client.vaults.create({ body: { commit: foreign.commit } }))).toBe(
    'signer_not_authorised',
  )
  expect(await stored()).toBe(before)
})

it('answers a conflict with what is needed to verify the newer head and to go on', async () => {
  const vaultId = await makeVault(alice)
  const { commit, opened } = await itemsCommit(alice, vaultId, [edit('itm_slow', { A: '1' })])
  await writeItems(alice, vaultId, [edit('itm_quick', { B: '2' })])
  const refused = await refusal(alice.client.vaults.commit({ params: { vaultId }, body: { commit } }))
  expect(refused).toMatchObject({ status: 409, code: 'vault_head_conflict', details: { headVersion: 2 } })
  const { current } = refused.details as {
    current: { signed: never; changed: { row: { itemId: string } }[]; gone: string[] }
  }
  const head = await verifyVaultAnswer(current.signed, vaultId, trustOf(alice))
  expect(head.payload.headVersion).toBe(2)
  expect(current.changed.map(({ row }) => row.itemId)).toEqual(['itm_quick'])
  expect(opened.head.payload.headVersion).toBe(1)
})

it('lets one of sixteen commits on one head win, with more writers than connections, and tells the others', async () => {
  const vaultId = await makeVault(alice)
  const commits = await Promise.all(
    Array.from(
      { length: 16 },
      async (_, i) => (await itemsCommit(alice, vaultId, [edit(`itm_race${i}`, { A: String(i) })])).commit,
    ),
  )
  const ended = await outcomes(
    commits.map((commit) => alice.client.vaults.commit({ params: { vaultId }, body: { commit } })),
  )
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended)).toEqual(new Set(['ok', 'vault_head_conflict']))
  expect((await openVault(alice, vaultId)).content.items.size).toBe(1)
})

it('answers proofs and rows of one moment while somebody writes', async () => {
  const vaultId = await makeVault(alice)
  let isWriting = true
  const write = async () => {
    for (let i = 0; i < 12; i += 1) await writeItems(alice, vaultId, [edit(`itm_m${i}`, { [`M${i}`]: String(i) })])
    isWriting = false
  }
  const readAlong = async () => {
    let reads = 0
    while (isWriting || reads === 0) {
      await openVault(alice, vaultId)
      reads += 1
    }
    return reads
  }
  const [, ...reads] = await Promise.all([write(), readAlong(), readAlong(), readAlong()])
  expect(Math.min(...reads)).toBeGreaterThan(1)
})

it('refuses a name with control characters, and documents of unknown kinds, with a code', async () => {
  const vaultId = await makeVault(alice)
  const good = await metaCommit(alice, vaultId, { name: 'fine' })
  for (const name of ['a\u0000b', 'two\nlines']) {
    const payload = JSON.parse(Buffer.from(good.head.payload, 'base64').toString())
    const text = JSON.stringify({ ...payload, meta: { ...payload.meta, name } })
    const commit = { ...good, head: { ...good.head, payload: Buffer.from(text).toString('base64') } }
    expect(await codeOf(alice.client.vaults.update({ params: { id: vaultId }, body: { commit } }))).toBe(
      'invalid_document',
    )
  }
  const foreign = { ...good, docs: [{ ...good.head, payloadType: 'text/plain' }] }
  expect(await codeOf(alice.client.vaults.commit({ params: { vaultId }, body: { commit: foreign } }))).toBe(
    'invalid_document',
  )
  expect(await codeOf(alice.client.permissions.setVault({ params: { vaultId }, body: { commit: foreign } }))).toBe(
    'invalid_document',
  )
  const event = { ...good.head, payloadType: 'text/plain' }
  expect(await codeOf(alice.client.keys.register({ body: { event } }))).toBe('invalid_document')
})

it('repeats nothing to somebody who has left the access list since', async () => {
  const vaultId = await makeVault(alice, { with: [{ identity: reader.identity, role: 'write' }] })
  const { commit } = await itemsCommit(reader, vaultId, [edit('itm_left', { A: '1' })])
  const send = () =>
    reader.client.vaults.commit({ params: { vaultId }, body: { commit } }, { idempotencyKey: 'left-1' })
  await send()
  await asSuperuser(h, (client) =>
    client.query('update vault_access set role = null where vault_id = $1 and principal = $2', [
      vaultId,
      reader.identity.key.principal,
    ]),
  )
  expect(await codeOf(send())).toBe('vault_not_found')
})

it('answers a repeated request with the same place in the log and the vault as it is now, proven', async () => {
  const vaultId = await makeVault(alice)
  const { commit } = await itemsCommit(alice, vaultId, [edit('itm_again', { A: '1' })])
  const send = () =>
    alice.client.vaults.commit({ params: { vaultId }, body: { commit } }, { idempotencyKey: 'again-1' })
  const first = await send()
  await writeItems(alice, vaultId, [edit('itm_later', { B: '2' })])
  const again = await send()
  expect(again.index).toBe(first.index)
  expect((await verifyVaultAnswer(again.signed, vaultId, trustOf(alice))).payload.headVersion).toBe(3)
})
