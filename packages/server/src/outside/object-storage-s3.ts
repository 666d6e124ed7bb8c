import type { S3Config } from '../config.ts'
import { ApiError } from '../errors.ts'
import type { Completion, ObjectStorage, SentPart, StoredPart, Upload } from './object-storage.ts'
import { isObjectKey } from './object-storage.ts'
import { presign, signHeaders } from './sigv4.ts'

// Any S3-compatible store, by path-style addresses. Clients send parts and fetch objects there directly; the server itself reads
// an object once, when it is complete, because no store tells the hash of a whole object that came in parts.

const CALL_MS = 20_000
const READ_MS = 3_600_000

interface Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'HEAD' | 'DELETE'
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs?: number
}

interface Store {
  readonly config: S3Config
  now(): Date
}

function urlOf({ endpoint, bucket, prefix }: S3Config, { key, query = {} }: Pick<Request, 'key' | 'query'>): URL {
  const url = new URL(`${endpoint}/${bucket}${key === undefined ? '' : `/${prefix}${key}`}`)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

/** A store that is away or overloaded is waited for; its other refusals are for the caller to judge. */
async function send({ config, now }: Store, request: Request): Promise<Response> {
  const { method, body, timeoutMs = CALL_MS } = request
  const url = urlOf(config, request)
  const response = await fetch(url, {
    method,
    redirect: 'error',
    headers: signHeaders({ method, url, ...(body !== undefined && { body }) }, config, now()),
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && { body }),
  }).catch(() => undefined)
  if (!response || response.status >= 500 || response.status === 429) {
    await response?.body?.cancel()
    throw new ApiError('not_ready', { headers: { 'retry-after': '5' } })
  }
  return response
}

const ABSENT = new Set([404, 410])

/** The text of an answer; undefined if there is no such thing. */
async function ask(store: Store, request: Request): Promise<string | undefined> {
  const response = await send(store, request)
  const text = await response.text()
  if (ABSENT.has(response.status)) return undefined
  // A refusal can come with 200, once the store has begun to answer.
  if (!response.ok || /<Error>/.test(text))
    throw new Error(`the object store refuses ${request.method}: ${response.status} ${tag(text, 'Code') ?? ''}`)
  return text
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'", '#34': '"' }
const decode = (text: string): string => text.replace(/&([a-z]+|#34);/g, (all, name: string) => ENTITIES[name] ?? all)
const tag = (xml: string, name: string): string | undefined => {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return found === undefined ? undefined : decode(found)
}
const blocks = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inner]) => inner ?? '')
const bare = (etag: string): string => etag.replaceAll('"', '')

async function listParts(store: Store, { key, storageId }: Upload): Promise<StoredPart[] | undefined> {
  const parts: StoredPart[] = []
  for (let marker = '0'; ; ) {
    const query = { uploadId: storageId, 'part-number-marker': marker, 'max-parts': '1000' }
    const xml = await ask(store, { method: 'GET', key, query })
    if (xml === undefined) return undefined
    for (const part of blocks(xml, 'Part'))
      parts.push({
        partNumber: Number(tag(part, 'PartNumber')),
        size: Number(tag(part, 'Size')),
        etag: bare(tag(part, 'ETag') ?? ''),
      })
    if (tag(xml, 'IsTruncated') !== 'true') return parts
    marker = tag(xml, 'NextPartNumberMarker') ?? ''
  }
}

async function statObject(store: Store, key: string): Promise<{ size: number } | undefined> {
  const response = await send(store, { method: 'HEAD', key })
  if (ABSENT.has(response.status)) return undefined
  if (!response.ok) throw new Error(`the object store refuses HEAD: ${response.status}`)
  return { size: Number(response.headers.get('content-length')) }
}

async function completeUpload(store: Store, upload: Upload, parts: readonly SentPart[]): Promise<Completion> {
  const isDone = async (): Promise<Completion> => ({
    state: (await statObject(store, upload.key)) ? 'complete' : 'gone',
  })
  const stored = await listParts(store, upload)
  // The store answers alike for an upload that it has completed and for one that never was.
  if (!stored) return isDone()
  const there = new Map(stored.map((part) => [part.partNumber, part]))
  const isThere = ({ partNumber, size, etag }: SentPart): boolean =>
    there.get(partNumber)?.size === size && there.get(partNumber)?.etag === bare(etag)
  const refused = parts.filter((part) => !isThere(part)).map(({ partNumber }) => partNumber)
  if (refused.length > 0) return { state: 'refused', parts: refused }
  const members = parts.map(
    ({ partNumber, etag }) => `<Part><PartNumber>${partNumber}</PartNumber><ETag>"${bare(etag)}"</ETag></Part>`,
  )
  const body = `<CompleteMultipartUpload>${members.join('')}</CompleteMultipartUpload>`
  const query = { uploadId: upload.storageId }
  const done = await ask(store, { method: 'POST', key: upload.key, query, body })
  return done === undefined ? isDone() : { state: 'complete' }
}

async function* readObject(store: Store, key: string): AsyncGenerator<Uint8Array> {
  const response = await send(store, { method: 'GET', key, timeoutMs: READ_MS })
  if (!response.ok || !response.body) throw new Error(`the object store refuses GET: ${response.status}`)
  yield* response.body
}

const keyIn = ({ prefix }: S3Config, name: string): string | undefined =>
  name.startsWith(prefix) && isObjectKey(name.slice(prefix.length)) ? name.slice(prefix.length) : undefined

async function* uploadsBefore(store: Store, time: Date): AsyncGenerator<Upload> {
  const { prefix } = store.config
  for (let from: Record<string, string> = {}; ; ) {
    const xml = await ask(store, { method: 'GET', query: { uploads: '', prefix, 'max-uploads': '1000', ...from } })
    if (xml === undefined) return
    for (const one of blocks(xml, 'Upload')) {
      const key = keyIn(store.config, tag(one, 'Key') ?? '')
      const isOld = Date.parse(tag(one, 'Initiated') ?? '') < time.getTime()
      if (key !== undefined && isOld) yield { key, storageId: tag(one, 'UploadId') ?? '' }
    }
    if (tag(xml, 'IsTruncated') !== 'true') return
    from = { 'key-marker': tag(xml, 'NextKeyMarker') ?? '', 'upload-id-marker': tag(xml, 'NextUploadIdMarker') ?? '' }
  }
}

async function* objects(store: Store): AsyncGenerator<string> {
  const { prefix } = store.config
  for (let from: Record<string, string> = {}; ; ) {
    const xml = await ask(store, { method: 'GET', query: { 'list-type': '2', prefix, ...from } })
    if (xml === undefined) return
    for (const one of blocks(xml, 'Contents')) {
      const key = keyIn(store.config, tag(one, 'Key') ?? '')
      if (key !== undefined) yield key
    }
    if (tag(xml, 'IsTruncated') !== 'true') return
    from = { 'continuation-token': tag(xml, 'NextContinuationToken') ?? '' }
  }
}

async function startUpload(store: Store, key: string): Promise<string> {
  const xml = await ask(store, { method: 'POST', key, query: { uploads: '' } })
  const storageId = tag(xml ?? '', 'UploadId')
  if (storageId === undefined) throw new Error('the object store has no such bucket')
  return storageId
}

export function s3Storage(config: S3Config, now: () => Date): ObjectStorage {
  const store: Store = { config, now }
  const forget = async (request: Request): Promise<void> => void (await ask(store, request))
  return {
    startUpload: (key) => startUpload(store, key),
    presignPart: ({ key, storageId }, { partNumber, size }, expiresAt) => {
      const url = urlOf(config, { key, query: { partNumber: String(partNumber), uploadId: storageId } })
      // Under the signature: a body of another length is refused by the store.
      return presign({ method: 'PUT', url, headers: { 'content-length': String(size) } }, config, now(), expiresAt)
    },
    listParts: (upload) => listParts(store, upload),
    completeUpload: (upload, parts) => completeUpload(store, upload, parts),
    abortUpload: ({ key, storageId }) => forget({ method: 'DELETE', key, query: { uploadId: storageId } }),
    presignDownload: (key, expiresAt) =>
      presign({ method: 'GET', url: urlOf(config, { key }) }, config, now(), expiresAt),
    read: (key) => readObject(store, key),
    stat: (key) => statObject(store, key),
    delete: (key) => forget({ method: 'DELETE', key }),
    uploadsBefore: (time) => uploadsBefore(store, time),
    objects: () => objects(store),
  }
}
