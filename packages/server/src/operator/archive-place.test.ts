import { readdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { makeDirectory, operatorOf } from '../../test/operator-seed.ts'
import { readArchive } from './archive.ts'
import { unwritable } from './archive-place.ts'
import { backup } from './backup.ts'

// Catches: a backup that ends without a word of why, on a full disk above all; a fault of a connection that is called one of the disk; a
// folder given as an archive, with a stack trace for an answer. Seen red: errors of the file system left as they are.

const directory = makeDirectory()
let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

it('says which folder is missing, or is none, and leaves nothing behind', async () => {
  writeFileSync(directory.path('file'), '')
  const [missing, none] = [directory.path('a folder/b.srb'), directory.path('file/b.srb')]
  await expect(backup(operatorOf(h), missing)).rejects.toMatchObject({
    code: 'archive_unwritable',
    message: `${missing} cannot be written: ENOENT`,
    nextStep: `make the folder first: mkdir -p '${directory.path('a folder')}'`,
  })
  await expect(backup(operatorOf(h), none)).rejects.toMatchObject({
    code: 'archive_unwritable',
    nextStep: `name a file in a folder: ${directory.path('file')} is none`,
  })
  expect(readdirSync(directory.path('.'))).toEqual(['file'])
})

it.each([
  ['ENOSPC', 'make room there'],
  ['EDQUOT', 'make room there'],
  ['EFBIG', 'on another disk'],
  ['EIO', 'look at that disk'],
  ['EROFS', 'on another disk'],
  ['EACCES', 'in a folder of yours'],
])('says what to do about %s', (code, next) => {
  expect(unwritable('/b.srb', Object.assign(new Error(code), { code, syscall: 'write' }))).toMatchObject({
    code: 'archive_unwritable',
    message: `/b.srb cannot be written: ${code}`,
    nextStep: expect.stringContaining(next),
  })
})

it('leaves alone what is no fault of the file', () => {
  const faults = [{ code: 'ENOENT', syscall: 'connect' }, { code: '53100' }, { syscall: 'write' }]
  for (const fault of faults) {
    const error = Object.assign(new Error('x'), fault)
    expect(unwritable('/b.srb', error)).toBe(error)
  }
})

it('is not read from a folder', async () => {
  const lines = readArchive(directory.path('.'), { passphrase: 'correct horse battery staple' })
  await expect(lines.next()).rejects.toMatchObject({ code: 'archive_unreadable' })
})
