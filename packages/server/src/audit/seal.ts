import type { Insertable } from 'kysely'
import { type Deps, inOrg } from '../context.ts'
import type { Database } from '../db/database.ts'
import type { AuditSealTable } from '../db/schema.ts'
import { type Repeating, repeat } from '../telemetry/repeat.ts'
import { type ChainedEvent, nextHash, startOfChain } from './chain.ts'
import * as store from './store.ts'

// Gives every committed audit event its place in the chain of its organisation, in batches and behind the requests, so that two
// of them never wait for each other's hash.
//
// The order of the chain is the order of sealing: a batch takes whatever is committed and not sealed, by `seq`. An event with a
// smaller `seq` that commits later goes into a later batch, behind events with larger ones; `seq` is only the tie-breaker inside
// a batch, and gaps in it mean nothing. So the chain is only ever appended to, and it is complete: the queue row of an event is
// inserted by the insert of the event and deleted by the transaction that seals it.
//
// Every process runs a sealer. The row of `audit_head` is the lock: whoever has it appends, everybody else passes by.

const BATCH = 500
export const SEAL_EVERY_MS = 300

type Sealing = Pick<Deps, 'now' | 'log' | 'telemetry'>

function sealAll(
  { now, log }: Sealing,
  orgId: string,
  head: store.Head,
  events: readonly ChainedEvent[],
): Insertable<AuditSealTable>[] {
  const seals: Insertable<AuditSealTable>[] = []
  let { position, hash } = head
  for (const event of events) {
    const prev_hash = hash
    try {
      hash = nextHash(prev_hash, orgId, event)
    } catch {
      // Not written by `record`. It stays in the queue, where its age is seen, and does not hold up the others.
      log.error({ event: 'audit_event_unsealable' })
      continue
    }
    position++
    seals.push({ org_id: orgId, position, event_id: event.id, prev_hash, hash, sealed_at: now() })
  }
  return seals
}

/** One batch of one organisation; how many were sealed. */
const sealBatch = (deps: Sealing, worker: Database, orgId: string): Promise<number> =>
  inOrg({ database: worker }, orgId, async (db) => {
    const head = await store.takeHead(db, orgId, startOfChain(orgId))
    if (!head) return 0
    const seals = sealAll(deps, orgId, head, await store.unsealedEvents(db, orgId, BATCH))
    const last = seals.at(-1)
    if (last) await store.appendSeals(db, orgId, seals, { position: Number(last.position), hash: last.hash })
    return seals.length
  })

/** Seals what is committed now, in every organisation. */
export async function sealAudit(deps: Sealing, worker: Database): Promise<void> {
  let unsealed = 0
  let oldestUnsealedMs = 0
  for (const backlog of await store.backlogs(worker)) {
    let sealed = 0
    for (let batch = BATCH; batch === BATCH; sealed += batch) batch = await sealBatch(deps, worker, backlog.orgId)
    if (sealed >= backlog.unsealed) continue
    unsealed += backlog.unsealed - sealed
    oldestUnsealedMs = Math.max(oldestUnsealedMs, backlog.oldestMs)
  }
  deps.telemetry.audit.saw({ unsealed, oldestUnsealedMs })
}

export const startSealer = (deps: Sealing, worker: Database): Repeating =>
  repeat(
    SEAL_EVERY_MS,
    () => sealAudit(deps, worker),
    (error) => deps.log.error({ event: 'audit_sealing_failed', code: (error as { code?: string }).code }),
  )
