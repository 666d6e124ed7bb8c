import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { StartError } from '../errors.ts'

// Who logs in as what. Tables belong to an owner that only migrates; the server works as roles that own nothing, so that
// row-level security holds for them.

export const OWNER = 'strongroom_owner'
export const APP = 'strongroom_app'
export const WORKER = 'strongroom_worker'
const DATABASE = 'strongroom'

export interface Logins {
  readonly owner: pg.ClientConfig
  readonly app: pg.ClientConfig
  readonly worker: pg.ClientConfig
}

/** In the embedded PostgreSQL: our database and roles, with passwords made anew at every start and kept in memory only. */
export async function provideEmbeddedRoles(superuser: pg.ClientConfig): Promise<Logins> {
  const admin = new pg.Client({ ...superuser, database: 'postgres' })
  await admin.connect()
  const passwords = new Map<string, string>()
  try {
    for (const role of [OWNER, APP, WORKER]) {
      const password = randomBytes(24).toString('base64url')
      const { rowCount } = await admin.query('select 1 from pg_roles where rolname = $1', [role])
      // Role names are our constants and the password has no character to escape.
      await admin.query(
        `${rowCount === 0 ? 'create' : 'alter'} role ${role} login nosuperuser nocreatedb nocreaterole nobypassrls password '${password}'`,
      )
      passwords.set(role, password)
    }
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await admin.query(`create database ${DATABASE} owner ${OWNER}`)
  } finally {
    await admin.end()
  }
  const login = (user: string): pg.ClientConfig => ({
    host: superuser.host,
    port: superuser.port,
    database: DATABASE,
    user,
    password: passwords.get(user),
  })
  return { owner: login(OWNER), app: login(APP), worker: login(WORKER) }
}

/** A PostgreSQL of the operator's: the roles exist already, or the given login may make them and work as them. */
export async function provideExternalRoles(databaseUrl: string, migrationUrl: string | undefined): Promise<Logins> {
  const owner: pg.ClientConfig = { connectionString: migrationUrl ?? databaseUrl }
  const client = new pg.Client(owner)
  try {
    await client.connect()
  } catch (cause) {
    throw new StartError(
      'database_unreachable',
      `the database cannot be reached: ${(cause as Error).message}`,
      'check DATABASE_URL, that PostgreSQL runs, and that it accepts connections from here',
    )
  }
  try {
    for (const role of [APP, WORKER]) {
      const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [role])
      if (rowCount === 0) await client.query(`create role ${role} nologin nosuperuser nobypassrls`)
      const { rows } = await client.query<{ member: boolean }>("select pg_has_role($1, 'member') as member", [role])
      if (!rows[0]?.member) await client.query(`grant ${role} to current_user`)
    }
  } catch (cause) {
    throw new StartError(
      'database_roles_missing',
      `the roles ${APP} and ${WORKER} are missing and cannot be made: ${(cause as Error).message}`,
      `as an administrator: create role ${APP}; create role ${WORKER}; grant ${APP}, ${WORKER} to <your login>`,
    )
  } finally {
    await client.end()
  }
  const working = (role: string): pg.ClientConfig => ({ connectionString: databaseUrl, options: `-c role=${role}` })
  return { owner, app: working(APP), worker: working(WORKER) }
}
