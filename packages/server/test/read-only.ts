import { expect } from 'vitest'
import type { Harness } from './harness.ts'
import { asSuperuser } from './principals.ts'

// A database as a standby is, or one in maintenance.

/** New connections only begin as this says, so those that are there go. */
export const setReadOnly = (h: Harness, value: 'on' | 'off'): Promise<void> =>
  asSuperuser(h, async (client) => {
    await client.query('set default_transaction_read_only = off')
    await client.query(
      `do $$ begin execute format('alter database %I set default_transaction_read_only = ${value}', current_database()); end $$`,
    )
    await client.query(
      'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await expect.poll(() => h.deps.database.pool.totalCount).toBe(0)
  })
