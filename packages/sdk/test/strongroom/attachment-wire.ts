import { createHash } from 'node:crypto'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { unique, type World } from './world.ts'

/** A request to an object store, as it left the client. */
export interface StoreRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  /** Of a part. */
  readonly partNumber: number
}

/** What stands between a client and both the API and the object store. */
export interface StoreWire {
  readonly stored: StoreRequest[]
  /** API requests, as `POST /attachments/…`. */
  readonly asked: string[]
  /** In place of the store; undefined lets the request through. */
  store?: ((request: StoreRequest, pass: () => Promise<Response>) => Promise<Response> | undefined) | undefined
  /** Changes an answer of the API. */
  answer?: ((asked: string, body: Record<string, unknown>) => unknown) | undefined
  before?: ((asked: string) => void) | undefined
  after?: ((asked: string) => void) | undefined
}

export function makeStoreWire(): { readonly wire: StoreWire; readonly fetch: typeof fetch } {
  const wire: StoreWire = { stored: [], asked: [] }
  const through: typeof fetch = async (input, init = {}) => {
    const url = new URL(String(input))
    const method = init.method ?? 'GET'
    if (!url.pathname.startsWith('/api/')) {
      const partNumber = Number(/parts\/(\d+)$/.exec(url.pathname)?.[1] ?? 0)
      const request = { method, url, headers: new Headers(init.headers), partNumber }
      wire.stored.push(request)
      return (await wire.store?.(request, () => fetch(input, init))) ?? fetch(input, init)
    }
    const asked = `${method} ${url.pathname.replace(/^\/api\/v1\/[a-z]+/, '')}`
    wire.asked.push(asked)
    wire.before?.(asked)
    const response = await fetch(input, init)
    wire.after?.(asked)
    if (!wire.answer || !response.ok) return response
    const body = (await response.json()) as Record<string, unknown>
    return Response.json(wire.answer(asked, body) ?? body, { status: response.status })
  }
  return { wire, fetch: through }
}

/** Bytes that follow from their place, so that another process makes the same. */
export function* pattern(size: number, seed = 1): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < size; at += 65_536) {
    const block = createHash('sha256').update(`${seed}/${at}`).digest()
    const bytes = Buffer.alloc(Math.min(65_536, size - at), block)
    yield new Uint8Array(bytes)
  }
}
export const bytesOf = (size: number, seed = 1): Uint8Array => new Uint8Array(Buffer.concat([...pattern(size, seed)]))

export async function* streamed(size: number, seed = 1): AsyncGenerator<Uint8Array, void, undefined> {
  yield* pattern(size, seed)
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A new vault with one empty item. */
export async function makeItem({
  alice,
}: Pick<World, 'alice'>): Promise<{ readonly vault: string; readonly item: string }> {
  const [vault, item] = [unique('vault'), unique('item')]
  await alice.vaults.create({ name: vault })
  await alice.items.create(vault, { name: item, fields: [{ label: 'note', value: 'n' }] })
  return { vault, item }
}

export const contentOf = async (client: Strongroom, vault: string, assetId: string): Promise<string> =>
  sha256(await (await client.attachments.download(vault, assetId)).bytes())
