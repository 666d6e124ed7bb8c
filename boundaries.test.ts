// The rules of STYLE.md that a machine can check. Biome knows some of them too; here no comment can switch them off.
//
// Each check was seen to fail on this breakage:
// - direction: packages/protocol/src importing '@strongroom/server'; a package.json depending on it; an unknown package
// - only through its doors: a test importing '@strongroom/protocol/src/errors.ts' or '../../../contract/src/x.ts', and a source
//   importing '../../server/test/harness.ts'
// - no any: `const x: any = 1`, `y as any`, `new Map<any>()`, `type T = any[]`
// - no default exports: `export default 1` and `export { x as default }` in a file that is no *.config.ts
// - no vague names: packages/protocol/src/string-utils.ts, and a folder called common
// - no enums: `export enum Colour { Red }` and `const enum`
// - links: `[here](docs/nowhere.md)` in README.md
// - commands to be copied: `strongroom set ${name}` in packages/console/src, without shellLine before it
// - sections: one of docs/protocol.md, which is no file, and `Section 6.9` in a source of the protocol
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  contract: ['protocol'],
  server: ['protocol', 'contract'],
  sdk: ['protocol', 'contract'],
  cli: ['protocol', 'contract', 'sdk'],
  console: ['protocol', 'contract', 'sdk'],
}
const VAGUE = /^(utils?|helpers?|common|managers?|misc)$/
const LONG_FILE = 300
const LONG_FUNCTION = 40

const root = import.meta.dirname
const foreign = /(^|\/)(node_modules|dist|\.git|\.setup)(\/|$)/
const find = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: (path) => foreign.test(path) })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()

interface Source {
  readonly path: string
  readonly package: string | undefined
  /** The text without comments. */
  readonly code: string
  /** The text without comments and without the contents of strings. */
  readonly bare: string
}

const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
const COMMENT_OR_STRING = new RegExp(String.raw`\/\*[\s\S]*?\*\/|(?<![:\\])\/\/.*|${STRING.source}`, 'g')

function readSource(path: string): Source {
  const code = readFileSync(join(root, path), 'utf8').replace(COMMENT_OR_STRING, (s) => (s.startsWith('/') ? ' ' : s))
  return { path, package: /^packages\/([^/]+)\//.exec(path)?.[1], code, bare: code.replace(STRING, "''") }
}

const sources = find('**/*.{ts,tsx,mts,js,mjs}').map(readSource)
const ofPackages = sources.filter((source) => source.package !== undefined)

const importsOf = ({ code }: Source) =>
  [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"\n]+)['"]/g)].map((match) => match[1] ?? '')

const withPattern = (pattern: RegExp) => sources.filter(({ bare }) => pattern.test(bare)).map(({ path }) => path)

interface Manifest {
  readonly dependencies?: object
  readonly devDependencies?: object
  readonly peerDependencies?: object
  readonly exports?: object
}

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
}

it('finds the sources it is to check', () => {
  expect(ofPackages.length).toBeGreaterThan(0)
  expect(sources.map(({ path }) => path)).toContain('boundaries.test.ts')
})

it('knows every package, and each depends only on packages below it', () => {
  const wrong = find('packages/*/package.json').flatMap((path) => {
    const name = basename(dirname(path))
    const { dependencies, peerDependencies } = manifestOf(name)
    const ours = Object.keys({ ...dependencies, ...peerDependencies }).filter((d) => d.startsWith('@strongroom/'))
    const allowed = MAY_IMPORT[name]
    if (!allowed) return [`${name} is not in the table`]
    return ours.filter((dependency) => !allowed.includes(dependency.slice(12))).map((d) => `${name} -> ${d}`)
  })
  expect(wrong).toEqual([])
})

it('imports only packages below: protocol, contract, then server and sdk, then cli and console', () => {
  const wrong = ofPackages
    .filter(({ path }) => path.includes('/src/') && !path.endsWith('.test.ts'))
    .flatMap((source) => {
      const ours = importsOf(source).filter((specifier) => specifier.startsWith('@strongroom/'))
      const allowed = [source.package, ...(MAY_IMPORT[source.package ?? ''] ?? [])]
      return ours.filter((o) => !allowed.includes(o.split('/')[1])).map((o) => `${source.path} -> ${o}`)
    })
  expect(wrong).toEqual([])
})

/** Other doors of a package, besides its index. */
const doorsOf = (name: string): string[] =>
  Object.keys(manifestOf(name).exports ?? {}).map((door) => `@strongroom/${name}${door.slice(1)}`)

/** What tests and benchmarks may share: how others start a server, the attacks, and what set-up knows of the machine. */
const SHARED = /^(?:packages\/[a-z]+\/(?:test|bench|evil-server)|scripts)\//

it('reaches another package only through its doors; tests may also start things as the tests of other packages do', () => {
  const wrong = ofPackages.flatMap((source) => {
    const home = `packages/${source.package}/`
    const isTest = /^(?:test|bench)\//.test(source.path.slice(home.length))
    const isOutside = (specifier: string) => {
      const [, name = ''] = specifier.split('/')
      if (!specifier.startsWith('.'))
        return /^@strongroom\/[^/]+\//.test(specifier) && !doorsOf(name).includes(specifier)
      const target = normalize(join(dirname(source.path), specifier))
      return !target.startsWith(home) && !(isTest && SHARED.test(target))
    }
    return importsOf(source)
      .filter(isOutside)
      .map((specifier) => `${source.path} -> ${specifier}`)
  })
  expect(wrong).toEqual([])
})

it('has no any', () => {
  expect(withPattern(/(?::|\bas|<|\||&|=>)\s*any\b(?!\()|\bany(?:\[\]|\s*[>|&])/)).toEqual([])
})

it('has no default exports, except in configuration files', () => {
  const found = withPattern(/\bexport\s+default\b|\bas\s+default\b/)
  expect(found.filter((path) => !/\.config\.ts$/.test(path))).toEqual([])
})

it('quotes for a shell whatever it fills into a command that people copy', () => {
  const command = /(?<!shellLine)`[^`$]*\b(?:strongroom|kubectl|curl) [a-z][^`$]*\$\{/
  const wrong = sources.filter(({ path, code }) => /^packages\/console\/src\//.test(path) && command.test(code))
  expect(wrong.map(({ path }) => path)).toEqual([])
})

it('has no enums', () => {
  expect(withPattern(/(?:^|\n|\bexport |\bconst |\bdeclare )\s*enum\s+\w+\s*\{/)).toEqual([])
})

it('names no file or folder utils, helpers, common or manager', () => {
  const vague = sources.filter(({ path }) => path.split(/[/.-]/).some((word) => VAGUE.test(word)))
  expect(vague.map(({ path }) => path)).toEqual([])
})

it('links only to files that exist', () => {
  const broken = find('**/*.md').flatMap((path) => {
    const prose = readFileSync(join(root, path), 'utf8').replace(/```[\s\S]*?```|`[^`\n]*`/g, '')
    const targets = [...prose.matchAll(/\]\(\s*<?([^)\s>#]+)/g)].map((match) => match[1] ?? '')
    const local = targets.filter((target) => !/^[a-z]+:/i.test(target))
    return local.filter((target) => !existsSync(join(root, dirname(path), target))).map((t) => `${path} -> ${t}`)
  })
  expect(broken).toEqual([])
})

it('cites only sections of the protocol that exist', () => {
  const text = readFileSync(join(root, 'docs/reference/protocol.md'), 'utf8')
  const headings = new Set([...text.matchAll(/^#+ ([0-9]+(?:\.[0-9]+)?)\.? /gm)].map((match) => match[1]))
  const broken = sources.flatMap(({ path }) => {
    // Of standards, which have sections of their own, the name stands before.
    const prose = readFileSync(join(root, path), 'utf8').replace(/(?:RFC|FIPS|C2SP) [\w-]+,? sections? [0-9.]+/g, '')
    const cited = [...prose.matchAll(/\b(docs\/[a-z/]*protocol\.md)(?: section)? ([0-9]+(?:\.[0-9]+)?)/gi)]
    const own = path.startsWith('packages/protocol/src/')
      ? [...prose.matchAll(/\b()sections? ([0-9]+(?:\.[0-9]+)?)/gi)]
      : []
    return [...cited, ...own]
      .filter(([, file = '', section]) => !/^(docs\/reference\/protocol\.md)?$/i.test(file) || !headings.has(section))
      .map(([words]) => `${path}: ${words}`)
  })
  expect(broken).toEqual([])
})

// The formatter puts a function's closing brace under the start of its first line, so lines suffice to measure it.
function longFunctions({ path }: Source): string[] {
  const lines = readFileSync(join(root, path), 'utf8').split('\n')
  return lines.flatMap((line, start) => {
    const [, indent, name] = /^( *)(?:export )?(?:async )?(?:function\*? |const )(\w+).*[{(]$/.exec(line) ?? []
    if (indent === undefined || !/\bfunction\b|=>/.test(line)) return []
    const length = lines.slice(start).findIndex((l) => l.startsWith(`${indent}}`) || l === `${indent})`) + 1
    return length > LONG_FUNCTION ? [`${path}:${start + 1} ${name} has ${length} lines`] : []
  })
}

it('lists long files and functions (a warning, not a failure)', () => {
  const written = sources.filter(({ path }) => !/\.test\.ts$|\/(test|bench)\//.test(path))
  const lineCount = ({ path }: Source) => readFileSync(join(root, path), 'utf8').trimEnd().split('\n').length
  const files = written.filter((source) => lineCount(source) > LONG_FILE)
  const long = [
    ...files.map((source) => `${source.path} has ${lineCount(source)} lines`),
    ...written.flatMap(longFunctions),
  ]
  if (long.length > 0) console.warn(`longer than STYLE.md likes, look for two nouns in one place:\n${long.join('\n')}`)
  expect(long).toBeInstanceOf(Array)
})
