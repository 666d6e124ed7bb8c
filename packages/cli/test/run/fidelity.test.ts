import { spawn, spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Exit, inParallel, runProcess, type Scene, SECRETS, startProcess, startScene } from './scene.ts'

// `strongroom run -- X` beside X itself. Catches: an exit code that is changed, a signal that becomes an exit code, a signal that is
// not passed on or comes twice, output that is cut off or altered, an input that does not arrive, a reader that went away and is
// written to, a failure of our own that looks like one of the child's; a first process that leaves the dead of others lying about, or
// changes the environment by the way it avoids that. Seen red: 0 for a refusal that nobody reads, a stack trace on a
// full disk.

let scene: Scene
const OFFLINE = ['run', '--vault', 'prod', '--offline', '--']
beforeAll(async () => {
  scene = await startScene()
  // What is read once is cached: from here on no server is needed.
  expect((await scene.strongroom(['run', '--vault', 'prod', '--', 'true'])).code).toBe(0)
})
afterAll(() => scene.close())

const shell = (script: string): readonly string[] => ['sh', '-c', script]
const under = (command: readonly string[], input = ''): Promise<Exit> =>
  scene.strongroom([...OFFLINE, ...command], { input })
const bare = ([file = '', ...args]: readonly string[], input = ''): Promise<Exit> =>
  runProcess(file, args, { env: scene.machine.env, cwd: scene.machine.home, input })

/** Those that mean something to somebody, and their neighbours; `npm run test:exit-codes` takes all 256. */
const means = (code: number): boolean =>
  [0, 63, 64, 78, 124, 130, 137, 143, 255].some((known) => Math.abs(code - known) <= 3)

it('ends with each exit code as the command itself', async () => {
  const all = Array.from({ length: 256 }, (_, i) => i)
  const codes = process.env.EVERY_EXIT_CODE === undefined ? all.filter(means) : all
  const ended = await inParallel(codes, 4, (code) => under(shell(`exit ${code}`)))
  expect(ended.map(({ code, signal }) => ({ code, signal }))).toEqual(codes.map((code) => ({ code, signal: null })))
}, 600_000)

const SIGNALS = ['HUP', 'INT', 'QUIT', 'ABRT', 'KILL', 'USR1', 'SEGV', 'USR2', 'PIPE', 'ALRM', 'TERM'] as const

it('dies of the signal that the command died of, for eleven signals', async () => {
  const pairs = await inParallel(SIGNALS, 2, async (name) => {
    const command = shell(`ulimit -c 0; kill -${name} $$`)
    return [await bare(command), await under(command)] as const
  })
  for (const [itself, wrapped] of pairs) {
    expect(itself.signal).not.toBeNull()
    expect({ code: wrapped.code, signal: wrapped.signal }).toEqual({ code: itself.code, signal: itself.signal })
  }
})

/** Says each signal it gets; ends a moment after the first, so that a second one would be heard. */
const LISTENER = `const heard = []
for (const name of ['SIGHUP','SIGINT','SIGQUIT','SIGTERM','SIGUSR1','SIGUSR2','SIGALRM','SIGIO'])
  process.on(name, () => { heard.push(name); if (heard.length === 1) setTimeout(() => { console.log(heard.join(' ')); process.exit(7) }, 300) })
console.log('ready'); setInterval(() => {}, 1000)`

const startListener = (detached = false) =>
  startProcess(process.execPath, [scene.program, ...OFFLINE, process.execPath, '-e', LISTENER], {
    env: scene.machine.env,
    cwd: scene.machine.home,
    detached,
  })

it('passes on eight signals that are sent to it, each exactly once', async () => {
  const names = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGIO'] as const
  const heard = await inParallel(names, 2, async (name) => {
    const started = startListener()
    await started.says('ready')
    process.kill(started.pid, name)
    return started.ended
  })
  expect(heard.map(({ stdout }) => String(stdout))).toEqual(names.map((name) => `ready\n${name}\n`))
  expect(heard.map(({ code }) => code)).toEqual(names.map(() => 7))
})

it('lets a signal to the whole process group reach the command once, not twice', async () => {
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    const started = startListener(true)
    await started.says('ready')
    // Somebody stands by after a quarter of a second, and from then on tells the two kinds of signals apart.
    await standsBy(started.pid)
    process.kill(-started.pid, name)
    expect(String((await started.ended).stdout)).toBe(`ready\n${name}\n`)
  }
})

/** Until `cat` is among its children. */
async function standsBy(pid: number): Promise<void> {
  for (;;) {
    const { stdout } = spawnSync('ps', ['-o', 'comm=', '--ppid', String(pid)], { encoding: 'utf8' })
    if (stdout.split('\n').includes('cat')) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** As the first process of a namespace of its own, as in a container. */
const first = (command: readonly string[], input = '', env: Readonly<Record<string, string>> = {}): Promise<Exit> =>
  runProcess(
    'unshare',
    ['--pid', '--fork', '--mount-proc', '--kill-child', process.execPath, scene.program, ...OFFLINE, ...command],
    { env: { ...scene.machine.env, ...env }, cwd: scene.machine.home, input },
  )
const hasNamespaces = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0
const NO_NAMESPACES = 'this machine does not let us make a process namespace (unshare --pid)'
if (!hasNamespaces) console.info(`skipped: the first process of a container, because ${NO_NAMESPACES}`)

it('is a first process that ends: with the code of the command, and with 128 + n where the command was killed', async (t) => {
  if (!hasNamespaces) return t.skip(NO_NAMESPACES)
  expect(await first(shell('read line; echo $line; exit 42'), 'its input\n')).toMatchObject({
    code: 42,
    stdout: Buffer.from('its input\n'),
  })
  expect((await first(shell('kill -TERM $$'))).code).toBe(143)
  expect((await first(['no-such-command'])).code).toBe(127)
  const started = startProcess(
    'unshare',
    ['--pid', '--fork', process.execPath, scene.program, ...OFFLINE, process.execPath, '-e', LISTENER],
    { env: scene.machine.env, cwd: scene.machine.home },
  )
  await started.says('ready')
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(started.pid)], { encoding: 'utf8' })
  process.kill(Number(stdout.trim()), 'SIGTERM')
  expect(await started.ended).toMatchObject({ code: 7, stdout: Buffer.from('ready\nSIGTERM\n') })
})

/** Leaves two processes behind that end, and looks until nobody waits to be buried; gives up after some seconds. */
const ORPHANS = `(sh -c 'sleep 0.1 & sleep 0.1 &'); sleep 0.3
for i in 1 2 3 4 5 6 7 8 9; do left=$(ps -eo stat= | grep -c Z); [ $left = 0 ] && break; sleep 0.3; done; echo $left`

it('takes note, as the first process, of the ends of processes that others left behind', async (t) => {
  if (!hasNamespaces) return t.skip(NO_NAMESPACES)
  expect(await first(shell(ORPHANS))).toMatchObject({ code: 0, stdout: Buffer.from('0\n') })
})

it('gives the command the same environment as a first process and as any other', async (t) => {
  if (!hasNamespaces) return t.skip(NO_NAMESPACES)
  const look = [process.execPath, '-p', 'JSON.stringify(Object.entries(process.env).sort())']
  for (const more of [{ SHLVL: '7', _: 'x', OLDPWD: '/' }, { 'a.name-no-shell-has': '1' }]) {
    const [one, other] = [await first(look, '', more), await scene.strongroom([...OFFLINE, ...look], { env: more })]
    expect(String(one.stdout)).toBe(String(other.stdout))
    expect(String(one.stdout)).toContain(Object.keys(more)[0])
  }
})

it('gives the command its input, and keeps its two outputs apart', async () => {
  const input = `${'line of input\n'.repeat(20_000)}end without a line break`
  expect(String((await under(['cat'], input)).stdout)).toBe(input)
  const both = await under(shell('echo out; echo err >&2; echo $STRIPE_SECRET_KEY >&2'))
  expect([String(both.stdout), String(both.stderr)]).toEqual(['out\n', 'err\n‹STRIPE_SECRET_KEY›\n'])
})

it('passes bytes that are no text unharmed, a megabyte of them', async () => {
  const script = `const bytes = Buffer.alloc(1048576); for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 7919 + (i >> 8)) & 255
process.stdout.write(bytes)`
  const command = [process.execPath, '-e', script]
  const [itself, wrapped] = [await bare(command), await under(command)]
  expect(wrapped.stdout.equals(itself.stdout)).toBe(true)
  expect(wrapped.stdout.length).toBe(1_048_576)
})

it('gives the command real pipes, which it can open by name', async () => {
  const both = await under(shell('echo out > /dev/stdout; echo err > /dev/stderr'))
  expect([String(both.stdout), String(both.stderr)]).toEqual(['out\n', 'err\n'])
})

it('ends when the command ends, although something it left behind holds the output open', async () => {
  const ended = await under(shell('(sleep 30) & echo done; exit 3'))
  expect(ended).toMatchObject({ code: 3, stdout: Buffer.from('done\n') })
})

it('lets the command see that its reader went away', async () => {
  const script = `node ${scene.program} ${OFFLINE.join(' ')} yes | head -n 1; echo "\${PIPESTATUS[0]}"`
  const ended = await runProcess('bash', ['-c', script], { env: scene.machine.env, cwd: scene.machine.home, input: '' })
  expect(String(ended.stdout)).toBe('y\n141\n')
})

it('ends as it would where nobody reads its words any more, and says that its data cannot be written', async () => {
  const strongroom = [process.execPath, scene.program]
  const unheard = async (...args: readonly string[]): Promise<number | null> => {
    const child = spawn(process.execPath, [scene.program, ...args], {
      env: scene.machine.env,
      cwd: scene.machine.home,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child.stderr.destroy()
    return new Promise((resolve) => child.once('close', resolve))
  }
  expect(await unheard('vault', 'show', 'nowhere')).toBe(5)
  expect(await unheard('run', '--vault', 'nowhere', '--', 'true')).toBe(125)
  expect(await unheard('vault', 'list', '--verbose')).toBe(0)
  for (const args of [
    ['vault', 'list'],
    ['read', 'prod/app/DATABASE_URL'],
    ['vault', 'list', '--json'],
  ]) {
    const full = await bare(shell(`${[...strongroom, ...args].map((word) => `'${word}'`).join(' ')} > /dev/full`))
    expect(full.code, args.join(' ')).toBe(6)
    expect(String(full.stderr)).toContain('output_unwritable')
    expect(
      String(full.stderr)
        .trim()
        .split('\n')
        .filter((line) => /^\s+at |Error:/.test(line)),
    ).toEqual([])
  }
})

it('ends with 125 for its own failures, 126 for what is no program and 127 for what is not there', async () => {
  const file = scene.machine.file('not-a-program', 'text')
  expect((await under([file])).code).toBe(126)
  expect((await under([scene.machine.home])).code).toBe(126)
  expect((await under(['no-such-command'])).code).toBe(127)
  expect((await under([`${scene.machine.home}/none`])).code).toBe(127)
  const own = [
    ['run', '--vault', 'no-such-vault', '--offline', '--json', '--', 'true'],
    ['run', '--no-such-flag', '--', 'true'],
    ['run', '--vault', 'prod'],
  ]
  for (const args of own) expect((await scene.strongroom(args)).code).toBe(125)
  const [refused] = await Promise.all([scene.strongroom(own[0] ?? [])])
  const { error } = JSON.parse(String(refused?.stderr)) as { error: { code: string; exitCode: number } }
  expect(error).toMatchObject({ code: 'not_cached', exitCode: 7 })
  expect(String(refused?.stdout)).toBe('')
})

it('kills a command that does not end within the time it is given', async () => {
  const started = startProcess(
    process.execPath,
    [
      scene.program,
      'run',
      '--vault',
      'prod',
      '--offline',
      '--grace',
      '100ms',
      '--',
      ...shell('trap "" TERM; echo ready; while :; do sleep 0.1; done'),
    ],
    { env: scene.machine.env, cwd: scene.machine.home },
  )
  await started.says('ready')
  process.kill(started.pid, 'SIGTERM')
  expect(await started.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
})

it('lets it take as long as it is given, also where that is longer than a timer can be', async () => {
  const args = ['run', '--vault', 'prod', '--offline', '--grace', '30d', '--']
  const script = 'trap "sleep 0.3; echo done; exit 7" TERM; echo ready; while :; do sleep 0.1; done'
  const started = startProcess(process.execPath, [scene.program, ...args, ...shell(script)], {
    env: scene.machine.env,
    cwd: scene.machine.home,
  })
  await started.says('ready')
  process.kill(started.pid, 'SIGTERM')
  expect(await started.ended).toMatchObject({ code: 7, signal: null })
})

it('masks what the command prints in every common form', async () => {
  const { STRIPE_SECRET_KEY: value } = SECRETS
  const script = `const v = process.env.STRIPE_SECRET_KEY, d = process.env.DATABASE_URL, b = Buffer.from(v)
console.log([v, b.toString('base64'), b.toString('base64url'), b.toString('hex'), encodeURIComponent(d), JSON.stringify({ d }), d].join('\\n'))`
  const { stdout } = await under([process.execPath, '-e', script])
  const { DATABASE_URL: url } = SECRETS
  for (const form of [
    value,
    Buffer.from(value).toString('base64'),
    url,
    encodeURIComponent(url),
    Buffer.from(value).toString('hex'),
  ])
    expect(String(stdout)).not.toContain(form)
  expect(String(stdout).split('\n')[0]).toBe('‹STRIPE_SECRET_KEY›')
})
