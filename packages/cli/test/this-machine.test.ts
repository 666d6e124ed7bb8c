import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ERRORS } from '@strongroom/contract'
import { PROTOCOL_ERRORS } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressesOf } from '../../console/test/addresses.ts'
import { PAGES } from '../src/commands/open.ts'
import { CLI_CODES } from '../src/errors/codes.ts'
import { PINNED_INTEGRITY, PINNED_NODE } from '../src/up/node-program.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Catches: a code that cannot be explained, a setting that would unpin an organisation, a report that names people, places or
// secrets, a doctor that is well although the server is gone or is none, or that says of a damaged file only that it is or of a whole one (seen
// red) to move it away, a pinned Node that is not the repository's,
// a server that is there and cannot work called absent, with the advice to start another (seen red),
// an address of the console that leads nowhere (seen red: /log and /access), help with another command than was asked for (seen red),
// keys and pins below the folder of the moment where HOME is set to nothing (seen red).

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  await machine.call(['set', 'payroll/stripe/STRIPE_SECRET_KEY', '--create-vault'], { input: 'sk_test_1' })
})
afterAll(() => world.close())

const root = new URL('../../..', import.meta.url)

it('names the profile that was nearly written', async () => {
  expect((await machine.call(['whoami', '--profile', 'defalt', '--json'])).error()).toMatchObject({
    ...{ code: 'profile_not_found', hint: 'did you mean --profile default?', exitCode: 5 },
  })
})

it('keeps nothing in whatever folder a command was typed in', async () => {
  const { data } = (await machine.call(['config', 'path', '--json'], { env: { HOME: '' } })).json() as {
    data: Record<string, string>
  }
  expect(Object.values(data).filter((path) => !path.startsWith('/'))).toEqual([])
  const relative = await machine.call(['config', 'path', '--json'], { env: { HOME: 'ada' } })
  expect(relative.error()).toMatchObject({ code: 'config_invalid', message: 'HOME is no absolute path', exitCode: 6 })
})

interface Checked {
  readonly name: string
  readonly state: string
  readonly detail: string
  readonly code?: string
  readonly fix?: string
}
interface Doctor {
  readonly healthy: boolean
  readonly checks: readonly Checked[]
}

it('finds everything well where it is, and looks at what matters', async () => {
  const { healthy, checks } = await jsonOf<Doctor>(machine, ['doctor'])
  expect(checks.filter(({ state }) => state !== 'ok')).toEqual([])
  expect(healthy).toBe(true)
  expect(checks.map(({ name }) => name)).toEqual([
    'node',
    'configuration',
    'key store',
    'trust store',
    'cache',
    'evidence',
    'server',
    'clock',
    'credential',
    'log',
    'vault payroll',
  ])
  const { stdout } = await machine.call(['doctor'])
  expect(stdout).toMatch(/^✓ node/)
  expect(stdout).toMatch(/\b1 item verified/)
})

it('writes a report without people, places, names and secrets', async () => {
  const file = join(machine.home, 'report.json')
  await jsonOf(machine, ['doctor', '--bundle', file])
  const report = readFileSync(file, 'utf8')
  for (const word of ['payroll', 'Alice', world.founder.userId, 'example.com', machine.home, 'srb1', 'SRD1', 'vta1'])
    expect(report.toLowerCase()).not.toContain(word.toLowerCase())
  expect(JSON.parse(report)).toMatchObject({ strongroom: '0.1.0', checks: expect.any(Array) })
})

it('says what is wrong and how to fix it: no server, another server, a clock that is off, alarms', async () => {
  const gone = await machine.call(['doctor', '--json', '--server', 'http://127.0.0.1:9'])
  expect(gone.code).toBe(12)
  const { checks } = gone.json().data as Doctor
  expect(checks.find(({ name }) => name === 'server')).toMatchObject({
    state: 'failed',
    code: 'server_not_running',
    fix: expect.stringContaining('strongroom up'),
  })
  expect(checks.find(({ name }) => name === 'log')).toMatchObject({ state: 'skipped' })

  const other = createServer((_, response) => {
    response.writeHead(200, { date: new Date(0).toUTCString(), 'x-request-id': 'r' }).end('{"needed":false}')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const off = (await machine.call(['doctor', '--json', '--server', url])).json().data as Doctor
  expect(off.checks.find(({ name }) => name === 'clock')).toMatchObject({ state: 'failed', fix: expect.any(String) })
  expect(off.checks.find(({ name }) => name === 'credential')).toMatchObject({ state: 'failed' })
  await new Promise((resolve) => other.close(resolve))

  const own = await world.founderMachine()
  const { evidence } = await jsonOf<{ evidence: string }>(own, ['config', 'path'])
  const { keepEvidence } = await import('../src/place/evidence.ts')
  await keepEvidence(evidence, { at: Date.now(), code: 'log_fork' } as never)
  const alarmed = (await own.call(['doctor', '--json'])).json().data as Doctor
  expect(alarmed.checks.find(({ name }) => name === 'evidence')).toMatchObject({ state: 'failed' })
  const { trust } = await jsonOf<{ trust: string }>(own, ['config', 'path'])
  writeFileSync(trust, '{"version":')
  const damaged = (await own.call(['doctor', '--json'])).json().data as Doctor
  expect(damaged.checks.find(({ name }) => name === 'trust store')).toMatchObject({
    state: 'failed',
    code: 'trust_store_failed',
    detail: expect.stringContaining(`${trust} is damaged`),
    fix: expect.stringContaining(`mv ${trust} `),
  })
  // A file that is whole and cannot be read is not to be moved away: everything that was pinned would be forgotten for nothing.
  rmSync(trust)
  mkdirSync(trust)
  const closed = (await own.call(['doctor', '--json'])).json().data as Doctor
  expect(closed.checks.find(({ name }) => name === 'trust store')).toMatchObject({
    state: 'failed',
    code: 'trust_store_failed',
    detail: expect.stringContaining(`${trust} could not be read (EISDIR)`),
    fix: 'Check the path, and that this user may read it.',
  })
})

it('tells a server that cannot work, or that has another name, from one that is not there', async () => {
  const refuse = (status: number, code: string) =>
    [status, JSON.stringify({ error: { code, requestId: 'r' } })] as const
  const setUp = [200, '{"needed":false}'] as const
  let answers: Readonly<Record<string, readonly [number, string]>> = {}
  const server = createServer((request, response) => {
    const [status, body] = answers[request.url ?? ''] ?? refuse(404, 'route_not_found')
    response.writeHead(status, { 'x-request-id': 'r' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const doctor = async () => ((await machine.call(['doctor', '--json', '--server', url])).json().data as Doctor).checks
  const found = async () => (await doctor()).find(({ name }) => name === 'server')

  for (const away of [
    { '/api/v1/platform/setup': refuse(503, 'not_ready') },
    { '/api/v1/platform/setup': setUp, '/readyz': refuse(503, 'not_ready') },
  ]) {
    answers = away
    expect(await found()).toMatchObject({
      state: 'failed',
      code: 'server_not_ready',
      fix: expect.stringContaining('database_unavailable'),
    })
  }
  answers = { '/api/v1/platform/setup': refuse(503, 'not_ready') }
  for (const command of [
    ['up', '--port', String(port)],
    ['init', '--server', url],
  ])
    expect((await machine.call([...command, '--json'])).error(), command.join(' ')).toMatchObject({
      code: 'server_not_ready',
      exitCode: 7,
    })

  answers = { '/api/v1/platform/setup': refuse(421, 'wrong_host') }
  expect(await found()).toMatchObject({
    code: 'server_wrong_host',
    fix: expect.stringContaining('adds 127.0.0.1 to STRONGROOM_HOSTS'),
  })
  // A proxy may not pass the question on.
  answers = { '/api/v1/platform/setup': setUp }
  expect(await found()).toMatchObject({ state: 'ok' })
  await new Promise((resolve) => server.close(resolve))
})

it('explains every code there is: of this program, the server, the protocol and the SDK', async () => {
  const named = globSync('packages/sdk/src/**/*.ts', { cwd: root }).flatMap((path) =>
    [...readFileSync(new URL(path, `${root}/`), 'utf8').matchAll(/\bcode: '([a-z_]+)'/g)].map(
      (match) => match[1] ?? '',
    ),
  )
  expect(named).toContain('not_cached')
  const codes = new Set([...Object.keys(CLI_CODES), ...Object.keys(ERRORS), ...Object.keys(PROTOCOL_ERRORS), ...named])
  for (const code of codes) {
    const shown = await jsonOf<{ meaning: string; exitCode: number }>(machine, ['explain', code])
    expect(shown.meaning.length, code).toBeGreaterThan(10)
    expect(shown.exitCode, code).toBeGreaterThan(0)
  }
})

it('explains with what to do and the exit code, and names near codes for one that is not', async () => {
  const shown = await machine.call(['explain', 'log_rollback'])
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toMatch(/exit code {2}9; nothing was decrypted/)
  const refused = await machine.call(['explain', 'wrapped', '--json'])
  expect(refused.error()).toMatchObject({ code: 'code_not_found', exitCode: 5 })
  expect(refused.error().hint).toContain('no_wrapped_key')
})

it('helps with what there is, and names a near command for one that is not', async () => {
  expect((await machine.call(['help', 'vault', 'create'])).stdout).toContain('strongroom vault create')
  for (const [words, hint] of [
    [['valt'], 'did you mean: strongroom vault'],
    [['vault', 'creat'], 'did you mean: strongroom vault create'],
    [['vault', 'toString'], 'strongroom vault --help'],
  ] as const)
    expect((await machine.call(['help', ...words, '--json'])).error()).toMatchObject({
      code: 'usage',
      exitCode: 2,
      hint,
    })
})

it('shows and changes settings, and none that would unpin an organisation', async () => {
  const own = await world.founderMachine()
  expect(await jsonOf(own, ['config', 'get', 'default'])).toEqual({ key: 'default', value: 'default' })
  expect(await jsonOf(own, ['config', 'set', 'vault', 'payroll'])).toEqual({ key: 'vault', value: 'payroll' })
  expect((await own.call(['config', 'get', 'profiles.default.vault'])).stdout).toBe('payroll\n')
  for (const key of ['trust_anchor', 'profiles.default.trust_anchor', 'profiles.default.kdf'])
    expect((await own.call(['config', 'set', key, 'x', '--json'])).error()).toMatchObject({ code: 'usage' })
  expect((await own.call(['config', 'use', 'defualt', '--json'])).error()).toMatchObject({
    code: 'profile_not_found',
    hint: expect.stringContaining('default'),
  })
  expect(await jsonOf(own, ['config', 'use', 'default'])).toMatchObject({ value: 'default' })
  expect(await jsonOf(own, ['config', 'profiles'])).toMatchObject([
    { name: 'default', isDefault: true, kind: 'person' },
  ])
  const listed = await jsonOf<{ default: string }>(own, ['config', 'list'])
  expect(listed.default).toBe('default')
  expect(JSON.stringify(listed)).not.toContain('vta1.')
  const { config } = await jsonOf<{ config: string }>(own, ['config', 'path'])
  writeFileSync(config, '[[[')
  expect((await own.call(['config', 'list', '--json'])).error()).toMatchObject({ code: 'config_invalid', exitCode: 6 })
})

it('prints the address of a page and opens nothing where nobody sits', async () => {
  expect(await machine.call(['open', 'activity'])).toMatchObject({
    code: 0,
    stdout: `${world.url}/activity\n`,
    stderr: '',
  })
  expect(await jsonOf(machine, ['open'])).toEqual({ url: world.url, opened: false })
  expect((await machine.call(['open', 'activty', '--json'])).error().hint).toContain('activity')
  expect((await world.machine().call(['open', '--json'])).error()).toMatchObject({ code: 'not_signed_in', exitCode: 3 })
})

it('opens pages that the console has', () => {
  const has = new Set(addressesOf({} as Parameters<typeof addressesOf>[0]).map(({ path }) => path))
  const named = Object.values(PAGES).filter((path) => !path.startsWith('/docs'))
  expect(named.filter((path) => !has.has(path))).toEqual([])
})

it('brings the same Node for the server as the repository pins', () => {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', `${root}/`), 'utf8')) as {
    packages: Record<string, { version?: string; integrity?: string }>
  }
  const pinned = Object.entries(lock.packages).filter(([path]) => /^node_modules\/node-(linux|win|darwin)-/.test(path))
  expect(Object.fromEntries(pinned.map(([path, { integrity }]) => [path.slice(13), integrity]))).toEqual(
    PINNED_INTEGRITY,
  )
  expect(new Set(pinned.map(([, { version }]) => version))).toEqual(new Set([PINNED_NODE]))
})
