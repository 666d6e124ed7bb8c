import { createHash, randomBytes } from 'node:crypto'
import { MAX_PARTS, PART_BYTES } from '@strongroom/contract'
import {
  type AssetContent,
  assetRowOf,
  buildCommit,
  makeAssetCheckpoint,
  makeId,
  planItem,
  rewrapAsset,
  signItem,
  termsOf,
} from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  attach,
  attachCommit,
  download,
  encrypt,
  openTicket,
  put,
  sendPart,
  startUpload,
  uploadAll,
  urlFor,
} from '../../../test/attachment-client.ts'
import { type AttachmentWorld, startAttachmentWorld } from '../../../test/attachment-world.ts'
import type { Harness, TestAgent } from '../../../test/harness.ts'
import { codeOf, outcomes, refusal } from '../../../test/people.ts'
import { currentDek, edit, makeVault, openVault, writeItems } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'

// Catches: an attachment shown to somebody the access list does not name, or after it was archived; an upload that another writer goes
// on with; parts put together that are not what was sent; content that stays behind when its item moves, or that nobody uploaded and comes along with it. Seen red: the filter by
// starter left out of uploads, attachments of archived items and unlisted ones shown, gaps between parts taken.

let world: AttachmentWorld
let h: Harness
let alice: FirstPerson
let bot: AttachmentWorld['bot']
let stranger: TestAgent
let foreign: TestAgent
let vaultId: string
beforeAll(async () => {
  world = await startAttachmentWorld()
  ;({ h, alice, bot, stranger, foreign, vaultId } = world)
})
afterAll(() => world.close())

const actions = () =>
  inOrg(h.deps, alice.orgId, async (db) =>
    (await db.selectFrom('audit_event').select(['action', 'outcome']).execute())
      .filter(({ outcome }) => outcome === 'success')
      .map(({ action }) => action),
  )

it('takes an attachment up in the six steps and gives it back to a reader, verified and decrypted; the acts are recorded', async () => {
  const plaintext = randomBytes(9_000_000)
  const { assetId } = await attach(h.url, alice, vaultId, { itemId: 'itm_main', plaintext })
  const got = await download(h.url, bot, vaultId, assetId)
  expect(got.name).toBe('contract.pdf')
  expect(got.plaintext.equals(plaintext)).toBe(true)
  expect((await openVault(bot, vaultId)).content.assets.get(assetId)?.status).toBe('active')
  expect(await actions()).toEqual(
    expect.arrayContaining([
      'attachment.upload.start',
      'attachment.upload.presign',
      'attachment.upload.finalize',
      'attachment.create',
      'item.attach',
      'attachment.finish',
      'attachment.download',
    ]),
  )
})

it('goes on with an interrupted upload: says which parts are there, and takes a part again', async () => {
  const asset = await encrypt(alice, vaultId, randomBytes(9_000_000))
  const uploadId = await startUpload(alice, vaultId)
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = [
    asset.ciphertext.subarray(0, 8_388_608),
    asset.ciphertext.subarray(8_388_608),
  ]
  const spoiled = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 1, body: randomBytes(first.length) })
  const { data: there, status } = await alice.client.attachments.upload({ params: { vaultId, uploadId } })
  expect(status).toBe('open')
  expect(there).toEqual([{ partNumber: 1, size: first.length, etag: spoiled.etag.replaceAll('"', '') }])
  const two = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 2, body: second })
  const finalize = (parts: (typeof two)[]) =>
    alice.client.attachments.finalize({ params: { vaultId }, body: { uploadId, parts } })
  const honest = { ...spoiled, sha256: createHash('sha256').update(first).digest('base64url') }
  expect(await refusal(finalize([honest, two]))).toMatchObject({
    status: 422,
    code: 'upload_parts_refused',
    details: { parts: [1], count: 1 },
  })
  const one = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 1, body: first })
  expect((await finalize([one, two])).ciphertextHash).toBe(asset.content.ciphertextHash)
  expect((await finalize([one, two])).ciphertextHash).toBe(asset.content.ciphertextHash)
  expect(await codeOf(urlFor(alice, vaultId, uploadId, { partNumber: 3, size: 10 }))).toBe('upload_finalized')
})

it('refuses to finalize parts that are missing, out of order, too short in the middle, or other bytes; the upload stays open', async () => {
  const uploadId = await startUpload(alice, vaultId)
  const one = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 1, body: randomBytes(100) })
  const two = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 2, body: randomBytes(100) })
  const finalize = (parts: (typeof one)[]) =>
    alice.client.attachments.finalize({ params: { vaultId }, body: { uploadId, parts } })
  const other = { ...one, sha256: two.sha256 }
  for (const parts of [[one, two], [two], [other], [{ ...one, size: 99 }], [{ ...one, etag: two.etag }], [one, one]])
    expect(await codeOf(finalize(parts))).toBe('upload_parts_refused')
  expect((await finalize([one])).ciphertextSize).toBe(100)
})

it('looks at as many parts as an upload can have before it refuses them', async () => {
  const uploadId = await startUpload(alice, vaultId)
  const parts = Array.from({ length: MAX_PARTS }, (_, index) => ({
    partNumber: index + 1,
    etag: '"0123456789abcdef0123456789abcdef"',
    size: PART_BYTES,
    sha256: 'A'.repeat(43),
  }))
  expect(await refusal(alice.client.attachments.finalize({ params: { vaultId }, body: { uploadId, parts } }))).toEqual(
    expect.objectContaining({ code: 'upload_parts_refused', details: expect.objectContaining({ count: MAX_PARTS }) }),
  )
})

it('keeps the object when its item moves: nobody of the old vault gets it, readers of the new one do', async () => {
  const to = await makeVault(alice, { name: 'other' })
  await writeItems(alice, vaultId, [edit('itm_mover', { M: '1' })])
  const plaintext = randomBytes(5000)
  const { assetId } = await attach(h.url, alice, vaultId, { itemId: 'itm_mover', plaintext })
  const key = () =>
    inOrg(h.deps, alice.orgId, (db) =>
      db.selectFrom('attachment').select('object_key').where('asset_id', '=', assetId).executeTakeFirstOrThrow(),
    )
  const before = await key()
  const { asset } = await openTicket(alice, vaultId, assetId)
  const at = Date.now()
  const place = { org: alice.orgId, vaultId: to, assetId, assetVersion: 1 }
  const content = await rewrapAsset(asset, await currentDek(alice, vaultId), await currentDek(alice, to))
  const plan = await planItem(
    await currentDek(alice, to),
    undefined,
    edit('itm_mover', { M: '1' }, { assets: [assetId] }),
  )
  const item = await signItem(plan, { org: alice.orgId, vaultId: to, at }, alice.identity)
  const half = async (id: string, more: object) => {
    const { head, content } = await openVault(alice, id)
    const input = { org: alice.orgId, at, vaultId: id, base: head, content, terms: termsOf(head.payload), ...more }
    return (await buildCommit(input, alice.identity)).commit
  }
  const moveWith = async (content: AssetContent) => {
    const envelope = await makeAssetCheckpoint({ place, itemId: 'itm_mover', content, at }, alice.identity)
    const row = assetRowOf(envelope, { place, itemId: 'itm_mover' })
    const from = await half(vaultId, { moved: ['itm_mover'] })
    const body = { from, to: await half(to, { items: [item], assets: [{ row, envelope }] }) }
    return alice.client.items.move({ params: { id: 'itm_mover' }, body })
  }
  const stored = await world.stored()
  expect(await codeOf(moveWith({ ...content, ciphertextHash: 'A'.repeat(43) }))).toBe('attachment_mismatch')
  expect(await world.stored()).toBe(stored)
  await moveWith(content)
  expect((await download(h.url, alice, to, assetId)).plaintext.equals(plaintext)).toBe(true)
  expect(await key()).toEqual(before)
  expect(await outcomes([vaultId, to].map((id) => ticketOf(bot, id, assetId)))).toEqual([
    'attachment_not_found',
    'attachment_not_found',
  ])
})

const ticketOf = ({ client }: Pick<TestAgent, 'client'>, id: string, assetId: string) =>
  client.attachments.ticket({ params: { vaultId: id, assetId } })

it('answers alike for an attachment that is absent, of another organisation, without access, archived or no longer listed', async () => {
  await writeItems(alice, vaultId, [edit('itm_gone', { G: '1' }), edit('itm_arch', { H: '1' })])
  const dropped = await attach(h.url, alice, vaultId, { itemId: 'itm_gone', plaintext: randomBytes(10) })
  const archived = await attach(h.url, alice, vaultId, { itemId: 'itm_arch', plaintext: randomBytes(10) })
  expect((await ticketOf(alice, vaultId, dropped.assetId)).url).toContain('/objects/')
  const answersOf = async (calls: Promise<unknown>[]) =>
    (await Promise.all(calls.map(refusal))).map((one) => JSON.stringify(one))
  const denied = await answersOf([
    ticketOf(stranger, vaultId, dropped.assetId),
    ticketOf(foreign, vaultId, dropped.assetId),
    ticketOf(alice, vaultId, makeId('ast')),
    ticketOf(alice, `v${'a'.repeat(32)}`, dropped.assetId),
  ])
  await writeItems(alice, vaultId, [
    edit('itm_gone', { G: '2' }),
    edit('itm_arch', { H: '2' }, { status: 'archived', assets: [archived.assetId] }),
  ])
  const gone = [ticketOf(alice, vaultId, dropped.assetId), ticketOf(alice, vaultId, archived.assetId)]
  const answers = new Set([...denied, ...(await answersOf(gone))])
  expect(answers.size).toBe(1)
  expect([...answers][0]).toContain('attachment_not_found')
})

it('lets a reader download and not upload, and nobody go on with the upload of somebody else', async () => {
  const own = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  await writeItems(alice, own, [edit('itm_read', { R: '1' })])
  const { assetId } = await attach(h.url, alice, own, { itemId: 'itm_read', plaintext: Buffer.from('hello') })
  expect((await download(h.url, bot, own, assetId)).plaintext.toString()).toBe('hello')
  expect(await codeOf(startUpload(bot, own))).toBe('vault_access_denied')
  const uploadId = await startUpload(alice, vaultId)
  const tries = ({ client }: Pick<TestAgent, 'client'>) => [
    client.attachments.presign({ params: { vaultId }, body: { uploadId, parts: [{ partNumber: 1, size: 10 }] } }),
    client.attachments.upload({ params: { vaultId, uploadId } }),
    client.attachments.finalize({
      params: { vaultId },
      body: { uploadId, parts: [{ partNumber: 1, size: 10, etag: 'x', sha256: 'A'.repeat(43) }] },
    }),
    client.attachments.create({
      params: { vaultId },
      body: { uploadId, assetId: makeId('ast'), assetVersion: 1, itemId: 'itm_main' },
    }),
  ]
  const before = await world.stored()
  expect(new Set(await outcomes(tries(bot)))).toEqual(new Set(['upload_not_found']))
  for (const who of [stranger, foreign]) {
    expect(new Set(await outcomes(tries(who)))).toEqual(new Set(['vault_not_found']))
    expect(await codeOf(startUpload(who, vaultId))).toBe('vault_not_found')
  }
  expect(await world.stored()).toBe(before)
})

it('takes the next version of an attachment and refuses any other, an id in use elsewhere, and an upload twice', async () => {
  const first = await attach(h.url, alice, vaultId, { itemId: 'itm_main', plaintext: Buffer.from('one') })
  const { assetId } = first
  await writeItems(alice, vaultId, [edit('itm_else', { B: '1' })])
  const uploadId = await startUpload(alice, vaultId)
  const create = (id: string, body: object) =>
    alice.client.attachments.create({
      params: { vaultId: id },
      body: { uploadId, assetId, assetVersion: 2, itemId: 'itm_main', ...body },
    })
  expect(await refusal(create(vaultId, { assetVersion: 1 }))).toMatchObject({
    code: 'attachment_version_conflict',
    details: { next: 2 },
  })
  expect(await codeOf(create(vaultId, { assetVersion: 3 }))).toBe('attachment_version_conflict')
  expect(await codeOf(create(vaultId, { itemId: 'itm_else' }))).toBe('attachment_version_conflict')
  expect(await codeOf(create(vaultId, { itemId: 'itm_none' }))).toBe('vault_item_not_found')
  expect(await codeOf(create(vaultId, { assetId: makeId('ast'), assetVersion: 2 }))).toBe('attachment_version_conflict')
  const elsewhere = await makeVault(alice)
  await writeItems(alice, elsewhere, [edit('itm_far', { F: '1' })])
  const far = await startUpload(alice, elsewhere)
  expect(await codeOf(create(elsewhere, { uploadId: far, itemId: 'itm_far' }))).toBe('id_conflict')
  await create(vaultId, {})
  expect(await codeOf(create(vaultId, { assetId: makeId('ast'), assetVersion: 1 }))).toBe('id_conflict')
  const asset = await encrypt(alice, vaultId, Buffer.from('two'), { assetId, assetVersion: 2 })
  const second = await uploadAll(h.url, alice, vaultId, asset.ciphertext)
  await create(vaultId, { uploadId: second.uploadId })
  const commit = await attachCommit(alice, vaultId, { itemId: 'itm_main', asset })
  await alice.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } })
  expect((await download(h.url, bot, vaultId, assetId)).plaintext.toString()).toBe('two')
})

it('keeps a part of an upload that is over out', async () => {
  const uploadId = await startUpload(alice, vaultId)
  const body = randomBytes(100)
  const url = await urlFor(alice, vaultId, uploadId, { partNumber: 2, size: 100 })
  const part = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 1, body })
  await alice.client.attachments.finalize({ params: { vaultId }, body: { uploadId, parts: [part] } })
  expect((await put(h.url, url, body)).status).toBe(404)
})
