import { Readable } from 'node:stream'
import { PART_BYTES } from '@strongroom/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import { isObjectKey } from '../../outside/object-storage.ts'
import { diskStorage, putPart, readObject } from '../../outside/object-storage-disk.ts'
import { isGenuine } from '../../outside/object-urls.ts'
import { type Range, readRange } from './range.ts'

// The addresses that the disk storage gives out. Outside the JSON API: the address itself is the credential, bodies are bytes, and
// neither the whole of an object nor of a part is ever in memory.

interface ObjectParams {
  readonly key: string
  readonly partNumber?: string
}

type Query = Readonly<Record<string, unknown>>

const NUMBER = /^[1-9][0-9]{0,15}$/
/** A number in the one form in which it is written into an address; everything else was not written by us. */
const numberIn = (text: unknown): number => (typeof text === 'string' && NUMBER.test(text) ? Number(text) : Number.NaN)

/** Exactly these members, each once: an address is what was given out, to the letter. */
function hasOnly(query: Query, names: readonly string[]): boolean {
  return Object.keys(query).length === names.length && names.every((name) => typeof query[name] === 'string')
}

const refuse = (): never => {
  throw new ApiError('signed_url_refused')
}

/** For one part of an open upload; refused before a byte of it is read. */
function readPartUrl(deps: Deps, request: FastifyRequest) {
  const { key, partNumber } = request.params as ObjectParams
  const query = request.query as Query
  const url = {
    kind: 'part' as const,
    key,
    partNumber: numberIn(partNumber),
    size: numberIn(query.size),
    expires: numberIn(query.expires),
  }
  if (!isObjectKey(key) || !hasOnly(query, ['size', 'expires', 'signature'])) refuse()
  if (!isGenuine(deps.rootKey, url, String(query.signature), deps.now())) refuse()
  if (numberIn(request.headers['content-length']) !== url.size) refuse()
  return url
}

function readDownloadUrl(deps: Deps, request: FastifyRequest): string {
  const { key } = request.params as ObjectParams
  const query = request.query as Query
  const url = { kind: 'download' as const, key, expires: numberIn(query.expires) }
  if (!isObjectKey(key) || !hasOnly(query, ['expires', 'signature'])) refuse()
  if (!isGenuine(deps.rootKey, url, String(query.signature), deps.now())) refuse()
  return key
}

async function takePart(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<object> {
  const url = readPartUrl(deps, request)
  const body = request.body as Readable
  const stored = await putPart(deps, url, body)
  const { etag } = found(stored, 'upload_not_found')
  reply.header('etag', `"${etag}"`)
  return {}
}

async function giveObject(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const key = readDownloadUrl(deps, request)
  const { size } = found(await diskStorage(deps).stat(key), 'attachment_not_found')
  const etag = `"${key}"`
  const { 'if-range': ifRange, range: asked } = request.headers
  // An object never changes, so the only other version is another object.
  const range = ifRange === undefined || ifRange === etag ? readRange(asked, size) : undefined
  reply.headers({ etag, 'accept-ranges': 'bytes', 'content-type': 'application/octet-stream' })
  reply.header('content-disposition', 'attachment')
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${size}`).send()
  const { start, end }: Range = range ?? { start: 0, end: size }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`)
  reply.header('content-length', end - start)
  return reply.send(Readable.from(readObject(deps, key, { start, end }), { objectMode: false }))
}

export function mountObjects(app: FastifyInstance, deps: Deps): void {
  // An S3 store serves its own addresses.
  if (deps.config.s3) return
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', async (_: FastifyRequest, body: Readable) => body)
    scope.route({
      method: 'PUT',
      url: '/objects/:key/parts/:partNumber',
      bodyLimit: PART_BYTES,
      onRequest: async (request) => void readPartUrl(deps, request),
      handler: (request, reply) => takePart(deps, request, reply),
    })
    scope.get('/objects/:key', (request, reply) => giveObject(deps, request, reply))
  })
}
