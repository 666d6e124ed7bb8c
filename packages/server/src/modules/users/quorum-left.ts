import {
  claimedKind,
  type LogState,
  orgGenesis,
  POLICY_NAME,
  type Policy,
  type PolicyState,
  peekDocument,
  policySet,
} from '@strongroom/protocol'
import type { Db } from '../../db/database.ts'
import { ApiError, found } from '../../errors.ts'
import { knownKey } from '../../log/known-key.ts'
import { openLogState } from '../../log/log-state.ts'

// Only signatures of its administrators change the directory: if too few are left, nobody can lower what the policy asks for any more.

async function isAdmin(state: LogState, userId: string, except?: string): Promise<boolean> {
  for (const kid of await state.kidsOf(`user:${userId}`)) {
    if (kid === except) continue
    const key = await knownKey(state, kid)
    if (key?.isAdmin && key.isActive) return true
  }
  return false
}

async function quorumsOf(state: LogState): Promise<readonly number[]> {
  // States are written by the log's own rules.
  const { policyHash } = found(await state.get(POLICY_NAME), 'leaf_not_found') as PolicyState
  const envelope = found(await state.document(policyHash), 'leaf_not_found')
  const isGenesis = claimedKind(envelope) === 'org.genesis'
  const { policy } = (isGenesis ? peekDocument(orgGenesis, envelope) : peekDocument(policySet, envelope)).payload
  return [policy.dirQuorum, policy.recoverQuorum]
}

/** No further than `enough`. */
async function countAdmins(state: LogState, people: readonly string[], enough: number): Promise<number> {
  let found = 0
  for (const userId of people) {
    if (found >= enough) break
    if (await isAdmin(state, userId)) found += 1
  }
  return found
}

interface Leaving {
  readonly orgId: string
  readonly userId: string
  /** Where only this one key of theirs signs no more. */
  readonly kid?: string
}

/**
 * Refuses to let an administrator of the directory go without whom a quorum that can be met now could not be met any more. Keys of people
 * who are gone may still be active in the log, but nobody can bring what they sign: `others` are the people who stay.
 */
export async function ensureQuorumLeft(
  db: Db,
  { orgId, userId: leaving, kid }: Leaving,
  others: () => Promise<readonly string[]>,
): Promise<void> {
  const state = await openLogState(db, { orgId, lastAt: 0 }, [])
  if (!(await isAdmin(state, leaving)) || (kid !== undefined && (await isAdmin(state, leaving, kid)))) return
  const quorums = await quorumsOf(state)
  const left = await countAdmins(state, await others(), Math.max(...quorums))
  if (quorums.includes(left + 1)) throw new ApiError('quorum_unreachable', { details: { administratorsLeft: left } })
}

/** Refuses a policy that asks for more signatures than before, and than there are people to give them. */
export async function ensureQuorumMet(
  db: Db,
  orgId: string,
  next: Policy,
  people: () => Promise<readonly string[]>,
): Promise<void> {
  const state = await openLogState(db, { orgId, lastAt: 0 }, [])
  const before = await quorumsOf(state)
  const raised = [next.dirQuorum, next.recoverQuorum].filter((quorum, i) => quorum > (before[i] ?? 0))
  if (raised.length === 0) return
  const administrators = await countAdmins(state, await people(), Math.max(...raised))
  if (administrators < Math.max(...raised)) throw new ApiError('quorum_unreachable', { details: { administrators } })
}
