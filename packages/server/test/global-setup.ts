import type { TestProject } from 'vitest/node'
import { startTestPostgres, type TestPostgres } from './postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: Pick<TestPostgres, 'superuser' | 'logins'>
  }
}

/** One PostgreSQL for the whole run; every test file works on a copy of its migrated template. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startTestPostgres()
  project.provide('postgres', { superuser: postgres.superuser, logins: postgres.logins })
  return postgres.stop
}
