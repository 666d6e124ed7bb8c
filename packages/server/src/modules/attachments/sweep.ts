import { type Deps, outsideOrgs } from '../../context.ts'
import type { Database, Db } from '../../db/database.ts'
import type { ObjectStorage } from '../../outside/object-storage.ts'
import { objectStorage } from '../../outside/object-storage-choice.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import * as store from './sweep-store.ts'

// Takes away what nobody will come back for. Every process may run it at the same time: rows are taken with a mark, and everything
// that is done in storage can be done twice.

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** For a sweeper that marked something and was not heard of since. */
const ABANDONED_MS = 10 * MINUTE_MS
/** Long enough to notice that a restored backup was the wrong one. */
const ORPHAN_MS = 7 * DAY_MS
const BATCH = 100
const KEYS = 1000

type Sweeping = Pick<Deps, 'config' | 'rootKey' | 'now' | 'log'>

/** One statement of the worker, in a transaction of its own: none is open while the storage works. */
const inStore = <T>(worker: Database, work: (db: Db) => Promise<T>): Promise<T> =>
  outsideOrgs({ database: worker }, work)

const ago = ({ now }: Sweeping, ms: number): Date => new Date(now().getTime() - ms)

export interface Swept {
  readonly uploads: number
  readonly superseded: number
  readonly orphans: number
}

export async function sweepAttachments(deps: Sweeping, worker: Database): Promise<Swept> {
  const storage = objectStorage(deps)
  return {
    uploads: (await sweepUploads(deps, worker, storage)) + (await sweepStrayUploads(deps, worker, storage)),
    superseded: await sweepSuperseded(deps, worker, storage),
    orphans: await sweepOrphans(deps, worker, storage),
  }
}

const timesOf = (deps: Sweeping) => ({
  idle: ago(deps, DAY_MS),
  abandoned: ago(deps, ABANDONED_MS),
  now: deps.now(),
  limit: BATCH,
})

/** Uploads that were given up, with their placeholders and whatever of them lies in storage. */
async function sweepUploads(deps: Sweeping, worker: Database, storage: ObjectStorage): Promise<number> {
  let swept = 0
  for (;;) {
    const taken = await inStore(worker, (db) => store.takeIdleUploads(db, timesOf(deps)))
    for (const upload of taken) {
      await storage.abortUpload(upload)
      await storage.delete(upload.key)
      await inStore(worker, (db) => store.removeUpload(db, upload))
    }
    swept += taken.length
    if (taken.length < BATCH) return swept
  }
}

/** Uploads that were started in storage by a process that did not live to write their row. */
async function sweepStrayUploads(deps: Sweeping, worker: Database, storage: ObjectStorage): Promise<number> {
  let swept = 0
  for await (const upload of storage.uploadsBefore(ago(deps, DAY_MS))) {
    if ((await inStore(worker, (db) => store.unknownKeys(db, [upload.key]))).length === 0) continue
    // Its row was there when this was listed, and another sweeper has just taken both.
    if ((await storage.listParts(upload)) === undefined) continue
    await storage.abortUpload(upload)
    swept++
  }
  return swept
}

async function sweepSuperseded(deps: Sweeping, worker: Database, storage: ObjectStorage): Promise<number> {
  let swept = 0
  for (;;) {
    const taken = await inStore(worker, (db) =>
      store.takeSuperseded(db, { superseded: ago(deps, DAY_MS), limit: BATCH }),
    )
    for (const content of taken) {
      await storage.delete(content.key)
      await inStore(worker, (db) => store.removeContent(db, content))
    }
    swept += taken.length
    if (taken.length < BATCH) return swept
  }
}

/** Objects that no row knows, a week after this database noticed it. */
async function sweepOrphans(deps: Sweeping, worker: Database, storage: ObjectStorage): Promise<number> {
  let swept = 0
  const sweep = async (keys: readonly string[]): Promise<void> => {
    const unknown = await inStore(worker, (db) => store.unknownKeys(db, keys))
    const times = { now: deps.now(), before: ago(deps, ORPHAN_MS) }
    const due = await inStore(worker, (db) => store.noticeOrphans(db, unknown, times))
    for (const key of due) await storage.delete(key)
    // Known again, after a restore: their time starts anew should they get lost once more.
    await inStore(worker, (db) => store.forgetOrphans(db, [...due, ...keys.filter((key) => !unknown.includes(key))]))
    swept += due.length
  }
  let page: string[] = []
  for await (const key of storage.objects()) {
    page.push(key)
    if (page.length < KEYS) continue
    await sweep(page)
    page = []
  }
  if (page.length > 0) await sweep(page)
  return swept
}

const SWEEP_EVERY_MS = 60 * MINUTE_MS

export const startAttachmentSweep = (deps: Sweeping, worker: Database): Repeating =>
  repeat(
    SWEEP_EVERY_MS,
    async () => {
      const { uploads, superseded, orphans } = await sweepAttachments(deps, worker)
      const count = uploads + superseded + orphans
      if (count > 0) deps.log.info({ event: 'attachments_swept', count })
    },
    (error) => deps.log.warn({ event: 'attachment_sweep_failed', code: (error as { code?: string }).code }),
  )
