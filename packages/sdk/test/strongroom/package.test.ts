import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { build } from '../../scripts/build.ts'
import { BROWSER_CLIENT, bundleForBrowser } from '../../scripts/bundle.ts'
import { describeSize, sizeOf } from '../../scripts/size.ts'
import { startWorld, type World } from './world.ts'

// What is published, installed into an empty project without a registry, and used there. Catches a file that is not packed, an
// import that only works in the repository, types that do not resolve, native code, shapes of the contract in the client; and a page
// that loads more than it needs.

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../..', import.meta.url))

let world: World
let project: string
let packages: ReturnType<typeof build>
beforeAll(async () => {
  world = await startWorld()
  const place = world.directory()
  packages = build(join(place, 'packages'))
  project = join(place, 'project')
  mkdirSync(project)
  await install(place)
}, 300_000)
afterAll(() => world.close())

const THIRD_PARTY = [
  '@noble/curves',
  '@noble/hashes',
  '@noble/post-quantum',
  '@noble/ciphers',
  '@serenity-kit/opaque',
  'typebox',
]

/** Every package as npm would get it from the registry, from what is here. */
async function install(place: string): Promise<void> {
  const tarballs = join(place, 'tarballs')
  mkdirSync(tarballs)
  const sources = new Map([
    ...Object.entries(packages).map(([name, path]) => [`@strongroom/${name}`, path] as const),
    ...THIRD_PARTY.map((name) => [name, join(root, 'node_modules', name)] as const),
  ])
  const dependencies: Record<string, string> = {}
  for (const [name, path] of sources) {
    const { stdout } = await run('npm', ['pack', path, '--pack-destination', tarballs, '--ignore-scripts', '--silent'])
    dependencies[name] = `file:${join(tarballs, stdout.trim())}`
  }
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', type: 'module', private: true, dependencies }),
  )
  const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  await run('npm', ['install', ...quiet], {
    cwd: project,
    env: { ...process.env, npm_config_cache: join(place, 'cache') },
  })
}

/** Every Node on the path: the pinned one, and what the machine has. */
function nodes(): string[] {
  const places = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'node'))
  const isUsable = (path: string): boolean => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  }
  return [...new Set([process.execPath, ...places.filter(isUsable)])]
}

const SCRIPT = `import { Strongroom, VerificationError, createClient } from '@strongroom/sdk'
import { Strongroom as ForNode, fileTrust } from '@strongroom/sdk/node'
if (Strongroom !== ForNode || typeof fileTrust !== 'function' || typeof createClient !== 'function') throw new Error('entry points')
if (!(VerificationError.prototype instanceof Error)) throw new Error('errors')
const strongroom = Strongroom.fromEnv()
await strongroom.secrets.set('sr://packed/app/KEY', 'from ' + process.version)
const { KEY } = (await strongroom.secrets.env({ vault: 'packed' })).toObject()
console.log(KEY)
`

it('works in an empty project, from the tarballs alone, in every Node there is', async () => {
  await world.alice.vaults.create({ name: 'packed' })
  const bot = await world.agent('deploy', { vaults: [{ vault: 'packed', role: 'write' }] })
  writeFileSync(join(project, 'use.mjs'), SCRIPT)
  const env = { HOME: world.directory(), STRONGROOM_BUNDLE: bot.bundle.reveal() }
  const versions: string[] = []
  for (const node of nodes()) {
    const version = (await run(node, ['--version'])).stdout.trim()
    const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
    if (major < 20 || (major === 20 && minor < 19)) continue
    expect((await run(node, ['use.mjs'], { cwd: project, env })).stdout.trim()).toBe(`from ${version}`)
    versions.push(version)
  }
  expect(versions.length).toBeGreaterThan(0)
  console.log(`the packed SDK ran in ${[...new Set(versions)].join(', ')}`)
})

const TYPED = `import { type EnvBundle, Strongroom, VerificationError, type Page, type Agent } from '@strongroom/sdk'
const strongroom = new Strongroom({ server: 'https://vault.example', accessToken: 't' })
export const env: Promise<EnvBundle> = strongroom.secrets.env({ vault: 'prod' })
export const value: Promise<string> = strongroom.secrets.get('sr://a/b/c').then((secret) => secret.reveal())
export const page: Promise<Page<Agent>> = strongroom.agents.list().then((first) => first)
export const stage = (error: unknown) => (error instanceof VerificationError ? error.stage : undefined)
// @ts-expect-error a source is one of three
strongroom.secrets.env({ nothing: 'prod' })
`

it('has types that resolve for who installs it', async () => {
  writeFileSync(join(project, 'use.ts'), TYPED)
  const settings = {
    compilerOptions: {
      target: 'es2022',
      module: 'nodenext',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
    },
    files: ['use.ts'],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(settings))
  const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', project]).catch(
    (error: { stdout: string }) => error,
  )
  expect(stdout).toBe('')
})

it('brings the evil server as a program', async () => {
  const { stdout } = await run('npx', ['--offline', 'evil-server', '--list'], { cwd: project })
  expect(stdout).toContain('fields-swapped')
})

it('brings neither native code nor the shapes of the contract into the client', async () => {
  const { stdout } = await run('find', [join(project, 'node_modules'), '-name', '*.node', '-o', '-name', 'binding.gyp'])
  expect(stdout).toBe('')
  const dist = join(packages.sdk, 'dist')
  expect(existsSync(join(dist, 'contract.js'))).toBe(true)
  for (const file of ['client.js', 'strongroom/names.js', 'engine/item-changes.js'])
    expect(readFileSync(join(dist, file), 'utf8')).not.toContain('@strongroom/contract')
})

it('brings along what every code means that it refuses with by itself', () => {
  const contract = readFileSync(join(packages.sdk, 'dist/contract.js'), 'utf8')
  for (const code of [
    'vault_not_found',
    'vault_item_not_found',
    'field_not_found',
    'project_not_found',
    'login_failed',
  ])
    expect(contract).toContain(`"${code}":{"status"`)
})

it('costs a page at most 60 kB until it has read its secrets', async () => {
  const size = sizeOf(await bundleForBrowser(BROWSER_CLIENT, packages))
  console.log(describeSize(size))
  expect(size.first).toBeLessThanOrEqual(60_000)
})
