import type { events } from '@strongroom/contract'
import { visibleVaultIds } from '../../access/vaults.ts'
import { type ActivityRow, activityAfter, latestActivity } from '../../audit/activity.ts'
import { type Ctx, transact } from '../../context.ts'
import type { Connection } from '../../http/connection.ts'
import type { Handler } from '../../http/mount.ts'
import { streamed } from '../../http/stream.ts'

// Changes as they happen. The feed is asked again every half second while somebody listens: a listener costs one indexed look
// at a time, and needs nothing of the database that a pooler or a fail-over would take away.

const POLL_MS = 500
const BATCH = 100
/** Often enough that no proxy thinks the stream is dead. */
const HEARTBEAT_MS = 15_000

export const stream: Handler<typeof events.stream> = async (ctx, { query }) => {
  const connection = ctx.connection()
  const after = query.after ?? connection.lastEventId ?? (await transact(ctx, latestSeq))
  return streamed('text/event-stream; charset=utf-8', follow(ctx, connection, after))
}

const latestSeq = ({ db, principal }: Parameters<typeof visibleVaultIds>[0]): Promise<number> =>
  latestActivity(db, principal.orgId)

const eventOf = ({ seq, occurredAt, ...row }: ActivityRow): string =>
  `id: ${seq}\nevent: ${row.action}\ndata: ${JSON.stringify({ seq, ...row, occurredAt: occurredAt.toISOString() })}\n\n`

async function* follow(ctx: Ctx, connection: Connection, from: number): AsyncIterable<string> {
  let after = from
  let silentMs = 0
  yield ': listening\n\n'
  while (!connection.ended.aborted) {
    // A credential that ends ends its streams: whoever could not ask now is told nothing more.
    if (!(await connection.stillAdmitted())) return
    const rows = await transact(ctx, async (inner) =>
      activityAfter(inner.db, ctx.principal.orgId, await visibleVaultIds(inner), after, BATCH),
    )
    for (const row of rows) yield eventOf(row)
    after = rows.at(-1)?.seq ?? after
    silentMs = rows.length > 0 ? 0 : silentMs + POLL_MS
    if (silentMs >= HEARTBEAT_MS) {
      silentMs = 0
      yield ': still listening\n\n'
    }
    if (rows.length < BATCH) await pause(POLL_MS, connection.ended)
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
