import type { Deps } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import { removeExpired } from './store.ts'

type Sweeping = Pick<Deps, 'now' | 'log'>

/** Removes what has expired. Nobody can see it any more; now it is also gone. */
export async function sweepSharedItems({ now }: Pick<Deps, 'now'>, worker: Database): Promise<void> {
  const removeBatch = (): Promise<number> => worker.kysely.transaction().execute((db) => removeExpired(db, now()))
  while ((await removeBatch()) > 0);
}

const MINUTE_MS = 60_000

export const startSharedItemSweep = (deps: Sweeping, worker: Database): Repeating =>
  repeat(
    MINUTE_MS,
    () => sweepSharedItems(deps, worker),
    (error) => deps.log.warn({ event: 'shared_item_sweep_failed', code: (error as { code?: string }).code }),
  )
