import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { boundLog } from './own-log.ts'

// Catches: a log that grows for as long as the server runs, one that is emptied while it is small, more than one former file, and one that
// goes on behind a hole since its writer was not told. Seen red: never emptied; the former file from its beginning on instead of its end.
// That a start looks at it, `start-cut-short.test.ts` sees.

const folder = mkdtempSync(join(tmpdir(), 'sr-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('keeps the end of a log that has grown in one former file, and its writer goes on at the beginning', () => {
  const log = join(folder, 'postgres.log')
  // As PostgreSQL has it: open, at its end.
  const writer = openSync(log, 'a')
  const say = (text: string): void => {
    writeSync(writer, text)
    boundLog(log, 10)
  }
  const files = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')])
  say('0123456789')
  expect(files()).toEqual([['postgres.log', '0123456789']])
  say('abc')
  expect(files()).toEqual([
    ['postgres.log', ''],
    ['postgres.log.1', '3456789abc'],
  ])
  say('next')
  expect(files()[0]).toEqual(['postgres.log', 'next'])
  say(' and more of it')
  expect(files()).toEqual([
    ['postgres.log', ''],
    ['postgres.log.1', ' more of it'.slice(-10)],
  ])
  closeSync(writer)
})
