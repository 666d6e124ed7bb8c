import { execFile, spawn } from 'node:child_process'
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../server/test/process.ts'
import { type Registry, startRegistry } from './registry.ts'

// What is published, installed by npm into an empty folder and used through npx, on every Node there is. It takes minutes, so only
// `npm run test:package` runs it. Catches: a file that is not packed, a dependency that is not named, a command that only works in the repository; on
// every Node also a server that npm leaves out on an older one, and a Node of other bytes than the pinned ones.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const PATIENCE = 900_000

let place: string
let tarballs: string
let registry: Registry
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'sr-package-'))
  // As root, PostgreSQL runs as another user, who must be able to pass through.
  chmodSync(place, 0o711)
  const built = (name: string): string => join(place, 'built', name)
  await run(process.execPath, ['packages/sdk/scripts/build.ts', join(place, 'built')], { cwd: root })
  for (const name of ['server', 'cli'])
    await run(process.execPath, [`packages/${name}/scripts/build.ts`, built(name)], { cwd: root })
  tarballs = join(place, 'tarballs')
  mkdirSync(tarballs)
  await run('npm', ['pack', built('cli'), '--pack-destination', tarballs, '--silent'])
  registry = await startRegistry(root, ['protocol', 'contract', 'sdk', 'server', 'cli'].map(built))
}, PATIENCE)
afterAll(async () => {
  await registry?.close()
  rmSync(place, { recursive: true, force: true })
})

interface Node {
  readonly path: string
  readonly version: string
  readonly major: number
}

/** The pinned Node and whatever else of a supported version is on the path, the oldest first: those bring a Node of their own along. */
async function nodes(): Promise<readonly Node[]> {
  const places = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  const usable = places.filter((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  const found = new Map<string, Node>()
  for (const path of [process.execPath, ...usable]) {
    const version = (await run(path, ['--version'])).stdout.trim().slice(1)
    const [major = 0, minor = 0] = version.split('.').map(Number)
    if (major > 20 || (major === 20 && minor >= 19))
      if (!found.has(version)) found.set(version, { path, version, major })
  }
  return [...found.values()].sort((a, b) => a.major - b.major)
}

interface Project {
  readonly folder: string
  readonly env: Record<string, string>
  npm(args: readonly string[]): Promise<void>
  npx(args: readonly string[]): Promise<{ stdout: string; stderr: string; code: number }>
}

/** An empty folder of a user who has this Node and nothing else. */
function emptyProject({ path, version }: Node): Project {
  const folder = join(place, `project-${version}`)
  const home = join(folder, 'home')
  mkdirSync(join(home, 'run'), { recursive: true, mode: 0o711 })
  chmodSync(join(home, 'run'), 0o700)
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const env = {
    // Of all programs only this Node is found before those of the system.
    PATH: [dirname(path), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'run'),
    STRONGROOM_KEY_STORE: 'file',
    npm_config_registry: registry.url,
    npm_config_cache: join(place, `cache-${version}`),
    npm_config_update_notifier: 'false',
  }
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error']
  return {
    folder,
    env,
    npm: async (args) => void (await run('npm', [...args, ...quiet], { cwd: folder, env })),
    npx: (args) =>
      run('npx', ['strongroom', ...args], { cwd: folder, env }).then(
        ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
        (error: { stdout: string; stderr: string; code: number }) => error,
      ),
  }
}

interface Up {
  readonly ready: object
  stop(): Promise<void>
}

/** `npx strongroom up` until it is ready. */
async function up({ folder, env }: Project, port: number): Promise<Up> {
  const child = spawn('npx', ['strongroom', 'up', '--json', '--port', String(port), '--data', 'data'], {
    cwd: folder,
    env,
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  const ready = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', resolve)
    child.once('close', (code) => reject(new Error(`up ended with ${code}: ${stderr}`)))
  })
  const event = JSON.parse(ready) as { readonly pid: number }
  // npx does not hand signals on: the server is ended instead, and the command with it.
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) process.kill(event.pid, 'SIGTERM')
    await closed
  }
  onTestFinished(stop)
  return { stop, ready: event }
}

async function useIt(project: Project, { version, major }: Node): Promise<void> {
  const { stdout } = await project.npx(['version', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ data: { strongroom: '0.1.0', node: version } })
  const port = await freePort()
  if (major < 24) {
    // The Node that is brought must have the pinned bytes, and this registry packs it anew.
    const refused = await project.npx(['up', '--json', '--port', String(port), '--data', 'data'])
    expect(refused.code).toBe(7)
    expect(JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      error: { code: 'node_too_old', hint: expect.stringMatching(/npm install node-linux-\w+@24/) },
    })
    await project.npm(['install', `node-linux-${process.arch}@24.21.0`])
  }
  const { stop, ready } = await up(project, port)
  expect(ready).toMatchObject({ type: 'ready', organisation: false, next: 'npx @strongroom/cli init' })
  for (const page of ['tutorials/first-secret', 'cli/run', 'errors', 'schemas/cli/vault-list.json'])
    expect((await fetch(`http://127.0.0.1:${port}/docs/${page}`)).status, page).toBe(200)
  writeFileSync(join(project.folder, 'passphrase'), 'purple otter canal lantern')
  const who = [
    '--org',
    'Northwind',
    '--name',
    'Ada',
    '--email',
    'ada@northwind.test',
    '--passphrase-file',
    'passphrase',
  ]
  for (const args of [
    ['init', ...who],
    ['set', 'prod/app/SESSION_SECRET', '--create-vault', '--generate', '32'],
    ['agent', 'create', 'bot', '--vault', 'prod'],
    ['doctor'],
  ]) {
    const ended = await project.npx(args)
    expect(ended.code, `${args.join(' ')}: ${ended.stderr}`).toBe(0)
  }
  const script = 'process.exit(process.env.SESSION_SECRET.length)'
  const child32 = await project.npx(['run', '--profile', 'bot', '--', 'node', '-e', script])
  expect(child32.code).toBe(32)
  writeFileSync(join(project.folder, 'wrong'), 'not the passphrase')
  const wrong = await project.npx(['login', '--passphrase-file', 'wrong', '--json'])
  expect(JSON.parse(wrong.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
    error: { code: 'login_failed', message: 'User or passphrase are not right.', exitCode: 3 },
  })
  await stop()
}

it(
  'works in an empty folder through npx, with its server',
  async () => {
    const all = await nodes()
    for (const node of all) {
      const project = emptyProject(node)
      await project.npm(['install', join(tarballs, 'strongroom-cli-0.1.0.tgz')])
      await useIt(project, node)
      const listed = readFileSync(join(project.folder, 'package-lock.json'), 'utf8')
      expect(listed).not.toContain('"node_modules/@strongroom/sdk"')
    }
    console.log(`the packed command line and its server ran on Node ${all.map(({ version }) => version).join(' and ')}`)
  },
  PATIENCE,
)
