import { type Deps, inOrg } from '../context.ts'
import { nextHash, startOfChain } from './chain.ts'
import * as store from './store.ts'

// Recomputes an organisation's audit chain from the events as they are now.
//
// Somebody who may write everything can also recompute every hash behind a change. That is seen by whoever remembers an earlier
// end of the chain: give it as `remembered`.

export type AuditProblem =
  /** A position is missing, or stands where another should. */
  | 'position_missing'
  /** The position is there and its event is not. */
  | 'event_missing'
  /** The position does not follow the one before it. */
  | 'link_broken'
  /** The event is not the one that was sealed. */
  | 'event_changed'
  /** The chain ends before its recorded end, or elsewhere. */
  | 'end_missing'
  /** A remembered end is not in the chain. */
  | 'history_rewritten'
  /** An event was committed long ago and is not in the chain. */
  | 'event_unsealed'

export interface ChainEnd {
  readonly position: number
  /** Hexadecimal. */
  readonly hash: string
}

export type AuditVerdict =
  | { readonly intact: true; readonly end: ChainEnd }
  /** The first bad position; for an unsealed event there is none. */
  | {
      readonly intact: false
      readonly problem: AuditProblem
      readonly position: number | null
      readonly eventId: string | null
    }

export interface VerifyOptions {
  readonly remembered?: ChainEnd
  /** Younger events may still wait for their seal. */
  readonly unsealedAfterMs?: number
}

const BATCH = 1000
const UNSEALED_AFTER_MS = 60_000

type Verifying = Pick<Deps, 'database' | 'now'>
type Bad = Extract<AuditVerdict, { intact: false }>

const bad = (problem: AuditProblem, position: number | null, eventId: string | null): Bad => ({
  intact: false,
  problem,
  position,
  eventId,
})

/** An end of the chain that somebody has written down, and what it means if the chain does not have it. */
interface Expected {
  readonly position: number
  readonly hash: Buffer
  readonly problem: AuditProblem
}

/** Says that the chain is intact and where it ends, or names the first position that is not right. */
export async function verifyAuditChain(
  deps: Verifying,
  orgId: string,
  options: VerifyOptions = {},
): Promise<AuditVerdict> {
  const { remembered, unsealedAfterMs = UNSEALED_AFTER_MS } = options
  const recorded = await inOrg(deps, orgId, (db) => store.readHead(db, orgId))
  const expected: Expected[] = [
    ...(remembered
      ? [
          {
            position: remembered.position,
            hash: Buffer.from(remembered.hash, 'hex'),
            problem: 'history_rewritten' as const,
          },
        ]
      : []),
    ...(recorded ? [{ ...recorded, problem: 'end_missing' as const }] : []),
  ]
  const walked = await walk(deps, orgId, expected)
  if ('intact' in walked) return walked
  const unsealed = await findUnsealed(deps, orgId, unsealedAfterMs)
  return unsealed ?? { intact: true, end: { position: walked.position, hash: walked.hash.toString('hex') } }
}

async function walk(deps: Verifying, orgId: string, expected: readonly Expected[]): Promise<store.Head | Bad> {
  let end: store.Head = { position: 0, hash: startOfChain(orgId) }
  for (;;) {
    const rows = await inOrg(deps, orgId, (db) => store.sealedRows(db, orgId, end.position, BATCH))
    for (const row of rows) {
      const problem =
        problemOf(orgId, end, row) ??
        expected.find(({ position, hash }) => position === row.position && !hash.equals(row.hash))?.problem
      if (problem) return bad(problem, problem === 'position_missing' ? end.position + 1 : row.position, row.eventId)
      end = row
    }
    if (rows.length < BATCH) break
  }
  const missing = expected.find(({ position }) => position > end.position)
  return missing ? bad(missing.problem, end.position + 1, null) : { position: end.position, hash: end.hash }
}

function problemOf(
  orgId: string,
  end: store.Head,
  { position, prevHash, hash, event }: store.SealedRow,
): AuditProblem | undefined {
  if (position !== end.position + 1) return 'position_missing'
  if (!prevHash.equals(end.hash)) return 'link_broken'
  if (!event) return 'event_missing'
  try {
    return nextHash(prevHash, orgId, event).equals(hash) ? undefined : 'event_changed'
  } catch {
    // No event that was sealed lacks a canonical form.
    return 'event_changed'
  }
}

async function findUnsealed(deps: Verifying, orgId: string, unsealedAfterMs: number): Promise<Bad | undefined> {
  const before = deps.now().getTime() - unsealedAfterMs
  let after = 0
  for (;;) {
    const states = await inOrg(deps, orgId, (db) => store.eventStates(db, orgId, after, BATCH))
    const unsealed = states.find(({ position, occurredAt }) => position === null && occurredAt.getTime() < before)
    if (unsealed) return bad('event_unsealed', null, unsealed.eventId)
    const last = states.at(-1)
    if (!last || states.length < BATCH) return undefined
    after = last.seq
  }
}
