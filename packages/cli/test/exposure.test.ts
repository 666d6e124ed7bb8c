import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// What somebody could have decrypted. Catches: a vault left out because its access ended, values miscounted, a value shown.
// Seen red: vaults whose key it does not know any more left out, every field counted twice.

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  for (const vault of ['prod', 'staging'])
    await machine.call(['set', `${vault}/stripe/KEY`, '--create-vault'], { input: 'sk_canary' })
  await jsonOf(machine, ['agent', 'create', 'bot', '--vault', 'prod', '--vault', 'staging'])
  await jsonOf(machine, ['agent', 'create', 'idle'])
})
afterAll(() => world.close())

interface Exposed {
  readonly keys: readonly { keyId: string }[]
  readonly vaults: readonly { name: string; knowsCurrentKey: boolean; items: { fields: { isExposed: boolean }[] }[] }[]
}

const exposure = (who: string) => jsonOf<Exposed>(machine, ['access', 'exposure', who])

it('lists every vault an agent could ever decrypt, also after its access ended, and no value', async () => {
  await jsonOf(machine, ['access', 'revoke', 'bot', '--vault', 'prod'])
  await jsonOf(machine, ['agent', 'archive', 'idle', '--yes'])
  const { vaults, keys } = await exposure('bot')
  expect(vaults.map(({ name, knowsCurrentKey }) => [name, knowsCurrentKey])).toEqual([
    ['prod', false],
    ['staging', true],
  ])
  // The vault has another key, and the value is still under the old one.
  expect(vaults[0]?.items[0]?.fields).toMatchObject([{ isExposed: true }])
  const shown = await machine.call(['access', 'exposure', 'bot'])
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toMatch(/^bot: 1 key, 2 vaults ever, by log \d+ ✓/)
  expect(shown.stdout).toMatch(/staging .* now +1 +knows the one in use/)
  expect(shown.stdout).not.toContain('canary')
  await machine.call(['set', 'prod/stripe/KEY'], { input: 'another' })
  expect((await exposure('bot')).vaults[0]?.items[0]?.fields).toMatchObject([{ isExposed: false }])
  expect((await exposure(keys[0]?.keyId ?? '')).vaults).toHaveLength(2)
})

it('says so where nothing was ever given, and refuses a name that nobody has', async () => {
  await jsonOf(machine, ['agent', 'create', 'new'])
  expect((await machine.call(['access', 'exposure', 'new'])).stdout).toContain('no vault key was ever wrapped for it')
  const nobody = await machine.call(['access', 'exposure', 'nobody', '--json'])
  expect(nobody).toMatchObject({ code: 5, stdout: '' })
  expect(nobody.error().code).toBe('principal_not_found')
})
