import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { S3Config } from '../src/config.ts'

/** An object store for one object that gives it out only when it is told to. Checks no signatures. */
export interface SlowStore {
  readonly config: S3Config
  /** How often the object was asked for. */
  reads(): number
  release(): void
  stop(): Promise<void>
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

export async function startSlowStore(): Promise<SlowStore> {
  let part: Buffer = Buffer.alloc(0)
  let isComplete = false
  let reads = 0
  const released = gate()
  const answer = async (
    request: IncomingMessage,
    query: URLSearchParams,
  ): Promise<{ status?: number; body?: string | Buffer }> => {
    if (query.has('uploads')) return { body: '<UploadId>u</UploadId>' }
    if (request.method === 'PUT') part = await bodyOf(request)
    if (request.method === 'POST') isComplete = true
    if (request.method === 'HEAD') return { status: isComplete ? 200 : 404, body: part }
    if (request.method !== 'GET') return {}
    if (query.has('uploadId') && isComplete) return { status: 404 }
    if (query.has('uploadId'))
      return { body: `<Part><PartNumber>1</PartNumber><Size>${part.length}</Size><ETag>e</ETag></Part>` }
    reads += 1
    await released.opened
    return { body: part }
  }
  const server = createServer(async (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://store')
    const { status = 200, body = '' } = await answer(request, searchParams)
    response.writeHead(status, { etag: '"e"', 'content-length': Buffer.byteLength(body) })
    response.end(request.method === 'HEAD' ? undefined : body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    config: { endpoint, region: 'r', bucket: 'b', keyId: 'k', secret: 's', prefix: '' },
    reads: () => reads,
    release: released.open,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
