import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { provideSocketDirectory } from './socket-directory.ts'

// Catches: a directory in a place where everybody writes that is taken again under the name it had (the second test: what a link leads to
// belongs to PostgreSQL then, and a socket in it is removed), and one that stays behind (the first and the third). Each was seen red with the check taken out.

const SOCKET = '.s.PGSQL.5432'
const OWNER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined

let folder: string
/** Too deep for a socket. */
let home: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sr-sockets-'))
  home = join(folder, 'deep'.repeat(20))
  mkdirSync(home)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a deep data directory has its socket elsewhere, for as long as PostgreSQL runs', () => {
  const { path, remove } = provideSocketDirectory(home, OWNER, SOCKET)
  const { mode, uid } = statSync(path)
  expect(path).not.toContain(home)
  expect(mode & 0o777).toBe(0o700)
  expect(uid).toBe(OWNER?.uid ?? process.getuid?.())
  writeFileSync(join(path, SOCKET), '')
  remove()
  expect(existsSync(path)).toBe(false)
})

test('a link that somebody has put where it was is not followed', () => {
  const first = provideSocketDirectory(home, OWNER, SOCKET)
  first.remove()
  const precious = join(folder, 'precious')
  mkdirSync(precious, { mode: 0o755 })
  writeFileSync(join(precious, SOCKET), 'of another database')
  const before = statSync(precious)
  symlinkSync(precious, first.path)
  try {
    const second = provideSocketDirectory(home, OWNER, SOCKET)
    second.remove()
    expect(second.path).not.toBe(first.path)
    expect(statSync(precious)).toMatchObject({ uid: before.uid, mode: before.mode })
    expect(lstatSync(first.path).isSymbolicLink()).toBe(true)
    expect(existsSync(join(precious, SOCKET))).toBe(true)
  } finally {
    rmSync(first.path, { force: true })
  }
})

test('what a killed process has left is removed by the next one', () => {
  const killed = provideSocketDirectory(home, OWNER, SOCKET)
  for (const name of [SOCKET, `${SOCKET}.lock`]) writeFileSync(join(killed.path, name), '')
  const next = provideSocketDirectory(home, OWNER, SOCKET)
  next.remove()
  expect(existsSync(killed.path)).toBe(false)
})

test('a short one has it inside, without the lock of an earlier life', () => {
  const { path, remove } = provideSocketDirectory(folder, OWNER, SOCKET)
  writeFileSync(join(path, `${SOCKET}.lock`), '')
  remove()
  expect(provideSocketDirectory(folder, OWNER, SOCKET).path).toBe(join(folder, 'run'))
  expect(existsSync(join(path, `${SOCKET}.lock`))).toBe(false)
})
