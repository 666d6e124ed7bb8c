import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { deliverAll } from '../../src/modules/webhooks/background.ts'
import { mortalDatabase, pointOf, readOrders } from '../crash/mortal.ts'
import { type DeliveryOrders, ROUND_MS } from './delivery-orders.ts'
import { openWorld } from './storm-world.ts'

// A process that delivers webhooks and kills itself, without a last word, at the nth point where it touches the database, or in the middle
// of a request.

const orders = readOrders<DeliveryOrders>()
const clock = { skewMs: orders.skewMs }
const { deps, worker, close } = await openWorld(orders, clock)
const point = pointOf(orders, deps.now)
mortalDatabase(deps.database, point)
mortalDatabase(worker, point)
subscribe('http.client.request.created', (message) => {
  const { request } = message as { readonly request: ClientRequest }
  const to = request.path.replace(/.*\//, '')
  point(`before it is sent to ${to}`)
  request.once('finish', () => point(`after it was sent to ${to}`))
  // Its head is here, its body is not.
  request.once('response', () => point(`in the middle of the answer of ${to}`))
})

for (let round = 0; round < orders.rounds; round++) {
  await deliverAll(deps, worker)
  clock.skewMs += ROUND_MS
}
await close()
