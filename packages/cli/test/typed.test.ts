import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf } from './shapes.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Catches: a pasted value that is cut to its first line (seen red), the rest of a paste that is left for the shell, a command that
// waits for ever at a terminal where nobody may be asked (seen red), a secret that is typed in the open, a vault that is made although
// there is no value.

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  await machine.call(['vault', 'create', 'prod'])
})
afterAll(() => world.close())

const itemsOf = async (): Promise<readonly unknown[]> => jsonOf(machine, ['item', 'list', 'prod'])
const at = (args: readonly string[], more: { env?: Record<string, string>; program?: string } = {}): Terminal =>
  openTerminal(args, { cwd: machine.home, ...more, env: { ...machine.env, ...more.env } })

const PEM = ['-----BEGIN PRIVATE KEY-----', 'MIIEvQIBADANBg', 'kqhkiG9w0BAQEF', '-----END PRIVATE KEY-----']

it('takes no value of several lines at a question: it says so, stores nothing and shows nothing', async () => {
  const pastes = {
    'lines in one piece': [`${PEM.join('\r')}\r`],
    'lines as in a file': [`${PEM.join('\n')}\n`],
    'lines without an end': [PEM.join('\r')],
    'in brackets': [`\u001b[200~${PEM.join('\r')}\r\u001b[201~`],
    'piece by piece, cut at a line end': PEM.map((line) => `${line}\r`),
    'a tab, which a question would drop': ['left\tright\r'],
  }
  for (const [name, pieces] of Object.entries(pastes)) {
    const terminal = at(['set', 'prod/tls/KEY'])
    await terminal.sees('Value (hidden)')
    for (const piece of pieces) terminal.types(piece)
    await terminal.sees(/usage +what was pasted has several lines/)
    await terminal.sees('give --file FILE, or pipe it in')
    expect(await terminal.ended, name).toMatchObject({ code: 2 })
    expect(terminal.screen(), name).not.toMatch(/PRIVATE|MIIE|kqhk|right/)
  }
  expect(await itemsOf()).toEqual([])
})

it('takes a pasted line with and without its line end, and one in brackets', async () => {
  for (const [field, pasted] of [
    ['ENDED', 'sk_one two\r'],
    ['BARE', 'sk_one two'],
    ['BRACKETS', '\u001b[200~sk_one two\u001b[201~'],
  ] as const) {
    const terminal = at(['set', `prod/line/${field}`])
    await terminal.sees('Value (hidden)')
    terminal.types(pasted)
    if (!pasted.endsWith('\r')) {
      await terminal.sees('••••')
      terminal.types('\r')
    }
    expect(await terminal.ended, field).toMatchObject({ code: 0 })
    expect((await machine.call(['read', `prod/line/${field}`])).stdout).toBe('sk_one two')
  }
})

it('refuses at a terminal where nobody may be asked, rather than wait, and makes no vault for it', async () => {
  const isAgent = { CLAUDECODE: '1' }
  for (const terminal of [
    at(['set', 'new/a/B', '--create-vault', '--no-input', '--json']),
    at(['set', 'new/a/B', '--create-vault', '--json'], { env: isAgent }),
    at(['inject', '--no-input', '--json']),
    at(['api', 'POST', '/vault', '--input', '-'], { env: isAgent }),
    at(['login', '--bundle', '-', '--no-input', '--json']),
    at(['file', 'put', '-', 'prod/a/b', '--no-input', '--json']),
  ]) {
    await terminal.sees('"code":"input_required"')
    expect(await terminal.ended).toMatchObject({ code: 2 })
  }
  expect(await jsonOf<{ name: string }[]>(machine, ['vault', 'list'])).toMatchObject([{ name: 'prod' }])
})

it('refuses where standard error is no terminal, since what is typed would be shown', async () => {
  const program = machine.file(
    'quiet.cjs',
    `const log = require('node:fs').openSync('log', 'w')
    const [program, ...args] = process.argv.slice(2)
    const { status } = require('node:child_process').spawnSync(process.execPath, [program, ...args], { stdio: [0, 1, log] })
    process.exitCode = status`,
  )
  const strongroom = fileURLToPath(new URL('../bin/strongroom.mjs', import.meta.url))
  const terminal = at([strongroom, 'set', 'prod/a/B'], { program })
  expect(await terminal.ended).toMatchObject({ code: 2 })
  expect(readFileSync(join(machine.home, 'log'), 'utf8')).toMatch(/input_required.*\n.*--file FILE or --generate 32/)
})
