import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { StartError } from '../errors.ts'
import { checkSight } from './settings.ts'
import { CONNECT_MS, unreachable } from './start-refusals.ts'

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

async function connectTo(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_MS })
  // One that breaks fails the statement that waits on it; without a listener it would end the process as well.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (cause) {
    throw unreachable(cause)
  }
}

/** A PostgreSQL of the operator's: the roles exist already, or the given login may make them and work as them. */
export async function provideExternalRoles(databaseUrl: string, migrationUrl: string | undefined): Promise<Logins> {
  const owner: pg.ClientConfig = { connectionString: migrationUrl ?? databaseUrl }
  const user = await connectTo({ connectionString: databaseUrl })
  try {
    // First of all: what a login makes that must not work here would belong to it.
    await checkSight(user)
    const maker = migrationUrl === undefined ? user : await connectTo(owner)
    try {
      for (const role of [APP, WORKER]) await makeRole(maker, role)
      for (const role of [APP, WORKER]) await grantRole(maker, user, role)
    } finally {
      if (maker !== user) await maker.end()
    }
  } finally {
    await user.end()
  }
  const working = (role: string): pg.ClientConfig => ({ connectionString: databaseUrl, options: `-c role=${role}` })
  return { owner, app: working(APP), worker: working(WORKER) }
}

async function makeRole(maker: pg.Client, role: string): Promise<void> {
  const { rowCount } = await maker.query('select 1 from pg_roles where rolname = $1', [role])
  if (rowCount !== 0) return
  try {
    await maker.query(`create role ${role} nologin nosuperuser nobypassrls`)
  } catch (cause) {
    throw new StartError(
      'database_roles_missing',
      `the role ${role} is missing and cannot be made: ${(cause as Error).message}`,
      `as an administrator: create role ${APP}; create role ${WORKER}; grant ${APP}, ${WORKER} to <your login>`,
    )
  }
}

/** From PostgreSQL 16 on a role can be granted without the right to work as it; whoever makes one has it so. */
const MAY_WORK_AS = `
  select quote_ident(session_user) as login,
    case when current_setting('server_version_num')::int >= 160000
      then pg_has_role($1, 'set') else pg_has_role($1, 'member') end as may`

async function grantRole(maker: pg.Client, user: pg.Client, role: string): Promise<void> {
  const { rows } = await user.query<{ login: string; may: boolean }>(MAY_WORK_AS, [role])
  const [{ login, may }] = rows as [{ login: string; may: boolean }]
  if (may) return
  try {
    await maker.query(`grant ${role} to ${login}`)
  } catch (cause) {
    throw new StartError(
      'database_roles_not_granted',
      `the login ${login} may not work as the role ${role}, and cannot be given it: ${(cause as Error).message}`,
      `as an administrator: grant ${APP}, ${WORKER} to ${login}`,
    )
  }
}
