import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type InputOptions,
  type OutputAsset,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  rolldown,
} from 'rolldown'
import { minifySync } from 'rolldown/utils'
import { lateModule, slimContract } from './slim-contract.ts'

// Builds what is published: `node packages/cli/scripts/build.ts <directory>` writes the package there, ready for `npm pack`.
//
// The program starts fifty times a day, so it is one bundle that is cut where commands are: what a command does not need is in
// files that it does not open. The SDK and the protocol are in it; what is native or large stays a dependency. The files are not
// modules but scripts, which starter.cjs loads: only of scripts can what was compiled while they ran be kept.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const own = fileURLToPath(new URL('..', import.meta.url))

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as Manifest

const SERVER = '@strongroom/server'
const STARTER = 'bin/strongroom.cjs'

/** Bundled, so nobody has to install them. */
const isBundled = (name: string): boolean => !Object.hasOwn(manifest.optionalDependencies, name)

function published(): string {
  const { private: _, scripts: __, exports: ___, devDependencies: ____, dependencies, ...rest } = manifest
  // Not optional once published: of those, npm leaves out without a word what needs a newer Node than its own, and what brings it.
  const { [SERVER]: server = '', ...optionalDependencies } = manifest.optionalDependencies
  const kept = Object.entries(dependencies).filter(([name]) => !isBundled(name))
  const needed = Object.fromEntries([...kept, [SERVER, server]])
  const bin = { strongroom: `./${STARTER}` }
  const whole = { ...rest, bin, files: ['bin', 'dist'], dependencies: needed, optionalDependencies }
  return `${JSON.stringify(whole, null, 2)}\n`
}

const OUTPUT: OutputOptions = {
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  comments: false,
}

/** Builtins of which most starts call nothing; `constants` is no function. */
const LATE: ReadonlySet<string> = new Set(['node:fs/promises', 'node:module', 'node:os', 'node:v8'])

const BUILTIN_IMPORT = /^import (?:\* as ([\w$]+)|([\w$]+)|\{([^}]*)\}|([\w$]+), ?\{([^}]*)\}) from "(node:[\w/]+)";$/gm

/** To import a builtin is to load everything it has, at a third of what Node needs to start; to ask for it is not. */
const askingForBuiltins = (code: string): string =>
  code.replace(BUILTIN_IMPORT, (_, all, whole, some, first, more, name) => {
    const builtin = `process.getBuiltinModule("${name}")`
    const members = (some ?? more)?.replaceAll(' as ', ': ')
    if (LATE.has(name) && members && !members.includes('constants')) return asked(members, builtin)
    const bound = [all ?? whole ?? first, members === undefined ? undefined : `{${members}}`].filter(Boolean)
    return bound.map((target) => `const ${target} = ${builtin};`).join(' ')
  })

/** Functions that are asked for when they are called: most starts write nothing. */
const asked = (members: string, builtin: string): string =>
  members
    .split(',')
    .map((member) => member.trim().split(': '))
    .map(([name, local = name]) => `const ${local} = (...given) => ${builtin}.${name}(...given);`)
    .join(' ')

const MAIN = join(own, 'src/main.ts')
const SLIM = 'strongroom:slim-contract'
/** What refusals mean: a start that goes well needs none of it. */
const TABLES: readonly string[] = [
  join(root, 'packages/protocol/src/error-codes.ts'),
  join(own, 'src/errors/codes.ts'),
  join(own, 'src/errors/sdk-codes.ts'),
]
const inSdk = (importer: string): boolean => importer.includes('/sdk/src/')
const isLeftOut = (id: string): boolean =>
  id.startsWith('node:') ||
  Object.keys(manifest.optionalDependencies).some((name) => id === name || id.startsWith(`${name}/`))

const settings = (input: Readonly<Record<string, string>>, more: readonly Plugin[] = []): InputOptions => ({
  input,
  platform: 'node',
  external: isLeftOut,
  resolve: { conditionNames: ['node', 'import', 'default'], modules: [join(root, 'node_modules')] },
  preserveEntrySignatures: false,
  treeshake: { moduleSideEffects: false },
  // The constants of a module that is asked for as a whole are looked for where they no longer are once they are inlined.
  optimization: { inlineConst: false },
  // What was meant to be loaded later and is not, among others: every start would pay for it.
  onwarn: ({ message }) => {
    throw new Error(message)
  },
  plugins: [
    {
      name: 'slim-contract',
      resolveId: (id, importer) => (id === '@strongroom/contract' && importer && inSdk(importer) ? SLIM : undefined),
      load: (id) => (id === SLIM ? slimContract() : undefined),
    },
    { name: 'late-tables', load: async (id) => (TABLES.includes(id) ? lateModule(await import(id)) : undefined) },
    { name: 'builtins', renderChunk: (code) => ({ code: askingForBuiltins(code) }) },
    ...more,
  ],
})

/** Where `strongroom run` goes through after the entry: what these bring along is loaded at every start of a process. */
const HOT = ['src/commands/run.ts', 'src/run/run-child.ts', 'src/place/client.ts', 'src/place/become.ts'].map((path) =>
  join(own, path),
)

/** What a command needs that cannot do without us while it runs. */
const CHILD = ['src/run/supervise.ts', 'src/run/ending.ts'].map((path) => join(own, path))

/** Signing in takes half of all code, and is for people. */
const ONLY_PEOPLE = /@serenity-kit|\/sdk\/src\/(?:people|passphrase|index|strongroom\/index-)/

/** What these modules bring along at once, without what nothing of them uses: what is asked for later is left out. */
async function modulesFrom(starts: readonly string[]): Promise<ReadonlySet<string>> {
  const later: Plugin = { name: 'later', resolveDynamicImport: () => false }
  const input = Object.fromEntries(starts.map((path, i) => [`start${i}`, path]))
  const bundle = await rolldown({ ...settings(input, [later]), preserveEntrySignatures: 'strict' })
  const { output } = await bundle.generate(OUTPUT)
  await bundle.close()
  return new Set(output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])))
}

/** Left alone, a bundler cuts what is shared into as many files as there are ways to share it; opening each takes its time. */
async function writeModules(dir: string): Promise<void> {
  const [first, hot, child] = await Promise.all([[MAIN], HOT, CHILD].map(modulesFrom))
  if (!first || !hot || !child) throw new Error('there is nothing to start')
  const bundle = await rolldown(settings({ main: MAIN }))
  const groups = [
    { name: 'people', test: (id: string) => ONLY_PEOPLE.test(id) },
    // The entry waits for what it starts, so nothing it starts may need the entry's own file.
    { name: 'start', test: (id: string) => (first.has(id) && id !== MAIN) || id.includes('rolldown/runtime') },
    { name: 'run', test: (id: string) => hot.has(id) && !first.has(id) && !ONLY_PEOPLE.test(id) },
    { name: 'child', test: (id: string) => child.has(id) && !hot.has(id) && !first.has(id) },
  ]
  await bundle.write({ ...OUTPUT, dir, codeSplitting: { groups, includeDependenciesRecursively: false } })
  await bundle.close()
}

/** Text of one byte a character takes half the memory, and is read without being decoded. */
const inAscii = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The same files as functions of their surroundings, and what they are together. */
async function writeScripts(modules: string, dir: string): Promise<string> {
  const input = { main: join(modules, 'main.js') }
  const isElsewhere = (id: string): boolean => !/^[./]/.test(id) && !id.startsWith(modules)
  const bundle = await rolldown({ input, platform: 'node', external: isElsewhere, treeshake: false })
  const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' }
  const { output } = await bundle.generate({ ...OUTPUT, ...names, format: 'cjs', minify: true, preserveModules: true })
  await bundle.close()
  mkdirSync(dir)
  const digest = createHash('sha256')
  for (const [name, script] of filesOf(output.map(chunkOf))) {
    writeFileSync(join(dir, name), script)
    digest.update(name).update(script)
  }
  return digest.digest('hex').slice(0, 32)
}

function chunkOf(part: OutputChunk | OutputAsset): OutputChunk {
  if (part.type !== 'chunk') throw new Error(`${part.fileName} is no script`)
  return part
}

const scriptOf = ({ code }: OutputChunk): string =>
  `(function(exports,require,module,__filename,__dirname){${inAscii(code)}\n})`

/**
 * Every file by its name. To open one and to take over what was compiled of it costs as much as to run a small one, so what
 * every `strongroom run` needs is in one.
 */
function filesOf(chunks: readonly OutputChunk[]): ReadonlyMap<string, string> {
  const first = new Set(chunks.flatMap(({ fileName }) => (/^(?:main|run-.{8})\.cjs$/.test(fileName) ? fileName : [])))
  for (const name of first)
    for (const more of chunks.find((one) => one.fileName === name)?.imports ?? []) first.add(more)
  const [together, alone] = [true, false].map((isFirst) =>
    chunks.filter(({ fileName }) => first.has(fileName) === isFirst),
  )
  const members = together?.map((one) => `${JSON.stringify(one.fileName)}:${scriptOf(one)}`) ?? []
  return new Map([
    ['first.cjs', `({${members.join(',\n')}})`],
    ...(alone ?? []).map((one) => [one.fileName, scriptOf(one)] as const),
  ])
}

async function writeBundle(dir: string): Promise<string> {
  const modules = mkdtempSync(join(tmpdir(), 'sr-modules-'))
  try {
    await writeModules(modules)
    return await writeScripts(modules, dir)
  } finally {
    rmSync(modules, { recursive: true, force: true })
  }
}

/** Starts this build and no other: what was compiled is kept under its name. Of the starter itself nothing is kept, so it is short. */
function starterOf(digest: string): string {
  const [before, after, ...more] = readFileSync(join(own, 'scripts/starter.cjs'), 'utf8').split("const BUILD = ''")
  if (after === undefined || more.length > 0) throw new Error('the starter does not say which build it starts')
  const { code, errors } = minifySync('starter.cjs', `${before}const BUILD = '${digest}'${after}`, { module: false })
  if (errors.length > 0 || !code.startsWith('#!')) throw new Error(`the starter is not what it was: ${code}`)
  return code
}

/** Writes the package to `into` and says where it is. */
export async function build(into: string): Promise<string> {
  const place = resolve(into)
  rmSync(join(place, 'dist'), { recursive: true, force: true })
  mkdirSync(join(place, 'bin'), { recursive: true })
  const bin = join(place, STARTER)
  writeFileSync(bin, starterOf(await writeBundle(join(place, 'dist'))))
  chmodSync(bin, 0o755)
  cpSync(join(root, 'LICENSE'), join(place, 'LICENSE'))
  writeFileSync(join(place, 'package.json'), published())
  return place
}

const [, script, into] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  if (into === undefined) throw new Error('say where to: node packages/cli/scripts/build.ts <directory>')
  console.log(await build(into))
}
