import { sql } from 'kysely'
import type { Deps } from '../context.ts'
import type { Database } from '../db/database.ts'
import { isForReview } from '../modules/licenses/for-review.ts'
import { type Repeating, repeat } from './repeat.ts'

// What waits behind the answers, of every organisation: how many and how long, never whose. Looked at by the background, read by /metrics and
// by the route for operators.

/** As it was looked at last; null where nothing waits. */
export interface Backlog {
  readonly eventsWaiting: number
  readonly oldestEvent: Date | null
  readonly deliveriesDue: number
  readonly oldestDelivery: Date | null
  readonly inReview: number
  readonly booksDiffering: number
  readonly chainBehindBlocks: number | null
  readonly chainReadAt: Date | null
}

export const NO_BACKLOG: Backlog = {
  ...{ eventsWaiting: 0, oldestEvent: null, deliveriesDue: 0, oldestDelivery: null, inReview: 0, booksDiffering: 0 },
  ...{ chainBehindBlocks: null, chainReadAt: null },
}

/** Ages are of the moment somebody asks: whoever stops looking makes them grow. */
export const ageMs = (since: Date | null, now: Date): number =>
  since === null ? 0 : Math.max(0, now.getTime() - since.getTime())

export async function readBacklog({ kysely }: Database, at: Date): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select e.waiting as "eventsWaiting", e.oldest as "oldestEvent", d.due as "deliveriesDue", d.oldest as "oldestDelivery",
      (select count(*) from license_purchase where ${isForReview}) + (select count(*) from license_renewal where state = 'in_review')
        + (select count(*) from license_termination where state = 'in_review') as "inReview",
      (select count(*) from ledger_check where cardinality(differing) > 0) as "booksDiffering",
      c.behind as "chainBehindBlocks", c.read_at as "chainReadAt"
    from (select count(*) as waiting, min(occurred_at) as oldest from outbox_event where fanned_out_at is null) e
    cross join (select count(*) as due, min(due_at) as oldest from webhook_delivery where due_at <= ${at}) d
    cross join (select max(greatest(head - next_block + 1, 0)) as behind, min(read_at) as read_at from chain_cursor) c`.execute(
    kysely,
  )
  return rows[0] ?? NO_BACKLOG
}

const EVERY_MS = 10_000

export const startBacklogWatch = (deps: Deps, worker: Database): Repeating =>
  repeat(
    EVERY_MS,
    async () => {
      deps.telemetry.backlog.saw(await readBacklog(worker, deps.now()))
    },
    (error) => deps.log.warn({ event: 'backlog_unknown', code: (error as { code?: string }).code }),
  )
