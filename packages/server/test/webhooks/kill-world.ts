import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import { type Deps, inOrg } from '../../src/context.ts'
import type { Db } from '../../src/db/database.ts'
import { deliverAll } from '../../src/modules/webhooks/background.ts'
import { emit } from '../../src/outbox/outbox.ts'
import { type Received, type Receiver, startReceiver } from '../webhook-receiver.ts'
import { openWorld, plantOrg, type StormDatabase, type StormEndpoint, wrongWithSigning } from './storm-world.ts'

// Organisations with endpoints that take, refuse at first, or are gone, and what must be true of their events however often somebody who
// delivered them was killed.

export type Manner = 'takes' | 'refuses' | 'gone'

export interface DeliveryWorld {
  readonly clock: { skewMs: number }
  /** A new organisation with such endpoints, to which something has happened. */
  plant(manners: readonly Manner[], events: number): Promise<Planted>
  /** Delivers what is due, as somebody who is not killed. */
  deliver(): Promise<void>
  close(): Promise<void>
}

export interface Planted {
  /** Something else happens, and something that is rolled back. */
  happen(): Promise<void>
  /** How many deliveries somebody claims to be at. */
  underWay(): Promise<number>
  requestsTo(manner: Manner): number
  wrong(): Promise<string | undefined>
}

interface Endpoint extends StormEndpoint {
  readonly manner: Manner
  readonly received: Received[]
  /** By event. */
  readonly taken: Map<string, number>
}

const idOf = ({ headers }: Received): string => String(headers['webhook-id'])

function answer({ manner, received, taken }: Endpoint, request: Received, response: ServerResponse): void {
  const id = idOf(request)
  const isFirst = !received.some((before) => idOf(before) === id)
  received.push(request)
  if (manner === 'gone') return void response.writeHead(410).end()
  if (manner === 'refuses' && isFirst) return void response.writeHead(500).end()
  taken.set(id, (taken.get(id) ?? 0) + 1)
  response.writeHead(200, { 'content-length': '8' })
  response.write('half', () => response.end('rest'))
}

export async function makeDeliveryWorld(logins: StormDatabase): Promise<DeliveryWorld> {
  const clock = { skewMs: 0 }
  const receiver = await startReceiver()
  const { deps, worker, close } = await openWorld(logins, clock)
  return {
    clock,
    plant: (manners, events) => plant(deps, receiver, manners, events),
    deliver: () => deliverAll(deps, worker),
    close: async () => {
      await close()
      receiver.close()
    },
  }
}

async function plant(deps: Deps, receiver: Receiver, manners: readonly Manner[], events: number): Promise<Planted> {
  const urls = manners.map((manner) => `${receiver.url}/${randomUUID()}/${manner}`)
  const { orgId, endpoints: planted } = await plantOrg(deps, urls)
  const endpoints = planted.map((endpoint, i) => ({
    ...endpoint,
    url: urls[i] ?? '',
    manner: manners[i] ?? 'takes',
    received: [],
    taken: new Map<string, number>(),
  }))
  receiver.answer((response, request) => {
    const endpoint = endpoints.find(({ url }) => request.path === URL.parse(url)?.pathname)
    if (endpoint) answer(endpoint, request, response)
    // What an earlier play has left undone was counted there.
    else response.writeHead(204).end()
  })
  const [committed, rolledBack] = [new Set<string>(), new Set<string>()]
  const happen = async (): Promise<void> => {
    const tell = (db: Db): Promise<string> =>
      emit(deps, db, orgId, { type: 'budget.created', object: { type: 'budget', id: randomUUID() } })
    committed.add(await inOrg(deps, orgId, tell))
    const undone = inOrg(deps, orgId, async (db) => {
      rolledBack.add(await tell(db))
      throw new Error('rolled back')
    })
    await undone.catch(() => undefined)
  }
  for (let i = 0; i < events; i++) await happen()
  return {
    happen,
    underWay: () =>
      inOrg(deps, orgId, async (db) => (await historyOf(db)).filter(({ state }) => state === 'delivering').length),
    requestsTo: (manner) => endpoints.find((endpoint) => endpoint.manner === manner)?.received.length ?? 0,
    wrong: () => wrongIn(deps, { orgId, endpoints, committed, rolledBack }),
  }
}

interface History {
  readonly endpointId: string
  readonly eventId: string
  readonly state: string
  /** Attempts that were recorded as taken, and those without an end. */
  readonly taken: number
  readonly open: number
}

async function historyOf(db: Db): Promise<readonly History[]> {
  const { rows } = await sql<History>`
    select d.endpoint_id as "endpointId", d.event_id as "eventId", d.state,
      count(a) filter (where a.response_status between 200 and 299) as taken, count(a) filter (where a.duration_ms is null) as open
    from webhook_delivery d left join webhook_attempt a using (org_id, delivery_id)
    group by d.org_id, d.delivery_id`.execute(db)
  return rows
}

interface Facts {
  readonly orgId: string
  readonly endpoints: readonly Endpoint[]
  readonly committed: ReadonlySet<string>
  readonly rolledBack: ReadonlySet<string>
}

/** That an endpoint was disabled: the events that say so, and how often it is in the audit. */
async function noticesOf(db: Db): Promise<{ readonly told: readonly string[]; readonly recorded: number }> {
  const { rows: told } = await sql<{ id: string }>`
    select event_id as id from outbox_event where type = 'webhook_endpoint.disabled'`.execute(db)
  const { rows: recorded } = await sql`select 1 from audit_event where action = 'webhook.disable'`.execute(db)
  return { told: told.map(({ id }) => id), recorded: recorded.length }
}

const wrongIn = (deps: Deps, facts: Facts): Promise<string | undefined> =>
  inOrg(deps, facts.orgId, async (db) => {
    const [history, notices] = [await historyOf(db), await noticesOf(db)]
    const gone = facts.endpoints.filter(({ manner }) => manner === 'gone').length
    if (notices.told.length !== gone || notices.recorded !== gone)
      return `${notices.told.length} notices and ${notices.recorded} records of ${gone} endpoints that are gone`
    const due = new Set([...facts.committed, ...notices.told])
    return facts.endpoints
      .map((endpoint) =>
        wrongAt(endpoint, history, endpoint.manner === 'gone' ? facts.committed : due, facts.rolledBack),
      )
      .find((wrong) => wrong !== undefined)
  })

/** Who takes has each event, once in the history, and at most once more than that from whoever was killed. */
function wrongAt(
  endpoint: Endpoint,
  history: readonly History[],
  due: ReadonlySet<string>,
  rolledBack: ReadonlySet<string>,
): string | undefined {
  const { endpointId, manner, received, taken } = endpoint
  const unsigned = received.map((one) => wrongWithSigning(endpoint, one)).find((wrong) => wrong !== undefined)
  if (unsigned) return unsigned
  if (received.some((one) => rolledBack.has(idOf(one)))) return `${manner} was told of what was rolled back`
  const own = history.filter((one) => one.endpointId === endpointId)
  const strange = own.find(({ state }) => state !== (manner === 'gone' ? 'discarded' : 'delivered'))
  if (strange) return `${manner} has one that is ${strange.state}`
  if (own.some(({ open }) => open > 1)) return `${manner} has two attempts without an end`
  if (manner === 'gone') return undefined
  const ids = own.map(({ eventId }) => eventId)
  if (ids.length !== due.size || ids.some((id) => !due.has(id)))
    return `${manner} has ${ids.length} of ${due.size} events`
  if (own.some((one) => one.taken !== 1)) return `${manner} has one that is not recorded as taken once`
  const times = ids.map((id) => taken.get(id) ?? 0)
  return times.every((count) => count === 1 || count === 2)
    ? undefined
    : `${manner} has taken them ${times.join(', ')} times`
}
