import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startTestPostgres, type TestPostgres } from './postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: Pick<TestPostgres, 'superuser' | 'logins'>
  }
}

/** One PostgreSQL for the whole run; every test file works on a copy of its migrated template. And one place for the data of servers. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startTestPostgres()
  project.provide('postgres', { superuser: postgres.superuser, logins: postgres.logins })
  const data = mkdtempSync(join(tmpdir(), 'sr-run-'))
  // As root, PostgreSQL runs as another user, who must be able to pass through.
  chmodSync(data, 0o711)
  process.env.STRONGROOM_TEST_DATA = data
  return async () => {
    await postgres.stop()
    rmSync(data, { recursive: true, force: true })
  }
}
