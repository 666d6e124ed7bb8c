import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { refusalOf as refusalFor } from '../src/db/start-refusals.ts'
import { type EmbeddedPostgres, startEmbedded } from '../src/postgres/embedded.ts'
import { freePort, runRefused, runServer } from './process.ts'

// The first start on a PostgreSQL of the operator's, durable and without our roles. Catches: roles or tables that a login made which
// was refused then, roles that are there called missing, a role that was made and cannot be worked as, a stack trace where somebody
// else owns the tables, a root key made beside secrets of another one. Seen red: the login checked after migrating; permission errors
// left as they are; a root key made whatever the database holds; roles made and not granted. And a database that cannot be worked with
// today: catches a stack trace, or a start that waits for ever. Seen red: what the database says left as it is; no limit for a connection.

const directory = mkdtempSync(join(tmpdir(), 'sr-external-'))
let postgres: EmbeddedPostgres

beforeAll(async () => {
  // As root, PostgreSQL runs as another user, who must be able to pass through.
  chmodSync(directory, 0o711)
  postgres = await startEmbedded({ dataDirectory: join(directory, 'operators') })
})
afterAll(async () => {
  await postgres.stop()
  rmSync(directory, { recursive: true, force: true })
})

const urlOf = (user: string, password: string, database: string): string =>
  `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(postgres.socketDirectory)}&port=${postgres.port}`
const superuserUrl = (database: string): string => urlOf('postgres', postgres.superuserPassword, database)

async function asSuperuser<T extends pg.QueryResultRow>(database: string, ...statements: string[]): Promise<T[]> {
  const client = new pg.Client(superuserUrl(database))
  await client.connect()
  try {
    let rows: T[] = []
    for (const statement of statements) rows = (await client.query<T>(statement)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** A login with a database of its own, and nothing else. */
async function makeLogin(name: string, rights = ''): Promise<string> {
  const login = `create role ${name} login ${rights} password 'words'`
  await asSuperuser('postgres', login, `create database ${name} owner ${name}`)
  return urlOf(name, 'words', name)
}

const ours = async (database: string) => ({
  roles: (await asSuperuser(database, `select 1 from pg_roles where rolname like 'strongroom%'`)).length,
  schemas: (await asSuperuser(database, `select 1 from pg_namespace where nspname = 'strongroom'`)).length,
})

const optionsFor = async (DATABASE_URL: string, env: NodeJS.ProcessEnv = {}) => ({
  data: mkdtempSync(join(directory, 'server-')),
  port: await freePort(),
  env: { DATABASE_URL, ...env },
})

async function refusalOf(databaseUrl: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { exitCode, output } = await runRefused(await optionsFor(databaseUrl, env))
  expect(output).not.toMatch(/\n\s+at /)
  expect(exitCode).toBe(1)
  return output
}

it('makes neither roles nor tables for a login that it refuses', async () => {
  await makeLogin('first')
  expect(await refusalOf(superuserUrl('first'))).toContain('the role postgres is a superuser')
  await makeLogin('exempt', 'bypassrls')
  expect(await refusalOf(urlOf('exempt', 'words', 'first'))).toContain('the role exempt is a superuser or bypasses')
  expect(await ours('first')).toEqual({ roles: 0, schemas: 0 })
})

it('tells roles that are missing from roles that the login was not given, and starts once it was', async () => {
  const url = await makeLogin('second')
  expect(await refusalOf(url)).toMatch(
    /the role strongroom_app is missing and cannot be made: .*\n.*next step: as an administrator: create role strongroom_app/,
  )
  await asSuperuser('second', 'create role strongroom_app', 'create role strongroom_worker')
  expect(await refusalOf(url)).toMatch(
    /the login second may not work as the role strongroom_app, .*\n.*next step: as an administrator: grant strongroom_app, strongroom_worker to second\n/,
  )
  await asSuperuser('second', 'grant strongroom_app, strongroom_worker to second')
  expect(await (await runServer(await optionsFor(url))).end('SIGTERM')).toBe(0)
  await asSuperuser('second', 'drop schema strongroom cascade', 'drop role strongroom_app, strongroom_worker')
})

it('makes the roles as a login that may, and works as them', async () => {
  const url = await makeLogin('maker', 'createrole')
  expect(await (await runServer(await optionsFor(url))).end('SIGTERM')).toBe(0)
})

it('names the owner of a schema that the login may not migrate, and goes on with the login of that owner', async () => {
  const url = await makeLogin('third')
  await asSuperuser('third', 'grant strongroom_app, strongroom_worker to third', 'create schema strongroom')
  expect(await refusalOf(url)).toMatch(
    /the schema strongroom belongs to postgres, and the login third may not change it: .*\n.*next step: give the login postgres in STRONGROOM_MIGRATION_URL/,
  )
  // The schema is the login's own, and a table in it is not.
  await asSuperuser(
    'third',
    'drop schema strongroom',
    'create schema strongroom authorization third',
    'create table strongroom.migration (name text, digest text)',
    'grant select on strongroom.migration to third',
  )
  expect(await refusalOf(url)).toContain('the schema strongroom belongs to postgres, and the login third may not')
  await asSuperuser('third', 'drop schema strongroom cascade', 'alter database third owner to postgres')
  expect(await refusalOf(url)).toMatch(
    /the login third may not make a schema in the database third: .*\n.*next step: as an administrator: grant create on database third to third\n/,
  )
  await asSuperuser('third', 'revoke strongroom_app, strongroom_worker from third')
  const server = await runServer(await optionsFor(url, { STRONGROOM_MIGRATION_URL: superuserUrl('third') }))
  expect(await server.end('SIGTERM')).toBe(0)
})

it('makes no root key beside secrets of another one, and goes on when that one is back', async () => {
  const url = await makeLogin('fourth')
  await asSuperuser('fourth', 'grant strongroom_app, strongroom_worker to fourth')
  const options = await optionsFor(url)
  const [key, copy] = [join(options.data, 'root.key'), join(directory, 'copy.key')]
  expect(await (await runServer(options)).end('SIGTERM')).toBe(0)
  const made = readFileSync(key, 'utf8')
  renameSync(key, copy)
  const { exitCode, output } = await runRefused(options)
  expect(exitCode).toBe(1)
  expect(output).toContain(`cannot start: there is no root key at ${key}`)
  expect(output).toContain(`next step: put your copy of it back at ${key}, or name it with STRONGROOM_ROOT_KEY_FILE`)
  expect(existsSync(key)).toBe(false)
  renameSync(copy, key)
  expect(await (await runServer(options)).end('SIGTERM')).toBe(0)
  expect(readFileSync(key, 'utf8')).toBe(made)
})

it('says that the database takes no writes', async () => {
  const url = await makeLogin('standby')
  await asSuperuser('postgres', 'grant strongroom_app, strongroom_worker to standby')
  await (await runServer(await optionsFor(url))).end('SIGTERM')
  await asSuperuser('standby', 'alter role standby set default_transaction_read_only = on')
  expect(await refusalOf(url)).toMatch(/the database takes no writes: .*\n.*next step: give the address of the primary/)
})

it('does not wait for ever for a database that takes a connection and says nothing', async () => {
  const sockets: Socket[] = []
  const mute = createServer((socket) => void sockets.push(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = mute.address() as AddressInfo
    expect(await refusalOf(`postgres://login:words@127.0.0.1:${port}/x`)).toContain('the database cannot be reached')
  } finally {
    for (const socket of sockets) socket.destroy()
    mute.close()
  }
})

it.each([
  ['55P03', 'canceling statement due to lock timeout', 'database_busy'],
  ['53100', 'could not extend file', 'database_full'],
  ['57P01', 'terminating connection due to administrator command', 'database_unreachable'],
  [undefined, 'Connection terminated unexpectedly', 'database_unreachable'],
])('has words for a database that says %s', (code, message, refusal) => {
  expect(refusalFor(Object.assign(new Error(message), { code }))).toMatchObject({ name: 'StartError', code: refusal })
})
