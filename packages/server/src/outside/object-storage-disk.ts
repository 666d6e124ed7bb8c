import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Deps } from '../context.ts'
import { ApiError } from '../errors.ts'
import { type Completion, isObjectKey, type ObjectStorage, type SentPart, type StoredPart } from './object-storage.ts'
import { formatObjectUrl } from './object-urls.ts'

// Objects in the data directory. A part is a file named after its number and hash, so that bytes and hash become visible in one
// rename; an object is the folder of its upload, renamed once its manifest names the parts it consists of. Nothing is copied,
// and at every moment a crash leaves either the upload or the object.
//
// An address may be used again while it lives, by several senders at once and in several processes. So of each part there is one
// version and one draft at most: who begins last sends it, and what came before goes when theirs is there.

const DISK = 'disk'
const PART_FILE = /^([0-9]{5})\.([0-9a-f]{64})$/
const MANIFEST = 'manifest'

interface ManifestEntry {
  readonly file: string
  readonly size: number
}

type DiskDeps = Pick<Deps, 'config' | 'rootKey' | 'now'>

const root = ({ config }: DiskDeps): string => join(config.dataDirectory, 'objects')

/** Every path is made here, of a key of our own making and nothing else. */
function checked(key: string): string {
  if (!isObjectKey(key)) throw new Error('not a key of an object')
  return key
}
const uploadFolder = (deps: DiskDeps, key: string): string => join(root(deps), 'uploads', checked(key))
const shelf = (deps: DiskDeps, key: string): string => join(root(deps), 'stored', checked(key).slice(4, 6))
const objectFolder = (deps: DiskDeps, key: string): string => join(shelf(deps, key), key)

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'
async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** A renamed name survives a power cut only once its folder is on the disk. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function writeDurably(file: string, source: AsyncIterable<Uint8Array> | string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(source)
    await handle.sync()
  } catch (error) {
    await rm(file, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** Its room is free at once, also while somebody still writes to it. A draft that has become a part meanwhile stays. */
async function discard(file: string): Promise<void> {
  const handle = await unlessMissing(open(file, 'r+'))
  try {
    if (handle && (await unlessMissing(unlink(file).then(() => true)))) await handle.truncate(0)
  } finally {
    await handle?.close()
  }
}

const numbered = (partNumber: number): string => String(partNumber).padStart(5, '0')
const draftsOf = (partNumber: number): string => `draft-${numbered(partNumber)}-`

/** Ends other drafts of the part, and gives its earlier versions. The own draft is there before it looks: of two at once, one sees the other. */
async function takeOver(folder: string, partNumber: number, draft: string): Promise<readonly string[]> {
  const names = await readdir(folder)
  for (const name of names)
    if (name.startsWith(draftsOf(partNumber)) && name !== draft) await discard(join(folder, name))
  return names.filter((name) => name.startsWith(`${numbered(partNumber)}.`))
}

/** Takes one part from the network. undefined: the upload is over, or what came is not of the announced size. */
export async function putPart(
  deps: DiskDeps,
  { key, partNumber, size }: { key: string; partNumber: number; size: number },
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly etag: string } | undefined> {
  const folder = uploadFolder(deps, key)
  const draft = `${draftsOf(partNumber)}${randomUUID()}`
  const hash = createHash('sha256')
  let received = 0
  let earlier: readonly string[] = []
  async function* measured(): AsyncGenerator<Uint8Array> {
    earlier = await takeOver(folder, partNumber, draft)
    for await (const chunk of source) {
      received += chunk.length
      if (received > size) return
      hash.update(chunk)
      // Missing once somebody else sends the part: what is written after that would be counted nowhere.
      await stat(join(folder, draft))
      yield chunk
    }
  }
  try {
    await writeDurably(join(folder, draft), measured())
    if (received !== size) return undefined
    const etag = hash.digest('hex')
    const version = `${numbered(partNumber)}.${etag}`
    await rename(join(folder, draft), join(folder, version))
    for (const name of earlier) if (name !== version) await discard(join(folder, name))
    await syncFolder(folder)
    return { etag }
  } catch (error) {
    if (!isMissing(error)) throw error
    if (await unlessMissing(stat(folder))) throw new ApiError('overloaded', { headers: { 'retry-after': '1' } })
    return undefined
  } finally {
    await rm(join(folder, draft), { force: true })
  }
}

interface PartFile extends StoredPart {
  readonly file: string
  readonly at: number
}

async function partFiles(folder: string): Promise<PartFile[] | undefined> {
  const names = await unlessMissing(readdir(folder))
  if (!names) return undefined
  const found: PartFile[] = []
  for (const file of names) {
    const [, number, etag] = PART_FILE.exec(file) ?? []
    const facts = etag === undefined ? undefined : await unlessMissing(stat(join(folder, file)))
    if (facts && etag !== undefined)
      found.push({ partNumber: Number(number), etag, size: facts.size, file, at: facts.mtimeMs })
  }
  return found.sort((a, b) => a.partNumber - b.partNumber || a.at - b.at)
}

/** A part that was sent again counts as it came last. */
async function listParts(deps: DiskDeps, key: string): Promise<StoredPart[] | undefined> {
  const files = await partFiles(uploadFolder(deps, key))
  const latest = new Map(files?.map(({ partNumber, size, etag }) => [partNumber, { partNumber, size, etag }]))
  return files && [...latest.values()]
}

async function completeUpload(deps: DiskDeps, key: string, parts: readonly SentPart[]): Promise<Completion> {
  const folder = uploadFolder(deps, key)
  const files = await partFiles(folder)
  if (!files) return settle(deps, key)
  const there = new Map(files.map((part) => [part.file, part]))
  const fileOf = ({ partNumber, sha256 }: SentPart): PartFile | undefined =>
    there.get(`${numbered(partNumber)}.${Buffer.from(sha256, 'base64url').toString('hex')}`)
  const refused = parts.filter((part) => fileOf(part)?.size !== part.size || fileOf(part)?.etag !== part.etag)
  if (refused.length > 0) return { state: 'refused', parts: refused.map(({ partNumber }) => partNumber) }
  const manifest: ManifestEntry[] = parts.map((part) => ({ file: (fileOf(part) as PartFile).file, size: part.size }))
  try {
    const draft = join(folder, `draft-${randomUUID()}`)
    await writeDurably(draft, JSON.stringify(manifest))
    await rename(draft, join(folder, MANIFEST))
    await syncFolder(folder)
    await makeFolder(shelf(deps, key))
    await rename(folder, objectFolder(deps, key))
    for (const changed of [shelf(deps, key), join(root(deps), 'stored'), join(root(deps), 'uploads')])
      await syncFolder(changed)
  } catch (error) {
    // Somebody else completed or ended it meanwhile.
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  }
  return settle(deps, key)
}

/** Where no address leads any more: a part that was sent anew at the last moment is missed, and what the manifest does not name goes. */
async function settle(deps: DiskDeps, key: string): Promise<Completion> {
  const folder = objectFolder(deps, key)
  const manifest = await readManifest(deps, key)
  const names = manifest && (await unlessMissing(readdir(folder)))
  if (!names) return { state: 'gone' }
  const there = new Set(names)
  const missing = manifest.filter(({ file }) => !there.has(file))
  if (missing.length > 0) {
    await unlessMissing(rename(folder, uploadFolder(deps, key)))
    return { state: 'refused', parts: missing.map(({ file }) => Number(PART_FILE.exec(file)?.[1])) }
  }
  const named = new Set([MANIFEST, ...manifest.map(({ file }) => file)])
  for (const name of names) if (!named.has(name)) await discard(join(folder, name))
  await syncFolder(folder)
  return { state: 'complete' }
}

async function readManifest(deps: DiskDeps, key: string): Promise<ManifestEntry[] | undefined> {
  const text = await unlessMissing(readFile(join(objectFolder(deps, key), MANIFEST), 'utf8'))
  return text === undefined ? undefined : (JSON.parse(text) as ManifestEntry[])
}

async function statObject(deps: DiskDeps, key: string): Promise<{ size: number } | undefined> {
  const manifest = await readManifest(deps, key)
  return manifest && { size: manifest.reduce((sum, { size }) => sum + size, 0) }
}

const READ_BYTES = 262_144

/** The bytes from `start` up to and without `end`. */
export async function* readObject(
  deps: DiskDeps,
  key: string,
  { start, end }: { start: number; end: number } = { start: 0, end: Number.MAX_SAFE_INTEGER },
): AsyncGenerator<Uint8Array> {
  const manifest = await readManifest(deps, key)
  if (!manifest) throw new Error('an object is gone from the disk')
  let offset = 0
  for (const { file, size } of manifest) {
    const from = Math.max(start - offset, 0)
    const to = Math.min(end - offset, size)
    offset += size
    if (from >= to) continue
    const path = join(objectFolder(deps, key), file)
    yield* createReadStream(path, { start: from, end: to - 1, highWaterMark: READ_BYTES })
  }
}

async function* uploadsBefore(deps: DiskDeps, time: Date) {
  const folder = join(root(deps), 'uploads')
  for (const key of (await unlessMissing(readdir(folder))) ?? []) {
    const facts = isObjectKey(key) ? await unlessMissing(stat(join(folder, key))) : undefined
    if (facts && facts.mtimeMs < time.getTime()) yield { key, storageId: DISK }
  }
}

async function* objects(deps: DiskDeps) {
  const stored = join(root(deps), 'stored')
  for (const name of (await unlessMissing(readdir(stored))) ?? [])
    for (const key of (await unlessMissing(readdir(join(stored, name)))) ?? []) if (isObjectKey(key)) yield key
}

const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

export const diskStorage = (deps: DiskDeps): ObjectStorage => ({
  startUpload: async (key) => {
    await makeFolder(uploadFolder(deps, key))
    return DISK
  },
  presignPart: ({ key }, { partNumber, size }, expiresAt) =>
    formatObjectUrl(deps.rootKey, { kind: 'part', key, partNumber, size, expires: expiresAt.getTime() }),
  listParts: ({ key }) => listParts(deps, key),
  completeUpload: ({ key }, parts) => completeUpload(deps, key, parts),
  abortUpload: ({ key }) => removeFolder(uploadFolder(deps, key)),
  presignDownload: (key, expiresAt) =>
    formatObjectUrl(deps.rootKey, { kind: 'download', key, expires: expiresAt.getTime() }),
  read: (key) => readObject(deps, key),
  stat: (key) => statObject(deps, key),
  delete: (key) => removeFolder(objectFolder(deps, key)),
  uploadsBefore: (time) => uploadsBefore(deps, time),
  objects: () => objects(deps),
})
