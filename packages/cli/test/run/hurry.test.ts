import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endHurry } from '../../src/run/hurry.ts'

// Catches: flags of V8 that stay other ones after a start has hurried, so that nothing compiled is taken any more and a command that goes on for
// long stays slow; starts that hurry although they go on, or that change flags somebody else has set.
// Seen red: `setAhead(true)` left out; every start hurries; `--offline` of the command taken for ours; flags of others not looked at;
// nobody calm before what was compiled is kept.

/**
 * The starter with a program of our own: whether V8 takes what another process compiled, when the program begins, and once it is calm. Ever
 * another source of the same length: what a process has compiled it does not compile again, and V8 knows a source by its length.
 */
const PROGRAM = `({ 'main.cjs': (exports, require) => {
  const { Script } = require('node:vm')
  let asked = 0
  const takes = () => {
    asked += 1
    const cachedData = Buffer.from(process.env.COMPILED, 'base64')
    return new Script('(function (a) { return a + ' + asked + ' })', { cachedData }).cachedDataRejected === false
  }
  const before = takes()
  if (process.env.ENDS) process[Symbol.for('strongroom.calm')]?.()
  process.stdout.write(JSON.stringify({ before, after: takes() }))
} })`
const COMPILE = `process.stdout.write(
  new (require('node:vm').Script)('(function (a) { return a + 0 })').createCachedData().toString('base64'))`

let home: string
let compiled: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'sr-hurry-'))
  for (const folder of ['bin', 'dist']) mkdirSync(join(home, folder))
  cpSync(fileURLToPath(new URL('../../scripts/starter.cjs', import.meta.url)), join(home, 'bin/strongroom.cjs'))
  writeFileSync(join(home, 'dist/first.cjs'), PROGRAM)
  compiled = execFileSync(process.execPath, ['-e', COMPILE], { encoding: 'utf8', env: {} })
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}, flags: readonly string[] = []) =>
  JSON.parse(
    execFileSync(process.execPath, [...flags, join(home, 'bin/strongroom.cjs'), ...args], {
      encoding: 'utf8',
      env: { HOME: home, COMPILED: compiled, ENDS: 'yes', ...env },
    }),
  )
const isHere = process.versions.node.startsWith('24.')

it('hurries where nobody is asked, until the program is done with reading', () => {
  expect(start(['run', '--vault', 'prod', '--offline', '--', 'true'])).toEqual({ before: !isHere, after: true })
  expect(start(['run', '--offline=true'])).toEqual({ before: !isHere, after: true })
  expect(start(['run', '--offline'], { ENDS: '' })).toEqual({ before: !isHere, after: !isHere })
})

it('does not hurry elsewhere, or where somebody has set flags', () => {
  const calm = { before: true, after: true }
  expect(start(['run', '--vault', 'prod', '--', 'true', '--offline'])).toEqual(calm)
  expect(start(['read', '--offline', 'prod/app/KEY'])).toEqual(calm)
  const refused = { before: false, after: false }
  expect(start(['run', '--offline'], {}, ['--no-sparkplug'])).toEqual(refused)
  expect(start(['run', '--offline'], { NODE_OPTIONS: '--max-old-space-size=200' }).after).toBe(
    start(['run'], { NODE_OPTIONS: '--max-old-space-size=200' }).after,
  )
})

it('keeps what it compiled under the usual flags, also if the program ended in a hurry', () => {
  const args = ['run', '--offline', '--anew']
  for (let i = 0; i < 3; i += 1) start(args, { ENDS: '' })
  const look = `const { Script } = require('node:vm'); const { readFileSync, globSync } = require('node:fs')
    const [file] = globSync(
      process.env.HOME + '/.local/state/strongroom/compiled/*' + process.arch + '/offline-first.cjs')
    const kept = readFileSync(file)
    const cachedData = kept.subarray(0, kept.length / 2)
    const script = new Script(readFileSync(process.env.HOME + '/dist/first.cjs', 'latin1'), { cachedData })
    process.stdout.write(String(script.cachedDataRejected))`
  const env = { HOME: home }
  expect(execFileSync(process.execPath, ['-e', look], { encoding: 'utf8', env })).toBe('false')
})

it('is ended by the program, which may also have been started otherwise', () => {
  expect(endHurry).not.toThrow()
  let ended = 0
  const place = process as unknown as Record<symbol, unknown>
  const calm = Symbol.for('strongroom.calm')
  place[calm] = () => {
    ended += 1
  }
  try {
    endHurry()
  } finally {
    delete place[calm]
  }
  expect(ended).toBe(1)
})
