import { appendLeaf, EMPTY_FRONTIER, frontierRoot, leafHash, peekCheckpoint } from '@strongroom/protocol'
import type { Db } from '../db/database.ts'
import { OperatorError } from './operator-error.ts'

export interface LogEnd {
  readonly size: number
  readonly root: string
}

const BATCH = 500

/**
 * Where the log of the named organisation ends, computed from its leaves and compared with what was signed. undefined for an
 * organisation without a log.
 */
export async function logEnd(db: Db, orgId: string): Promise<LogEnd | undefined> {
  const state = await db.selectFrom('log_state').select(['size', 'note']).where('org_id', '=', orgId).executeTakeFirst()
  if (!state) return undefined
  let frontier = EMPTY_FRONTIER
  for (;;) {
    const leaves = await db
      .selectFrom('log_leaf')
      .select(['leaf_index', 'leaf'])
      .where('org_id', '=', orgId)
      .where('leaf_index', '>=', frontier.size)
      .orderBy('leaf_index')
      .limit(BATCH)
      .execute()
    for (const { leaf_index, leaf } of leaves) {
      if (leaf_index !== frontier.size) throw inconsistent(orgId)
      frontier = appendLeaf(frontier, leafHash(leaf)).frontier
    }
    if (leaves.length < BATCH) break
  }
  const root = Buffer.from(frontierRoot(frontier))
  const signed = state.note === '' ? undefined : peekCheckpoint(state.note)
  if (frontier.size !== state.size || (signed && (signed.size !== frontier.size || !root.equals(signed.root))))
    throw inconsistent(orgId)
  return { size: frontier.size, root: root.toString('hex') }
}

const inconsistent = (orgId: string): OperatorError =>
  new OperatorError(
    'log_inconsistent',
    `the log of ${orgId} does not have the root that was signed`,
    'do not go on with this database; restore a backup and report this',
  )
