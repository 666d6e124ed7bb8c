import { kidName } from '@strongroom/protocol'
import type { Db } from '../../db/database.ts'
import { openLogState } from '../../log/log-state.ts'

/** The keys of a person that the directory still calls active. Only a signature ends them, so somebody with keys is told. */
export async function liveKeysOf(db: Db, orgId: string, principal: string): Promise<string[]> {
  const state = await openLogState(db, { orgId, lastAt: 0 }, [])
  const live: string[] = []
  for (const kid of await state.kidsOf(principal)) {
    const entry = await state.get(kidName(kid))
    if (entry?.status === 'active') live.push(kid)
  }
  return live
}
