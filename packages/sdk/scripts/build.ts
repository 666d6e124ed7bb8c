import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API_PREFIX, api, ERRORS, PART_BYTES, type Routes } from '@strongroom/contract'

// Builds what is published: `node packages/sdk/scripts/build.ts <directory>` writes the packages protocol, contract and sdk there,
// each with JavaScript, types and a manifest, ready for `npm pack`.
//
// The SDK needs of the contract only where each route is and what its own codes mean. The shapes, and the library they are made
// with, are twenty times as much: the published SDK has the former in a file of its own, and the contract for its types alone.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const NAMES = ['protocol', 'contract', 'sdk'] as const
type Name = (typeof NAMES)[number]
/** Folders of the SDK beside its sources that are published with it. They import nothing of the SDK itself. */
const PROGRAMS = ['evil-server'] as const

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly bin?: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const manifestOf = (name: Name): Manifest => JSON.parse(read(`packages/${name}/package.json`)) as Manifest

/** One run for all three, so that each is compiled against the sources of the others. */
function compile(into: string): void {
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      typeRoots: [join(root, 'node_modules/@types')],
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(root, 'packages'),
      outDir: into,
    },
    include: [
      ...NAMES.map((name) => join(root, 'packages', name, 'src/**/*.ts')),
      ...PROGRAMS.map((folder) => join(root, 'packages/sdk', folder, '**/*.ts')),
    ],
    exclude: NAMES.map((name) => join(root, 'packages', name, 'src/**/*.test.ts')),
  }
  const project = join(into, 'tsconfig.json')
  writeFileSync(project, JSON.stringify(settings))
  const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', project], { stdio: 'inherit' })
  if (status !== 0) throw new Error('the sources do not compile')
}

const built = (source: string, ending: string): string => source.replace('./src/', './dist/').replace(/\.ts$/, ending)
const withTypes = (source: string) => ({ types: built(source, '.d.ts'), default: built(source, '.js') })

const mapMembers = <A, B>(members: Readonly<Record<string, A>>, work: (member: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, work(member)]))

function publishedManifest(name: Name): string {
  const { private: _, scripts: __, exports, imports, bin, ...rest } = manifestOf(name)
  const published = {
    ...rest,
    sideEffects: false,
    files: ['dist', ...(name === 'sdk' ? PROGRAMS : [])],
    ...(bin && { bin: mapMembers(bin, (source) => source.replace(/\.ts$/, '.js')) }),
    exports: mapMembers(exports, (target) =>
      typeof target === 'string' ? withTypes(target) : mapMembers(target, withTypes),
    ),
    ...(imports && { imports: mapMembers(imports, (target) => mapMembers(target, (source) => built(source, '.js'))) }),
  }
  return `${JSON.stringify(published, null, 2)}\n`
}

/** Where routes are, a line for each, and what those codes mean that this code looks up; without shapes. */
function contractWithoutShapes(code: string): string {
  const groups: Readonly<Record<string, Routes>> = api
  const lines = Object.entries(groups).map(([name, group]) =>
    [
      name,
      ...Object.entries(group).map(([route, { api: which, method, path }]) => `${route} ${which} ${method} ${path}`),
    ].join('\n'),
  )
  const named = Object.entries(ERRORS).filter(([name]) => code.includes(`'${name}'`))
  return `export const API_PREFIX = ${JSON.stringify(API_PREFIX)}
export const PART_BYTES = ${PART_BYTES}
export const ERRORS = ${JSON.stringify(Object.fromEntries(named))}
const routeOf = (line) => {
  const [name, api, method, path] = line.split(' ')
  return [name, { api, method, path }]
}
const groupOf = (lines) => {
  const [name, ...routes] = lines.split('\\n')
  return [name, Object.fromEntries(routes.map(routeOf))]
}
export const api = /* @__PURE__ */ Object.fromEntries(/* @__PURE__ */ \`${lines.join('\n\n')}\`.split('\\n\\n').map(groupOf))
`
}

const LOOKS_UP_CODES = /import \{[^}]*\bERRORS\b[^}]*\} from '@strongroom\/contract'/
const FROM_CONTRACT = /from '@strongroom\/contract'/g

/** Points the SDK's own imports at the file above; types go on to come from the contract. */
function detachContract(dist: string): void {
  const place = join(dist, 'contract.js')
  const paths = globSync('**/*.js', { cwd: dist }).map((file) => join(dist, file))
  const codes = paths.map((path) => readFileSync(path, 'utf8'))
  writeFileSync(place, contractWithoutShapes(codes.filter((code) => LOOKS_UP_CODES.test(code)).join('\n')))
  for (const path of paths) {
    const code = readFileSync(path, 'utf8')
    const target = relative(dirname(path), place)
    const specifier = target.startsWith('.') ? target : `./${target}`
    writeFileSync(path, code.replace(FROM_CONTRACT, `from '${specifier}'`))
  }
}

/** The compiler names files in types as the sources do. */
function renameInTypes(dist: string): void {
  for (const file of globSync('**/*.d.ts', { cwd: dist })) {
    const path = join(dist, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, '$1$2.js$1'))
  }
}

/** Writes the packages to `into/<name>` and says where they are. */
export function build(into: string): Readonly<Record<Name, string>> {
  const out = resolve(into)
  const draft = join(out, '.compiled')
  mkdirSync(draft, { recursive: true })
  compile(draft)
  for (const name of NAMES) {
    const place = join(out, name)
    rmSync(place, { recursive: true, force: true })
    cpSync(join(draft, name, 'src'), join(place, 'dist'), { recursive: true })
    renameInTypes(join(place, 'dist'))
    if (name === 'sdk') {
      detachContract(join(place, 'dist'))
      for (const folder of PROGRAMS) cpSync(join(draft, name, folder), join(place, folder), { recursive: true })
    }
    writeFileSync(join(place, 'package.json'), publishedManifest(name))
    cpSync(join(root, 'LICENSE'), join(place, 'LICENSE'))
  }
  rmSync(draft, { recursive: true, force: true })
  return Object.fromEntries(NAMES.map((name) => [name, join(out, name)])) as Record<Name, string>
}

const [, script, into] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  if (into === undefined) throw new Error('say where to: node packages/sdk/scripts/build.ts <directory>')
  for (const [name, place] of Object.entries(build(into))) console.log(`${name}: ${place}`)
}
