import { type events, matchesEventType, unknownPatterns } from '@strongroom/contract'
import { visibleVaultIds } from '../../access/vaults.ts'
import { type ActivityRow, activityAfter, latestActivity } from '../../audit/activity.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Connection } from '../../http/connection.ts'
import type { Handler } from '../../http/mount.ts'
import { streamed } from '../../http/stream.ts'
import { type EventScope, heardBy } from '../../outbox/listeners.ts'
import { bodyOf } from '../../outbox/outbox.ts'
import { eventsAfter, latestPlace, type StreamedEvent } from '../../outbox/store.ts'
import { type Change, changesAfter, eventOfChange } from '../../outbox/vault-events.ts'

// Changes as they happen. The feeds are asked again every half second while somebody listens: a listener costs two indexed looks
// at a time, and needs nothing of the database that a pooler or a fail-over would take away.

const POLL_MS = 500
const BATCH = 100
/** Often enough that no proxy thinks the stream is dead. */
const HEARTBEAT_MS = 15_000

/** How far a listener has come: in the feed of vault changes, and in that of everything else. */
interface Position {
  readonly activity: number
  readonly place: number
}

export const stream: Handler<typeof events.stream> = async (ctx, { query }) => {
  const connection = ctx.connection()
  const types = query.webhooks?.split(',')
  const unknown = unknownPatterns(types ?? [])
  if (unknown.length > 0) throw new ApiError('webhook_event_type_unknown', { details: { eventTypes: unknown } })
  const from = await transact(ctx, (ctx) => startOf(ctx, query.after, connection.lastEventId))
  const hearing: Hearing = types ? (ctx, position) => hearWebhooks(ctx, position, types) : hear
  return streamed('text/event-stream; charset=utf-8', follow(ctx, connection, from, hearing))
}

/** Behind what the caller has had; where it has had nothing, from now on. */
async function startOf(
  { db, principal }: TxCtx,
  after: number | undefined,
  lastEventId: string | undefined,
): Promise<Position> {
  const [activity, place] = lastEventId?.split('-').map(Number) ?? []
  return {
    activity: after ?? activity ?? (await latestActivity(db, principal.orgId)),
    place: place ?? (await latestPlace(db, principal.orgId)),
  }
}

const placeOf = ({ activity, place }: Position): string => `${activity}-${place}`

const blockOf = (position: Position, event: string, data: string): string =>
  `id: ${placeOf(position)}\nevent: ${event}\ndata: ${data}\n\n`

const dataOf = ({ seq, occurredAt, ...row }: ActivityRow): string =>
  JSON.stringify({ seq, ...row, occurredAt: occurredAt.toISOString() })

interface Heard {
  readonly blocks: readonly string[]
  readonly next: Position
  readonly isFull: boolean
}

type Hearing = (ctx: TxCtx, from: Position) => Promise<Heard>

/** What has happened since, that the caller may hear of now: the vaults it sees, and events of whose type it holds the permission. */
async function hear(ctx: TxCtx, from: Position): Promise<Heard> {
  const { db, principal } = ctx
  const changes = await activityAfter(db, principal.orgId, await visibleVaultIds(ctx), from.activity, BATCH)
  const happened = await eventsAfter(db, principal.orgId, from.place, BATCH)
  const told = await toldTo(
    ctx,
    happened.filter((event) => !isOfVaults(event)),
  )
  let next = from
  const blocks: string[] = []
  for (const change of changes) {
    next = { ...next, activity: change.seq }
    blocks.push(blockOf(next, change.action, dataOf(change)))
  }
  for (const event of told) {
    next = { ...next, place: event.place }
    blocks.push(blockOf(next, event.type, event.body))
  }
  next = { ...next, place: happened.at(-1)?.place ?? next.place }
  return { blocks, next, isFull: changes.length === BATCH || happened.length === BATCH }
}

/** Vault changes are made from the feed, here as for webhooks: not once more from what was made of them for others. */
const isOfVaults = ({ type }: StreamedEvent): boolean => /^vault(?:_item)?\./.test(type)

/** A change of a vault as a webhook tells of it. */
function streamedChange(orgId: string, change: Change): Omit<StreamedEvent, 'place'> & { readonly seq: number } {
  const event = eventOfChange(change)
  const { type, vaultId = null } = event
  const body = bodyOf(orgId, { ...event, id: change.id.replace('act_', 'evt_'), sequence: change.seq })
  return { type, vaultId, tenantId: null, principal: null, body, seq: change.seq }
}

/** The same as bodies of webhooks, of these types: what an endpoint of the caller would be sent. */
async function hearWebhooks(ctx: TxCtx, from: Position, types: readonly string[]): Promise<Heard> {
  const { db, principal } = ctx
  const changes = await changesAfter(db, principal.orgId, from.activity, BATCH)
  const happened = await eventsAfter(db, principal.orgId, from.place, BATCH)
  const isAskedFor = ({ type }: EventScope): boolean => matchesEventType(types, type)
  const changed = changes.map((change) => streamedChange(principal.orgId, change)).filter(isAskedFor)
  const others = happened.filter((event) => !isOfVaults(event)).filter(isAskedFor)
  let next = from
  const blocks: string[] = []
  for (const event of await toldTo<(typeof changed)[number] | StreamedEvent>(ctx, [...changed, ...others])) {
    next = 'seq' in event ? { ...next, activity: event.seq } : { ...next, place: event.place }
    blocks.push(blockOf(next, event.type, event.body))
  }
  next = { activity: changes.at(-1)?.seq ?? next.activity, place: happened.at(-1)?.place ?? next.place }
  return { blocks, next, isFull: changes.length === BATCH || happened.length === BATCH }
}

/** Those of the events that the caller may hear of now. */
const toldTo = <E extends EventScope>({ db, principal, now }: TxCtx, events: readonly E[]): Promise<readonly E[]> =>
  heardBy(db, principal.orgId, { principal: principal.id, keyId: principal.keyId }, events, now())

async function* follow(ctx: Ctx, connection: Connection, from: Position, hearing: Hearing): AsyncIterable<string> {
  let position = from
  let silentMs = 0
  // With its place: whoever hears nothing more before it breaks off goes on from here all the same.
  yield `: listening\nid: ${placeOf(position)}\n\n`
  while (!connection.ended.aborted) {
    // A credential that ends ends its streams: whoever could not ask now is told nothing more.
    if (!(await connection.stillAdmitted())) return
    const { blocks, next, isFull } = await transact(ctx, (ctx) => hearing(ctx, position))
    yield* blocks
    position = next
    silentMs = blocks.length > 0 ? 0 : silentMs + POLL_MS
    if (silentMs >= HEARTBEAT_MS) {
      silentMs = 0
      yield `: still listening\nid: ${placeOf(position)}\n\n`
    }
    if (!isFull) await pause(POLL_MS, connection.ended)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
