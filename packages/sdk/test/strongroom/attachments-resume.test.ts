import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ofThisRun } from '../../../server/test/process.ts'
import { parseUploadTicket } from '../../src/engine/upload-ticket.ts'
import { AbortedError, ConfigError, NotFoundError, ValidationError } from '../../src/index.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { bytesOf, contentOf, makeItem, makeStoreWire, sha256, streamed } from './attachment-wire.ts'
import { errorOf, startWorld, type World } from './world.ts'

// Catches: an upload that a broken connection or a killed process ends for good, parts that are sent twice, content mixed of two
// sources, an attachment that is there twice after its answer got lost, a key in a ticket. Seen red: random nonces (every part was
// sent again), hashes of stored parts not compared (another source was mixed in), what is attached already not looked at; the room of an
// upload that its caller ended kept for a day, because giving it back was ended by the same signal.

let world: World
let alice: Strongroom
let vault: string
let item: string
beforeAll(async () => {
  world = await startWorld()
  alice = world.alice
  ;({ vault, item } = await makeItem(world))
})
afterAll(() => world.close())

const MIB = 1_048_576
const onDevice = () => {
  const { wire, fetch } = makeStoreWire()
  return { wire, client: world.device({ fetch }).client }
}
const partsSent = (wire: ReturnType<typeof onDevice>['wire']): readonly number[] =>
  wire.stored
    .filter(({ method }) => method === 'PUT')
    .map(({ partNumber }) => partNumber)
    .toSorted((a, b) => a - b)

/** Begins an upload that ends after so many parts: the caller gives up, or nothing arrives however often it is sent. Gives its ticket. */
async function broken(
  size: number,
  arrived: number,
  at: { vault: string; item: string } = { vault, item },
  end: 'given up' | 'cut off' = 'given up',
): Promise<string> {
  const { wire, client } = onDevice()
  const giving = new AbortController()
  let ticket = ''
  wire.store = ({ partNumber }) => {
    if (partNumber <= arrived) return undefined
    if (end === 'given up') giving.abort()
    return Promise.reject(new Error('the cable is out'))
  }
  const call = client.attachments.upload(at.vault, at.item, streamed(size), {
    name: 'large.bin',
    concurrency: 1,
    signal: giving.signal,
    onStart: (told) => {
      expect(wire.stored).toEqual([])
      ticket = told
    },
  })
  const expected = end === 'cut off' ? { name: 'ConnectionError', code: 'connection_failed' } : { name: 'AbortError' }
  expect(await errorOf(call)).toMatchObject(expected)
  return ticket
}

it('goes on in another process after kill -9: only what is missing is sent, and the content is whole', async () => {
  const size = 44 * MIB
  const bot = await world.agent('worker', { vaults: [{ vault, role: 'write' }] })
  const file = join(world.directory(), 'ticket')
  const script = fileURLToPath(new URL('./killed-upload.ts', import.meta.url))
  const env = { ...ofThisRun(), HOME: world.directory(), STRONGROOM_BUNDLE: bot.bundle.reveal() }
  const child = spawn(process.execPath, [script, vault, item, String(size), file], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
  // It tells of each part that has arrived, and goes on with the next.
  for await (const line of child.stdout) if (Number(String(line).trim().split('\n').at(-1)) > 16 * MIB) break
  child.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
  const ticket = readFileSync(file, 'utf8')
  const { vaultId, uploadId } = parseUploadTicket(ticket)
  const path = `/attachments/${vaultId}/uploads/${uploadId}`
  const { data } = await bot.client.request<{ data: readonly { partNumber: number }[] }>({ method: 'GET', path })
  const arrived = data.map(({ partNumber }) => partNumber)
  expect(arrived.length).toBeGreaterThanOrEqual(2)
  expect(arrived.length).toBeLessThan(6)
  const { wire, fetch } = makeStoreWire()
  const told: number[] = []
  const { assetId } = await bot.again({ fetch }).attachments.upload(vault, item, streamed(size), {
    resume: ticket,
    onProgress: (sent) => told.push(sent),
  })
  expect(partsSent(wire)).toEqual([1, 2, 3, 4, 5, 6].filter((partNumber) => !arrived.includes(partNumber)))
  expect(told.at(-1)).toBe(size)
  expect(await contentOf(alice, vault, assetId)).toBe(sha256(bytesOf(size)))
  expect((await alice.attachments.list(vault, item)).filter((one) => one.assetId === assetId)).toMatchObject([
    { name: 'large.bin', mediaType: 'application/x-large', size },
  ])
})

it('sends a part again when its connection breaks, at a new address, and nothing else', async () => {
  const { wire, client } = onDevice()
  let broke = 0
  wire.store = ({ partNumber }) => {
    if (partNumber !== 2 || broke++ > 1) return undefined
    return broke === 1
      ? Promise.reject(new Error('the cable is out'))
      : Promise.resolve(new Response('busy', { status: 503 }))
  }
  const { assetId } = await client.attachments.upload(vault, item, streamed(18 * MIB), { name: 'a' })
  expect(partsSent(wire)).toEqual([1, 2, 2, 2, 3])
  expect(await contentOf(alice, vault, assetId)).toBe(sha256(bytesOf(18 * MIB)))
})

it('goes on after the parts were put together, and after an answer that got lost, and attaches once', async () => {
  const size = 9 * MIB
  const content = sha256(bytesOf(size))
  const lose = async (when: 'before' | 'after'): Promise<void> => {
    const { wire, client } = onDevice()
    wire[when] = (asked) => {
      if (asked.endsWith('/finish-upload')) throw new Error('the cable is out')
    }
    let ticket = ''
    const onStart = (told: string): void => {
      ticket = told
    }
    const options = { name: when, maxRetries: 0, onStart }
    expect(await errorOf(client.attachments.upload(vault, item, streamed(size), options))).toMatchObject({
      retryable: true,
    })
    const again = onDevice()
    const { assetId } = await again.client.attachments.upload(vault, item, streamed(size), { resume: ticket })
    expect(again.wire.stored).toEqual([])
    expect(await contentOf(alice, vault, assetId)).toBe(content)
    expect((await alice.attachments.list(vault, item)).filter(({ name }) => name === when)).toHaveLength(1)
    const third = onDevice()
    const same = await third.client.attachments.upload(vault, item, streamed(size), { resume: ticket })
    expect(same).toMatchObject({ assetId, version: 1, size })
  }
  await lose('before')
  await lose('after')
})

it('goes on after the vault key was changed, under the new one, and not once the older key has ended', async () => {
  const size = 9 * MIB
  const { vault, item } = await makeItem(world)
  const reader = await world.agent('hybrid', { vaults: [{ vault, role: 'read' }] })
  const ticket = await broken(size, 1, { vault, item })
  // Who leaves takes the key along, so there is a new one, and the older is in use until everything is under it.
  await alice.permissions.revoke({ vault }, reader.principal)
  const first = await onDevice().client.attachments.upload(vault, item, streamed(size), { resume: ticket })
  const second = await onDevice().client.attachments.upload(vault, item, streamed(size), {
    name: 'the older key ends meanwhile',
    onStart: () => alice.vaults.rotateKey(vault),
  })
  for (const { assetId } of [first, second]) expect(await contentOf(alice, vault, assetId)).toBe(sha256(bytesOf(size)))
  const ended = await broken(size, 1, { vault, item })
  await alice.vaults.rotateKey(vault)
  const error = await errorOf(onDevice().client.attachments.upload(vault, item, streamed(size), { resume: ended }))
  expect(error).toMatchObject({ name: 'NoWrappedKeyError', code: 'unwrapped_key_missing' })
})

it('never mixes two contents: another content under the same ticket is sent whole, another size is refused', async () => {
  const size = 17 * MIB
  const ticket = await broken(size, 2, undefined, 'cut off')
  const { wire, client } = onDevice()
  const { assetId } = await client.attachments.upload(vault, item, streamed(size, 7), { resume: ticket })
  expect(partsSent(wire)).toEqual([1, 2, 3])
  expect(await contentOf(alice, vault, assetId)).toBe(sha256(bytesOf(size, 7)))
  const { vault: sized, item: own } = await makeItem(world)
  const begun: string[] = []
  const stop = () => {
    throw new Error('enough')
  }
  const onStart = (told: string) => {
    begun.push(told)
    stop()
  }
  await errorOf(alice.attachments.upload(sized, own, bytesOf(100), { name: 'a', onStart }))
  const [first = ''] = begun
  const other = alice.attachments.upload(sized, own, bytesOf(101), { resume: first })
  expect(await errorOf(other)).toBeInstanceOf(ValidationError)
  expect(await errorOf(alice.attachments.upload(vault, item, bytesOf(100), { resume: first }))).toBeInstanceOf(
    ConfigError,
  )
  expect(await errorOf(alice.attachments.upload(sized, own, bytesOf(100), { resume: 'srup1.x' }))).toBeInstanceOf(
    ValidationError,
  )
  expect(await alice.attachments.list(sized, own)).toEqual([])
})

it('ends an upload by its ticket; then nobody can go on with it', async () => {
  const ticket = await broken(9 * MIB, 1)
  await alice.attachments.abort(ticket)
  const error = await errorOf(alice.attachments.upload(vault, item, streamed(9 * MIB), { resume: ticket }))
  expect(error).toBeInstanceOf(NotFoundError)
  expect(error.code).toBe('upload_not_found')
  expect(await errorOf(alice.attachments.abort(ticket))).toMatchObject({ code: 'upload_not_found' })
})

it('gives the room back at once where nobody has a ticket', async () => {
  const { wire, client } = onDevice()
  wire.store = () => Promise.resolve(new Response(null, { status: 400 }))
  const call = client.attachments.upload(vault, item, streamed(9 * MIB), { name: 'a' })
  expect(await errorOf(call)).toMatchObject({ code: 'unexpected_answer', retryable: false })
  expect(wire.asked.at(-1)).toMatch(/^DELETE .*\/uploads\/upl_/)
})

it('gives the room back when the caller ends it, with the first part under way', async () => {
  const { wire, client } = onDevice()
  const stopping = new AbortController()
  wire.store = () => {
    stopping.abort()
    return Promise.reject(new Error('the cable is out'))
  }
  const call = client.attachments.upload(vault, item, streamed(9 * MIB), { name: 'a', signal: stopping.signal })
  expect(await errorOf(call)).toBeInstanceOf(AbortedError)
  expect(wire.asked.at(-1)).toMatch(/^DELETE .*\/uploads\/upl_/)
  const [, vaultId = '', uploadId = ''] = /attachments\/([^/]+)\/uploads\/(.+)$/.exec(wire.asked.at(-1) ?? '') ?? []
  const gone = world.founder.client.attachments.upload({ params: { vaultId, uploadId } })
  expect(await errorOf(gone)).toMatchObject({ code: 'upload_not_found' })
})

it('keeps neither the content key nor the name readable in a ticket', async () => {
  const ticket = await broken(9 * MIB, 0)
  const members = parseUploadTicket(ticket)
  expect(Object.keys(members).sort()).toEqual([
    'assetId',
    'assetVersion',
    'draft',
    'itemId',
    'org',
    'uploadId',
    'vaultId',
  ])
  expect(JSON.stringify(members)).not.toContain('large.bin')
  const stranger = await world.agent('deploy', { vaults: [{ vault, role: 'write' }] })
  const taken = stranger.client.attachments.upload(vault, item, streamed(9 * MIB), { resume: ticket })
  expect(await errorOf(taken)).toMatchObject({ code: 'upload_not_found' })
})

it('stops when it is told to, even if its source has nothing to give', async () => {
  const stopping = new AbortController()
  async function* silent(): AsyncGenerator<Uint8Array, void, undefined> {
    yield bytesOf(100)
    stopping.abort()
    await new Promise(() => undefined)
  }
  const call = alice.attachments.upload(vault, item, silent(), { name: 'a', signal: stopping.signal })
  expect(await errorOf(call)).toBeInstanceOf(AbortedError)
})
