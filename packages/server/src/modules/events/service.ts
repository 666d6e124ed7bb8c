import type { events } from '@strongroom/contract'
import { visibleVaultIds } from '../../access/vaults.ts'
import { type ActivityRow, activityAfter, latestActivity } from '../../audit/activity.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import type { Connection } from '../../http/connection.ts'
import type { Handler } from '../../http/mount.ts'
import { streamed } from '../../http/stream.ts'
import { listenersOf, listingKey, listings, mayHear, ownerKey } from '../../outbox/listeners.ts'
import { eventsAfter, latestPlace, type StreamedEvent } from '../../outbox/store.ts'

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
  const from = await transact(ctx, (ctx) => startOf(ctx, query.after, connection.lastEventId))
  return streamed('text/event-stream; charset=utf-8', follow(ctx, connection, from))
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

const blockOf = ({ activity, place }: Position, event: string, data: string): string =>
  `id: ${activity}-${place}\nevent: ${event}\ndata: ${data}\n\n`

const dataOf = ({ seq, occurredAt, ...row }: ActivityRow): string =>
  JSON.stringify({ seq, ...row, occurredAt: occurredAt.toISOString() })

interface Heard {
  readonly blocks: readonly string[]
  readonly next: Position
  readonly isFull: boolean
}

/** What has happened since, that the caller may hear of now: the vaults it sees, and events of whose type it holds the permission. */
async function hear(ctx: TxCtx, from: Position): Promise<Heard> {
  const { db, principal } = ctx
  const changes = await activityAfter(db, principal.orgId, await visibleVaultIds(ctx), from.activity, BATCH)
  const happened = await eventsAfter(db, principal.orgId, from.place, BATCH)
  const told = happened.length === 0 ? [] : await toldTo(ctx, happened)
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

/** Vault changes are in the stream as they are in the feed: not once more as what webhooks say of them. */
const isOfVaults = ({ type }: StreamedEvent): boolean => /^vault(?:_item)?\./.test(type)

async function toldTo({ db, principal }: TxCtx, happened: readonly StreamedEvent[]): Promise<readonly StreamedEvent[]> {
  const others = happened.filter((event) => !isOfVaults(event))
  const owner = { principal: principal.id, keyId: principal.keyId }
  const listener = (await listenersOf(db, principal.orgId, [owner])).get(ownerKey(owner))
  if (!listener) return []
  const listed = await listings(
    db,
    principal.orgId,
    [principal.id],
    others.map(({ vaultId }) => vaultId),
  )
  return others.filter((event) =>
    mayHear(listener, event, listed.has(listingKey({ principal: principal.id, vaultId: event.vaultId }))),
  )
}

async function* follow(ctx: Ctx, connection: Connection, from: Position): AsyncIterable<string> {
  let position = from
  let silentMs = 0
  yield ': listening\n\n'
  while (!connection.ended.aborted) {
    // A credential that ends ends its streams: whoever could not ask now is told nothing more.
    if (!(await connection.stillAdmitted())) return
    const { blocks, next, isFull } = await transact(ctx, (ctx) => hear(ctx, position))
    yield* blocks
    position = next
    silentMs = blocks.length > 0 ? 0 : silentMs + POLL_MS
    if (silentMs >= HEARTBEAT_MS) {
      silentMs = 0
      yield ': still listening\n\n'
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
