import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FILES, fileServers, manifestOf } from './served-files.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// The console that the log names: signed for when every file is that of the release, and checked by whoever is in the organisation. Catches:
// a signature for a console that was changed, one given twice, by somebody who may not, a list of the server's own taken for the one
// that was signed for. Seen red: the comparison skipped before it is recorded, a policy signed again that says the same, the build of the
// served list not held against the log, its files not looked at, an exit code of 0.

let world: World
let machine: Machine
let member: Machine
let manifest: string
const { serve, close } = fileServers()
const { build } = manifestOf(FILES)
const CHANGED = { ...FILES, 'assets/a-1.js': 'export const a = 2' }

/** A person who may read the log and sign nothing for the organisation. */
async function plainMember(): Promise<Machine> {
  const own = world.machine()
  await jsonOf(machine, ['user', 'invite', 'bob@northwind.test', '--name', 'Bob Ray', '--out', 'link'])
  own.file('link', readFileSync(join(machine.home, 'link'), 'utf8'))
  own.file('passphrase', 'purple otter canal lantern\n')
  await jsonOf(own, ['init', '--invite', 'link', '--passphrase-file', 'passphrase', '--kit', 'kit.txt'])
  await jsonOf(machine, ['user', 'endorse', 'Bob Ray'])
  return own
}

beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  member = await plainMember()
  manifest = machine.file('build.json', manifestOf(FILES).text)
  member.file('build.json', manifestOf(FILES).text)
})
afterAll(async () => {
  close()
  await world.close()
})

const asMember = () => ({ STRONGROOM_PASSPHRASE_FILE: join(member.home, 'passphrase') })
const head = async (): Promise<number> => (await world.founder.client.transparency.checkpoint({})).size
const record = (url: string, list = manifest) => machine.call(['verify-console', url, '--record', '--manifest', list])

interface Found {
  readonly log: { readonly entry: number; readonly policyVersion: number; readonly isNew: boolean } | null
}

it('says that the log names none, and how to change that', async () => {
  const ended = await machine.call(['verify-console', await serve(FILES), '--log', '--json'])
  expect(ended.error()).toMatchObject({
    code: 'no_console_in_log',
    exitCode: 5,
    hint: 'an administrator of the directory runs: strongroom verify-console --record',
  })
})

it('signs for nothing where a file is not that of the release, or where the caller may not', async () => {
  const before = await head()
  const ended = await record(await serve(CHANGED))
  expect(ended.code).toBe(9)
  expect(ended.stdout).toContain('✗ /assets/a-1.js   differs')
  expect(ended.stdout).toContain('Nothing was signed.')
  const args = ['verify-console', await serve(FILES), '--record', '--manifest', 'build.json', '--json']
  const refused = await member.call(args, { env: asMember() })
  expect(refused.error()).toMatchObject({ code: 'signer_not_authorised', exitCode: 6 })
  expect(await head()).toBe(before)
})

it('records a build once, and finds it by the log from then on, whoever asks', async () => {
  const url = await serve(FILES)
  const entry = await head()
  const args = ['verify-console', url, '--record', '--manifest', manifest]
  const log = { entry, policyVersion: 2, isNew: true }
  expect(await jsonOf<Found>(machine, args)).toMatchObject({ matches: true, build, checked: 5, log })
  expect(await jsonOf<Found>(machine, args)).toMatchObject({ log: { ...log, isNew: false } })
  expect(await head()).toBe(entry + 1)
  const found = await jsonOf<Found>(member, ['verify-console', url, '--log'], asMember())
  expect(found).toMatchObject({ matches: true, build, claimed: build, checked: 5, log: { ...log, isNew: false } })
  expect((await machine.call(['verify-console', url, '--log'])).stdout).toBe(
    `✓ ${url} serves build ${build}   5 files\n✓ entry ${entry} of the log names this build\n`,
  )
  expect(await jsonOf<Found>(machine, ['verify-console', url, '--manifest', manifest])).toMatchObject({ log: null })
})

it.each([
  ['a file that is not the one on the signed list', CHANGED, manifestOf(FILES).text, '/assets/a-1.js'],
  ['a list of another build, with its files', CHANGED, undefined, '/build.json'],
  [
    'a list that only says it is the build',
    CHANGED,
    manifestOf(CHANGED).text.replace(/[0-9a-f]{64}/, build),
    '/build.json',
  ],
  ['something that is no list', FILES, 'not found', '/build.json'],
])('ends with 9 for %s', async (_, files, list, path) => {
  const url = await serve(files, { list })
  const ended = await machine.call(['verify-console', url, '--log', '--json'])
  expect(ended.code).toBe(9)
  expect(ended.json().data).toMatchObject({ matches: false, build, different: [{ path, state: 'differs' }] })
  const shown = await machine.call(['verify-console', url, '--log'])
  expect(shown.stdout).toMatch(/type no passphrase there/i)
})

it('names the next release in place of the one before', async () => {
  const { build: next, text } = manifestOf(CHANGED)
  const url = await serve(CHANGED)
  const entry = await head()
  expect((await record(url, machine.file('next.json', text))).stdout).toContain(
    `✓ entry ${entry} of the log names this build, signed now`,
  )
  expect(await jsonOf<Found>(machine, ['verify-console', url, '--log'])).toMatchObject({
    build: next,
    log: { entry, policyVersion: 3 },
  })
})

it('takes no flags that contradict each other, and asks who wants the log to sign in', async () => {
  const url = await serve(FILES)
  for (const flags of [
    ['--log', '--record'],
    ['--log', '--manifest', manifest],
  ])
    expect((await machine.call(['verify-console', url, ...flags, '--json'])).error()).toMatchObject({
      code: 'usage',
      exitCode: 2,
    })
  const stranger = await world.machine().call(['verify-console', url, '--log', '--json'])
  expect(stranger.error()).toMatchObject({ code: 'not_signed_in', exitCode: 3 })
})
