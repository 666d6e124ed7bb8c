import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../server/test/process.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { isAlive, startUp } from './up-process.ts'
import { type Machine, makeMachine } from './world.ts'

// The path of a newcomer, with nothing prepared: an empty folder, a new data directory, the embedded PostgreSQL. Once without a
// question, as a script does it, and once at a real terminal. Catches: a question in the scripted path, a server that outlives
// the command or takes its data with it, a token or value on a screen, a reset of what is not ours. Seen red: a server that is set up and
// ended because its address could not be kept.

const MOST_SECONDS = 120

let folder: string
let machine: Machine
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sr-first-'))
  // As root, PostgreSQL runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711)
  machine = makeMachine(folder, 'scripted')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('goes from an empty folder to a process with a verified secret without a question', async () => {
  const port = await freePort()
  const data = join(machine.home, 'data')
  const passphrase = machine.file('passphrase', 'purple otter canal lantern\n')
  const started = Date.now()
  const up = startUp(machine, ['--data', data, '--port', String(port), '--verbose'])
  const ready = await up.next()
  expect(ready).toMatchObject({ type: 'ready', url: `http://127.0.0.1:${port}`, organisation: false, data })
  const step = async (args: readonly string[], input = ''): Promise<string> => {
    const ended = await machine.spawn([...args, '--no-input'], { input })
    expect(ended.code, `${args.join(' ')}: ${ended.stderr}`).toBe(0)
    return ended.stdout
  }
  const who = ['--org', 'Northwind', '--name', 'Ada Park', '--email', 'ada@northwind.test']
  await step(['init', ...who, '--passphrase-file', passphrase])
  await step(['set', 'prod/stripe/STRIPE_SECRET_KEY', '--create-vault'], 'sk_test_4242\n')
  await step(['agent', 'create', 'checkout-bot', '--vault', 'prod'])
  const ended = await machine.spawn([
    'run',
    '--profile',
    'checkout-bot',
    '--',
    process.execPath,
    '-e',
    'process.exit(process.env.STRIPE_SECRET_KEY === "sk_test_4242" ? 7 : 1)',
  ])
  const seconds = (Date.now() - started) / 1000
  expect(ended.code, ended.stderr).toBe(7)
  console.log(`up, init, set, agent create, run: ${seconds.toFixed(1)} s from an empty folder`)
  expect(seconds).toBeLessThanOrEqual(MOST_SECONDS)
  up.kill('SIGINT')
  expect(await up.ended).toBe(0)
  expect(up.events.at(-1)).toMatchObject({ type: 'stopped' })
  expect(isAlive(ready.pid as number)).toBe(false)
  expect(up.stderr()).toContain('server: ready at')
  expect(up.stderr()).not.toContain('srs_')
})

it('keeps the data over a stop, says what runs already, and reports a server that died', async () => {
  const port = await freePort()
  const data = join(machine.home, 'data')
  const first = startUp(machine, ['--data', data, '--port', String(port)])
  const ready = await first.next()
  expect(ready).toMatchObject({ organisation: true, next: 'strongroom login' })
  const servers = join(machine.home, '.local/state/strongroom/servers')
  expect(readdirSync(servers).map((name) => statSync(join(servers, name)).mode & 0o777)).toEqual([0o600])

  const second = await machine.spawn(['up', '--port', String(port)])
  expect(second.code).toBe(0)
  expect(second.stdout).toContain(`runs at http://127.0.0.1:${port} already`)
  const reset = await machine.spawn(['up', '--port', String(port), '--data', data, '--reset', '--yes', '--json'])
  expect(reset.error()).toMatchObject({ code: 'reset_refused', exitCode: 6 })
  const elsewhere = String(await freePort())
  const locked = await machine.spawn(['up', '--port', elsewhere, '--data', data, '--reset', '--yes', '--json'])
  expect(locked.error()).toMatchObject({ code: 'reset_refused', hint: expect.stringContaining('Ctrl-C') })
  const doubled = await machine.spawn(['up', '--port', elsewhere, '--data', data, '--json'])
  expect(doubled.error()).toMatchObject({ code: 'server_refused', exitCode: 7 })

  process.kill(ready.pid as number, 'SIGKILL')
  expect(await first.ended).toBe(7)
  expect(JSON.parse(first.stderr().trim().split('\n').at(-1) ?? '')).toMatchObject({
    error: { code: 'server_died', details: { signal: 'SIGKILL' } },
  })
  expect(readdirSync(servers)).toEqual([])
})

it('goes on where its state cannot be kept, and ends the server with it, however it ends itself', async () => {
  const forgetful = { ...machine, env: { ...machine.env, XDG_STATE_HOME: machine.file('no-folder', '') } }
  const up = startUp(forgetful, ['--data', join(machine.home, 'data'), '--port', String(await freePort())])
  const { pid } = (await up.next()) as { pid: number }
  up.kill('SIGKILL')
  await up.ended
  const gone = new Promise<void>((resolve) => {
    const look = setInterval(() => {
      if (isAlive(pid)) return
      clearInterval(look)
      resolve()
    }, 50)
  })
  await gone
})

it('refuses a port that another program has, and a reset of what is no data of a server', async () => {
  const machine = makeMachine(folder, 'refused')
  const other = createServer((_, response) => response.end('hello'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const data = join(machine.home, 'data')
  const taken = await machine.call(['up', '--port', String(port), '--data', data, '--json'])
  expect(taken.error()).toMatchObject({ code: 'port_taken', hint: expect.stringContaining(`--port ${port + 1}`) })
  expect(taken).toMatchObject({ code: 6, stdout: '' })
  expect(existsSync(data)).toBe(false)
  await new Promise((resolve) => other.close(resolve))

  const free = String(await freePort())
  const photos = join(machine.home, 'photos')
  mkdirSync(photos)
  writeFileSync(join(photos, 'cat.jpg'), 'meow')
  const refused = await machine.call(['up', '--port', free, '--data', photos, '--reset', '--yes', '--json'])
  expect(refused.error()).toMatchObject({ code: 'reset_refused', exitCode: 6 })
  expect(readFileSync(join(photos, 'cat.jpg'), 'utf8')).toBe('meow')

  if (process.getuid?.() === 0) {
    const closed = join(machine.home, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const hidden = await machine.call(['up', '--port', free, '--data', join(closed, 'data'), '--json'])
    expect(hidden.error()).toMatchObject({
      code: 'data_unreachable',
      hint: expect.stringContaining(`chmod o+x ${closed}`),
    })
  } else console.log('not run as root: nothing to show for a directory that another user cannot pass')

  writeFileSync(join(photos, 'root.key'), 'k')
  const asked = await machine.call(['up', '--port', free, '--data', photos, '--reset', '--json'])
  expect(asked.error()).toMatchObject({ code: 'confirmation_required', exitCode: 2 })
  // At a terminal the name of the directory is typed; anything else deletes nothing.
  const place = { env: machine.env, cwd: machine.home }
  const typed = openTerminal(['up', '--port', free, '--data', photos, '--reset'], place)
  await typed.answers('Type photos to go on', 'photo')
  expect(await typed.ended).toMatchObject({ code: 130 })
  expect(typed.screen()).toContain('nothing was deleted')
  expect(existsSync(join(photos, 'root.key'))).toBe(true)
})

it('deletes of a data directory what the server keeps, and not the keys of people in it', async () => {
  const data = join(machine.home, 'data')
  mkdirSync(join(data, 'keys'))
  writeFileSync(join(data, 'keys/default.key'), 'sealed')
  const key = readFileSync(join(data, 'root.key'), 'utf8')
  const up = startUp(machine, ['--data', data, '--port', String(await freePort()), '--reset', '--yes'])
  expect(await up.next()).toMatchObject({ type: 'reset', data })
  expect(await up.next()).toMatchObject({ type: 'ready', organisation: false })
  expect(readFileSync(join(data, 'keys/default.key'), 'utf8')).toBe('sealed')
  expect(readFileSync(join(data, 'root.key'), 'utf8')).not.toBe(key)
  up.kill('SIGTERM')
  expect(await up.ended).toBe(0)
})

async function found(machine: Machine, place: { env: Record<string, string>; cwd: string }): Promise<void> {
  const init = openTerminal(['init'], place)
  await init.answers('Use it?', '')
  await init.answers('Organisation', 'Northwind')
  await init.answers('Your name', 'Ada Park')
  await init.answers('Email', 'ada@northwind.test')
  await init.answers('Passphrase', 'short')
  await init.sees('at least 12 characters')
  init.types('\u0015purple otter canal lantern\r')
  await init.answers(/again +\(strong\)/, 'purple otter canal lantern')
  await init.sees('✓ Organisation    Northwind, you are its owner')
  await init.sees('✓ Recovery kit    ./northwind-recovery.txt')
  await init.sees('✓ Log key pinned')
  await init.sees(/Next +strongroom set prod\/stripe\/STRIPE_SECRET_KEY/)
  expect(await init.ended).toMatchObject({ code: 0 })
  expect(init.screen()).not.toMatch(/otter|SRD1|SRR1|srs_/)
  expect(existsSync(join(machine.home, 'northwind-recovery.txt'))).toBe(true)
}

async function makeAgent(place: { env: Record<string, string>; cwd: string }): Promise<void> {
  const create = openTerminal(['agent', 'create'], place)
  await create.answers('Name', 'checkout-bot')
  await create.answers('Kind', '')
  await create.sees('Vaults')
  await create.sees('prod')
  create.types(' \r')
  await create.sees('checkout-bot will be able to')
  await create.sees(/decrypt +1 field in 1 vault +\(prod\/stripe\/STRIPE_SECRET_KEY\)/)
  await create.sees(/call +machine\.vault\.read, machine\.vault\.secret\.read/)
  await create.answers('Create it?', '')
  await create.sees('✓ Vault keys      1 wrapped for it, signed by you')
  await create.sees('✓ Profile saved   "checkout-bot"')
  await create.sees('strongroom agent bundle checkout-bot --out checkout-bot.bundle')
  await create.sees(/Next +strongroom run --profile checkout-bot -- printenv STRIPE_SECRET_KEY/)
  expect(await create.ended).toMatchObject({ code: 0 })
  expect(create.screen()).not.toContain('srb1')
}

it('is the same path for a person at a terminal, word by word, and shows no secret', async () => {
  const machine = makeMachine(folder, 'person')
  const port = await freePort()
  const place = { env: { ...machine.env, STRONGROOM_KEY_STORE: 'file' }, cwd: machine.home }
  const up: Terminal = openTerminal(['up', '--data', join(machine.home, 'data'), '--port', String(port)], place)
  onTestFinished(() => up.close())
  for (const line of [/✓ Database +~\/data\/postgres +new/, /✓ Object store +~\/data\/objects +new/, /✓ Log key/])
    await up.sees(line)
  await up.sees(`API       http://127.0.0.1:${port}/api/v1/machine`)
  await up.sees(`Docs      http://127.0.0.1:${port}/docs`)
  await up.sees(/No organisation yet\. In another terminal:\s+strongroom init/)
  await up.sees('Ctrl-C stops the server and keeps the data.')
  await found(machine, place)

  const set = openTerminal(['set', 'prod/stripe/STRIPE_SECRET_KEY'], place)
  await set.answers('Vault "prod" does not exist. Create it?', '')
  await set.answers('Value (hidden)', 'sk_test_4242')
  await set.sees('✓ sr://prod/stripe/STRIPE_SECRET_KEY   version 1')
  await set.sees('processes see it as STRIPE_SECRET_KEY')
  await set.sees(/Next +strongroom agent create/)
  expect(await set.ended).toMatchObject({ code: 0 })
  expect(set.screen()).not.toContain('sk_test')
  await makeAgent(place)

  const run = openTerminal(['run', '--profile', 'checkout-bot', '--', 'printenv', 'STRIPE_SECRET_KEY'], place)
  await run.sees('1 secret from')
  await run.sees('‹STRIPE_SECRET_KEY›')
  expect(await run.ended).toMatchObject({ code: 0 })
  expect(run.screen()).not.toContain('sk_test')

  const read = openTerminal(['read', 'prod/stripe/STRIPE_SECRET_KEY'], place)
  expect(await read.ended).toMatchObject({ code: 0 })
  expect(read.screen()).toBe('sk_test_4242\n')

  const rm = openTerminal(['rm', 'prod/stripe'], place)
  await rm.sees('Archive sr://prod/stripe')
  rm.interrupts()
  expect(await rm.ended).toMatchObject({ code: 130 })
  expect(rm.screen()).toContain('nothing was changed')

  up.interrupts()
  await up.sees('stopped; the data is kept')
  expect(up.screen()).not.toContain('srs_')
  expect(await up.ended).toMatchObject({ code: 0 })
})
