import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { findProgram } from '../../src/run/program.ts'

// Which command is meant, where others have folders on the PATH too. Catches a folder that nobody here may look into taken for one that has the
// command (seen red), which was then said to be no program, with the advice to change its mode.

const folder = mkdtempSync(join(tmpdir(), 'sr-program-'))
const closed = join(folder, 'closed')
chmodSync(folder, 0o755)
mkdirSync(closed)
chmodSync(closed, 0)
afterAll(() => {
  chmodSync(closed, 0o700)
  rmSync(folder, { recursive: true, force: true })
})

const NOBODY = 65_534

/** Nothing is closed to root. */
function asNobody<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid?.(NOBODY)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
  }
}

const codeOf = (command: string): unknown => {
  try {
    return asNobody(() => findProgram(command, `${closed}:/usr/bin:/bin`, '/'))
  } catch (error) {
    return (error as { code: string }).code
  }
}

it('passes over a folder on the PATH that nobody here may look into', () => {
  expect(codeOf('no-such-command')).toBe('command_not_found')
  expect(codeOf('env')).toMatch(/\/env$/)
})

it('says of a program that is named by its path, and may not be seen, that it cannot be executed', () => {
  expect(codeOf(join(closed, 'program'))).toBe('command_not_executable')
})
