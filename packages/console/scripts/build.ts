import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { build } from 'vite'
import { buildList } from '../src/pages/settings/build-list.ts'

// Builds the console into a folder, unless what is there was built from the same sources. The server serves that folder as it is.

const root = join(import.meta.dirname, '../../..')
const SOURCES = [
  'packages/{console,sdk,contract,protocol}/src/**/*.{ts,tsx,css}',
  'packages/console/{index.html,vite.config.ts,package.json,scripts/*,public/*}',
  'package-lock.json',
]

/** The name of the sources: the same name is the same console. */
function digestOfSources(): string {
  const hash = createHash('sha256')
  for (const path of globSync(SOURCES, { cwd: root }).sort()) {
    if (/\.test\.tsx?$/.test(path)) continue
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  }
  return hash.digest('hex')
}

const sri = (path: string): string => `sha384-${createHash('sha384').update(readFileSync(path)).digest('base64')}`

/** The page names the hash of every file it may load, also of those that are loaded later. */
function addIntegrity(folder: string): void {
  const page = join(folder, 'index.html')
  const scripts = globSync('assets/*.js', { cwd: folder }).sort()
  const integrity = Object.fromEntries(scripts.map((path) => [`/${path}`, sri(join(folder, path))]))
  const withHashes = readFileSync(page, 'utf8').replace(
    /<(script|link)([^>]*?)(src|href)="(\/assets\/[^"]+)"/g,
    (_, tag, before, name, path) => `<${tag}${before}integrity="${sri(join(folder, path.slice(1)))}" ${name}="${path}"`,
  )
  const map = `<script type="importmap">${JSON.stringify({ integrity })}</script>`
  writeFileSync(page, withHashes.replace('<script', `${map}\n    <script`))
}

/** Which files a browser gets, and one hash over all of them. Whoever builds the same sources has the same list. */
function writeManifest(folder: string): void {
  const paths = globSync('**/*.*', { cwd: folder }).sort()
  const files = Object.fromEntries(paths.map((path) => [path.replaceAll('\\', '/'), sri(join(folder, path))]))
  const build = createHash('sha256').update(buildList(files)).digest('hex')
  writeFileSync(join(folder, 'build.json'), `${JSON.stringify({ build, files }, null, 2)}\n`)
}

export async function buildConsole(folder: string): Promise<void> {
  const stamp = join(folder, 'built-from.txt')
  const digest = digestOfSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return
  const { NODE_ENV } = process.env
  // What is built depends on the sources alone, not on who builds it.
  process.env.NODE_ENV = 'production'
  try {
    await build({
      configFile: join(import.meta.dirname, '../vite.config.ts'),
      mode: 'production',
      logLevel: 'error',
      build: { outDir: resolve(folder), emptyOutDir: true },
    })
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
  addIntegrity(folder)
  writeManifest(folder)
  writeFileSync(stamp, digest)
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === import.meta.filename) {
  const folder = resolve(process.argv[2] ?? join(root, '.setup/console'))
  await buildConsole(folder)
  console.log(`console: ${relative(process.cwd(), folder)}`)
}
