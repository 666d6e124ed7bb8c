import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../src/db/database.ts'

/** The embedded database as its superuser sees it, past row-level security: for comparing, never for writing. */
export const openAsAuditor = (dataDirectory: string): Database => {
  const home = join(dataDirectory, 'postgres')
  const connection = {
    host: join(home, 'run'),
    port: 5432,
    user: 'postgres',
    database: 'strongroom',
    password: readFileSync(join(home, 'password'), 'utf8').trim(),
  }
  return openDatabase({ connection, poolSize: 2 }, () => undefined)
}
