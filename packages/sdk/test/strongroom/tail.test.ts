import { getEventListeners } from 'node:events'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { VaultEvent } from '../../src/strongroom/events.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// Following what happens, as `activity --follow` does. Catches: a follower that a short outage ends, or that hides one from its beginning;
// one that goes on for a whole interval after it was ended; a change that is told late because it came while the list was read; what
// grows with every look. Seen red: all of these; an outage as ConnectionError, 16 listeners after 13 looks, the others as calls that did
// not end.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => world.close())

const LONG_MS = 600_000
const isActivity = (asked: string): boolean => asked.includes('vault-activity')
const isStream = (asked: string): boolean => /\/events$/.test(new URL(asked).pathname)

function makeGate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

async function newVault(): Promise<string> {
  return (await world.alice.vaults.create({ name: unique('vault') })).vaultId
}

it('goes on after the server was away, and tells once what happened meanwhile', async () => {
  let isAway = false
  let failures = 0
  const through: typeof fetch = async (input, init) => {
    if (!isAway) return fetch(input, init)
    failures += 1
    throw new TypeError('fetch failed')
  }
  const { client } = world.device({ fetch: through, maxRetries: 0 })
  const after = (await world.alice.monitoring.activity().all()).at(-1)?.seq ?? 0
  const vaultId = await newVault()
  const events = client.monitoring.tail({ after, interval: 20 })[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ vaultId })
  isAway = true
  const second = events.next()
  await Promise.race([second, vi.waitFor(() => expect(failures).toBeGreaterThan(3), 5000)])
  const other = await newVault()
  const third = await newVault()
  isAway = false
  const told = [(await second).value, (await events.next()).value] as VaultEvent[]
  expect(told.map((event) => event.vaultId)).toEqual([other, third])
  await events.return?.()
})

it('begins with an error where the server cannot be reached', async () => {
  const away: typeof fetch = async () => {
    throw new TypeError('fetch failed')
  }
  for (const options of [{}, { after: 0 }]) {
    const { client } = world.device({ fetch: away, maxRetries: 0 })
    const events = client.monitoring.tail(options)[Symbol.asyncIterator]()
    expect(await errorOf(events.next())).toMatchObject({ name: 'ConnectionError' })
  }
})

it('ends at once when it is ended while it reads', async () => {
  const [begun, answer] = [makeGate(), makeGate()]
  let reads = 0
  const { client, wire } = world.device()
  wire.before = async (asked) => {
    if (!isActivity(asked)) return
    reads += 1
    // The first one finds where to begin.
    if (reads === 1) return
    begun.open()
    await answer.opened
  }
  const ended = new AbortController()
  const events = client.monitoring.tail({ signal: ended.signal, interval: LONG_MS })[Symbol.asyncIterator]()
  const first = events.next()
  await begun.opened
  ended.abort()
  answer.open()
  expect(await first).toEqual({ done: true, value: undefined })
})

it('tells at once of a change that came while it read', async () => {
  const [held, told] = [makeGate(), makeGate()]
  let hasStream = false
  let isHeld = false
  const through: typeof fetch = async (input, init) => {
    const asked = String(input)
    const response = await fetch(input, init)
    if (isStream(asked) && response.body) {
      hasStream = true
      const noting = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          controller.enqueue(chunk)
          if (new TextDecoder().decode(chunk).includes('vaultId')) setImmediate(told.open)
        },
      })
      return new Response(response.body.pipeThrough(noting), response)
    }
    if (!isActivity(asked) || !hasStream || isHeld) return response
    isHeld = true
    const body = await response.text()
    held.open()
    await told.opened
    return new Response(body, response)
  }
  const { client } = world.device({ fetch: through })
  const events = client.monitoring.tail({ interval: LONG_MS })[Symbol.asyncIterator]()
  const first = events.next()
  await held.opened
  const vaultId = await newVault()
  expect((await first).value).toMatchObject({ vaultId })
  await events.return?.()
})

it('leaves nothing behind with each look', async () => {
  const added = vi.spyOn(EventTarget.prototype, 'addEventListener')
  const { client, wire } = world.device()
  const ended = new AbortController()
  const events = client.monitoring.tail({ signal: ended.signal, interval: 5 })[Symbol.asyncIterator]()
  const first = events.next()
  await vi.waitFor(() => expect(wire.asked.filter(isActivity).length).toBeGreaterThan(12), 10_000)
  const signals = new Set(added.mock.contexts.filter((one) => one instanceof AbortSignal))
  expect(signals.size).toBeGreaterThan(0)
  const counts = [...signals].map((one) => getEventListeners(one, 'abort').length)
  expect(Math.max(...counts)).toBeLessThan(6)
  ended.abort()
  expect(await first).toEqual({ done: true, value: undefined })
})
