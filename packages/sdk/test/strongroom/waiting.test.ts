import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeQueue } from '../../src/engine/queue.ts'
import { AbortedError } from '../../src/index.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// A call that waits for another call of the same client: for its turn to write, and for the first use of the keys. Catches: a signal
// that is heard only when the other call is over, a turn that is lost or taken out of order, a change that is made although its caller has
// gone. Seen red: both waits without the signal, as calls that did not end; the place of who has gone given up, so that the next
// change began beside the first; the work of who has gone done all the same.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

/** Opens when it is told to. */
function makeGate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Everything that waits for nobody else has been done by then. */
const oneTurn = () => new Promise((resolve) => setImmediate(resolve))

it('lets a write go that waits for its turn, and keeps the order of the others', async () => {
  const { vaultId } = await world.alice.vaults.create({ name: unique('vault') })
  const { client, wire } = world.device()
  await client.secrets.set(`sr://${vaultId}/app/KEY`, '0')
  const [begun, answer] = [makeGate(), makeGate()]
  let commits = 0
  wire.before = async (asked) => {
    if (asked.startsWith('GET ')) return
    commits += 1
    begun.open()
    await answer.opened
  }
  const first = client.secrets.set(`sr://${vaultId}/app/KEY`, 'first')
  await begun.opened
  const ending = new AbortController()
  const second = errorOf(client.secrets.set(`sr://${vaultId}/app/KEY`, 'second', { signal: ending.signal }))
  const third = client.secrets.set(`sr://${vaultId}/app/MORE`, 'third')
  await oneTurn()
  ending.abort()
  expect(await second).toBeInstanceOf(AbortedError)
  expect(commits).toBe(1)
  answer.open()
  await Promise.all([first, third])
  expect(commits).toBe(2)
  expect((await world.alice.secrets.env({ vault: vaultId })).toObject()).toEqual({ KEY: 'first', MORE: 'third' })
})

it('lets a call go that waits for the first use of the keys by another', async () => {
  const { vaultId } = await world.alice.vaults.create({ name: unique('vault') })
  const bot = await world.agent('worker', { vaults: [{ vault: vaultId, role: 'read' }] })
  const [begun, answer] = [makeGate(), makeGate()]
  const through: typeof fetch = async (input, init) => {
    if (new URL(String(input)).pathname.endsWith('/me')) {
      begun.open()
      await answer.opened
    }
    return fetch(input, init)
  }
  // Keys that do not say whose they are: the server is asked.
  const client = new Strongroom({
    server: world.url,
    apiKey: bot.apiKey.reveal(),
    privateKey: bot.privateKeyPem.reveal(),
    trustAnchor: world.founder.trustAnchor,
    fetch: through,
  })
  const first = client.vaults.get(vaultId)
  await begun.opened
  const ending = new AbortController()
  const second = errorOf(client.vaults.get(vaultId, { signal: ending.signal }))
  await oneTurn()
  ending.abort()
  expect(await second).toBeInstanceOf(AbortedError)
  answer.open()
  expect((await first).vaultId).toBe(vaultId)
})

it('keeps the place of who has gone, and does nothing there', async () => {
  const inTurn = makeQueue()
  const gate = makeGate()
  const done: string[] = []
  const doing = (name: string) => async () => void done.push(name)
  const first = inTurn(() => gate.opened.then(doing('first')))
  const ending = new AbortController()
  const second = errorOf(inTurn(doing('second'), ending.signal))
  const third = inTurn(doing('third'))
  ending.abort(new Error('gone'))
  expect(await second).toMatchObject({ message: 'gone' })
  await oneTurn()
  expect(done).toEqual([])
  gate.open()
  await Promise.all([first, third])
  expect(done).toEqual(['first', 'third'])
})
