import { createHash, randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { sendPart, startUpload } from '../../../test/attachment-client.ts'
import { type Harness, startHarness } from '../../../test/harness.ts'
import { foundOrg, refusal } from '../../../test/people.ts'
import { type SlowStore, startSlowStore } from '../../../test/slow-store.ts'
import { makeVault } from '../../../test/vault-writer.ts'

// Catches: a request that waits as long as a store pleases, an object that is read once for every request that asks. Seen red: the
// patience left out (the request never ends), the reading not shared (two reads), timers left false for other files.

let h: Harness
let store: SlowStore
beforeAll(async () => {
  store = await startSlowStore()
  h = await startHarness({ s3: store.config })
})
const real = globalThis.setTimeout
afterEach(() => {
  vi.useRealTimers()
  expect(globalThis.setTimeout).toBe(real)
})
afterAll(async () => {
  await h.close()
  await store.stop()
})

const PATIENCE_MS = 7_000

/** Lets the server's patience end, once it has begun to wait. */
async function outOfPatience<T>(request: Promise<T>): Promise<T> {
  const fake = globalThis.setTimeout
  let waits = false
  // Not `vi.spyOn`: what it puts back outlives `useRealTimers`, and every later file of this worker would wait for ever.
  globalThis.setTimeout = ((...call: Parameters<typeof fake>) => {
    waits ||= call[1] === PATIENCE_MS
    return fake(...call)
  }) as typeof fake
  while (!waits) await new Promise((resolve) => setImmediate(resolve))
  globalThis.setTimeout = fake
  await vi.advanceTimersByTimeAsync(PATIENCE_MS)
  return request
}

it('answers upload_being_read while a large object is read, goes on reading it once, and then tells what lies there', async () => {
  const alice = await foundOrg(h)
  const vaultId = await makeVault(alice)
  const uploadId = await startUpload(alice, vaultId)
  const body = randomBytes(1000)
  const part = await sendPart(h.url, alice, vaultId, { uploadId, partNumber: 1, body })
  const finalize = () => alice.client.attachments.finalize({ params: { vaultId }, body: { uploadId, parts: [part] } })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  expect(await outOfPatience(refusal(finalize()))).toMatchObject({
    status: 409,
    code: 'upload_being_read',
    retryAfter: 3,
  })
  expect(await outOfPatience(refusal(finalize()))).toMatchObject({ code: 'upload_being_read' })
  vi.useRealTimers()
  const late = finalize()
  store.release()
  const ciphertextHash = createHash('sha256').update(body).digest('base64url')
  expect(await late).toEqual({ uploadId, ciphertextSize: 1000, ciphertextHash })
  expect(await finalize()).toEqual({ uploadId, ciphertextSize: 1000, ciphertextHash })
  expect(store.reads()).toBe(1)
})
