import { type Ended, type Matrix, runMortal, startMatrix } from '../crash/mortal.ts'
import { type DeliveryOrders, ROUND_MS } from './delivery-orders.ts'
import { type DeliveryWorld, type Manner, makeDeliveryWorld } from './kill-world.ts'
import type { StormDatabase } from './storm-world.ts'

// Deliveries whose process is killed at every point where it touches the database, and before, in the middle of and after each request.
//
// Seen red: a delivery recorded before it is sent; an event marked as fanned out in another transaction than its deliveries; an attempt ended
// in another transaction than its delivery; a lease of a day; an endpoint ended in another transaction than the notice of it; a delivery
// locked before its endpoint.

const PROCESS = new URL('./delivery-process.ts', import.meta.url)
const LEASE_MS = 30_000
/** After these nothing is left to wait for. */
const MORE_ROUNDS = 2

interface Scene {
  readonly manners: readonly Manner[]
  readonly events: number
  readonly rounds: number
}

/** Alone each is the same play each time; together they are sent side by side. */
const SCENES: readonly Scene[] = [
  { manners: ['takes'], events: 1, rounds: 1 },
  { manners: ['refuses'], events: 1, rounds: 2 },
  { manners: ['gone', 'takes'], events: 1, rounds: 1 },
  { manners: ['takes', 'refuses', 'gone'], events: 2, rounds: 2 },
]

async function play(logins: StormDatabase, world: DeliveryWorld, scene: Scene, dieAt: number): Promise<Ended> {
  const { clock, deliver } = world
  const planted = await world.plant(scene.manners, scene.events)
  const { app, worker } = logins
  const orders: DeliveryOrders = { app, worker, skewMs: clock.skewMs, rounds: scene.rounds, dieAt }
  const death = await runMortal(PROCESS, orders)
  const endedAt = death?.at.getTime() ?? Date.now() + clock.skewMs + scene.rounds * ROUND_MS
  clock.skewMs = endedAt - Date.now() + LEASE_MS + 1
  await deliver()
  const stuck = await planted.underWay()
  if (stuck > 0) return { death, wrong: `${stuck} are held longer than their lease` }
  for (let round = 0; round < MORE_ROUNDS; round++) {
    clock.skewMs += ROUND_MS
    await deliver()
  }
  const before = planted.requestsTo('gone')
  await planted.happen()
  for (let round = 0; round < MORE_ROUNDS; round++) {
    await deliver()
    clock.skewMs += ROUND_MS
  }
  const after = planted.requestsTo('gone')
  return { death, wrong: after > before ? 'one that is gone is still told' : await planted.wrong() }
}

export async function killDeliveries(logins: StormDatabase, step: number): Promise<void> {
  const matrix: Matrix = startMatrix('webhooks, kills', step)
  const world = await makeDeliveryWorld(logins)
  for (const scene of SCENES)
    await matrix.atEveryPoint(scene.manners.join(' and '), (dieAt) => play(logins, world, scene, dieAt))
  await world.close()
  matrix.end()
}
