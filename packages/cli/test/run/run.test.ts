import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CallOptions } from '../world.ts'
import { type Exit, runProcess, type Scene, SECRETS, startProcess, startScene } from './scene.ts'

// Catches: a source that is passed over, a variable too many, a dangerous name that is set, a credential that reaches the child, a
// conflict that is decided in silence, a request for each secret, an old answer that is taken for a new one, a value on a disk,
// a command that waits for ever for its standard input, a plain outage that is shown as an attack. Seen red: nobody let in after the end, an empty
// --only that gave everything, a mistyped format that became the name of a pipe, a reference without sr:// that was none, a copy
// that was too old called a failed verification; a --timeout that ended nothing.

let scene: Scene
beforeAll(async () => {
  scene = await startScene()
})
afterAll(() => scene.close())

const PRINT = `process.stdout.write(Buffer.from(JSON.stringify(process.env)).toString('base64').split('').reverse().join(''))`
/** What the child has in its environment; written backwards, since it is masked otherwise. */
async function environment(flags: readonly string[], options: CallOptions = {}): Promise<Record<string, string>> {
  const ended = await scene.strongroom(['run', ...flags, '--', process.execPath, '-e', PRINT], options)
  if (ended.code !== 0) throw new Error(String(ended.stderr))
  return JSON.parse(Buffer.from(String(ended.stdout).split('').reverse().join(''), 'base64').toString())
}

interface Refusal {
  readonly code: string
  readonly message: string
  readonly exitCode: number
}
async function refusal(flags: readonly string[], options: CallOptions = {}): Promise<Refusal> {
  const ended = await scene.strongroom(['run', '--json', ...flags, '--', 'touch', 'started'], options)
  expect([ended.code, String(ended.stdout)]).toEqual([125, ''])
  expect(() => statSync(join(scene.machine.home, 'started'))).toThrow('ENOENT')
  return (JSON.parse(String(ended.stderr)) as { error: Refusal }).error
}

function folder(name: string, files: Readonly<Record<string, string>>): string {
  const path = join(scene.machine.home, name)
  mkdirSync(path, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
  return path
}

/** A machine without its server. */
const AWAY = { env: { STRONGROOM_SERVER: 'http://127.0.0.1:9', STRONGROOM_MAX_RETRIES: '0' } }

const requests = ({ stderr }: Exit): readonly string[] =>
  [...String(stderr).matchAll(/^strongroom: (\w+ \S+) \d+/gm)].map(([, request]) => request ?? '')

it('gives up at --timeout where the server takes a question and never answers, and starts nothing', async () => {
  const open: Socket[] = []
  const silent = createServer((socket) => void open.push(socket)).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const env = { STRONGROOM_SERVER: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` }
  for (const source of [['--vault', 'prod'], []])
    expect(await refusal([...source, '--timeout', '1s'], { env })).toMatchObject({ code: 'timeout' })
  // Once for each: what was not told to stop would have asked again after a time-out of its own.
  expect(open).toHaveLength(2)
  for (const socket of open) socket.destroy()
  silent.close()
})

it('gives the variables of a vault, of the only vault, of a project, and of the vault that the environment names', async () => {
  expect(await environment(['--vault', 'prod'])).toMatchObject(SECRETS)
  expect(await environment([])).toMatchObject(SECRETS)
  await scene.alice.projects.create({ name: 'Store', slug: 'store', vaults: ['prod'] })
  await scene.alice.permissions.grant({ project: 'store' }, { principal: `agent:${await agentId()}`, role: 'READ' })
  expect(await environment(['--project', 'store'])).toMatchObject(SECRETS)
  expect(await environment(['--project', 'store', '--offline'], AWAY)).toMatchObject(SECRETS)
  expect(await refusal(['--project', 'other', '--offline'], AWAY)).toMatchObject({ code: 'not_cached', exitCode: 7 })
  expect(await environment([], { env: { STRONGROOM_VAULT: 'prod' } })).toMatchObject(SECRETS)
})

it('asks once at each start, whatever the number of secrets and however they are named', async () => {
  const refs = folder('refs', {
    'strongroom.toml': '[env]\nA = "sr://prod/app/STRIPE_SECRET_KEY"\nB = "sr://prod/app/DATABASE_URL"\nC = "text"\n',
  })
  for (const options of [{ flags: ['--vault', 'prod'] }, { flags: [], cwd: refs }]) {
    await scene.strongroom(['run', ...options.flags, '--', 'true'], options)
    const again = await scene.strongroom(['run', '--verbose', ...options.flags, '--', 'true'], options)
    expect(requests(again)).toEqual([expect.stringMatching(/^GET \S+\/environment-fields$/)])
  }
})

it('asks once for a person, too, and works offline for them', async () => {
  const { env, home: cwd } = scene.person
  const run = (flags: readonly string[]) =>
    runProcess(process.execPath, [scene.program, 'run', '--vault', 'prod', ...flags, '--', 'true'], {
      env,
      cwd,
      input: '',
    })
  expect((await run([])).code).toBe(0)
  expect(requests(await run(['--verbose']))).toHaveLength(1)
  const offline = await run(['--verbose', '--offline'])
  expect([offline.code, requests(offline)]).toEqual([0, []])
})

it('takes strongroom.toml of the folder or of one above it, its environments, and dotenv files with references', async () => {
  const above = folder('project', {
    'strongroom.toml': `[env]
API_KEY = "sr://prod/app/STRIPE_SECRET_KEY"
LOG_LEVEL = "info"
MISSING = { ref = "sr://prod/app/NOT_THERE", required = false, placeholder = "none" }
GONE = { ref = "sr://prod/app/NOT_THERE", required = false }
[env.ci]
extends = "default"
LOG_LEVEL = "debug"
`,
    '.env.refs': 'DB=sr://prod/app/DATABASE_URL\nPLAIN="as it is"\n',
  })
  const below = folder('project/src/deep', {})
  const own = await environment([], { cwd: below })
  expect(own).toMatchObject({ API_KEY: SECRETS.STRIPE_SECRET_KEY, LOG_LEVEL: 'info', MISSING: 'none' })
  expect(own).not.toHaveProperty('GONE')
  expect(own).not.toHaveProperty('DATABASE_URL')
  expect(await environment(['--env', 'ci'], { cwd: above })).toMatchObject({ LOG_LEVEL: 'debug' })
  expect(await environment([], { cwd: above, env: { LOG_LEVEL: 'trace' } })).toMatchObject({ LOG_LEVEL: 'trace' })
  const file = await environment(['--dotenv', '.env.refs'], { cwd: above })
  expect(await environment(['--env-file', '.env.refs'], { cwd: above })).toEqual(file)
  expect(file).toMatchObject({ DB: SECRETS.DATABASE_URL, PLAIN: 'as it is' })
  expect(file).not.toHaveProperty('API_KEY')
  expect(await refusal(['--env', 'nope'], { cwd: above })).toMatchObject({ code: 'project_file_invalid', exitCode: 6 })
})

it('shapes the set: only, except, prefix and rename, and refuses what is not there', async () => {
  const { PATH: _, ...one } = await environment(['--vault', 'prod', '--only', 'DATABASE_URL', '--prefix', 'APP_'])
  expect(one.APP_DATABASE_URL).toBe(SECRETS.DATABASE_URL)
  expect(Object.keys(one).filter((name) => name.includes('STRIPE'))).toEqual([])
  const other = await environment(['--vault', 'prod', '--except', 'DATABASE_URL', '--rename', 'STRIPE_SECRET_KEY=KEY'])
  expect(other).toMatchObject({ KEY: SECRETS.STRIPE_SECRET_KEY })
  expect(other).not.toHaveProperty('DATABASE_URL')
  expect(other).not.toHaveProperty('STRIPE_SECRET_KEY')
  expect(await refusal(['--vault', 'prod', '--only', 'NOPE'])).toMatchObject({ code: 'env_missing', exitCode: 5 })
})

it('refuses to choose without a name, rather than give everything', async () => {
  for (const flags of [['--only', ''], ['--only='], ['--only', ','], ['--except', ''], ['--except', ',']])
    expect(await refusal(['--vault', 'prod', ...flags]), flags.join(' ')).toMatchObject({ code: 'usage', exitCode: 2 })
  const printed = await scene.strongroom(['env', '--vault', 'prod', '--names', '--only', ''])
  expect([printed.code, String(printed.stdout)]).toEqual([2, ''])
})

it('names the one variable that no environment can hold, and how to go on without it', async () => {
  await scene.alice.secrets.set('sr://prod/blob/LOGO', new Uint8Array([0xff, 0xfe]))
  const refused = await refusal(['--vault', 'prod'])
  expect(refused).toMatchObject({ code: 'value_not_expressible', message: expect.stringContaining('LOGO is not text') })
  expect(refused).toMatchObject({ hint: expect.stringContaining('--except LOGO') })
  expect(await environment(['--vault', 'prod', '--except', 'LOGO'])).toMatchObject(SECRETS)
  await scene.alice.secrets.remove('sr://prod/blob/LOGO')
})

it('refuses names that change how programs run, whichever way they come about', async () => {
  for (const name of [
    'PATH',
    'LD_PRELOAD',
    'NODE_OPTIONS',
    'BASH_ENV',
    'IFS',
    'PYTHONPATH',
    'GIT_SSH_COMMAND',
    'RUBYOPT',
  ])
    expect(await refusal(['--vault', 'prod', '--rename', `STRIPE_SECRET_KEY=${name}`])).toMatchObject({
      code: 'env_name_refused',
      message: expect.stringContaining(name),
      exitCode: 6,
    })
  await scene.alice.vaults.create({ name: 'risky' })
  await scene.alice.secrets.set('sr://risky/app/LD_PRELOAD', '/tmp/evil.so', { env: true })
  await scene.alice.permissions.grant({ vault: 'risky' }, { principal: `agent:${await agentId()}`, role: 'READ' })
  expect(await refusal(['--vault', 'risky'])).toMatchObject({ code: 'env_name_refused' })
  expect(await environment(['--vault', 'risky', '--except', 'LD_PRELOAD'])).not.toHaveProperty('LD_PRELOAD')
})

const agentId = async (): Promise<string> => {
  const agents = await scene.alice.agents.list().all()
  return agents.find(({ name }) => name === 'bot')?.agentId ?? ''
}

it('refuses a variable that is set already or comes twice, unless it is said who wins', async () => {
  const set = { env: { STRIPE_SECRET_KEY: 'mine' } }
  const vault = ['--vault', 'prod']
  expect(await refusal(vault, set)).toMatchObject({ code: 'env_conflict', message: expect.stringContaining('STRIPE') })
  expect(await environment([...vault, '--conflict', 'process'], set)).toMatchObject({ STRIPE_SECRET_KEY: 'mine' })
  expect(await environment([...vault, '--conflict', 'vault'], set)).toMatchObject(SECRETS)
  expect(await environment([...vault, '--clean-env'], set)).toMatchObject(SECRETS)
  const same = { env: { STRIPE_SECRET_KEY: SECRETS.STRIPE_SECRET_KEY } }
  expect(await environment(vault, same)).toMatchObject(SECRETS)
  const file = scene.machine.file('double.env', 'DATABASE_URL=other\n')
  expect(await refusal([...vault, '--env-file', file])).toMatchObject({ code: 'env_conflict' })
  expect(await environment([...vault, '--env-file', file, '--conflict', 'vault'])).toMatchObject(SECRETS)
})

it('never gives its own credentials to the child, and with --clean-env next to nothing', async () => {
  const given = { env: { STRONGROOM_ACCESS_TOKEN: 'x', STRONGROOM_PASSPHRASE_FILE: '/y', KEEP: '1' } }
  const all = await environment(['--vault', 'prod'], given)
  expect(Object.keys(all).filter((name) => /BUNDLE|ACCESS_TOKEN|PRIVATE_KEY|PASSPHRASE/.test(name))).toEqual([])
  expect(all.KEEP).toBe('1')
  const clean = Object.keys(await environment(['--vault', 'prod', '--clean-env'], given)).sort()
  expect(clean).toEqual(['DATABASE_URL', 'HOME', 'PATH', 'STRIPE_SECRET_KEY'])
})

it('answers offline from what was read before, says how old it may be, and asks when it shall', async () => {
  const vault = ['--vault', 'prod']
  await environment(vault)
  expect(await environment([...vault, '--offline'], AWAY)).toMatchObject(SECRETS)
  expect(await environment(vault, AWAY)).toMatchObject(SECRETS)
  expect(await environment([...vault, '--fresh', 'never'], AWAY)).toMatchObject(SECRETS)
  expect(await refusal([...vault, '--fresh', 'always'], AWAY)).toMatchObject({ code: 'connection_failed', exitCode: 7 })
  // A copy that is too old is no answer, and no attack either.
  const old = { hint: expect.stringMatching(/^--max-age 11m, or STRONGROOM_MAX_AGE=11m, takes it/), exitCode: 7 }
  expect(await refusal([...vault, '--offline', '--max-age', '1ms'], AWAY)).toMatchObject({ ...old, code: 'stale_view' })
  expect(await refusal([...vault, '--max-age', '1ms'], AWAY)).toMatchObject({
    ...{ ...old, code: 'connection_failed' },
    message: expect.stringMatching(
      /^127\.0\.0\.1:9 could not be reached; what is kept here was read \d+ s ago, and may be/,
    ),
  })
  expect(await refusal(['--vault', 'never-read', '--offline'], AWAY)).toMatchObject({ code: 'not_cached', exitCode: 7 })
  const never = await scene.strongroom(['run', '--verbose', ...vault, '--fresh', 'never', '--', 'true'])
  expect(requests(never)).toEqual([])
})

it('says that the server is away where the copy kept here was overtaken by an own write, and speaks of no attack', async () => {
  const { env, home: cwd } = scene.person
  const strongroom = (args: readonly string[], away: Readonly<Record<string, string>> = {}) =>
    runProcess(process.execPath, [scene.program, ...args], { env: { ...env, ...away }, cwd, input: '' })
  const read = ['run', '--vault', 'own', '--json', '--', 'true']
  await scene.alice.vaults.create({ name: 'own' })
  await scene.alice.secrets.set('sr://own/app/KEY', 'first', { env: true })
  expect((await strongroom(read)).code).toBe(0)
  expect((await strongroom(['set', 'own/app/KEY', '--generate', '20'])).code).toBe(0)
  const refused = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await strongroom(args, AWAY.env)
    expect([code === 125 || code === 7, String(stdout)]).toEqual([true, ''])
    return (JSON.parse(String(stderr)) as { error: Refusal }).error
  }
  const outage = {
    code: 'connection_failed',
    message: expect.stringMatching(/^127\.0\.0\.1:9 could not be reached; .*has changed since/),
    exitCode: 7,
  }
  expect(await refused(read)).toMatchObject(outage)
  expect(await refused(['env', '--names', '--vault', 'own', '--json'])).toMatchObject(outage)
  const kept = { code: 'not_cached', hint: expect.stringContaining('while the server can be reached'), exitCode: 7 }
  expect(await refused(['run', '--offline', ...read.slice(1)])).toMatchObject(kept)
  expect(await refused(['read', 'sr://own/app/KEY', '--offline', '--json'])).toMatchObject(kept)
  expect(JSON.parse(String((await strongroom(['trust', 'alarms', '--json'])).stdout))).toMatchObject({ data: [] })
})

it('writes a receipt that names and proves everything and holds no value', async () => {
  const file = join(scene.machine.home, 'receipt.json')
  await environment(['--vault', 'prod', '--receipt', file])
  const text = readFileSync(file, 'utf8')
  for (const value of Object.values(SECRETS)) expect(text).not.toContain(value)
  expect(JSON.parse(text)).toMatchObject({
    variables: expect.arrayContaining([expect.objectContaining({ name: 'DATABASE_URL', from: 'prod', version: 1 })]),
    vaults: [{ inclusion: 'verified', source: 'network', signerKeyId: expect.stringMatching(/^user:/) }],
  })
})

it('gives the variables in a pipe at a path, so often as it is told, and leaves nothing there', async () => {
  const path = join(scene.machine.home, 'app.json')
  const read = (flags: readonly string[], script: string): Promise<Exit> =>
    scene.strongroom(['run', '--vault', 'prod', '--mount', path, ...flags, '--', 'sh', '-c', script])
  const length = `node -p "Object.keys(JSON.parse(require('fs').readFileSync(0))).sort().join()"`
  const ended = await read(
    [],
    `echo "$DATABASE_URL."; ${length} < ${path}; ${length} < ${path}; ls -l ${path} | cut -c1-10`,
  )
  expect(String(ended.stdout)).toBe('.\nDATABASE_URL,STRIPE_SECRET_KEY\nDATABASE_URL,STRIPE_SECRET_KEY\nprw-------\n')
  expect(() => statSync(path)).toThrow('ENOENT')
  const once = await read(['--mount-reads', '1'], `${length} < ${path}; test -e ${path} || echo gone`)
  expect(String(once.stdout)).toBe('DATABASE_URL,STRIPE_SECRET_KEY\ngone\n')
  const mistyped = await refusal(['--vault', 'prod', '--mount', `${path}:jsno`])
  expect(mistyped).toMatchObject({ code: 'usage', hint: expect.stringContaining('dotenv, json') })
  expect(() => statSync(`${path}:jsno`)).toThrow('ENOENT')
  writeFileSync(path, 'precious')
  expect(await refusal(['--vault', 'prod', '--mount', path])).toMatchObject({ code: 'mount_failed' })
  expect(readFileSync(path, 'utf8')).toBe('precious')
})

it('writes one secret to the standard input, and masks it', async () => {
  const ref = 'sr://prod/app/STRIPE_SECRET_KEY'
  const ended = await scene.strongroom(['run', '--stdin', ref, '--', 'sh', '-c', 'cat; echo; env | grep -c STRIPE'])
  expect(String(ended.stdout)).toBe('‹stdin›\n0\n')
  const counted = await scene.strongroom(['run', '--stdin', ref, '--', 'sh', '-c', 'wc -c < /dev/stdin'])
  expect(Number(String(counted.stdout))).toBe(SECRETS.STRIPE_SECRET_KEY.length)
  const bare = await scene.strongroom(['run', '--stdin', 'prod/app/STRIPE_SECRET_KEY', '--', 'wc', '-c'])
  expect(Number(String(bare.stdout))).toBe(SECRETS.STRIPE_SECRET_KEY.length)
  expect(await refusal(['--stdin', 'prod/app'])).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/vault.item.field/),
  })
})

it('lets a command open its standard input by name after all of it was written', async () => {
  const ref = 'sr://prod/app/STRIPE_SECRET_KEY'
  // The first reads to the end, so nobody writes any more when the second opens it.
  const ended = await scene.strongroom(['run', '--stdin', ref, '--', 'sh', '-c', 'wc -c; wc -c < /dev/stdin'])
  expect(String(ended.stdout).split('\n').map(Number)).toEqual([SECRETS.STRIPE_SECRET_KEY.length, 0, 0])
})

const watch = (flags: readonly string[], script: string) =>
  startProcess(
    process.execPath,
    [scene.program, 'run', '--vault', 'prod', '--watch', ...flags, '--', process.execPath, '-e', script],
    { env: scene.machine.env, cwd: scene.machine.home },
  )
const change = (value: string) => scene.alice.secrets.set('sr://prod/app/DATABASE_URL', value)

it('starts the command anew when a secret changes, and ends as the command ends', async () => {
  await change('one')
  const script = `console.log('has', process.env.DATABASE_URL.length); process.on('SIGTERM', () => process.exit(0))
if (process.env.DATABASE_URL.length === 9) process.exit(5); setInterval(() => {}, 1000)`
  const started = watch([], script)
  await started.says('has 3')
  await change('four')
  await started.says('has 4')
  await change('nine-long')
  expect(await started.ended).toMatchObject({ code: 5, stdout: Buffer.from('has 3\nhas 4\nhas 9\n') })
  await change(SECRETS.DATABASE_URL)
})

it('tells a running command of a change by a signal or by another command, with the new values', async () => {
  await change('before')
  const signal = watch(
    ['--on-change', 'SIGHUP'],
    `console.log('ready'); process.on('SIGHUP', () => { console.log('told'); process.exit(0) }); setInterval(() => {}, 1000)`,
  )
  await signal.says('ready')
  await change('after-it')
  expect(await signal.ended).toMatchObject({ code: 0, stdout: Buffer.from('ready\ntold\n') })
  const exec = watch(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is for a shell
    ['--on-change', 'exec:echo $DATABASE_URL ${#DATABASE_URL}'],
    `console.log('ready'); setInterval(() => {}, 1000)`,
  )
  await exec.says('ready')
  await change('longer-than-before')
  await exec.says('‹DATABASE_URL› 18')
  process.kill(exec.pid, 'SIGTERM')
  expect((await exec.ended).signal).toBe('SIGTERM')
  await change(SECRETS.DATABASE_URL)
})

it('refuses what does not go together, before anything is asked or started', async () => {
  const wrong = [
    [['--mask', 'never'], 'mask_refused'],
    [['--on-change', 'restart'], 'usage'],
    [['--watch', '--on-change', 'dance'], 'usage'],
    [['--watch', '--offline'], 'usage'],
    [['--offline', '--fresh', 'always'], 'usage'],
    [['--mount-reads', '2'], 'usage'],
    [['--env', 'ci'], 'usage'],
  ] as const
  for (const [flags, code] of wrong) expect((await refusal(flags)).code).toBe(code)
  const agent = await scene.strongroom(['run', '--mask', 'never', '--', 'true'], { env: { CLAUDECODE: '1' } })
  expect(JSON.parse(String(agent.stderr))).toMatchObject({ error: { code: 'mask_refused', exitCode: 4 } })
})

it('names the vaults there are where none was chosen', async () => {
  await scene.alice.vaults.create({ name: 'second' })
  await scene.alice.permissions.grant({ vault: 'second' }, { principal: `agent:${await agentId()}`, role: 'READ' })
  const refused = await refusal([])
  expect(refused).toMatchObject({ code: 'source_undecided', exitCode: 5 })
})
