import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeId } from '@strongroom/protocol'
import type { FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  attach,
  attachCommit,
  download,
  encrypt,
  sendPart,
  startUpload,
  uploadAll,
} from '../../../test/attachment-client.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { codeOf, foundOrg } from '../../../test/people.ts'
import { edit, makeVault, writeItems } from '../../../test/vault-writer.ts'
import { inOrg } from '../../context.ts'
import type { ObjectStorage } from '../../outside/object-storage.ts'
import { objectStorage } from '../../outside/object-storage-choice.ts'
import { sweepAttachments } from './sweep.ts'

// Catches: something swept that somebody still needs, something left that nobody will come for, a crash between storage and database
// that leaves either for ever. Seen red: the age of uploads left out (an open one went), orphans deleted when they are noticed, the
// object left while its row went, the current version taken for an older one, one that another sweeper took counted twice (with a pause
// between listing and asking).

const DAY = 86_400_000

let h: Harness
let data: string
let alice: FirstPerson
let vaultId: string
let storage: ObjectStorage
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'sr-sweep-'))
  h = await startHarness({ dataDirectory: data })
  alice = await foundOrg(h)
  vaultId = await makeVault(alice)
  await writeItems(alice, vaultId, [edit('itm_main', { A: '1' })])
  storage = objectStorage(h.deps)
})
afterAll(async () => {
  await h.close()
  rmSync(data, { recursive: true, force: true })
})
const sweep = () => sweepAttachments(h.deps, h.worker)
beforeEach(async () => {
  h.advance(DAY + 1000)
  await sweep()
})

const rowOf = (uploadId: string) =>
  inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('attachment_upload').selectAll().where('upload_id', '=', uploadId).executeTakeFirst(),
  )
const keyOf = async (uploadId: string) => (await rowOf(uploadId))?.object_key ?? ''
const session = async () => {
  // A session does not outlive the days these tests skip.
  await inOrg(h.deps, alice.orgId, (db) =>
    db
      .updateTable('session')
      .set({ last_used_at: h.deps.now(), expires_at: new Date(h.deps.now().getTime() + DAY) })
      .execute(),
  )
}
beforeEach(session)

it('leaves alone what was touched in the last day, and takes the rest: rows, placeholders and parts', async () => {
  const old = await startUpload(alice, vaultId)
  await sendPart(h.url, alice, vaultId, { uploadId: old, partNumber: 1, body: randomBytes(100) })
  const assetId = makeId('ast')
  const body = { uploadId: old, assetId, assetVersion: 1, itemId: 'itm_main' }
  await alice.client.attachments.create({ params: { vaultId }, body })
  const key = await keyOf(old)
  h.advance(DAY - 60_000)
  await session()
  const fresh = await startUpload(alice, vaultId)
  expect(await sweep()).toEqual({ uploads: 0, superseded: 0, orphans: 0 })
  h.advance(120_000)
  expect((await sweep()).uploads).toBe(1)
  expect(await rowOf(old)).toBeUndefined()
  expect(await storage.listParts({ key, storageId: 'disk' })).toBeUndefined()
  expect((await rowOf(fresh))?.status).toBe('open')
  const placeholders = await inOrg(h.deps, alice.orgId, (db) =>
    db.selectFrom('attachment').select('asset_id').where('asset_id', '=', assetId).execute(),
  )
  expect(placeholders).toEqual([])
})

it('takes a finalized upload that nobody attached, and never one that is attached', async () => {
  const { assetId } = await attach(h.url, alice, vaultId, { itemId: 'itm_main', plaintext: Buffer.from('kept') })
  const { uploadId } = await uploadAll(h.url, alice, vaultId, randomBytes(300))
  const key = await keyOf(uploadId)
  expect(await storage.stat(key)).toEqual({ size: 300 })
  h.advance(30 * DAY)
  await session()
  expect((await sweep()).uploads).toBe(1)
  expect(await storage.stat(key)).toBeUndefined()
  for (let i = 0; i < 3; i++) {
    h.advance(30 * DAY)
    await sweep()
  }
  await session()
  expect((await download(h.url, alice, vaultId, assetId)).plaintext.toString()).toBe('kept')
})

it('takes an upload that a crash left in storage without a row, a day later', async () => {
  const key = h.deps.newId('obj')
  await storage.startUpload(key)
  // The folder has the time of the machine, not of these tests.
  utimesSync(join(data, 'objects', 'uploads', key), h.deps.now(), h.deps.now())
  expect(await sweep()).toMatchObject({ uploads: 0 })
  h.advance(2 * DAY)
  expect(await sweep()).toMatchObject({ uploads: 1 })
  expect(await storage.listParts({ key, storageId: 'disk' })).toBeUndefined()
})

it('takes an object that no row knows a week after it was noticed, and not because it is old', async () => {
  const key = h.deps.newId('obj')
  const upload = { key, storageId: await storage.startUpload(key) }
  await storage.completeUpload(upload, [])
  h.advance(60 * DAY)
  expect((await sweep()).orphans).toBe(0)
  h.advance(6 * DAY)
  expect((await sweep()).orphans).toBe(0)
  expect(await storage.stat(key)).toBeDefined()
  h.advance(2 * DAY)
  expect((await sweep()).orphans).toBe(1)
  expect(await storage.stat(key)).toBeUndefined()
})

it('lets an upload be finalized again after a crash between storage and database', async () => {
  const uploadId = await startUpload(alice, vaultId)
  const part = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 1, body: randomBytes(100) })
  const sent = { ...part, etag: part.etag.replaceAll('"', '') }
  // As far as the process got that crashed.
  await storage.completeUpload({ key: await keyOf(uploadId), storageId: 'disk' }, [sent])
  expect((await rowOf(uploadId))?.status).toBe('open')
  const body = { uploadId, parts: [part] }
  expect((await alice.client.attachments.finalize({ params: { vaultId }, body })).ciphertextSize).toBe(100)
})

it('finishes what another sweeper began and did not finish', async () => {
  const [one, two] = [await uploadAll(h.url, alice, vaultId, randomBytes(10)), await startUpload(alice, vaultId)]
  const keys = [await keyOf(one.uploadId), await keyOf(two)]
  await inOrg(h.deps, alice.orgId, (db) => db.updateTable('attachment_upload').set({ status: 'ending' }).execute())
  // One had gone as far as the object.
  await storage.delete(keys[0] ?? '')
  expect((await sweep()).uploads).toBe(0)
  const refused = alice.client.attachments.upload({ params: { vaultId, uploadId: two } })
  expect(await codeOf(refused)).toBe('upload_not_found')
  h.advance(11 * 60_000)
  expect((await sweep()).uploads).toBe(2)
  expect([await rowOf(one.uploadId), await rowOf(two)]).toEqual([undefined, undefined])
})

it('takes the content of an older version a day after the newer one is there, and only that', async () => {
  const { assetId } = await attach(h.url, alice, vaultId, { itemId: 'itm_main', plaintext: Buffer.from('one') })
  const next = { itemId: 'itm_main', plaintext: Buffer.from('two'), assetId, assetVersion: 2 }
  await attach(h.url, alice, vaultId, next)
  expect((await sweep()).superseded).toBe(0)
  h.advance(DAY + 1000)
  expect((await sweep()).superseded).toBe(1)
  await session()
  expect((await download(h.url, alice, vaultId, assetId)).plaintext.toString()).toBe('two')
})

it('sweeps each thing once when many sweep at the same time, also while somebody finishes', async () => {
  const uploads = await Promise.all(Array.from({ length: 8 }, () => startUpload(alice, vaultId)))
  const asset = await encrypt(alice, vaultId, Buffer.from('raced'))
  const { assetId, assetVersion } = asset
  const { uploadId } = await uploadAll(h.url, alice, vaultId, asset.ciphertext)
  const body = { uploadId, assetId, assetVersion, itemId: 'itm_main' }
  await alice.client.attachments.create({ params: { vaultId }, body })
  h.advance(2 * DAY)
  await session()
  const commit = await attachCommit(alice, vaultId, { itemId: 'itm_main', asset })
  const [finished, ...swept] = await Promise.all([
    alice.client.attachments.finish({ params: { vaultId, assetId }, body: { commit } }).then(
      () => 1,
      () => 0,
    ),
    ...Array.from({ length: 4 }, sweep),
  ])
  const total = (swept as Awaited<ReturnType<typeof sweep>>[]).reduce((sum, one) => sum + one.uploads, 0)
  expect(total).toBe(uploads.length + (finished === 1 ? 0 : 1))
  if (finished === 1) expect((await download(h.url, alice, vaultId, assetId)).plaintext.toString()).toBe('raced')
  expect(await Promise.all(uploads.map(rowOf))).toEqual(uploads.map(() => undefined))
})
