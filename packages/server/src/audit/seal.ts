import { canonicalText } from '@strongroom/protocol'
import { type Deps, inOrg } from '../context.ts'
import type { Database } from '../db/database.ts'
import { makeRecent } from '../db/recent.ts'
import { groupBy } from '../log/group-by.ts'
import { type Repeating, repeat } from '../telemetry/repeat.ts'
import { nextHashOf, startOfChain } from './chain.ts'
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

const MAX_FORMS = 2000
const forms = makeRecent<string>(MAX_FORMS)

/** The canonical form of what the database wrote down: the same few targets and facts come again and again. */
function formOf(text: string): string {
  const known = forms.get(text)
  if (known !== undefined) return known
  const form = canonicalText(JSON.parse(text))
  forms.set(text, form)
  return form
}

function sealAll(
  { log }: Sealing,
  orgId: string,
  head: store.Head,
  events: readonly store.QueuedEvent[],
): store.Seal[] {
  const seals: store.Seal[] = []
  let { hash } = head
  for (const event of events) {
    try {
      const { targets, metadata } = event
      hash = nextHashOf(hash, orgId, { ...event, targets: formOf(targets), metadata: formOf(metadata) })
    } catch {
      // Not written by `record`. It stays in the queue, where its age is seen, and does not hold up the others.
      log.error({ event: 'audit_event_unsealable' })
      continue
    }
    seals.push({ eventId: event.id, seq: event.seq, hash })
  }
  return seals
}

/** One batch of one organisation; how many were sealed. */
const sealBatch = (deps: Sealing, worker: Database, orgId: string): Promise<number> =>
  inOrg({ database: worker }, orgId, async (db) => {
    const head = await store.takeHead(db, orgId, startOfChain(orgId))
    if (!head) return 0
    const seals = sealAll(deps, orgId, head, await store.unsealedEvents(db, orgId, BATCH))
    if (seals.length > 0) await store.appendSeals(db, orgId, head, seals, deps.now())
    return seals.length
  })

/** A batch of each of several organisations in one transaction; how many were sealed in each. */
const sealTogether = (deps: Sealing, worker: Database, orgIds: readonly string[]): Promise<Map<string, number>> =>
  worker.kysely.transaction().execute(async (db) => {
    const taken = groupBy(await store.takeUnsealed(db, orgIds, BATCH), ({ orgId }) => orgId)
    const batches = [...taken].flatMap(([orgId, events]) => {
      const [first] = events
      if (!first) return []
      const head = { position: first.headPosition, hash: first.headHash }
      return [{ orgId, head, seals: sealAll(deps, orgId, head, events) }]
    })
    const sealed = batches.filter(({ seals }) => seals.length > 0)
    if (sealed.length > 0) await store.appendAllSeals(db, sealed, deps.now())
    return new Map(sealed.map(({ orgId, seals }) => [orgId, seals.length]))
  })

/** So that a transaction stays short. */
const ORGS_AT_ONCE = 50

/** Seals the first batch of each together. Where that fails nothing is sealed, and each goes its own way afterwards. */
async function sealFirst(deps: Sealing, worker: Database, orgIds: readonly string[]): Promise<Map<string, number>> {
  const sealed = new Map<string, number>()
  for (let i = 0; i < orgIds.length; i += ORGS_AT_ONCE) {
    const some = await sealTogether(deps, worker, orgIds.slice(i, i + ORGS_AT_ONCE)).catch((error: unknown) => {
      deps.log.warn({ event: 'audit_not_sealed_together', code: (error as { code?: string }).code })
      return new Map<string, number>()
    })
    for (const [orgId, count] of some) sealed.set(orgId, count)
  }
  return sealed
}

/** How many of an organisation are sealed when nothing is left that could be. */
async function sealRest(deps: Sealing, worker: Database, orgId: string, first: number): Promise<number> {
  let sealed = first
  const isDone = sealed > 0 && sealed < BATCH
  for (let batch = isDone ? 0 : BATCH; batch === BATCH; sealed += batch) batch = await sealBatch(deps, worker, orgId)
  return sealed
}

/** Seals what is committed now, in every organisation. One where that fails holds up no other, and what waits in it is seen. */
export async function sealAudit(deps: Sealing, worker: Database): Promise<void> {
  let unsealed = 0
  let oldestUnsealedMs = 0
  const failures: unknown[] = []
  const backlogs = await store.backlogs(worker)
  const first = await sealFirst(
    deps,
    worker,
    backlogs.map(({ orgId }) => orgId),
  )
  for (const backlog of backlogs) {
    const atFirst = first.get(backlog.orgId) ?? 0
    const sealed = await sealRest(deps, worker, backlog.orgId, atFirst).catch((error: unknown) => {
      failures.push(error)
      return atFirst
    })
    if (sealed >= backlog.unsealed) continue
    unsealed += backlog.unsealed - sealed
    oldestUnsealedMs = Math.max(oldestUnsealedMs, backlog.oldestMs)
  }
  deps.telemetry.audit.saw({ unsealed, oldestUnsealedMs })
  if (failures.length > 0) throw failures[0]
}

export const startSealer = (deps: Sealing, worker: Database): Repeating =>
  repeat(
    SEAL_EVERY_MS,
    () => sealAudit(deps, worker),
    (error) => deps.log.error({ event: 'audit_sealing_failed', code: (error as { code?: string }).code }),
  )
