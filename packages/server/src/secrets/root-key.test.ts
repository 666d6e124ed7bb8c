import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeRootKeyFile, readRootKeyFile } from './root-key.ts'

// Catches: two first starts that share a folder, of which the second puts its key in the place of one that has sealed already, so that the
// database opens with no key that is left; a start that stumbles over what one that was killed left; advice to make a new key where one is
// damaged. Seen red: a rename; drafts named after the number of the process; the advice as it was.

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sr-root-key-'))
  file = join(folder, 'root.key')
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

it('is made once: who comes second keeps the first, which may have sealed already', () => {
  makeRootKeyFile(file)
  const [first, sealed] = [readFileSync(file, 'utf8'), readRootKeyFile(file).seal('name', Buffer.from('secret'))]
  makeRootKeyFile(file)
  expect(readFileSync(file, 'utf8')).toBe(first)
  expect(readRootKeyFile(file).open('name', sealed)?.toString()).toBe('secret')
  expect([readdirSync(folder), statSync(file).mode & 0o777]).toEqual([['root.key'], 0o600])
})

it('is made beside what a start that was killed left, with the same number', () => {
  writeFileSync(`${file}.${process.pid}`, 'half')
  makeRootKeyFile(file)
  expect(readRootKeyFile(file).seal('name', Buffer.from('secret'))).toBeInstanceOf(Buffer)
})

it.each(['', 'half', `${'A'.repeat(43)}"`])('asks for the copy where it is damaged: %j', (text) => {
  writeFileSync(file, text)
  expect(() => readRootKeyFile(file)).toThrow(
    expect.objectContaining({
      code: 'root_key_invalid',
      nextStep: expect.stringMatching(/^put your copy of the key back; only a new server gets a new one/),
    }),
  )
})
