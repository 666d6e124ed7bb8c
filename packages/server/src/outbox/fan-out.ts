import { matchesEventType } from '@strongroom/contract'
import { type Deps, inOrg } from '../context.ts'
import type { Database, Db } from '../db/database.ts'
import { disableByItself } from '../modules/webhooks/disable.ts'
import { type Listener, listenersOf, listingKey, listings, mayHear, ownerKey } from './listeners.ts'
import { emit } from './outbox.ts'
import * as store from './store.ts'
import { changesAfter, eventOfChange } from './vault-events.ts'

// From what happened to who is told: a delivery for each endpoint that asked for it and may hear of it. An event is fanned out in one
// transaction with its deliveries, so that after a crash it is fanned out again or was.

const BATCH = 200

interface Hearing extends store.ActiveEndpoint {
  readonly listener: Listener
}

/** Those that have somebody behind them; the others are disabled. */
async function hearingIn(deps: Deps, db: Db, orgId: string): Promise<Hearing[]> {
  const endpoints = await store.activeEndpoints(db, orgId)
  const listeners = await listenersOf(db, orgId, endpoints, deps.now())
  const orphaned = endpoints.filter((endpoint) => !listeners.has(ownerKey(endpoint)))
  for (const { endpointId } of orphaned) await disableByItself(deps, db, orgId, endpointId, 'key_ended')
  return endpoints.flatMap((endpoint) => {
    const listener = listeners.get(ownerKey(endpoint))
    return listener ? [{ ...endpoint, listener }] : []
  })
}

/** Events of vault changes that somebody wants to hear of; how many changes were looked at. */
async function takeChanges(deps: Deps, db: Db, orgId: string): Promise<number> {
  const after = await store.takeFeed(db, orgId)
  if (after === undefined) return 0
  const endpoints = await store.activeEndpoints(db, orgId)
  if (endpoints.length === 0) {
    await store.endFeed(db, orgId)
    return 0
  }
  const changes = await changesAfter(db, orgId, after, BATCH)
  for (const event of changes.map(eventOfChange))
    if (endpoints.some(({ eventTypes }) => matchesEventType(eventTypes, event.type))) await emit(deps, db, orgId, event)
  const last = changes.at(-1)
  if (last) await store.moveFeed(db, orgId, last.seq)
  return changes.length
}

async function fanOutEvents(deps: Deps, db: Db, orgId: string, head: number): Promise<number> {
  const events = await store.waitingEvents(db, orgId, BATCH)
  if (events.length === 0) return 0
  const hearing = await hearingIn(deps, db, orgId)
  const listed = await listings(
    db,
    orgId,
    hearing.map(({ principal }) => principal),
    events.map(({ vaultId }) => vaultId),
  )
  const deliveries = events.flatMap((event) =>
    hearing
      .filter(({ eventTypes }) => matchesEventType(eventTypes, event.type))
      .filter(({ principal, listener }) =>
        mayHear(listener, event, listed.has(listingKey({ principal, vaultId: event.vaultId }))),
      )
      .map(({ endpointId }) => ({
        deliveryId: deps.newId('whd'),
        endpointId,
        eventId: event.eventId,
        type: event.type,
      })),
  )
  await store.insertDeliveries(db, orgId, deliveries, deps.now())
  await store.placeEvents(
    db,
    orgId,
    head,
    events.map(({ eventId }) => eventId),
    deps.now(),
  )
  return events.length
}

/** One batch of one organisation; whether there may be more. */
const fanOutBatch = (deps: Deps, worker: Database, orgId: string): Promise<boolean> =>
  inOrg({ database: worker }, orgId, async (db) => {
    const head = await store.takeHead(db, orgId)
    if (head === undefined) return false
    const changes = await takeChanges(deps, db, orgId)
    const events = await fanOutEvents(deps, db, orgId, head)
    return changes === BATCH || events === BATCH
  })

/** Fans out everything that is committed now; in how many organisations somebody may have been told. One that fails does not hold up the others. */
export async function fanOut(deps: Deps, worker: Database): Promise<number> {
  const failures: unknown[] = []
  let told = 0
  for (let isMore = true; isMore; ) {
    const placed = await store.placeUnheard(worker, deps.now())
    for (const orgId of placed.heard) {
      try {
        while (await fanOutBatch(deps, worker, orgId));
      } catch (error) {
        failures.push(error)
      }
    }
    told += placed.heard.length
    // Who has something left that could not be fanned out has it at the next turn.
    isMore = placed.isMore && placed.heard.length === 0
  }
  if (failures.length > 0) throw failures[0]
  return told
}
