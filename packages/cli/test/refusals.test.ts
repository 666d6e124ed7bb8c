import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { detailLines, plainDetails } from '../src/errors/details.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// A refusal names what its next step speaks of. Catches: details that are thrown away, documents or long text of a server passed on, a
// filter that nothing can ever match. Seen red: details dropped, lists of anything kept, any text taken for a status, folders
// that are made for a path somebody mistyped, 30 days that are over at once, a pipe that a file took the place of.

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  await machine.call(['set', 'prod/stripe/KEY', '--create-vault'], { input: 'x' })
  await jsonOf(machine, ['agent', 'create', 'bot', '--vault', 'prod'])
})
afterAll(() => world.close())

const asBot = ['set', 'prod/stripe/OTHER', '--generate', '32', '--profile', 'bot']

it('names the permission that an agent lacks, for programs and for people', async () => {
  const ended = await machine.call([...asBot, '--json'])
  expect(ended.error()).toMatchObject({
    code: 'machine_permission_denied',
    exitCode: 4,
    details: { permission: expect.stringMatching(/^machine\./) },
  })
  const { stderr } = await machine.call(asBot)
  expect(stderr).toMatch(/fix {7}.*details name the permission\.\n {2}details {3}permission machine\.[a-z.]+\n/)
})

it('passes on what is short and plain, and no document', () => {
  const money = { amount: '1', scale: 6 }
  expect(plainDetails({ role: 'READ', missing: money, names: ['a', 'b'], checks: [{ ok: false }] })).toEqual({
    ...{ role: 'READ', missing: money },
    ...{ names: ['a', 'b'], checks: [{ ok: false }] },
  })
  expect(plainDetails({ code: 'x', head: { payload: { deep: 1 } }, heads: [[1]], text: 'x'.repeat(201) })).toEqual({
    code: 'x',
  })
  for (const nothing of [undefined, null, 'text', [], {}, { all: Array(500).fill('long') }])
    expect(plainDetails(nothing)).toBeUndefined()
  expect(detailLines({ role: 'READ', missing: money, names: ['a', 'b'] })).toEqual([
    ...['role READ', 'missing amount 1 scale 6', 'names a', 'names b'],
  ])
})

it('refuses a status that no answer has, and says where a person is looked for', async () => {
  for (const status of ['9xx', 'ok', '40'])
    expect((await machine.call(['logs', '--status', status, '--json'])).error()).toMatchObject({ code: 'usage' })
  expect(await jsonOf<unknown[]>(machine, ['logs', '--status', '4XX'])).toBeInstanceOf(Array)
  const nobody = await machine.call(['vault', 'share', 'prod', '--with', 'nobody@x.test', '--json'])
  expect(nobody.error()).toMatchObject({ code: 'principal_not_found', hint: 'strongroom user list' })
})

it('waits for as long as it is told, also where that is longer than a timer can be', async () => {
  const ended = await machine.call(['vault', 'list', '--timeout', '30d'])
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('prod') })
})

it('makes no folder for a file that somebody named, and says which one is missing before anything else is done', async () => {
  const folder = join(machine.home, 'mistyped')
  const out = join(folder, 'out')
  const template = machine.file('t.tpl', 'a: sr://prod/stripe/KEY\n')
  const passphrase = machine.file('archive-pass', 'violet anchor maple drift')
  for (const args of [
    ['read', 'prod/stripe/KEY', '--json', '--out', out],
    ['inject', '-i', template, '--json', '--out', out],
    ['export', '--passphrase-file', passphrase, '--json', '--out', out],
    ['agent', 'bundle', 'bot', '--json', '--out', out],
    ['file', 'get', 'prod/stripe/none', '--json', '--out', out],
    ['webhook', 'create', 'https://hooks.example.com/sr', '--json', '--out', out],
    ['run', '--json', '--vault', 'prod', '--receipt', out, '--', 'true'],
    ['log', 'quorum', '--recovery', '1', '--json', '--out', out],
    ['log', 'recover', '--reason', 'restored', '--json', '--out', out],
    ['doctor', '--json', '--bundle', out],
  ])
    expect((await machine.call(args)).error(), args[0]).toMatchObject({
      code: 'file_unwritable',
      message: `there is no folder ${folder}`,
      hint: `mkdir -p ${folder}`,
    })
  expect(existsSync(folder)).toBe(false)
  expect(await jsonOf<unknown[]>(machine, ['webhook', 'list'])).toEqual([])
})

it('puts no file in the place of a pipe, a device or a stream, and takes no dash for one', async () => {
  const pipe = join(machine.home, 'pipe')
  execFileSync('mkfifo', [pipe])
  const device = join(machine.home, 'device')
  symlinkSync('/dev/null', device)
  const template = machine.file('p.tpl', 'a: sr://prod/stripe/KEY\n')
  for (const args of [
    ['read', 'prod/stripe/KEY', '--yes', '--out'],
    ['inject', '-i', template, '--force', '--out'],
    ['agent', 'bundle', 'bot', '--out'],
    ['run', '--vault', 'prod', '--receipt'],
    ['doctor', '--bundle'],
  ]) {
    const rest = args[0] === 'run' ? ['--', 'true'] : []
    for (const out of [pipe, device, '/dev/stdout', '/dev/fd/2'])
      expect((await machine.call([...args, out, '--json', ...rest])).error(), `${args[0]} ${out}`).toMatchObject({
        code: 'file_unwritable',
        message: `${out} is no file, and would be replaced by one`,
      })
    expect((await machine.call([...args, '-', '--json', ...rest])).error(), args[0]).toMatchObject({ code: 'usage' })
  }
  expect([lstatSync(pipe).isFIFO(), lstatSync(device).isSymbolicLink()]).toEqual([true, true])
  expect(existsSync(join(machine.home, '-'))).toBe(false)
})
