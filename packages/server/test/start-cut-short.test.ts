import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { unusable } from '../src/postgres/data-lock.ts'
import { freePort, runServer, runUntilIt } from './process.ts'

// Starts and ends that are cut short, and what they leave. Catches: a PostgreSQL that goes on alone when a start is stopped; drafts, with
// a password among them, that stay for ever or that the next start, which has the same number in a container, stumbles over; programs
// in the data directory that everybody may replace; a stack trace where a disk is full. Seen red: signals heard only once the server is
// ready; drafts left where they are; the umask left as it was; a copy that others could write taken again; ENOSPC left as it is; open
// requests waited for without a limit; a PostgreSQL that only an end in order stops; a log that no start looks at.

const made: string[] = []
function makeData(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sr-cut-short-'))
  made.push(folder)
  chmodSync(folder, 0o711)
  return folder
}

/** One after the other in the same place, since a new database takes most of a start. */
let data: string
beforeAll(() => {
  data = makeData()
})
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

const inHome = (...names: string[]): string => join(data, 'postgres', ...names)
const runtimeOf = (): string => inHome(readdirSync(inHome()).find((name) => /^runtime-[^d]*[0-9]$/.test(name)) ?? '')

it.each([
  ['SIGINT', 'migrating the database: 0020'],
  ['SIGTERM', 'starting PostgreSQL'],
] as const)('ends PostgreSQL too on a %s at "%s", and starts the next time', async (signal, step) => {
  const options = { data, port: await freePort() }
  const { end, output } = await runUntilIt(step, signal, options)
  expect([end, output.match(/ready at/)]).toEqual([0, null])
  // Whoever ends in order takes its lock along.
  expect(existsSync(inHome('data', 'postmaster.pid'))).toBe(false)
  const next = await runServer(options)
  expect(await next.end('SIGTERM')).toBe(0)
})

it('ends PostgreSQL in order although somebody never finishes a request', async () => {
  const port = await freePort()
  const server = await runServer({ data, port })
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  const head = ['POST /api/v1/platform/login/start HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Expect: 100-continue']
  socket.write([...head, 'Content-Type: application/json', 'Content-Length: 100', '', '{"a":'].join('\r\n'))
  // It has begun to read.
  await once(socket, 'data')
  expect(await server.end('SIGTERM')).toBe(0)
  expect(existsSync(inHome('data', 'postmaster.pid'))).toBe(false)
})

it('ends PostgreSQL also where the process ends by itself', async () => {
  const embedded = new URL('../src/postgres/embedded.ts', import.meta.url).href
  const code = `const { startEmbedded } = await import('${embedded}')
    await startEmbedded({ dataDirectory: ${JSON.stringify(data)} })
    process.exit(3)`
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' })
  expect(status).toBe(3)
  await expect.poll(() => existsSync(inHome('data', 'postmaster.pid')), { timeout: 10_000 }).toBe(false)
})

it('removes what a start that was killed had begun, and keeps the end of a log that has grown', async () => {
  const drafts = ['data.draft-1', 'runtime-1.2.3.draft-1']
  for (const draft of drafts) mkdirSync(inHome(draft), { recursive: true })
  for (const draft of drafts) writeFileSync(inHome(draft, 'PG_VERSION'), '18')
  writeFileSync(inHome('initdb-1'), 'a password')
  writeFileSync(inHome('postgres.log'), Buffer.alloc(9 * 1_048_576))
  const server = await runServer({ data, port: await freePort() })
  expect(readdirSync(inHome()).filter((name) => /draft|initdb/.test(name))).toEqual([])
  expect(statSync(inHome('postgres.log')).size).toBeLessThan(1_048_576)
  expect(statSync(inHome('postgres.log.1')).size).toBe(8 * 1_048_576)
  await server.end('SIGTERM')
})

/** Everything in the folder that somebody else may write. */
const writable = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => (statSync(path).mode & 0o022) !== 0)

it('lets nobody else write, whatever the umask is, and runs no program that others could have replaced', async () => {
  data = makeData()
  const options = { data, port: await freePort(), umask: '0' } as const
  await (await runServer(options)).end('SIGTERM')
  expect(writable(data)).toEqual([])
  const bin = join(runtimeOf(), 'bin')
  chmodSync(bin, 0o777)
  writeFileSync(join(bin, 'put-there'), '')
  await (await runServer(options)).end('SIGTERM')
  expect([existsSync(join(bin, 'put-there')), writable(data)]).toEqual([false, []])
})

it.each(['ENOSPC', 'EDQUOT', 'EIO'])('says what to do where the disk takes no more: %s', (code) => {
  expect(unusable('/data', Object.assign(new Error(code), { code }))).toMatchObject({
    code: 'data_directory_unusable',
    message: `the data directory /data cannot be written: ${code}`,
    nextStep: expect.stringContaining('make room'),
  })
})
