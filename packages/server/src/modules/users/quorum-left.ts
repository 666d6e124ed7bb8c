import {
  claimedKind,
  type LogState,
  orgGenesis,
  POLICY_NAME,
  type PolicyState,
  peekDocument,
  policySet,
} from '@strongroom/protocol'
import type { Db } from '../../db/database.ts'
import { ApiError, found } from '../../errors.ts'
import { knownKey } from '../../log/known-key.ts'
import { openLogState } from '../../log/log-state.ts'

// Only signatures of its administrators change the directory: if too few are left, nobody can lower what the policy asks for any more.

async function isAdmin(state: LogState, userId: string): Promise<boolean> {
  for (const kid of await state.kidsOf(`user:${userId}`)) {
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

/**
 * Refuses to let an administrator of the directory go without whom a quorum that can be met now could not be met any more. Keys of people
 * who are gone may still be active in the log, but nobody can bring what they sign: `others` are the people who stay.
 */
export async function ensureQuorumLeft(
  db: Db,
  orgId: string,
  leaving: string,
  others: () => Promise<readonly string[]>,
): Promise<void> {
  const state = await openLogState(db, { orgId, lastAt: 0 }, [])
  if (!(await isAdmin(state, leaving))) return
  const quorums = await quorumsOf(state)
  let left = 0
  for (const userId of await others()) {
    if (left >= Math.max(...quorums)) return
    if (await isAdmin(state, userId)) left += 1
  }
  if (quorums.includes(left + 1)) throw new ApiError('quorum_unreachable', { details: { administratorsLeft: left } })
}
