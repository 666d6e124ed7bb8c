import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Machine, PASSPHRASE, startWorld, type World } from './world.ts'

// Catches: a command that goes on without a credential, an expired session that is used, keys on disk in the open, words on
// standard output.

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
})
afterAll(() => world.close())

it('says who this machine acts as, to people and to programs', async () => {
  const shown = await machine.call(['whoami'])
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toContain('Alice')
  const { data } = (await machine.call(['whoami', '--json'])).json()
  expect(data).toMatchObject({ kind: 'user', name: 'Alice', server: world.url, profile: 'default' })
  const picked = await machine.spawn(['whoami', '--pick', 'data.id'])
  expect(picked).toMatchObject({ code: 0, stdout: `user:${world.founder.userId}\n`, stderr: '' })
})

it('names the way in where nobody is signed in, with exit code 3 and nothing on standard output', async () => {
  const refused = await world.machine().call(['whoami', '--json'])
  expect(refused).toMatchObject({ code: 3, stdout: '' })
  expect(refused.error()).toMatchObject({ code: 'not_signed_in', exitCode: 3 })
  expect(refused.error().hint).toContain('strongroom login')
})

it('needs the passphrase again once the machine was locked, and takes it from the file it is told', async () => {
  const own = await world.founderMachine()
  const locked = { XDG_RUNTIME_DIR: `${own.home}/elsewhere` }
  const refused = await own.call(['whoami', '--json'], { env: locked })
  expect(refused.error()).toMatchObject({ code: 'input_required', exitCode: 2 })
  const wrong = { ...locked, STRONGROOM_PASSPHRASE_FILE: own.file('wrong', 'not it\n') }
  expect((await own.call(['whoami', '--json'], { env: wrong })).error().code).toBe('wrong_passphrase')
  const right = { ...locked, STRONGROOM_PASSPHRASE_FILE: own.file('right', `${PASSPHRASE}\n`) }
  expect((await own.call(['whoami'], { env: right })).code).toBe(0)
})
