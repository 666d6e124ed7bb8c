import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseBundle } from '../../src/strongroom/bundle.ts'
import { type Bot, startWorld, type World } from './world.ts'

// The examples are what the documentation shows: each is run as its reader would run it. Catches one that no longer works, and a
// value in what it prints.

const EXAMPLES = fileURLToPath(new URL('../../../../examples/', import.meta.url))

const CONTRACT = Buffer.alloc(9_000_000, 'so be it. ')

let world: World
let bot: Bot
let home: string
beforeAll(async () => {
  world = await startWorld()
  home = world.directory()
  writeFileSync(join(home, 'contract.pdf'), CONTRACT)
  await world.alice.vaults.create({ name: 'prod' })
  await world.alice.secrets.set('sr://prod/stripe/SECRET_KEY', 'sk_live_0123456789')
  bot = await world.agent('deploy', { vaults: [{ vault: 'prod', role: 'write' }] })
})
afterAll(() => world.close())

const NEW_BUNDLE = 'new.bundle'
async function run(name: string): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    STRONGROOM_BUNDLE: bot.bundle.reveal(),
    NEW_BUNDLE_FILE: join(home, NEW_BUNDLE),
    FILE: join(home, 'contract.pdf'),
  }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(EXAMPLES, name)], { env })
  expect(stderr).toBe('')
  expect(stdout).not.toMatch(/sk_live|key-[123]/)
  return stdout
}

const ran = new Set<string>()
const example = (name: string, check: (stdout: string) => void) =>
  it(`runs ${name}`, async () => {
    ran.add(name)
    check(await run(name))
  })

example('read-secrets.ts', (stdout) => {
  expect(stdout.split('\n')).toEqual([
    '‹sr://prod/stripe/SECRET_KEY›',
    `signed by ${world.founder.identity.kid}`,
    'calling with Bearer ‹SECRET_KEY›',
    '',
  ])
})

example('write-secrets.ts', (stdout) => {
  expect(stdout).toMatch(/^created version 1\n/)
  expect(stdout).toContain("changed: [ 'API_KEY' ]")
  expect(stdout).toMatch(/somebody was quicker: version 2\n$/)
})

example('verify-log.ts', (stdout) => {
  expect(stdout).toContain('✓ consistency')
  expect(stdout).toContain('entries make exactly the signed tree')
})

example('attach-file.ts', (stdout) => {
  const lines = stdout.trim().split('\n')
  expect(lines).toContain('9000000 of 9000000 bytes')
  expect(lines.at(-2)).toBe('attached: contract.pdf, 9000000')
  expect(lines.at(-1)).toContain(`signed by ${bot.principal}:`)
  expect(readFileSync(join(home, 'contract.pdf.copy')).equals(CONTRACT)).toBe(true)
  expect(readdirSync(home).filter((name) => name.startsWith('contract'))).toEqual(['contract.pdf', 'contract.pdf.copy'])
})

example('rotate-agent-key.ts', (stdout) => {
  expect(stdout).toContain('vault 1 of 1')
  expect(stdout).toContain('still reads 2 secrets')
  const renewed = parseBundle(readFileSync(join(home, NEW_BUNDLE), 'utf8'))
  expect(renewed.privateKey).not.toBe(parseBundle(bot.bundle.reveal()).privateKey)
})

it('has run every example there is', () => {
  expect(
    readdirSync(EXAMPLES)
      .filter((name) => name.endsWith('.ts'))
      .sort(),
  ).toEqual([...ran].sort())
})
