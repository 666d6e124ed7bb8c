import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DIALECTS, type Dialect, formatEnvironment, type Pair } from '../src/dotenv/format.ts'
import { parseDotenv } from '../src/dotenv/parse.ts'
import { CliError } from '../src/errors/cli-error.ts'

// Each dialect against its real reader where there is one here: sh, Node's --env-file, JSON and YAML's common ground. Catches: a
// quote, a line break, a dollar or a backslash that its reader reads as something else; text that ends a value and begins a command.

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sr-dotenv-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/).map((text) => `V_${text}`)
const nasty = fc.string({ unit: fc.constantFrom(...'abc "\'`$\\\n\r\t#=;&|(){}[]<>!*?~%äß漢😀\u0001 '), maxLength: 24 })
const pairs = fc.uniqueArray(fc.tuple(name, nasty), { selector: ([own]) => own, minLength: 1, maxLength: 6 })

/** Those of the pairs that this dialect can hold; the others must be refused by name. */
function holdable(all: readonly Pair[], dialect: Dialect): readonly Pair[] {
  return all.filter((pair) => {
    try {
      formatEnvironment([pair], dialect)
      return true
    } catch (error) {
      expect(error).toBeInstanceOf(CliError)
      expect(error).toMatchObject({ code: 'value_not_expressible', details: { name: pair[0], dialect } })
      if (pair[1].length > 3) expect((error as Error).message).not.toContain(pair[1])
      return false
    }
  })
}

const written = (text: string): string => {
  const file = join(folder, 'file')
  writeFileSync(file, text)
  return file
}

const PRINT =
  'process.stdout.write(JSON.stringify(Object.fromEntries(Object.entries(process.env).filter(([n]) => n.startsWith("V_")))))'
const environmentOf = (file: string, args: readonly string[]): unknown => {
  const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', env: { PATH: process.env.PATH } })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

it('writes dotenv that Node and this program read back exactly', () => {
  fc.assert(
    fc.property(pairs, (all) => {
      const kept = holdable(all, 'dotenv')
      const text = formatEnvironment(kept, 'dotenv')
      expect({ ...parseEnv(text) }).toEqual(Object.fromEntries(kept))
      expect(parseDotenv(text, 'file').map((entry) => [entry.name, entry.value])).toEqual(kept)
    }),
    { numRuns: 3000 },
  )
})

it('writes dotenv that a Node process gets through --env-file', () => {
  fc.assert(
    fc.property(pairs, (all) => {
      const kept = holdable(all, 'dotenv')
      const file = written(formatEnvironment(kept, 'dotenv'))
      expect(environmentOf(process.execPath, [`--env-file=${file}`, '-e', PRINT])).toEqual(Object.fromEntries(kept))
    }),
    { numRuns: 8 },
  )
})

it('writes shell that sh evaluates to exactly the values, whatever they hold', () => {
  fc.assert(
    fc.property(pairs, (all) => {
      expect(holdable(all, 'shell')).toEqual(all)
      const file = written(formatEnvironment(all, 'shell'))
      expect(environmentOf('sh', ['-c', `. "$0"; exec "$1" -e "$2"`, file, process.execPath, PRINT])).toEqual(
        Object.fromEntries(all),
      )
    }),
    { numRuns: 15 },
  )
})

it('writes JSON, and YAML that JSON readers agree with, for every value', () => {
  fc.assert(
    fc.property(pairs, (all) => {
      expect(JSON.parse(formatEnvironment(all, 'json'))).toEqual(Object.fromEntries(all))
      const lines = formatEnvironment(all, 'yaml').trimEnd().split('\n')
      const read = lines.map((line) => JSON.parse(`{${line}}`) as Record<string, string>)
      expect(Object.assign({}, ...read)).toEqual(Object.fromEntries(all))
    }),
    { numRuns: 1000 },
  )
})

/** `docker run --env-file`: the rest of the line. */
const readDocker = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

/** systemd's own words for it, as in its env-file.c. */
function readSystemd(text: string): Record<string, string> {
  const read: Record<string, string> = {}
  for (const [, own = '', quoted = ''] of text.matchAll(/^(\w+)="((?:[^"\\]|\\[\s\S])*)"$/gm))
    read[own] = quoted.replace(/\\([\s\S])/g, (whole, next: string) => ('"\\`$'.includes(next) ? next : whole))
  return read
}

function readGithub(text: string): Record<string, string> {
  const read: Record<string, string> = {}
  for (const [, own = '', , value = ''] of text.matchAll(/^(\w+)<<(strongroom_[\w-]+)\n([\s\S]*?)\n\2$/gm))
    read[own] = value
  return read
}

it('writes what docker, systemd and GitHub read by their own rules, and refuses what they cannot hold', () => {
  const readers = { docker: readDocker, systemd: readSystemd, github: readGithub }
  fc.assert(
    fc.property(pairs, (all) => {
      for (const [dialect, read] of Object.entries(readers)) {
        const kept = holdable(all, dialect as Dialect)
        expect(read(formatEnvironment(kept, dialect as Dialect))).toEqual(Object.fromEntries(kept))
      }
    }),
    { numRuns: 2000 },
  )
  expect(() => formatEnvironment([['KEY', 'a\nb']], 'docker')).toThrow(/line break/)
  expect(() => formatEnvironment([['KEY', 'a\rb']], 'systemd')).toThrow(/control character/)
})

it('quotes for compose so that nothing is expanded', () => {
  expect(formatEnvironment([['A', 'pa$$word "x"']], 'compose')).toBe(`A='pa$$word "x"'\n`)
  expect(formatEnvironment([['A', `it's\n"so"`]], 'compose')).toBe('A="it\'s\\n\\"so\\""\n')
  expect(() => formatEnvironment([['A', "it's $5"]], 'compose')).toThrow(CliError)
})

it('refuses names that are none, in every dialect that has names of its own', () => {
  for (const dialect of DIALECTS) {
    const bad = () => formatEnvironment([['A B; rm -rf', 'x']], dialect)
    if (dialect === 'json' || dialect === 'yaml') expect(bad).not.toThrow()
    else expect(bad).toThrow(CliError)
  }
})

it('reads dotenv files as people write them, and refuses what is none with its line', () => {
  const text = `# comment
export A = plain value   # comment
B='single # not a comment'
C="double\\nline"
D=\`back tick\`

E=
F="over
two lines"
`
  expect(parseDotenv(text, '.env')).toEqual([
    { name: 'A', value: 'plain value', line: 2 },
    { name: 'B', value: 'single # not a comment', line: 3 },
    { name: 'C', value: 'double\nline', line: 4 },
    { name: 'D', value: 'back tick', line: 5 },
    { name: 'E', value: '', line: 7 },
    { name: 'F', value: 'over\ntwo lines', line: 8 },
  ])
  expect(Object.fromEntries(parseDotenv(text, '.env').map((entry) => [entry.name, entry.value]))).toEqual({
    ...parseEnv(text),
  })
  expect(() => parseDotenv('A=1\nthis is nothing\n', '.env')).toThrow('.env, line 2')
  expect(() => parseDotenv('A=1\n\nB="open\n', '.env')).toThrow('.env, line 3')
})
