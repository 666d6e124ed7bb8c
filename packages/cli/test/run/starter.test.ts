import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Exit, runProcess, type Scene, SECRETS, startProcess, startScene } from './scene.ts'

// How the built program starts, and what goes past it. Seen red: nothing kept, altered code taken because nobody looked at it (the
// process dies of it), a kept file that is not replaced, output that nobody reads taken through us, and a reader taken for nobody; a
// command that is a child although nothing of ours is needed, one that goes on ignoring SIGPIPE because Node did, a file the system
// refuses that makes Node abort, what was read not being kept because we were gone before, and members of a module that are nowhere;
// code taken from a file or a folder that others can write, or that somebody else has made; code kept where caches are; code that
// a dotenv file names (seen with the name of the flag that is Node's too), a warning of Node before our own words.

let scene: Scene
const OFFLINE = ['run', '--vault', 'prod', '--offline', '--']
beforeAll(async () => {
  scene = await startScene()
  for (const kind of [[], ['--offline']])
    expect((await scene.strongroom(['run', '--vault', 'prod', ...kind, '--', 'true'])).code).toBe(0)
})
afterAll(() => scene.close())

/** What was compiled of the scripts that `run` needs. */
const kept = (): string => {
  const [file] = globSync(join(scene.machine.home, '.local/state/strongroom/compiled/*/offline-first.cjs'))
  // Files are written and removed beside it: no path must never mean the folder that the tests run in.
  if (file === undefined) throw new Error('nothing was compiled where it should be')
  return file
}
/** The program with its streams as a shell redirects them; the shell becomes it. */
const redirected = (args: readonly string[], redirection: string): Promise<Exit> =>
  runProcess('sh', shellLine([process.execPath, scene.program, ...args], redirection), place())
const shellLine = (command: readonly string[], redirection: string): readonly string[] => [
  '-c',
  `exec ${command.map((word) => `'${word}'`).join(' ')} ${redirection}`,
]
const place = () => ({ env: scene.machine.env, cwd: scene.machine.home, input: '' })
const UNREAD = '>/dev/null 2>&1'

const answer = () => scene.strongroom([...OFFLINE, 'sh', '-c', 'echo $STRIPE_SECRET_KEY; exit 7'])

it('keeps what it compiled, for nobody else to write, and says nothing of what it was given', async () => {
  expect(statSync(kept()).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(kept())).mode & 0o777).toBe(0o700)
  for (let i = 0; i < 3; i += 1)
    expect(await answer()).toMatchObject({ code: 7, stdout: Buffer.from('‹STRIPE_SECRET_KEY›\n') })
  const starts = globSync('started-*', { cwd: dirname(kept()) })
    .map(decodeURIComponent)
    .sort()
  const offline = 'started-run --offline --vault'
  expect(starts).toEqual([offline, `${offline}-again`, 'started-run --vault'])
  expect(readFileSync(kept()).includes(SECRETS.STRIPE_SECRET_KEY)).toBe(false)
})

it('does not run code that was altered where it is kept, and compiles it anew', async () => {
  const whole = readFileSync(kept())
  const alteredIn = (from: number, to: number) =>
    Uint8Array.from(whole, (byte, i) => (i > from && i < to && i % 64 === 0 ? byte ^ 0xff : byte))
  const half = whole.length / 2
  const altered = [
    alteredIn(2000, half),
    alteredIn(half + 2000, whole.length),
    alteredIn(half - 200, half),
    alteredIn(whole.length - 200, whole.length),
  ]
  for (const bytes of [...altered, whole.subarray(0, 1000), whole.subarray(1), new Uint8Array()]) {
    writeFileSync(kept(), bytes)
    expect(await answer()).toMatchObject({ code: 7, signal: null })
    expect(readFileSync(kept()).equals(bytes)).toBe(false)
  }
})

/** Code that ends the program at once: whoever runs it ends with 42. It goes on with the source it was compiled for, by its length. */
function foreignCode(): Buffer {
  const source = readFileSync(join(dirname(scene.program), '../dist/first.cjs'), 'latin1')
  // By a process of its own: what was compiled under flags that another test has set is refused for those.
  const made = `const { Script } = require('node:vm')
    const data = new Script('(process.exit(42),{})'.padEnd(${source.length})).createCachedData()
    process.stdout.write(Buffer.concat([data, data]))`
  return execFileSync(process.execPath, ['-e', made])
}

it('takes what it compiled from nobody who is not itself, and goes on without', async () => {
  const folder = dirname(kept())
  const own = readFileSync(kept())
  const foreign = foreignCode()
  const plant = (mode: number): void => {
    writeFileSync(kept(), foreign)
    chmodSync(kept(), mode)
  }
  // It is code that would run: what keeps it out is whose it is.
  plant(0o600)
  expect(await answer()).toMatchObject({ code: 42 })
  for (const mode of [0o620, 0o602, 0o666]) {
    plant(mode)
    expect(await answer()).toMatchObject({ code: 7 })
    expect(statSync(kept()).mode & 0o777).toBe(0o600)
  }
  for (const mode of [0o770, 0o707]) {
    plant(0o600)
    chmodSync(folder, mode)
    expect(await answer()).toMatchObject({ code: 7 })
    expect(readFileSync(kept()).equals(foreign)).toBe(true)
  }
  chmodSync(folder, 0o700)
  writeFileSync(kept(), own)
})

it('takes nothing that another user has made', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root can make files of another user')
  const folder = dirname(kept())
  const own = readFileSync(kept())
  writeFileSync(kept(), foreignCode())
  chownSync(kept(), 65_534, 65_534)
  expect(await answer()).toMatchObject({ code: 7 })
  expect(statSync(kept()).uid).toBe(0)
  writeFileSync(kept(), foreignCode())
  chownSync(folder, 65_534, 65_534)
  expect(await answer()).toMatchObject({ code: 7 })
  chownSync(folder, 0, 0)
  writeFileSync(kept(), own)
})

it('does not look where caches are', async () => {
  const cached = join(scene.machine.home, '.cache/strongroom/compiled', basename(dirname(kept())))
  mkdirSync(cached, { recursive: true, mode: 0o700 })
  writeFileSync(join(cached, basename(kept())), foreignCode(), { mode: 0o600 })
  rmSync(dirname(kept()), { recursive: true })
  expect(await answer()).toMatchObject({ code: 7 })
  expect(await answer()).toMatchObject({ code: 7 })
})

it('lets a command write past it where nobody reads, and masks what one of two readers sees', async () => {
  const told = join(scene.machine.home, 'told')
  const look = `readlink /proc/$$/fd/1 /proc/$$/fd/2 | cat > ${told}; echo $STRIPE_SECRET_KEY >&2; exit 5`
  const writing = (redirection: string): Promise<Exit> => redirected([...OFFLINE, 'sh', '-c', look], redirection)
  expect((await writing('>/dev/null 2>&1')).code).toBe(5)
  expect(readFileSync(told, 'utf8')).toBe('/dev/null\n/dev/null\n')
  expect(await writing('>/dev/null')).toMatchObject({ code: 5, stderr: Buffer.from('‹STRIPE_SECRET_KEY›\n') })
})

/** Loads every script of the build as the starter does, and looks at all that a module which is asked for as a whole has. */
const LOOK_AT_ALL = `
const { readdirSync, readFileSync } = require('node:fs')
const { runInThisContext } = require('node:vm')
const [, dist] = process.argv
const read = (name) => runInThisContext(readFileSync(dist + '/' + name, 'latin1'))
const [first, modules] = [read('first.cjs'), new Map()]
const asked = (id) => {
  if (!id.startsWith('./')) return process.getBuiltinModule(id)
  const name = id.slice(2)
  const module = modules.get(name) ?? { exports: { __proto__: null } }
  if (modules.has(name)) return module.exports
  modules.set(name, module)
  ;(first[name] ?? read(name))(module.exports, asked, module, name, dist)
  return module.exports
}
const names = [...Object.keys(first), ...readdirSync(dist)].filter((name) => !/^(main|first)\\.cjs$/.test(name))
for (const name of names)
  for (const part of Object.values(asked('./' + name)))
    if (part?.[Symbol.toStringTag] === 'Module') Object.values(part)
process.stdout.write(String(names.length))`

it('holds scripts that all load, with all that they promise each other', async () => {
  const dist = join(dirname(scene.program), '../dist')
  const { code, stdout, stderr } = await runProcess(process.execPath, ['-e', LOOK_AT_ALL, dist], place())
  expect({ code, stderr: stderr.toString() }).toEqual({ code: 0, stderr: '' })
  expect(Number(stdout)).toBeGreaterThan(100)
})

/** What a process is to the system, apart from its number: the signals it ignores, blocks and catches, and what it has open. */
const LOOK = 'grep -E "^Sig(Ign|Blk|Cgt)" /proc/self/status; ls /proc/self/fd'

it('becomes a command that needs nothing of us, and leaves no trace of having been there', async () => {
  const told = join(scene.machine.home, 'told')
  const script = `echo $$ > ${told}; (${LOOK}) >> ${told}; echo $STRIPE_SECRET_KEY >> ${told}`
  const line = shellLine([process.execPath, scene.program, ...OFFLINE, 'sh', '-c', script], UNREAD)
  const { pid, ended } = startProcess('sh', line, place())
  expect((await ended).code).toBe(0)
  const [ours, ...seen] = readFileSync(told, 'utf8').split('\n')
  expect(Number(ours)).toBe(pid)
  expect((await runProcess('sh', shellLine(['sh', '-c', script], UNREAD), place())).code).toBe(0)
  const [, ...bare] = readFileSync(told, 'utf8').split('\n')
  expect(seen).toEqual(bare.map((one, i) => (i === bare.length - 2 ? SECRETS.STRIPE_SECRET_KEY : one)))
})

it('ends as a command that it became, and keeps for later what it has read', async () => {
  for (const kept of ['.cache/strongroom', '.local/state/strongroom/compiled'])
    rmSync(join(scene.machine.home, kept), { recursive: true })
  const online = ['run', '--vault', 'prod', '--', 'sh', '-c', 'exit 9']
  expect(await redirected(online, UNREAD)).toMatchObject({ code: 9, signal: null })
  expect(globSync(join(scene.machine.home, '.local/state/strongroom/compiled/*/started-*'))).toHaveLength(1)
  const killed = await redirected([...OFFLINE, 'sh', '-c', 'kill -TERM $$'], UNREAD)
  expect(killed).toMatchObject({ code: null, signal: 'SIGTERM' })
})

it('starts what it cannot become, and refuses as always what the system does not take', async () => {
  const { home } = scene.machine
  const file = (name: string, content: string): string => {
    writeFileSync(join(home, name), content)
    chmodSync(join(home, name), 0o755)
    return join(home, name)
  }
  const told = join(home, 'told')
  const ended = async (...command: readonly string[]) => (await redirected([...OFFLINE, ...command], UNREAD)).code
  expect(await ended(file('script', `#!/bin/sh\necho $1 > ${told}; exit 3\n`), 'one')).toBe(3)
  expect(readFileSync(told, 'utf8')).toBe('one\n')
  expect(await ended('sh', '-c', 'exit 4', 'x'.repeat(100_000))).toBe(4)
  expect(await ended(file('no-interpreter', `#!${home}/none\n`))).toBe(127)
  expect(await ended(file('no-first-line', 'exit 6\n'))).toBe(6)
  const half = file('half', '\x7fELF\x02\x01\x01')
  expect(await ended(half)).toBe((await scene.strongroom([...OFFLINE, half])).code)
  const long = ['run', '--offline', '--env-file', file('long.env', `LONG=${'x'.repeat(140_000)}`), '--', 'true']
  expect((await redirected(long, UNREAD)).code).toBe(125)
  expect(await ended(home)).toBe(126)
  expect(await ended(join(home, 'nowhere'))).toBe(127)
})

it('runs no code that a dotenv file names, and says itself that one is not there', async () => {
  const { home } = scene.machine
  const ran = join(home, 'ran')
  writeFileSync(join(home, 'code.cjs'), `require('node:fs').writeFileSync(${JSON.stringify(ran)}, '')`)
  writeFileSync(join(home, 'code.env'), `NODE_OPTIONS=--require=${join(home, 'code.cjs')}\n`)
  const run = (...flags: string[]) => scene.strongroom(['run', '--offline', ...flags, '--', 'true'])
  expect(await run('--dotenv', join(home, 'code.env'))).toMatchObject({ code: 125 })
  expect(existsSync(ran)).toBe(false)
  expect(await run('--dotenv', join(home, 'none.env'))).toMatchObject({ code: 125 })
})

it('says nothing but its own words where it tries the keychain of the system', async () => {
  const bundle = join(scene.machine.home, 'kept.bundle')
  writeFileSync(bundle, String(scene.machine.env.STRONGROOM_BUNDLE), { mode: 0o600 })
  const login = ['login', '--bundle', bundle, '--profile', 'kept', '--no-input', '--json']
  const tried = await scene.strongroom(login, { env: { STRONGROOM_KEY_STORE: '', STRONGROOM_BUNDLE: '' } })
  expect(String(tried.stderr)).not.toContain('Warning')
})
