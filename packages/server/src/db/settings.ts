import type pg from 'pg'
import { StartError } from '../errors.ts'

const MUST_BE_ON = ['fsync', 'synchronous_commit', 'full_page_writes'] as const
const OLDEST = 150_000

/** Refuses a database that could lose what it acknowledged, or whose login could see past row-level security. */
export async function checkSettings(pool: pg.Pool): Promise<void> {
  await checkRole(pool)
  const { rows } = await pool.query<{ name: string; setting: string }>(
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

interface Role {
  readonly login: string
  readonly sees_all: boolean
  readonly owns: boolean
}

async function checkRole(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<Role>(`
    select session_user as login,
      (select bool_or(rolsuper or rolbypassrls) from pg_roles where rolname in (current_user, session_user)) as sees_all,
      exists (select 1 from pg_tables where schemaname = 'strongroom' and tableowner = current_user) as owns`)
  const [{ login, sees_all, owns }] = rows as [Role]
  if (sees_all) {
    throw new StartError(
      'database_role_unsafe',
      `the role ${login} is a superuser or bypasses row-level security`,
      `give DATABASE_URL a login without these: create role strongroom login nosuperuser nobypassrls password '…'`,
    )
  }
  if (owns) {
    throw new StartError(
      'database_role_unsafe',
      `the role ${login} owns the tables it works on`,
      'migrate as another login: set STRONGROOM_MIGRATION_URL',
    )
  }
}
