import { globSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf } from './shapes.ts'
import { type Machine, PASSPHRASE, startWorld, type World } from './world.ts'

// The server ends a session that was not used for half an hour. Catches: a command that is refused for it although the passphrase is there, a
// refusal without the command that helps, an answer from the cache that is held up by it. Seen red: the session taken for good until it
// expires; renewed with --offline, and where the server is gone; what is read offline taken for use.

const LONG_MS = 31 * 60_000

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const passphraseOn = (machine: Machine) => ({
  STRONGROOM_PASSPHRASE_FILE: machine.file('passphrase', PASSPHRASE),
})

const notes = (machine: Machine): string[] => globSync(join(machine.home, '.local/state/strongroom/sessions/*'))

/** Nobody has touched the machine for half an hour. */
function leave(machine: Machine, ms = LONG_MS): void {
  const left = new Date(Date.now() - ms)
  for (const file of notes(machine)) utimesSync(file, left, left)
}

it('opens a new session where the old one was left for too long, and goes on with it', async () => {
  const machine = await world.founderMachine()
  await machine.call(['set', 'prod/app/KEY', '--create-vault'], { input: 'v1' })
  leave(machine)
  world.h.advance(LONG_MS)
  const env = passphraseOn(machine)
  expect(await machine.call(['read', 'prod/app/KEY'], { env })).toMatchObject({ code: 0, stdout: 'v1' })
  // With the new session, nobody is asked again.
  expect((await machine.call(['whoami'])).code).toBe(0)
})

it('says how to sign in again where nobody can be asked', async () => {
  const machine = await world.founderMachine()
  await jsonOf(machine, ['login', '--passphrase-file', machine.file('passphrase', PASSPHRASE)])
  await jsonOf(machine, ['vault', 'list'])
  leave(machine)
  world.h.advance(LONG_MS)
  expect((await machine.call(['vault', 'list', '--json'])).error()).toMatchObject({
    code: 'unauthorized',
    hint: 'strongroom login',
    exitCode: 3,
  })
  // A refused command is no use: the next one that has the passphrase goes on.
  expect((await machine.call(['vault', 'list'], { env: passphraseOn(machine) })).code).toBe(0)
})

it('answers from what was read before all the same: asked to, and where the server is gone', async () => {
  const machine = await world.founderMachine()
  const file = machine.file('passphrase', PASSPHRASE)
  await jsonOf(machine, ['login', '--passphrase-file', file])
  const reading = ['env', '--vault', 'prod', '--json']
  const read = (await machine.call(reading)).stdout
  expect(read).toContain('v1')

  // The server hears nothing of what is read offline, so its half hour goes on.
  leave(machine, 60_000)
  const lastUse = notes(machine).map((file) => statSync(file).mtimeMs)
  expect((await machine.call([...reading, '--offline'])).code).toBe(0)
  expect(notes(machine).map((file) => statSync(file).mtimeMs)).toEqual(lastUse)
  expect(lastUse).toHaveLength(1)

  leave(machine)
  const nowhere = { STRONGROOM_PASSPHRASE_FILE: join(machine.home, 'nothing') }
  expect(await machine.call([...reading, '--offline'], { env: nowhere })).toMatchObject({ code: 0, stdout: read })

  leave(machine)
  const config = join(machine.home, '.config/strongroom/config.toml')
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(world.url, 'http://127.0.0.1:1'))
  const gone = await machine.call(reading, { env: { STRONGROOM_PASSPHRASE_FILE: file } })
  expect(gone).toMatchObject({ code: 0, stdout: read })
})
