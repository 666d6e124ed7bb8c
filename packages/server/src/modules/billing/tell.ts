import { money } from '@strongroom/contract'
import { type Deps, inOrg } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { type DomainEvent, emitOnce } from '../../outbox/outbox.ts'
import { showMovement } from './show.ts'
import * as store from './tell-store.ts'

// What moved the credit is told from the book itself, behind it: every movement once, and each time the credit falls below what is low, or to
// nothing. Who buys does not wait for it.

const BATCH = 200
const ORGS = 500

/** What falls with this movement: the credit was above it before. */
function fallen(
  { config }: Pick<Deps, 'config'>,
  orgId: string,
  before: bigint,
  { availableAfter, occurredAt }: store.NumberedCredit,
): readonly DomainEvent[] {
  const after = BigInt(availableAfter)
  const falls = (type: DomainEvent['type'], below: bigint): readonly DomainEvent[] =>
    before < below || after >= below
      ? []
      : [{ type, object: { type: 'balance', id: orgId, available: money(after), below: money(below) }, at: occurredAt }]
  return [...falls('billing.balance.low', config.lowBalance), ...falls('billing.balance.depleted', 1n)]
}

/** A batch of one organisation; whether there may be more. */
const tellBatch = (deps: Deps, worker: Database, orgId: string): Promise<boolean> =>
  inOrg({ database: worker }, orgId, async (db) => {
    const told = await store.takeTold(db, orgId)
    if (told === undefined) return false
    // The last one that was told says how much there was before.
    const [last, ...rest] = await store.movementsFrom(db, orgId, told, BATCH + 1)
    const movements = last && last.no > told ? [last, ...rest] : rest
    const newest = movements.at(-1)
    if (!newest) return false
    let before = last && last.no === told ? BigInt(last.availableAfter) : 0n
    const events = movements.flatMap((movement): readonly DomainEvent[] => {
      const all = fallen(deps, orgId, before, movement)
      before = BigInt(movement.availableAfter)
      const { id, ...shown } = showMovement(movement)
      const object = { ...shown, type: 'credit_transaction', id, kind: shown.type }
      return [{ type: 'billing.credit_transaction.created', object, at: movement.occurredAt }, ...all]
    })
    await emitOnce(deps, db, orgId, events)
    await store.moveTold(db, orgId, newest.no)
    return rest.length === BATCH
  })

/** Everything that moved and is stored now. One organisation that fails does not hold up the others. */
export async function tellCredit(deps: Deps, worker: Database): Promise<void> {
  const failures: unknown[] = []
  for (const orgId of await store.untoldOrgs(worker, ORGS)) {
    try {
      while (await tellBatch(deps, worker, orgId));
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
