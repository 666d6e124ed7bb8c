import { inOrg } from '../src/context.ts'
import { applyTransfers } from '../src/ledger/ledger.ts'
import type { Harness } from './harness.ts'

// What an operator does beside a running server, for the tests of its clients.

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
