import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { openRootKey } from '../secrets/root-key.ts'
import type { SentPart } from './object-storage.ts'
import { diskStorage, putPart, readObject } from './object-storage-disk.ts'

// What lies in the folders when a part is sent again, at once, while it is put together, or after a crash. Two processes share the
// folders and nothing else, so calls here stand for any of them.
// Catches: more bytes on the disk than addresses were given out for; an object with a part missing or with parts of two senders; a
// sender who is told of success and whose part is gone. Seen red: every version kept, drafts left alone, a draft unlinked and not cut off,
// the draft not looked for before each chunk, what is missing or left over in the object not looked for.

const data = mkdtempSync(join(tmpdir(), 'sr-disk-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

const deps = {
  config: { ...readConfig({}, []), dataDirectory: data },
  rootKey: openRootKey(new Uint8Array(32).fill(7)),
  now: () => new Date(),
}
const storage = diskStorage(deps)

async function start() {
  const key = `obj_${randomBytes(11).toString('hex')}`
  return { key, storageId: await storage.startUpload(key) }
}
type Upload = Awaited<ReturnType<typeof start>>

const pathOf = ({ key }: Upload): string => join(data, 'objects', 'uploads', key)
const objectOf = ({ key }: Upload): string => join(data, 'objects', 'stored', key.slice(4, 6), key)
const inFolder = (folder: string): string[] => readdirSync(folder).sort()

const SIZE = 65_536
const hexOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex')
const partOf = (partNumber: number, body: Uint8Array): SentPart => {
  const etag = hexOf(body)
  return { partNumber, size: body.length, etag, sha256: Buffer.from(etag, 'hex').toString('base64url') }
}
async function* chunksOf(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
const send = (upload: Upload, partNumber: number, body: Uint8Array) =>
  putPart(deps, { key: upload.key, partNumber, size: body.length }, chunksOf(body))

/** Half of a part is there, and the rest comes when it is let go on. */
async function sendSlowly(upload: Upload, partNumber: number, body: Uint8Array) {
  let goOn: () => void = () => undefined
  const rest = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let halfDone: () => void = () => undefined
  const half = new Promise<void>((resolve) => {
    halfDone = resolve
  })
  async function* source(): AsyncGenerator<Uint8Array> {
    yield body.subarray(0, SIZE / 2)
    halfDone()
    await rest
    yield body.subarray(SIZE / 2)
  }
  const sending = putPart(deps, { key: upload.key, partNumber, size: body.length }, source())
  sending.catch(() => undefined)
  await half
  return { sending, goOn }
}

async function bytesOf({ key }: Upload): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readObject(deps, key)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

it('keeps the last version of a part, and its object has nothing that the manifest does not name', async () => {
  const upload = await start()
  const bodies = Array.from({ length: 11 }, () => randomBytes(SIZE))
  for (const body of bodies) await send(upload, 1, body)
  const [first = Buffer.of(), last = Buffer.of()] = [bodies[0], bodies.at(-1)]
  // The same bytes once more, as from a sender who did not hear the answer.
  expect(await send(upload, 1, last)).toEqual({ etag: hexOf(last) })
  expect(inFolder(pathOf(upload))).toEqual([`00001.${hexOf(last)}`])
  expect(await storage.completeUpload(upload, [partOf(1, first)])).toEqual({ state: 'refused', parts: [1] })
  expect(await storage.completeUpload(upload, [partOf(1, last)])).toEqual({ state: 'complete' })
  expect(inFolder(objectOf(upload))).toEqual([`00001.${hexOf(last)}`, 'manifest'])
  expect((await bytesOf(upload)).equals(last)).toBe(true)
})

it('lets the last who begins send a part: the draft before is cut off, and its sender refused', async () => {
  const upload = await start()
  const [mine, theirs] = [randomBytes(SIZE), randomBytes(SIZE)]
  const slow = await sendSlowly(upload, 1, mine)
  const other = await sendSlowly(upload, 2, mine)
  const draft = inFolder(pathOf(upload)).find((name) => name.startsWith('draft-00001-')) ?? ''
  const held = await open(join(pathOf(upload), draft), 'r')
  expect((await held.stat()).size).toBe(SIZE / 2)
  await send(upload, 1, theirs)
  expect((await held.stat()).size).toBe(0)
  slow.goOn()
  await expect(slow.sending).rejects.toMatchObject({ code: 'overloaded', headers: { 'retry-after': '1' } })
  expect((await held.stat()).size).toBe(0)
  await held.close()
  // Another part is nobody else's business.
  other.goOn()
  expect(await other.sending).toEqual({ etag: hexOf(mine) })
  expect(inFolder(pathOf(upload))).toEqual([`00001.${hexOf(theirs)}`, `00002.${hexOf(mine)}`])
  expect(await storage.completeUpload(upload, [partOf(1, theirs), partOf(2, mine)])).toEqual({ state: 'complete' })
})

it('keeps one version and no draft of all that are sent at once', async () => {
  const upload = await start()
  const bodies = Array.from({ length: 24 }, () => randomBytes(SIZE))
  const ends = await Promise.allSettled(bodies.map((body) => send(upload, 1, body)))
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason.code] : []))
  expect(refused.every((code) => code === 'overloaded')).toBe(true)
  const body = randomBytes(SIZE)
  await send(upload, 1, body)
  expect(inFolder(pathOf(upload))).toEqual([`00001.${hexOf(body)}`])
})

it('ends a part that is still being sent when the upload is put together', async () => {
  const upload = await start()
  const body = randomBytes(SIZE)
  await send(upload, 1, body)
  const slow = await sendSlowly(upload, 1, randomBytes(SIZE))
  expect(await storage.completeUpload(upload, [partOf(1, body)])).toEqual({ state: 'complete' })
  expect(inFolder(objectOf(upload))).toEqual([`00001.${hexOf(body)}`, 'manifest'])
  slow.goOn()
  expect(await slow.sending).toBeUndefined()
  expect(inFolder(objectOf(upload))).toEqual([`00001.${hexOf(body)}`, 'manifest'])
})

it('puts together what was named or refuses by part, whatever is sent at that moment', async () => {
  for (let round = 0; round < 60; round++) {
    const upload = await start()
    const [mine, theirs, last] = [randomBytes(SIZE), randomBytes(SIZE), randomBytes(10)]
    await send(upload, 1, mine)
    await send(upload, 2, last)
    const complete = (first: Uint8Array) => storage.completeUpload(upload, [partOf(1, first), partOf(2, last)])
    // Taken, or too late: the second is said also to a sender whose part is found when the folder comes back.
    const sending = send(upload, 1, theirs).catch(({ code }) => expect(code).toBe('overloaded'))
    for (let turn = 0; turn < round % 12; turn++) await new Promise((resolve) => setImmediate(resolve))
    const completion = await complete(mine)
    await sending
    if (completion.state === 'refused') {
      expect(completion.parts).toEqual([1])
      expect(await complete(theirs)).toEqual({ state: 'complete' })
    } else expect(completion).toEqual({ state: 'complete' })
    const first = completion.state === 'refused' ? theirs : mine
    expect((await bytesOf(upload)).equals(Buffer.concat([first, last]))).toBe(true)
    expect(inFolder(objectOf(upload))).toEqual([`00001.${hexOf(first)}`, `00002.${hexOf(last)}`, 'manifest'])
  }
})

/** As a process leaves an upload that ends right after its folder got its new name. */
function crashWhileCompleting(upload: Upload, parts: readonly SentPart[]): void {
  const manifest = parts.map(({ partNumber, etag, size }) => ({ file: `0000${partNumber}.${etag}`, size }))
  writeFileSync(join(pathOf(upload), 'manifest'), JSON.stringify(manifest))
  mkdirSync(join(objectOf(upload), '..'), { recursive: true })
  renameSync(pathOf(upload), objectOf(upload))
}

it('goes on after a crash: with the upload where a named part is missing, with the object alone where nothing is', async () => {
  const [upload, other] = [await start(), await start()]
  const body = randomBytes(SIZE)
  await send(upload, 1, body)
  const named = [partOf(1, body), partOf(2, body)]
  crashWhileCompleting(upload, named)
  expect(await storage.completeUpload(upload, named)).toEqual({ state: 'refused', parts: [2] })
  expect(await storage.stat(upload.key)).toBeUndefined()
  await send(upload, 2, body)
  expect(await storage.completeUpload(upload, named)).toEqual({ state: 'complete' })

  await send(other, 1, body)
  for (const name of ['draft-00001-left', `00001.${'0'.repeat(64)}`]) writeFileSync(join(pathOf(other), name), 'left')
  crashWhileCompleting(other, [partOf(1, body)])
  expect(await storage.completeUpload(other, [partOf(1, body)])).toEqual({ state: 'complete' })
  expect(inFolder(objectOf(other))).toEqual([`00001.${hexOf(body)}`, 'manifest'])
})
