import { randomBytes } from 'node:crypto'
import { assetRowOf, buildCommit, makeAssetCheckpoint, makeId, termsOf } from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  attachCommit,
  download,
  type Encrypted,
  encrypt,
  sendPart,
  startUpload,
  uploadAll,
} from '../../../test/attachment-client.ts'
import { type AttachmentWorld, startAttachmentWorld } from '../../../test/attachment-world.ts'
import type { Harness } from '../../../test/harness.ts'
import { codeOf, outcomes, refusal } from '../../../test/people.ts'
import { edit, makeVault, metaCommit, openVault, writeItems } from '../../../test/vault-writer.ts'

// Catches: a checkpoint of another size or hash that is taken, a finish that two requests both win, a commit that changes more than it
// says, content that a commit names and nobody uploaded. Seen red: sizes and hashes not compared, the status of the placeholder not
// asked (sixteen won), a rename taken along, content that is not stored taken by a commit.

let world: AttachmentWorld
let h: Harness
let alice: FirstPerson
let bot: AttachmentWorld['bot']
let vaultId: string
beforeAll(async () => {
  world = await startAttachmentWorld()
  ;({ h, alice, bot, vaultId } = world)
})
afterAll(() => world.close())

async function prepared(size = 1000): Promise<Encrypted & { uploadId: string }> {
  const asset = await encrypt(alice, vaultId, randomBytes(size))
  const { uploadId } = await uploadAll(h.url, alice, vaultId, asset.ciphertext)
  const { assetId, assetVersion } = asset
  const body = { uploadId, assetId, assetVersion, itemId: 'itm_main' }
  await alice.client.attachments.create({ params: { vaultId }, body })
  return { ...asset, uploadId }
}

it('gives the placeholder the status uploading and the finished attachment the status stored', async () => {
  const asset = await encrypt(alice, vaultId, randomBytes(10))
  const { assetId, assetVersion } = asset
  const uploadId = await startUpload(alice, vaultId)
  const body = { uploadId, assetId, assetVersion, itemId: 'itm_main' }
  const { attachment } = await alice.client.attachments.create({ params: { vaultId }, body })
  expect(attachment).toMatchObject({ assetId, assetVersion: 1, vaultId, itemId: 'itm_main', status: 'uploading' })
  const commit = await attachCommit(alice, vaultId, { itemId: 'itm_main', asset })
  const finish = () => alice.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } })
  expect(await codeOf(finish())).toBe('upload_not_finalized')
  const part = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 1, body: asset.ciphertext })
  const answer = await alice.client.attachments.finalize({ params: { vaultId }, body: { uploadId, parts: [part] } })
  const { ciphertextSize, ciphertextHash } = asset.content
  expect(answer).toEqual({ uploadId, ciphertextSize, ciphertextHash })
  expect(await codeOf(alice.client.attachments.ticket({ params: { vaultId, assetId } }))).toBe('attachment_not_found')
  expect((await finish()).attachment.status).toBe('stored')
  expect(await codeOf(finish())).toBe('attachment_stored')
})

it('refuses a checkpoint of another size, hash or item than was uploaded; nothing changes', async () => {
  await writeItems(alice, vaultId, [edit('itm_else', { B: '1' })])
  const asset = await prepared()
  const { assetId, content } = asset
  const wrong = [
    { itemId: 'itm_main', asset: { ...asset, content: { ...content, ciphertextSize: content.ciphertextSize + 1 } } },
    { itemId: 'itm_main', asset: { ...asset, content: { ...content, ciphertextHash: 'A'.repeat(43) } } },
    { itemId: 'itm_else', asset },
  ]
  const commits = await Promise.all(wrong.map((one) => attachCommit(alice, vaultId, one)))
  const before = await world.stored()
  const members = ['ciphertextSize', 'ciphertextHash', 'itemId']
  for (const [index, commit] of commits.entries())
    expect(
      await refusal(alice.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } })),
    ).toMatchObject({ status: 422, code: 'attachment_mismatch', details: { member: members[index] } })
  expect(await world.stored()).toBe(before)
  const commit = await attachCommit(alice, vaultId, { itemId: 'itm_main', asset })
  await alice.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } })
})

it('takes nothing else with it: no other item, no rename, no attachment that its item does not list', async () => {
  const asset = await prepared()
  const { assetId } = asset
  const renamed = await attachCommit(alice, vaultId, { itemId: 'itm_main', asset }, { rename: 'other' })
  const before = await world.stored()
  const finish = (commit: typeof renamed) =>
    alice.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } })
  expect(await refusal(finish(renamed))).toMatchObject({
    code: 'invalid_document',
    details: { rule: 'only_the_list_of_attachments' },
  })
  const commit = await attachCommit(alice, vaultId, { itemId: 'itm_main', asset })
  const other = makeId('ast')
  expect(
    await refusal(alice.client.attachments.finish({ params: { vaultId, assetId: other }, body: { commit } })),
  ).toMatchObject({ code: 'invalid_document', details: { rule: 'another_attachment' } })
  expect(await codeOf(finish({ ...commit, docs: [] }))).toBe('invalid_document')
  const unlisted = await withoutDetail(asset)
  expect(await refusal(finish(unlisted))).toMatchObject({ details: { rule: 'the_item_lists_it' } })
  expect(await world.stored()).toBe(before)
})

/** The same without the detail that lists it. */
async function withoutDetail({ assetId, assetVersion, content }: Encrypted) {
  const { head, content: rows } = await openVault(alice, vaultId)
  const place = { org: alice.orgId, vaultId, assetId, assetVersion }
  const at = Date.now()
  const envelope = await makeAssetCheckpoint({ place, itemId: 'itm_main', content, at }, alice.identity)
  const assets = [{ row: assetRowOf(envelope, { place, itemId: 'itm_main' }), envelope }]
  const input = { org: alice.orgId, vaultId, base: head, content: rows, terms: termsOf(head.payload), assets, at }
  return (await buildCommit(input, alice.identity)).commit
}

it('refuses content by a general commit that nobody has uploaded', async () => {
  const asset = await encrypt(alice, vaultId, randomBytes(10))
  const commit = await attachCommit(alice, vaultId, { itemId: 'itm_main', asset })
  const before = await world.stored()
  expect(await codeOf(alice.client.vaults.commit({ params: { vaultId }, body: { commit } }))).toBe(
    'attachment_mismatch',
  )
  expect(await world.stored()).toBe(before)
})

it('lets exactly one of sixteen finishes of one attachment win, with more callers than connections', async () => {
  const asset = await prepared()
  const { assetId } = asset
  const commits = await Promise.all(
    Array.from({ length: 16 }, () => attachCommit(alice, vaultId, { itemId: 'itm_main', asset })),
  )
  const ended = await outcomes(
    commits.map((commit) => alice.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } })),
  )
  expect(ended.filter((one) => one === 'ok')).toHaveLength(1)
  expect(new Set(ended)).toEqual(new Set(['ok', 'attachment_stored']))
  expect((await download(h.url, bot, vaultId, assetId)).plaintext).toHaveLength(1000)
})

it('answers a repeated finish with the same place in the log', async () => {
  const asset = await prepared()
  const { assetId } = asset
  const commit = await attachCommit(alice, vaultId, { itemId: 'itm_main', asset })
  const finish = () =>
    alice.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } }, { idempotencyKey: 'fin-1' })
  const first = await finish()
  expect((await finish()).index).toBe(first.index)
})

it('answers repeated requests as the first ones, whatever has become of upload and vault since', async () => {
  const id = await makeVault(alice, { with: [{ identity: bot.identity, role: 'write' }] })
  await writeItems(alice, id, [edit('itm_kept', { A: '1' })])
  const asset = await encrypt(bot, id, randomBytes(100))
  const { assetId, assetVersion } = asset
  const uploadId = await startUpload(bot, id)
  const part = await sendPart(h.url, bot, id, { uploadId, partNumber: 1, body: asset.ciphertext })
  const params = { vaultId: id }
  const finalize = () =>
    bot.client.attachments.finalize({ params, body: { uploadId, parts: [part] } }, { idempotencyKey: 'again-1' })
  const finalized = await finalize()
  await bot.client.attachments.create({ params, body: { uploadId, assetId, assetVersion, itemId: 'itm_kept' } })
  const commit = await attachCommit(bot, id, { itemId: 'itm_kept', asset })
  const finish = () =>
    bot.client.attachments.finish({ params: { ...params, assetId }, body: { commit } }, { idempotencyKey: 'again-2' })
  const { index } = await finish()
  expect(await finalize()).toEqual(finalized)
  await alice.client.vaults.archive({ params, body: { commit: await metaCommit(alice, id, { status: 'archived' }) } })
  expect(await finalize()).toEqual(finalized)
  expect(await finish()).toMatchObject({ index, vault: { status: 'archived' }, attachment: { assetId } })
})

it('refuses a finish by another writer than the one who made the placeholder', async () => {
  const asset = await prepared()
  const commit = await attachCommit(bot, vaultId, { itemId: 'itm_main', asset })
  const params = { vaultId, assetId: asset.assetId }
  expect(await codeOf(bot.client.attachments.finish({ params, body: { commit } }))).toBe('attachment_not_found')
})
