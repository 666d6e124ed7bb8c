import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERRORS } from '@strongroom/contract'
import { PROTOCOL_ERRORS } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OWN_HINTS } from '../src/errors/own-hints.ts'
import { commandAt, jsonOf } from './shapes.ts'
import { type Ended, type Machine, startWorld, type World } from './world.ts'

// Catches: a value on standard output or error of a write, a value shown to a coding agent, a line end added to what is read, a
// vault made without asking, a write in spite of --if-version, something removed without asking,
// a write in spite of --offline (seen red), a refusal that does not say which member (seen red) or that names a route to a person.

const VALUE = 'sk_test_4242-élan'

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
})
afterAll(() => world.close())

const set = (ref: string, input = VALUE, more: readonly string[] = []): Promise<Ended> =>
  machine.call(['set', ref, ...more], { input })
const read = async (ref: string): Promise<string> => (await machine.call(['read', ref])).stdout

it('writes a piped value, makes the vault when told to, and never shows the value', async () => {
  const refused = await set('prod/stripe/STRIPE_SECRET_KEY', VALUE, ['--json'])
  expect(refused).toMatchObject({ code: 5, stdout: '' })
  expect(refused.error()).toMatchObject({ code: 'vault_not_found', hint: expect.stringContaining('--create-vault') })
  expect((await machine.call(['vault', 'list', '--json'])).json().data).toEqual([])

  const made = await set('prod/stripe/STRIPE_SECRET_KEY', `${VALUE}\n`, ['--create-vault'])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(made.stdout).toContain('sr://prod/stripe/STRIPE_SECRET_KEY   version 1')
  expect(made.stdout).toContain('processes see it as STRIPE_SECRET_KEY')
  expect(made.stdout).not.toContain(VALUE)
  expect(await read('prod/stripe/STRIPE_SECRET_KEY')).toBe(VALUE)
  expect(await read('sr://prod/stripe/STRIPE_SECRET_KEY')).toBe(VALUE)
})

it('counts versions, and writes nothing where another version was expected', async () => {
  const data = await machine.call(['set', 'prod/stripe/STRIPE_SECRET_KEY', '--json'], { input: 'second' })
  expect(data.json().data).toEqual({
    ref: 'sr://prod/stripe/STRIPE_SECRET_KEY',
    version: 2,
    created: false,
    vaultCreated: false,
    generated: false,
  })
  const late = await set('prod/stripe/STRIPE_SECRET_KEY', 'third', ['--if-version', '1', '--json'])
  expect(late).toMatchObject({ code: 6, stdout: '' })
  expect(await read('prod/stripe/STRIPE_SECRET_KEY')).toBe('second')
  expect((await set('prod/stripe/STRIPE_SECRET_KEY', 'third', ['--if-version', '2'])).code).toBe(0)
})

it('takes a file as it is, generates what nobody sees, and refuses to have no value', async () => {
  const file = machine.file('key.pem', '-----BEGIN-----\n\n')
  expect((await machine.call(['set', 'prod/tls/KEY', '--file', file, '--no-env'])).stdout).toContain('not exported')
  expect(await read('prod/tls/KEY')).toBe('-----BEGIN-----\n\n')
  const made = await jsonOf<{ generated: boolean }>(machine, ['set', 'prod/app/SESSION_SECRET', '--generate', '40'])
  expect(made.generated).toBe(true)
  expect(await read('prod/app/SESSION_SECRET')).toMatch(/^[A-Za-z0-9]{40}$/)
  expect((await set('prod/app/EMPTY', '', ['--json'])).error()).toMatchObject({ code: 'input_required', exitCode: 2 })
  const both = ['set', 'prod/app/X', '--file', file, '--generate', '9', '--json']
  expect((await machine.call(both)).error().code).toBe('usage')
  expect((await machine.call(['read', 'prod/app/EMPTY', '--json'])).error()).toMatchObject({ exitCode: 5 })
})

it('exports to processes what can be a variable, and nothing else unless told', async () => {
  expect((await set('prod/notes/door\tcode', '1234')).code).toBe(2)
  expect((await set('prod/notes/door-code', '1234')).stdout).toContain('not exported')
  const { fields } = await jsonOf<{ fields: { label: string; isEnvironmentVariable: boolean }[] }>(machine, [
    'item',
    'show',
    'prod/notes',
  ])
  expect(fields).toMatchObject([{ label: 'door-code', isEnvironmentVariable: false }])
  // One that is there keeps its flag when only its value changes.
  await set('prod/notes/door-code', '4321', ['--env'])
  await set('prod/notes/door-code', '5555')
  expect((await machine.call(['item', 'show', 'prod/notes', '--json'])).stdout).toContain(
    '"isEnvironmentVariable":true',
  )
})

it('reads to a file with its mode, asks before writing over one, and shows what proves a value in JSON', async () => {
  const out = join(machine.home, 'out.pem')
  const ended = await machine.call(['read', 'prod/tls/KEY', '--out', out, '--mode', '0640'])
  expect(ended).toMatchObject({ code: 0, stdout: '' })
  expect(statSync(out).mode & 0o777).toBe(0o640)
  expect(readFileSync(out, 'utf8')).toBe('-----BEGIN-----\n\n')
  writeFileSync(out, 'precious')
  expect((await machine.call(['read', 'prod/tls/KEY', '--out', out, '--json'])).error()).toMatchObject({
    code: 'confirmation_required',
  })
  expect(readFileSync(out, 'utf8')).toBe('precious')
  const shown = await jsonOf<{ value: string; receipt: { signerKeyId: string } }>(machine, ['read', 'prod/tls/KEY'])
  expect(shown).toMatchObject({ encoding: 'utf8', receipt: { signerKeyId: world.founder.identity.kid } })
  await machine.call(['set', 'prod/tls/RAW', '--file', machine.file('raw', ''), '--no-env'])
  const bytes = Buffer.from([0xff, 0x00, 0x0a])
  writeFileSync(join(machine.home, 'raw'), bytes)
  await machine.call(['set', 'prod/tls/RAW', '--file', 'raw', '--no-env'])
  expect(await jsonOf(machine, ['read', 'prod/tls/RAW'])).toMatchObject({
    encoding: 'base64',
    value: bytes.toString('base64'),
  })
})

it('shows no value to a coding agent, and offers the safe command', async () => {
  const env = { CLAUDECODE: '1' }
  const refused = await machine.call(['read', 'prod/stripe/STRIPE_SECRET_KEY'], { env })
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.error()).toMatchObject({
    code: 'plaintext_refused_for_agent',
    hint: expect.stringContaining('strongroom run --'),
    exitCode: 4,
  })
  const out = join(machine.home, 'leak')
  expect((await machine.call(['read', 'prod/stripe/STRIPE_SECRET_KEY', '--out', out], { env })).code).toBe(4)
  const made = await machine.call(['set', 'prod/app/MADE_BY_AGENT', '--generate', '32'], { env })
  expect(made.json().data).toMatchObject({ created: true, generated: true })
})

it('removes a field or archives an item after asking', async () => {
  expect((await machine.call(['rm', 'prod/tls/RAW', '--json'])).error()).toMatchObject({
    code: 'confirmation_required',
    exitCode: 2,
  })
  expect(await jsonOf(machine, ['rm', 'prod/tls/RAW', '--yes'])).toEqual({ removed: 'field', ref: 'sr://prod/tls/RAW' })
  expect((await machine.call(['read', 'prod/tls/RAW', '--json'])).error()).toMatchObject({
    ...{ code: 'field_not_found', hint: 'strongroom item show prod/tls' },
  })
  expect(await jsonOf(machine, ['rm', 'prod/tls', '--yes'])).toMatchObject({ removed: 'item' })
  expect((await machine.call(['read', 'prod/tls/KEY', '--json'])).error().code).toBe('vault_item_not_found')
  expect((await machine.call(['rm', 'prod', '--json', '--yes'])).error().code).toBe('usage')
})

it('names the near name where one was misspelt, and repeats nothing that was no reference', async () => {
  expect((await machine.call(['read', 'prod/strip/X', '--json'])).error().hint).toContain('stripe')
  const refused = await machine.call(['set', 'sk_live_oops', '--json'])
  expect(refused.error()).toMatchObject({ code: 'usage', exitCode: 2 })
  expect(refused.stderr).not.toContain('sk_live_oops')
})

it('takes names with spaces as they are typed, wherever a reference is taken', async () => {
  const stored = await set('prod/my notes/front door', '1234')
  expect(stored.stdout).toContain('sr://prod/my%20notes/front%20door')
  expect(stored.stdout).toContain('not exported')
  for (const ref of ['prod/my notes/front door', 'sr://prod/my notes/front door', 'prod/my%20notes/front%20door'])
    expect(await read(ref)).toBe('1234')
})

it('keeps what is not text out of the environment of processes, and says so', async () => {
  for (const bytes of [Buffer.from([0xff, 0xfe, 1]), Buffer.from('a\0b')]) {
    const path = join(machine.home, 'logo.bin')
    writeFileSync(path, bytes)
    const kept = await machine.call(['set', 'prod/blob/LOGO', '--file', path])
    expect(kept.stdout).toContain('not text, so not exported to processes')
  }
  expect((await machine.call(['env', '--vault', 'prod', '--names'])).stdout).not.toContain('LOGO')
  const told = await machine.call(['set', 'prod/blob/LOGO', '--file', join(machine.home, 'logo.bin'), '--env'])
  expect(told.stdout).toContain('processes see it as LOGO')
  await machine.call(['item', 'archive', 'prod/blob', '--yes'])
})

it('names the members that a server refused, to people and to programs', async () => {
  const wrong = ['api', 'POST', '/project', '--field', 'name:=7']
  const shown = await machine.call(wrong)
  expect(shown.code).toBe(6)
  expect(shown.stderr).toMatch(/validation_failed .*: .*name/)
  const refused = JSON.parse((await machine.call([...wrong, '--json'])).stderr)
  expect(refused.error.details.problems).toContainEqual({ path: '/name', problem: expect.any(String) })
})

it('names a command and no route as the next step', async () => {
  const gone = await machine.call(['vault', 'show', 'zzzzzzzz', '--json'])
  expect(gone.error()).toMatchObject({ code: 'vault_not_found', hint: 'strongroom vault list' })
  for (const [code, hint] of Object.entries(OWN_HINTS)) {
    expect(Object.keys({ ...ERRORS, ...PROTOCOL_ERRORS })).toContain(code)
    const [, noun = '', verb = ''] = hint.split(' ')
    await expect(commandAt([noun, verb]), hint).resolves.toBeDefined()
  }
})

it('answers offline without a request where it can, and refuses elsewhere before it changes anything', async () => {
  const ref = 'prod/stripe/STRIPE_SECRET_KEY'
  const value = await read(ref)
  const cached = await machine.call(['read', ref, '--offline', '--verbose'])
  expect(cached).toMatchObject({ code: 0, stdout: value, stderr: '' })
  const told = await machine.call(['read', ref, '--verbose'], { env: { STRONGROOM_OFFLINE: '1' } })
  expect(told).toMatchObject({ code: 0, stdout: value, stderr: '' })
  for (const args of [
    ['set', ref],
    ['vault', 'list'],
    ['rm', ref, '--yes'],
    ['read', ref, '--version', '1'],
  ]) {
    const refused = await machine.call([...args, '--offline', '--json'], { input: 'other' })
    expect(refused.error(), args.join(' ')).toMatchObject({ code: 'usage', exitCode: 2 })
  }
  expect(await read(ref)).toBe(value)
  expect((await machine.call(['config', 'path', '--offline'])).code).toBe(0)
})
