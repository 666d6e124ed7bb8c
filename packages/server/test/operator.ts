import { randomUUID } from 'node:crypto'
import type { EventType } from '@strongroom/contract'
import { inOrg } from '../src/context.ts'
import { applyTransfers } from '../src/ledger/ledger.ts'
import { deliverAll } from '../src/modules/webhooks/background.ts'
import { emit } from '../src/outbox/outbox.ts'
import type { Harness } from './harness.ts'

// What an operator does beside a running server, for the tests of its clients.

export { refundOf } from '../src/licenses/proration.ts'
export { LOG_KEY } from '../src/log/log-key.ts'
export { backup } from '../src/operator/backup.ts'
export { restore } from '../src/operator/restore.ts'
export { provideServerSecret } from '../src/secrets/server-secrets.ts'

/** Credit, as if it had been paid in. */
export const fundCredit = (h: Pick<Harness, 'deps'>, orgId: string, amount: bigint): Promise<unknown> =>
  inOrg(h.deps, orgId, (db) => {
    const id = `test:${h.deps.newId('fund')}`
    const about = { id, group: id, code: 'funding', refType: 'test', refId: 'credit' } as const
    const transfer = { ...about, phase: 'single', dr: 'clearing:test', cr: 'credit', amount } as const
    return applyTransfers(db, orgId, [transfer], h.deps.now())
  })

/** Something happens in the organisation; the id of the event. */
export const happen = (h: Pick<Harness, 'deps'>, orgId: string, type: EventType): Promise<string> =>
  inOrg(h.deps, orgId, (db) => emit(h.deps, db, orgId, { type, object: { type: 'budget', id: randomUUID() } }))

/** Fans out and sends until nothing is due. */
export const tellAll = ({ deps, worker }: Pick<Harness, 'deps' | 'worker'>): Promise<unknown> =>
  deliverAll(deps, worker)
