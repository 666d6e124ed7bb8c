import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, inject, it } from 'vitest'
import { consoleFolder, describeConsole } from '../src/console/files.ts'
import { copyDatabase } from './postgres.ts'
import { freePort, runRefused, runServer } from './process.ts'

// Catches: a start that loses data, a refusal without a next step, a stop that cuts requests off, a lock that outlives its
// holder, a root key made in place of one that is gone, a stack trace for a directory of somebody else. Seen red: data lock left out;
// `endOrphan` left out; close() without waiting for open requests; a root key made whatever the database holds; an error of the file
// system left as it is.

const directories: string[] = []
const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sr-start-'))
  directories.push(directory)
  return directory
}
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

const isReady = async (url: string): Promise<boolean> => (await fetch(`${url}/readyz`)).ok

it('starts on an empty directory, stops on SIGTERM, and starts again on the same data', async () => {
  const data = newDirectory()
  const port = await freePort()
  const first = await runServer({ data, port })
  expect(await isReady(first.url)).toBe(true)
  expect(first.output()).toMatch(/creating the database/)
  expect(first.output()).toContain(`console        ${describeConsole(consoleFolder(), first.url)}\n`)
  expect(await first.end('SIGTERM')).toBe(0)
  const rootKey = readFileSync(join(data, 'root.key'), 'utf8')
  const second = await runServer({ data, port })
  expect(await isReady(second.url)).toBe(true)
  expect(second.output()).not.toMatch(/creating the database/)
  expect(readFileSync(join(data, 'root.key'), 'utf8')).toBe(rootKey)
  expect(statSync(join(data, 'root.key')).mode & 0o777).toBe(0o600)
  expect(await second.end('SIGINT')).toBe(0)
})

it('refuses a directory whose root key is gone, makes none, and starts when it is back', async () => {
  const options = { data: newDirectory(), port: await freePort() }
  await (await runServer(options)).end('SIGTERM')
  const [key, away] = [join(options.data, 'root.key'), join(newDirectory(), 'root.key')]
  renameSync(key, away)
  const { exitCode, output } = await runRefused(options)
  expect(exitCode).toBe(1)
  expect(output).toContain(`cannot start: there is no root key at ${key}`)
  expect(output).toContain(`next step: put your copy of it back at ${key}`)
  expect(existsSync(key)).toBe(false)
  renameSync(away, key)
  expect(await (await runServer(options)).end('SIGTERM')).toBe(0)
})

it('starts again after kill -9, although PostgreSQL was left alone', async () => {
  const data = newDirectory()
  const port = await freePort()
  const first = await runServer({ data, port })
  expect(await first.end('SIGKILL')).toBe('SIGKILL')
  const second = await runServer({ data, port })
  expect(await isReady(second.url)).toBe(true)
  expect(await second.end('SIGTERM')).toBe(0)
})

it('refuses a port that is taken and names the next one', async () => {
  const port = await freePort()
  const squatter = createServer().listen(port, '127.0.0.1')
  const { exitCode, output } = await runRefused({ data: newDirectory(), port })
  squatter.close()
  expect(exitCode).toBe(1)
  expect(output).toContain(`cannot start: port ${port} on 127.0.0.1 is taken`)
  expect(output).toContain(`next step: stop what listens there, or choose another: --port ${port + 1}`)
})

it('refuses a data directory that another process works on, and leaves that one alone', async () => {
  const data = newDirectory()
  const first = await runServer({ data, port: await freePort() })
  const { exitCode, output } = await runRefused({ data, port: await freePort() })
  expect(exitCode).toBe(1)
  expect(output).toMatch(/cannot start: another Strongroom runs on .*\n.*next step: stop it first/)
  expect(await isReady(first.url)).toBe(true)
  await first.end('SIGTERM')
})

const NOBODY = 65_534

const isRoot = process.getuid?.() === 0
/** Who has a directory that they may not write makes that right by themselves: it has to be somebody else's. */
const foreignDirectory = (): { data: string; owner: string } =>
  isRoot ? { data: newDirectory(), owner: userInfo().username } : { data: '/usr', owner: 'root' }

it('refuses a directory that it may not write, and says whose it is and who it runs as', async () => {
  const { data, owner } = foreignDirectory()
  const options = { data, port: await freePort(), env: { HOME: newDirectory() }, ...(isRoot && { uid: NOBODY }) }
  if (isRoot) chmodSync(data, 0o555)
  const before = readdirSync(data)
  const barred = await runRefused(options)
  expect(barred.exitCode).toBe(1)
  expect(barred.output).toMatch(
    new RegExp(`the data directory ${data} cannot be used: E[A-Z]+, since ${data} belongs to ${owner} and this is`),
  )
  expect(barred.output).toMatch(
    new RegExp(`next step: chown -R \\S+ ${data}, if it is meant for this server, or choose`),
  )
  expect(readdirSync(data)).toEqual(before)
})

it('refuses a directory as a start by root leaves it', async ({ skip }) => {
  if (!isRoot) skip('only root can make files of another user')
  const data = newDirectory()
  chmodSync(data, 0o777)
  mkdirSync(join(data, 'postgres'))
  chmodSync(join(data, 'postgres'), 0o711)
  const within = await runRefused({ data, port: await freePort(), env: { HOME: data }, uid: NOBODY })
  expect(within.exitCode).toBe(1)
  expect(within.output).toContain(`the data directory ${data} cannot be used: E`)
})

it('finishes a request that is under way when it is told to stop', async () => {
  const port = await freePort()
  const server = await runServer({ data: newDirectory(), port })
  const socket = connect(port, '127.0.0.1')
  const answer = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('close', () => resolve(text))
  })
  // The head of a request without its body: the server has accepted it and waits.
  const body = '{"query":"x"}'
  await new Promise<void>((resolve) =>
    socket.write(
      `POST /api/v1/machine/me HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n{`,
      () => resolve(),
    ),
  )
  await fetch(`${server.url}/healthz`)
  const stopped = server.end('SIGTERM')
  socket.write(body.slice(1))
  expect(await answer).toMatch(/^HTTP\/1\.1 405 /)
  expect(await stopped).toBe(0)
})

const socketUrl = (user: string, login: pg.ClientConfig): string =>
  `postgres://${user}:${login.password}@/${login.database}?host=${encodeURIComponent(String(login.host))}&port=${login.port}`

/** A login such as an operator would make: not a superuser, member of our roles, with a database of its own. */
async function externalLogin(): Promise<{
  url: string
  superuserUrl: string
  owner: pg.ClientConfig
  drop(): Promise<void>
}> {
  const { superuser, logins } = inject('postgres')
  const copy = await copyDatabase({ superuser, logins })
  return {
    url: socketUrl('strongroom_owner', copy.owner),
    superuserUrl: socketUrl('postgres', { ...superuser, database: copy.owner.database }),
    owner: copy.owner,
    drop: copy.drop,
  }
}

const refusalOf = async (databaseUrl: string): Promise<string> =>
  (
    await runRefused({
      data: newDirectory(),
      port: await freePort(),
      env: { DATABASE_URL: databaseUrl, STRONGROOM_ROOT_KEY: Buffer.alloc(32, 9).toString('base64url') },
    })
  ).output

it('refuses a database it cannot reach', async () => {
  expect(await refusalOf('postgres://nobody:x@127.0.0.1:1/none')).toMatch(
    /cannot start: the database cannot be reached: .*\n.*next step: check DATABASE_URL/,
  )
})

it('refuses a database whose settings can lose acknowledged writes', async () => {
  // The PostgreSQL of the tests runs with fsync=off.
  const { url, drop } = await externalLogin()
  expect(await refusalOf(url)).toContain('the database has fsync=off')
  await drop()
})

it('refuses a database that is newer than its code', async () => {
  const { url, owner, drop } = await externalLogin()
  const client = new pg.Client(owner)
  await client.connect()
  await client.query(`insert into strongroom.migration (name, digest) values ('9999_future.sql', 'x')`)
  await client.end()
  expect(await refusalOf(url)).toMatch(/the migration 9999_future\.sql, which this version does not know/)
  await drop()
})

it('refuses a login that sees past row-level security', async () => {
  const { superuserUrl, drop } = await externalLogin()
  const output = await refusalOf(superuserUrl)
  expect(output).toMatch(
    /the role postgres is a superuser or bypasses row-level security\n.*next step: give DATABASE_URL a login without these/,
  )
  await drop()
})
