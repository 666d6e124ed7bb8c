import { itemDetail, peekDocument, verifyAssetRow, verifyItemRow, verifyVaultAnswer } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { attach, encrypt, put, startUpload, urlFor } from '../../../test/attachment-client.ts'
import { type AttachmentWorld, startAttachmentWorld } from '../../../test/attachment-world.ts'
import { codeOf } from '../../../test/people.ts'
import { edit, trustOf, writeItems } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'

// Catches: an attachment of another item in the list, a row without its proof, a list shown to somebody without access, an upload that
// somebody else ends, one that goes on after its end. Seen red: the filter by item left out, the filter by starter left out.

let world: AttachmentWorld
beforeAll(async () => {
  world = await startAttachmentWorld()
})
afterAll(() => world.close())

it('lists the attachments of an item with checkpoints and proofs of one moment, and records it', async () => {
  const { h, alice, bot, vaultId } = world
  await writeItems(alice, vaultId, [edit('itm_other', { B: '1' })])
  const plaintext = Buffer.from('x')
  const first = await attach(h.url, alice, vaultId, { itemId: 'itm_main', plaintext })
  const second = await attach(h.url, bot, vaultId, { itemId: 'itm_main', plaintext })
  await attach(h.url, alice, vaultId, { itemId: 'itm_other', plaintext })
  const { data, item, signed } = await bot.client.attachments.list({ params: { vaultId, itemId: 'itm_main' } })
  const head = await verifyVaultAnswer(signed, vaultId, trustOf(bot))
  const assetIds = [first.assetId, second.assetId].sort()
  expect(data.map(({ row, proof }) => verifyAssetRow(head, row, proof).assetId)).toEqual(assetIds)
  expect(verifyItemRow(head, item.row, item.proof).itemId).toBe('itm_main')
  expect(peekDocument(itemDetail, item.detail).payload.assets).toEqual(assetIds)
  for (const { checkpoint } of data) {
    const [by = ''] = checkpoint.signatures.map(({ keyid }) => keyid)
    expect(await head.vault.directory.resolve(by)).toMatchObject({ entry: { status: 'active' } })
  }
  const acts = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('audit_event').select('action').where('action', '=', 'attachment.list').execute(),
  )
  expect(acts).toHaveLength(1)
})

it('shows nothing to somebody without access, and nothing of an item that is not there', async () => {
  const { alice, stranger, foreign, vaultId } = world
  const params = { vaultId, itemId: 'itm_main' }
  expect(await codeOf(stranger.client.attachments.list({ params }))).toBe('vault_not_found')
  expect(await codeOf(foreign.client.attachments.list({ params }))).toBe('vault_not_found')
  const absent = { vaultId, itemId: 'itm_absent' }
  expect(await codeOf(alice.client.attachments.list({ params: absent }))).toBe('vault_item_not_found')
})

it('ends an upload for whoever started it, and for nobody else; then no part and no placeholder is taken', async () => {
  const { h, alice, bot, foreign, vaultId } = world
  const uploadId = await startUpload(alice, vaultId)
  const { assetId, ciphertext } = await encrypt(alice, vaultId, Buffer.from('x'))
  const url = await urlFor(alice, vaultId, uploadId, { partNumber: 1, size: ciphertext.length })
  const before = await world.stored()
  expect(await codeOf(bot.client.attachments.abort({ params: { vaultId, uploadId } }))).toBe('upload_not_found')
  expect(await codeOf(foreign.client.attachments.abort({ params: { vaultId, uploadId } }))).toBe('vault_not_found')
  expect(await world.stored()).toBe(before)
  expect(await alice.client.attachments.abort({ params: { vaultId, uploadId } })).toEqual({ uploadId })
  expect(await codeOf(alice.client.attachments.abort({ params: { vaultId, uploadId } }))).toBe('upload_not_found')
  const body = { uploadId, assetId, assetVersion: 1, itemId: 'itm_main' }
  expect(await codeOf(alice.client.attachments.create({ params: { vaultId }, body }))).toBe('upload_not_found')
  const parts = [{ partNumber: 1, size: ciphertext.length }]
  const presign = alice.client.attachments.presign({ params: { vaultId }, body: { uploadId, parts } })
  expect(await codeOf(presign)).toBe('upload_not_found')
  // An address that was given out before still takes its part; the sweeper takes it away with the rest.
  expect((await put(h.url, url, ciphertext)).status).toBe(200)
})
