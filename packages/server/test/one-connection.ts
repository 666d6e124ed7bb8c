import { AsyncLocalStorage } from 'node:async_hooks'
import type { TransactionBuilder } from 'kysely'
import type { Database } from '../src/db/database.ts'
import type { Tables } from '../src/db/schema.ts'

// Whoever holds a connection and waits for a second one of the same pool waits for ever once there are as many of them as connections. That
// needs many at once to be seen, so every test server refuses the second connection itself, whatever the test is about.

const inside = new AsyncLocalStorage<Database>()

/** For a test that is several callers at once: what another one does has a connection of its own. */
export const asAnother = <T>(work: () => T): T => inside.exit(work)

export function refuseSecondConnection(database: Database): Database {
  const { pool, kysely } = database
  const connect = pool.connect.bind(pool)
  pool.connect = ((...args: []) => {
    if (inside.getStore() === database) throw new Error('a second connection is asked for inside a transaction')
    return connect(...args)
  }) as typeof pool.connect
  const guarded = (transaction: TransactionBuilder<Tables>): TransactionBuilder<Tables> =>
    Object.assign(Object.create(transaction) as TransactionBuilder<Tables>, {
      setIsolationLevel: (...args: Parameters<typeof transaction.setIsolationLevel>) =>
        guarded(transaction.setIsolationLevel(...args)),
      execute: ((work) =>
        transaction.execute((db) => inside.run(database, () => work(db)))) as typeof transaction.execute,
    })
  const begin = kysely.transaction.bind(kysely)
  kysely.transaction = () => guarded(begin())
  return database
}
