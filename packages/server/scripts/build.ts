import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

// Builds what is published: `node packages/server/scripts/build.ts <directory>` writes the package there, with JavaScript, the
// migrations and the documentation, ready for `npm pack`. It needs the packages protocol and contract, which
// packages/sdk/scripts/build.ts writes.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const own = fileURLToPath(new URL('..', import.meta.url))

interface Manifest {
  readonly exports: Readonly<Record<string, string>>
  readonly [member: string]: unknown
}

const built = (source: string): string => source.replace('./src/', './dist/').replace(/\.ts$/, '.js')

function published(): string {
  const {
    private: _,
    devDependencies: __,
    exports,
    ...rest
  } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as Manifest
  const manifest = {
    ...rest,
    // It runs on Node 24, which whoever starts it sees to. npm leaves out what asks for a newer Node than its own without a word.
    engines: { node: '>=20.19' },
    files: ['console', 'dist', 'docs', 'migrations'],
    exports: Object.fromEntries(Object.entries(exports).map(([door, source]) => [door, built(source)])),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function compile(into: string): void {
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      typeRoots: [join(root, 'node_modules/@types')],
      rewriteRelativeImportExtensions: true,
      rootDir: join(root, 'packages'),
      outDir: into,
    },
    include: [join(own, 'src/**/*.ts')],
    exclude: [join(own, 'src/**/*.test.ts')],
  }
  const project = join(into, 'tsconfig.json')
  writeFileSync(project, JSON.stringify(settings))
  const { status } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', project], { stdio: 'inherit' })
  if (status !== 0) throw new Error('the sources do not compile')
}

/** The pages, and what the command line says of itself: no import leads there, a program writes it. */
function document(into: string): void {
  cpSync(join(root, 'docs'), into, { recursive: true })
  const writer = join(root, 'packages/cli/scripts/write-docs.ts')
  const { status } = spawnSync(process.execPath, [writer, into], { stdio: 'inherit' })
  if (status !== 0) throw new Error('the command line could not be documented')
}

/** The console, as a browser gets it. */
function addConsole(into: string): void {
  const builder = join(root, 'packages/console/scripts/build.ts')
  const { status } = spawnSync(process.execPath, [builder, into], { stdio: 'inherit' })
  if (status !== 0) throw new Error('the console could not be built')
}

/** Writes the package to `into` and says where it is. */
export function build(into: string): string {
  const place = resolve(into)
  const draft = join(place, '.compiled')
  rmSync(place, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  compile(draft)
  cpSync(join(draft, 'server/src'), join(place, 'dist'), { recursive: true })
  rmSync(draft, { recursive: true, force: true })
  document(join(place, 'docs'))
  addConsole(join(place, 'console'))
  cpSync(join(own, 'migrations'), join(place, 'migrations'), { recursive: true })
  cpSync(join(root, 'LICENSE'), join(place, 'LICENSE'))
  writeFileSync(join(place, 'package.json'), published())
  return place
}

const [, script, into] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  if (into === undefined) throw new Error('say where to: node packages/server/scripts/build.ts <directory>')
  console.log(build(into))
}
