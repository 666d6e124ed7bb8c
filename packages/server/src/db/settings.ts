import type pg from 'pg'
import { StartError } from '../errors.ts'

const MUST_BE_ON = ['fsync', 'synchronous_commit', 'full_page_writes'] as const
const OLDEST = 150_000

type Connection = Pick<pg.ClientBase, 'query'>

/** Refuses a database that could lose what it acknowledged. */
export async function checkSettings(db: Connection): Promise<void> {
  const { rows } = await db.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [[...MUST_BE_ON, 'server_version_num']],
  )
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]))
  const version = Number(settings.get('server_version_num'))
  if (version < OLDEST) {
    const release = Math.floor(version / 10_000)
    throw new StartError('database_too_old', `PostgreSQL ${release} is too old`, 'use PostgreSQL 15 or newer')
  }
  for (const name of MUST_BE_ON) {
    if (settings.get(name) === 'on') continue
    throw new StartError(
      'database_unsafe',
      `the database has ${name}=${settings.get(name)}: it can lose what it has acknowledged`,
      `set ${name}=on in postgresql.conf and reload`,
    )
  }
}

/** Refuses a login that could see past row-level security. */
export async function checkSight(db: Connection): Promise<void> {
  const { rows } = await db.query<{ login: string }>(`
    select session_user as login from pg_roles
    where rolname in (current_user, session_user) and (rolsuper or rolbypassrls)`)
  const [unsafe] = rows
  if (!unsafe) return
  throw new StartError(
    'database_role_unsafe',
    `the role ${unsafe.login} is a superuser or bypasses row-level security`,
    `give DATABASE_URL a login without these: create role strongroom login nosuperuser nobypassrls password '…'`,
  )
}

/** Refuses a role that owns the tables it works on: row-level security does not hold for it. */
export async function checkOwner(db: Connection): Promise<void> {
  const { rows } = await db.query<{ login: string }>(`
    select session_user as login from pg_tables where schemaname = 'strongroom' and tableowner = current_user limit 1`)
  const [owner] = rows
  if (!owner) return
  throw new StartError(
    'database_role_unsafe',
    `the role ${owner.login} owns the tables it works on`,
    'migrate as another login: set STRONGROOM_MIGRATION_URL',
  )
}
