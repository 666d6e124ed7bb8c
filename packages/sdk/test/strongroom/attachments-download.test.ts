import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryTrust } from '../../src/engine/trust.ts'
import { AbortedError, ConfigError, IntegrityError } from '../../src/index.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { NodeStrongroom } from '../../src/strongroom/strongroom-node.ts'
import { bytesOf, makeItem, makeStoreWire, type StoreWire, sha256 } from './attachment-wire.ts'
import { type Bot, errorOf, startWorld, type World } from './world.ts'

// Catches: content that is not what was signed and appears under its name, a ticket of something else, an address at a strange place,
// a credential that leaves for an object store, a redirect that is followed, a broken download that begins anew or never ends. Seen
// red: sizes not compared with the checkpoint, the check of the address left out, the asset of a ticket not compared, redirects
// followed, the key sent along, the partial file left behind.

const SEGMENT = 1_048_576
const HEADER = 74
const SIZE = 3_500_000
const content = bytesOf(SIZE)

let world: World
let bot: Bot
let vault: string
let vaultId: string
let assetId: string
let otherId: string
beforeAll(async () => {
  world = await startWorld()
  const made = await makeItem(world)
  vault = made.vault
  bot = await world.agent('worker', { vaults: [{ vault, role: 'read' }] })
  const upload = (seed: number, size: number) =>
    world.alice.attachments.upload(vault, made.item, bytesOf(size, seed), { name: 'a.bin' })
  const uploaded = await upload(1, SIZE)
  assetId = uploaded.assetId
  vaultId = uploaded.receipt.vaultId
  otherId = (await upload(2, SIZE)).assetId
})
afterAll(() => world.close())

interface Reader {
  readonly wire: StoreWire
  readonly client: Strongroom
  readonly evidence: string[]
  readonly directory: string
}

function makeReader(options: StrongroomOptions = {}): Reader {
  const { wire, fetch } = makeStoreWire()
  const evidence: string[] = []
  const onEvidence = ({ code }: { code: string }): string => `evidence/${evidence.push(code)}`
  const own = { bundle: bot.bundle.reveal(), trustStore: memoryTrust(), cache: false as const, onEvidence, fetch }
  return { wire, client: new NodeStrongroom({ ...own, ...options }), evidence, directory: world.directory() }
}

const ticketOf = (asked: string): boolean => asked.endsWith('/download-ticket')
const target = ({ directory }: Reader): string => join(directory, 'a.bin')
const save = async (reader: Reader): Promise<void> =>
  (await reader.client.attachments.download(vault, assetId)).saveTo(target(reader))

/** Whole answers of the store, changed. */
function altering(change: (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>): NonNullable<StoreWire['store']> {
  return async (_, pass) => {
    const bytes = new Uint8Array(await (await pass()).arrayBuffer())
    return new Response(new Uint8Array(await change(bytes)))
  }
}

const flipped = (at: number) => (bytes: Uint8Array) => {
  const copy = bytes.slice()
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
const segment = (bytes: Uint8Array, i: number) => bytes.subarray(HEADER + i * SEGMENT, HEADER + (i + 1) * SEGMENT)

describe('content that is not what was signed is refused, and no file is left', () => {
  const changes: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array, string])[] = [
    ['a bit of the header', flipped(20), 'aead'],
    ['the parameters', flipped(3), 'alg_downgrade'],
    ['a bit of the first segment', flipped(HEADER + 100), 'aead'],
    ['a bit of the last segment', flipped(HEADER + 3 * SEGMENT + 100), 'asset_mismatch'],
    ['the length of a segment', flipped(HEADER + SEGMENT + 1), 'asset_mismatch'],
    ['cut inside a segment', (bytes) => bytes.subarray(0, HEADER + SEGMENT + 5), 'asset_mismatch'],
    ['cut between segments', (bytes) => bytes.subarray(0, HEADER + 2 * SEGMENT), 'asset_mismatch'],
    ['nothing', () => new Uint8Array(0), 'asset_mismatch'],
    ['a byte more', (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]), 'asset_mismatch'],
    [
      'two segments in each other’s place',
      (bytes) =>
        Buffer.concat([
          bytes.subarray(0, HEADER),
          segment(bytes, 1),
          segment(bytes, 0),
          bytes.subarray(HEADER + 2 * SEGMENT),
        ]),
      'aead',
    ],
    [
      'a segment twice',
      (bytes) =>
        Buffer.concat([bytes.subarray(0, HEADER + SEGMENT), segment(bytes, 0), bytes.subarray(HEADER + 2 * SEGMENT)]),
      'aead',
    ],
  ]
  it.each(changes)('%s', async (_, change, code) => {
    const reader = makeReader()
    reader.wire.store = altering(change)
    const error = await errorOf(save(reader))
    expect(error).toBeInstanceOf(IntegrityError)
    expect(error).toMatchObject({ code, evidence: 'evidence/1' })
    expect(reader.evidence).toEqual([code])
    expect(readdirSync(reader.directory)).toEqual([])
    reader.wire.store = undefined
    await save(reader)
    expect(sha256(readFileSync(target(reader)))).toBe(sha256(content))
  })

  it('a size that the store announces and the checkpoint does not, before a byte is read', async () => {
    const reader = makeReader()
    const body = new ReadableStream({ pull: () => expect.unreachable() }, { highWaterMark: 0 })
    reader.wire.store = async () => new Response(body, { headers: { 'content-length': '99' } })
    expect(await errorOf(save(reader))).toMatchObject({ code: 'asset_mismatch', name: 'IntegrityError' })
    expect(readdirSync(reader.directory)).toEqual([])
  })

  it('a stream ends in the error, after segments that were verified each by itself', async () => {
    const reader = makeReader()
    reader.wire.store = altering(flipped(HEADER + 2 * SEGMENT + 100))
    const { stream } = await reader.client.attachments.download(vault, assetId)
    const pieces: Uint8Array[] = []
    const read = async (): Promise<void> => {
      for await (const piece of stream) pieces.push(piece)
    }
    expect(await errorOf(read())).toMatchObject({ name: 'IntegrityError', code: 'aead' })
    const released = Buffer.concat(pieces)
    expect(released.equals(content.subarray(0, released.length))).toBe(true)
    expect(released.length).toBe(2 * (SEGMENT - 32))
  })
})

describe('a ticket is refused before anything is fetched', () => {
  const otherTicket = async (): Promise<Record<string, unknown>> =>
    world.alice.request({ method: 'GET', path: `/attachments/${vaultId}/assets/${otherId}/download-ticket` })
  const cases: readonly (readonly [
    string,
    (ticket: Record<string, unknown>, other: Record<string, unknown>) => object,
    string,
  ])[] = [
    ['of another attachment', (_, other) => other, 'item_swap'],
    ['with the row of another', (ticket, { row, proof }) => ({ ...ticket, row, proof }), 'assets_mismatch'],
    ['with the checkpoint of another', (ticket, { checkpoint }) => ({ ...ticket, checkpoint }), 'assets_mismatch'],
    ['with another path', (ticket, { proof }) => ({ ...ticket, proof }), 'assets_mismatch'],
    ['without an address', ({ url: _, ...ticket }) => ticket, 'malformed'],
  ]
  it.each(cases)('%s', async (_, change, code) => {
    const reader = makeReader()
    await reader.client.attachments.download(vault, assetId)
    const other = await otherTicket()
    reader.wire.answer = (asked, body) => (ticketOf(asked) ? change(body, other) : undefined)
    const error = await errorOf(reader.client.attachments.download(vault, assetId))
    expect(error).toMatchObject({ code, name: 'IntegrityError' })
    expect(reader.evidence).toEqual([code])
    expect(reader.wire.stored).toEqual([])
  })

  it('but another address on the same server leads to other content, which does not open', async () => {
    const reader = makeReader()
    const { url } = await otherTicket()
    reader.wire.answer = (asked, body) => (ticketOf(asked) ? { ...body, url } : undefined)
    expect(await errorOf(save(reader))).toMatchObject({ code: 'aead', name: 'IntegrityError' })
    expect(readdirSync(reader.directory)).toEqual([])
  })
})

describe('an address', () => {
  const moved = (reader: Reader, url: string): void => {
    reader.wire.answer = (asked, body) => (ticketOf(asked) ? { ...body, url } : undefined)
  }
  it.each([
    'https://evil.example/objects/1',
    'http://127.0.0.1:1/objects/1',
    'http://localhost/objects/1',
    '//evil.example/objects/1',
    '/\\evil.example/objects/1',
    'file:///etc/passwd',
    'data:text/plain,x',
    'javascript:1',
    'https://user:pass@evil.example/',
    'not an address',
    '',
  ])('at a place that nobody named is refused, and evidence does not hold what is secret in it: %s', async (url) => {
    const reader = makeReader()
    moved(reader, url)
    const error = await errorOf(reader.client.attachments.download(vault, assetId))
    expect(error).toBeInstanceOf(IntegrityError)
    expect(error).toMatchObject({ code: 'asset_url', stage: 'attachment', evidence: 'evidence/1' })
    expect(reader.wire.stored).toEqual([])
  })

  it('of a part is refused alike, and nothing is sent there', async () => {
    const { wire, fetch } = makeStoreWire()
    const { client } = world.device({ fetch })
    wire.answer = (asked, body) =>
      asked.endsWith('/get-multipart-pre-signed-urls')
        ? { ...body, data: [{ partNumber: 1, url: 'https://evil.example/put' }] }
        : undefined
    const { vault, item } = await makeItem(world)
    const call = client.attachments.upload(vault, item, content, { name: 'a' })
    expect(await errorOf(call)).toMatchObject({ code: 'asset_url', name: 'IntegrityError' })
    expect(wire.stored).toEqual([])
  })

  it('at an origin that was named is used, with https, without credentials; with http it is refused', async () => {
    const reader = makeReader({ storageOrigins: ['https://bucket.example', 'http://bucket.example'] })
    const { url } = await world.alice.request<{ url: string }>({
      method: 'GET',
      path: `/attachments/${vaultId}/assets/${assetId}/download-ticket`,
    })
    moved(reader, `https://bucket.example${url}`)
    reader.wire.store = () => fetch(`${world.url}${url}`)
    await save(reader)
    expect(sha256(readFileSync(target(reader)))).toBe(sha256(content))
    const [{ headers, url: asked } = { headers: new Headers(), url: new URL('x:') }] = reader.wire.stored
    expect(asked.origin).toBe('https://bucket.example')
    expect([...headers.keys()]).toEqual([])
    moved(reader, `http://bucket.example${url}`)
    expect(await errorOf(reader.client.attachments.download(vault, assetId))).toMatchObject({ code: 'asset_url' })
    expect(() => makeReader({ storageOrigins: ['https://bucket.example/path'] })).toThrow(ConfigError)
  })

  it('that answers with a redirect is refused', async () => {
    const reader = makeReader()
    reader.wire.store = async () => new Response(null, { status: 302, headers: { location: 'https://evil.example' } })
    expect(await errorOf(save(reader))).toMatchObject({ code: 'redirect_refused', retryable: false })
    expect(reader.wire.stored).toHaveLength(1)
    expect(readdirSync(reader.directory)).toEqual([])
  })

  it('is sent no key and no header of the client, up or down', async () => {
    const { wire, fetch } = makeStoreWire()
    const writer = await world.agent('deploy', { vaults: [{ vault, role: 'write' }] })
    const client = writer.again({ fetch, defaultHeaders: { 'x-own': '1' } })
    const [item] = await client.items.list(vault)
    const up = await client.attachments.upload(vault, item?.itemId ?? '', bytesOf(10), { name: 'a' })
    await (await client.attachments.download(vault, up.assetId)).bytes()
    expect(wire.stored.map(({ method, headers }) => [method, ...headers.keys()])).toEqual([
      ['PUT', 'content-type'],
      ['GET'],
    ])
  })
})

describe('a download that breaks off', () => {
  /** Gives so many bytes of an answer, and then breaks. */
  const breaking = (response: Response, after: number): Response => {
    const reader = response.body?.getReader()
    let given = 0
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const next = await reader?.read()
        if (!next || next.done) return controller.close()
        const rest = next.value.subarray(0, after - given)
        given += rest.length
        if (rest.length > 0) controller.enqueue(rest)
        if (given >= after) {
          await reader?.cancel()
          controller.error(new Error('the cable is out'))
        }
      },
    })
    return new Response(body, response)
  }

  it('goes on where it was, with a new ticket, and is whole', async () => {
    const reader = makeReader()
    let breaks = 0
    reader.wire.store = async (_, pass) => {
      const response = await pass()
      breaks += 1
      return breaks <= 3 ? breaking(response, 1_000_000) : response
    }
    await save(reader)
    expect(sha256(readFileSync(target(reader)))).toBe(sha256(content))
    expect(reader.wire.stored.map(({ headers }) => headers.get('range'))).toEqual([
      null,
      'bytes=1000000-',
      'bytes=2000000-',
      'bytes=3000000-',
    ])
    expect(reader.wire.asked.filter(ticketOf)).toHaveLength(4)
  })

  it('goes on with a store that knows no ranges, and refuses one that gives other bytes than it says', async () => {
    const reader = makeReader()
    let breaks = 0
    const first = async (pass: () => Promise<Response>): Promise<Response> => breaking(await pass(), 1_000_000)
    const whole = async (): Promise<Response> => {
      const { url } = reader.wire.stored[0] ?? { url: new URL('x:') }
      return fetch(url)
    }
    reader.wire.store = (_, pass) => (breaks++ === 0 ? first(pass) : whole())
    await save(reader)
    expect(sha256(readFileSync(target(reader)))).toBe(sha256(content))
    breaks = 0
    reader.wire.store = async (_, pass) => {
      if (breaks++ === 0) return first(pass)
      const bytes = await (await whole()).arrayBuffer()
      const headers = { 'content-range': `bytes 1000000-${bytes.byteLength - 1}/${bytes.byteLength}` }
      return new Response(bytes.slice(0, bytes.byteLength - 1_000_000), { status: 206, headers })
    }
    expect(await errorOf(save(reader))).toMatchObject({ name: 'IntegrityError', code: 'aead' })
    breaks = 0
    reader.wire.store = async (_, pass) => (breaks++ === 0 ? first(pass) : new Response('x', { status: 206 }))
    expect(await errorOf(save(reader))).toMatchObject({ name: 'IntegrityError', code: 'asset_mismatch' })
    expect(readdirSync(reader.directory)).toEqual(['a.bin'])
  })

  it('asks for a new address where one is no longer good, and gives up where none is', async () => {
    const reader = makeReader()
    let asked = 0
    reader.wire.store = () => (asked++ === 0 ? Promise.resolve(new Response(null, { status: 403 })) : undefined)
    await save(reader)
    expect(asked).toBe(2)
    reader.wire.store = () => Promise.reject(new Error('the cable is out'))
    expect(await errorOf(save(reader))).toMatchObject({ name: 'ConnectionError', code: 'connection_failed' })
    expect(readdirSync(reader.directory)).toEqual(['a.bin'])
  })

  it('ends when it is told to, and leaves no file', async () => {
    const reader = makeReader()
    const stopping = new AbortController()
    reader.wire.store = async (_, pass) => {
      const response = await pass()
      setTimeout(() => stopping.abort(), 0)
      return new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }), response)
    }
    const download = await reader.client.attachments.download(vault, assetId, { signal: stopping.signal })
    expect(await errorOf(download.saveTo(target(reader)))).toBeInstanceOf(AbortedError)
    expect(readdirSync(reader.directory)).toEqual([])
  })
})
