import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inOrg } from '../src/context.ts'
import { emit } from '../src/outbox/outbox.ts'
import { plantOrg } from '../test/webhooks/storm-world.ts'
import type { CommerceWorld } from './commerce-world.ts'

// How many deliveries a core makes, each with its attempt written down before and completed after, beside a long history.

const ENDPOINTS = 4
const EVENTS = 1500
const WARM_UP_EVENTS = 200
const HISTORY = 200_000
const GOAL = 50
const TURN_MS = 100

interface Receiver {
  readonly url: string
  count(): Promise<number>
  stop(): void
}

/** A process of its own: what it needs is not the server's. */
async function startReceiver(): Promise<Receiver> {
  const program = fileURLToPath(new URL('./receiver.ts', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const next = <T>(): Promise<T> => new Promise((resolve) => child.once('message', (message) => resolve(message as T)))
  const url = await next<string>()
  return {
    url,
    count: () => {
      const answer = next<number>()
      child.send('count')
      return answer
    },
    stop: () => child.kill('SIGTERM'),
  }
}

async function fillHistory({ admin }: CommerceWorld, orgId: string, endpointId: string): Promise<void> {
  await admin.query(
    `insert into webhook_delivery (org_id, delivery_id, endpoint_id, event_id, type, state, claims, created_at, finished_at)
      select $1, 'old_' || i, $2, 'evt_old_' || i, 'budget.updated', 'delivered', 1, now() - interval '1 day', now() - interval '1 day'
      from generate_series(1, $3::int) as i`,
    [orgId, endpointId, HISTORY],
  )
  await admin.query(
    `insert into webhook_attempt (org_id, delivery_id, attempt, started_at, duration_ms, url, response_status)
      select $1, 'old_' || i, 1, now() - interval '1 day', 5, 'https://hooks.northwind.example/', 204 from generate_series(1, $2::int) as i`,
    [orgId, HISTORY],
  )
  await admin.query('analyze')
}

async function tell({ deps }: CommerceWorld, orgId: string, count: number, receiver: Receiver): Promise<number> {
  const before = await receiver.count()
  const start = performance.now()
  await inOrg(deps, orgId, async (db) => {
    for (let i = 0; i < count; i++)
      await emit(deps, db, orgId, {
        type: 'budget.updated',
        object: { type: 'budget', id: `bud_${i}`, status: 'active', version: 1, subjectType: 'org', subjectId: orgId },
        tenantId: null,
      })
  })
  while ((await receiver.count()) - before < count * ENDPOINTS) await sleep(TURN_MS)
  return (performance.now() - start) / 1000
}

export async function benchDeliveries(world: CommerceWorld, cpu: () => Promise<number>): Promise<string[]> {
  const receiver = await startReceiver()
  try {
    const urls = Array.from({ length: ENDPOINTS }, (_, i) => `${receiver.url}/hooks/${i}`)
    const { orgId, endpoints } = await plantOrg(world.deps, urls)
    await fillHistory(world, orgId, endpoints[0]?.endpointId ?? '')
    await tell(world, orgId, WARM_UP_EVENTS, receiver)
    const before = await cpu()
    const seconds = await tell(world, orgId, EVENTS, receiver)
    const used = ((await cpu()) - before) / 1e6
    const count = EVENTS * ENDPOINTS
    const perCore = count / used
    return [
      `${count} deliveries to ${ENDPOINTS} endpoints, beside a history of ${HISTORY}:`,
      `  ${(count / seconds).toFixed(0)} deliveries/s; ${((used / count) * 1e6).toFixed(0)} µs CPU each with PostgreSQL; ${perCore.toFixed(0)} deliveries/s per core (goal ${GOAL}: ${perCore >= GOAL ? 'met' : 'missed'})`,
    ]
  } finally {
    receiver.stop()
  }
}
