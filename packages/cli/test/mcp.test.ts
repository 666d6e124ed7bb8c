import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { formsOf } from '../../server/test/canary/forms.ts'
import { workOnLicensesOf } from '../../server/test/provider/background.ts'
import type { Cli } from '../src/cli.ts'
import { callTool } from '../src/mcp/tool.ts'
import { TOOLS } from '../src/mcp/tools.ts'
import type { McpClient } from './mcp-client.ts'
import { HOSTILE, MESSAGES } from './mcp-messages.ts'
import { AGENT, type McpScene, READER, SECRETS, startMcpScene } from './mcp-scene.ts'
import { jsonOf } from './shapes.ts'

// A coding agent over the real streams of the real program: it uses secrets, and none of them is ever in what it is sent. The last
// test looks for all of them, also those that were made and bought here, in everything that was written.
// Catches: a value in any answer or diagnostic, a task that runs before a person has allowed it or after it was changed, an agent
// that allows itself, a child that outlives its call, a message that ends or hangs the server, anything but answers on its output.
// Seen red: a masker without values; `allow` for an agent; a task that nobody has allowed, one whose digest is not compared, one whose
// variables the environment decides; a cancel that nobody hears, a task without a group of its own or without agent mode, a SIGTERM that
// is not caught; arguments, depth and length that are not looked at; an answer that is not held against its shape, one that is dropped
// at the end of the input; a generated value that replaces another one, or is in a diagnostic as hex; a purchase without its key; a
// refusal that is taken for a missing key.

let scene: McpScene
let client: McpClient
beforeAll(async () => {
  scene = await startMcpScene()
  client = scene.start()
})
afterAll(async () => scene.close())

it('agrees on a version, lists its tools always alike, and says so to whoever asks in any order', async () => {
  for (const version of ['2025-11-25', '2025-06-18']) {
    const { result } = await client.request('initialize', {
      protocolVersion: version,
      capabilities: {},
      clientInfo: {},
    })
    expect(result).toMatchObject({ protocolVersion: version, capabilities: { tools: {} } })
  }
  const { result: unknown } = await client.request('initialize', { protocolVersion: '2025-03-26' })
  expect(unknown).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'strongroom' } })
  client.notify('notifications/initialized')
  const { result } = await client.request('tools/list')
  const tools = (result as { tools: { name: string; inputSchema: object; outputSchema: object }[] }).tools
  expect(tools.map(({ name }) => name)).toEqual([
    'list_secrets',
    'run_task',
    'generate_secret',
    'search_licenses',
    'buy_license',
    'budget_status',
    'report_gap',
  ])
  for (const { name, inputSchema, outputSchema } of tools)
    for (const schema of [inputSchema, outputSchema])
      expect(schema, name).toMatchObject({ type: 'object', additionalProperties: false })
  expect((await client.request('tools/list')).result).toEqual(result)
  expect((await client.request('ping')).result).toEqual({})
})

it('answers every message it does not understand with an error, and goes on', async () => {
  for (const [what, message, code] of MESSAGES) {
    const answer = await client.say(Buffer.concat([Buffer.from(message), Buffer.from('\n')]))
    expect(answer, what).toMatchObject({ jsonrpc: '2.0', error: { code } })
  }
  client.write('\n  \n{"jsonrpc":"2.0","id":99,"result":{}}\n{"jsonrpc":"2.0",')
  expect((await client.say('"id":"halves","method":"ping"}\n')).result).toEqual({})
  client.notify('notifications/cancelled', { requestId: 'nobody' })
  expect((await client.request('ping')).result).toEqual({})
})

it('refuses whatever arguments are not what a tool takes, with a code and the next step', async () => {
  const taken = { list_secrets: ['vault', 'item'], search_licenses: ['text'], report_gap: ['summary'] }
  for (const { name } of TOOLS)
    for (const args of HOSTILE) {
      const { result } = await client.request('tools/call', { name, arguments: args })
      const members = Object.keys(args as object)
      const isTaken = (taken as Record<string, string[]>)[name]?.some((one) => members.includes(one))
      // Names that could be names are looked for.
      if (isTaken && !(result as { isError?: boolean }).isError) continue
      const [{ text }] = (result as { content: [{ text: string }] }).content
      expect(result, `${name} ${JSON.stringify(args).slice(0, 80)}`).toMatchObject({ isError: true })
      expect(JSON.parse(text).error, text).toEqual(
        expect.objectContaining({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) }),
      )
      expect(JSON.parse(text).error.code).not.toBe('unexpected')
    }
})

interface Listed {
  readonly secrets: readonly { readonly ref: string; readonly env: string | null; readonly kind: string }[]
  readonly project: { readonly variables: readonly object[]; readonly tasks: readonly object[] }
}

it('lists names, references and tasks, and no values', async () => {
  scene.manifest('[tasks.show]\nrun = ["printenv", "PLAIN_KEY"]\nenv = ["PLAIN_KEY"]\n')
  const { secrets, project: own } = (await client.call('list_secrets')).data<Listed>()
  const plain = { ref: 'sr://prod/app/PLAIN_KEY', vault: 'prod', item: 'app', label: 'PLAIN_KEY' }
  expect(secrets).toHaveLength(2)
  expect(secrets).toContainEqual({ ...plain, env: 'PLAIN_KEY', kind: 'variable' })
  expect(own.variables).toContainEqual({ name: 'ODD_KEY', ref: 'sr://prod/app/ODD_KEY', kind: 'secret' })
  expect(own.variables).toContainEqual({ name: 'LOG_LEVEL', ref: null, kind: 'text' })
  expect(own.tasks).toEqual([{ name: 'show', variables: ['PLAIN_KEY'], state: 'not_allowed' }])
  expect(JSON.stringify(own)).not.toContain('text-of-the-file')
  expect((await scene.machine.call(['set', 'prod/app/a-note', '--no-env'], { input: SECRETS.PLAIN_KEY })).code).toBe(0)
  const whole = (await client.call('list_secrets', { vault: 'prod', item: 'app' })).data<Listed>()
  expect(whole.secrets).toContainEqual(expect.objectContaining({ label: 'a-note', env: null, kind: 'field' }))
  expect((await client.call('list_secrets', { vault: 'nowhere' })).error().code).toBe('vault_not_found')
  expect((await client.call('list_secrets', { item: 'app' })).error().code).toBe('usage')
})

interface Ran {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly stdout: { readonly text: string; readonly omittedBytes: number }
  readonly stderr: { readonly text: string; readonly omittedBytes: number }
  readonly variables: readonly string[]
}
const run = async (task: string, more: object = {}): Promise<Ran> =>
  (await client.call('run_task', { task, ...more })).data<Ran>()

it('runs a task only as a person has allowed it, and never lets an agent allow it', async () => {
  const ran = join(scene.project, 'ran')
  scene.manifest(`[tasks.mark]\nrun = ["touch", "ran"]\n`)
  const { code, hint } = (await client.call('run_task', { task: 'mark' })).error()
  expect([code, hint]).toEqual(['task_not_allowed', 'a person looks at it and runs: strongroom allow mark'])
  const own = scene.machine
  const refused = async (args: readonly string[], env: Record<string, string> = {}) =>
    (await own.call([...args, '--json'], { env })).error().code
  expect(await refused(['allow', 'mark', '--yes'], { CLAUDECODE: '1' })).toBe('allow_refused_for_agent')
  expect(await refused(['allow', 'mark'])).toBe('confirmation_required')
  expect(await refused(['allow', 'nothing', '--yes'])).toBe('task_not_found')
  expect((await client.call('run_task', { task: 'mark' })).error().code).toBe('task_not_allowed')
  expect(existsSync(ran)).toBe(false)

  const shown = await own.call(['allow', 'mark', '--yes'])
  expect(shown.stderr).toMatch(
    /task mark in .*\n +runs +touch ran\n +gets +LOG_LEVEL of text[\s\S]*PLAIN_KEY of sr:\/\/prod\/app\/PLAIN_KEY/,
  )
  const folder = join(scene.machine.home, '.config/strongroom/allowed-tasks')
  const [file = ''] = readdirSync(folder)
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
  expect(await run('mark')).toMatchObject({ exitCode: 0, variables: ['LOG_LEVEL', 'ODD_KEY', 'PLAIN_KEY'] })
  expect(existsSync(ran)).toBe(true)

  for (const [what, text] of [
    ['what is run', `[tasks.mark]\nrun = ["touch", "changed"]\n`],
    ['what it gets', `[tasks.mark]\nrun = ["touch", "ran"]\nenv = ["PLAIN_KEY"]\n`],
    ['where a variable comes from', `[tasks.mark]\nrun = ["touch", "ran"]\n[env.x]\n`],
  ] as const) {
    scene.manifest(text)
    if (what.startsWith('where'))
      writeFileSync(
        join(scene.project, 'strongroom.toml'),
        readFileSync(join(scene.project, 'strongroom.toml'), 'utf8').replace('app/ODD_KEY', 'app/PLAIN_KEY'),
      )
    expect((await client.call('run_task', { task: 'mark' })).error().code, what).toBe('task_changed')
  }
  expect(existsSync(join(scene.project, 'changed'))).toBe(false)
  const elsewhere = join(scene.machine.home, 'elsewhere')
  mkdirSync(elsewhere)
  scene.manifest(`[tasks.mark]\nrun = ["touch", "ran"]\n`)
  writeFileSync(join(elsewhere, 'strongroom.toml'), readFileSync(join(scene.project, 'strongroom.toml')))
  const other = scene.start(elsewhere)
  expect((await other.call('run_task', { task: 'mark' })).error().code).toBe('task_not_allowed')
  expect(await other.end()).toBe(0)
  expect(await run('mark')).toMatchObject({ exitCode: 0 })
  expect(await jsonOf(own, ['deny', 'mark'])).toMatchObject({ denied: ['mark'] })
  expect((await client.call('run_task', { task: 'mark' })).error().code).toBe('task_not_allowed')
  expect(await refused(['deny', 'mark'])).toBe('task_not_found')
})

it('masks what a task prints in every form the masker knows, on both streams, and says how it ended', async () => {
  const script = `const v = [process.env.PLAIN_KEY, process.env.ODD_KEY]
for (const one of v) for (const s of [process.stdout, process.stderr]) {
  const b = Buffer.from(one)
  s.write([one, b.toString('base64'), b.toString('base64url'), b.toString('hex'), b.toString('hex').toUpperCase(),
    encodeURIComponent(one), JSON.stringify(one), 'Basic ' + Buffer.from('user:' + one).toString('base64')].join('\\n') + '\\n')
  for (const c of one) s.write(c)
}
process.stdin.on('data', () => process.exit(9)).on('end', () => process.exit(5))`
  writeFileSync(join(scene.project, 'leak.mjs'), script)
  scene.manifest(`[tasks.leak]
run = [${JSON.stringify(process.execPath)}, "leak.mjs"]
[tasks.shell]
run = "echo to shell: $ODD_KEY, agent mode $STRONGROOM_AGENT_MODE; exit 3"
env = ["ODD_KEY"]
[tasks.much]
run = "yes é | head -c 200000; printf end"
[tasks.none]
run = ["no-such-program"]
`)
  for (const task of ['leak', 'shell', 'much', 'none']) await scene.allow(task)
  const leak = await run('leak')
  expect(leak).toMatchObject({ exitCode: 5, signal: null, timedOut: false })
  for (const { text } of [leak.stdout, leak.stderr]) {
    expect(text.match(/‹PLAIN_KEY›/g)?.length).toBeGreaterThanOrEqual(8)
    expect(text.match(/‹ODD_KEY›/g)?.length).toBeGreaterThanOrEqual(8)
  }
  expect(await run('shell')).toMatchObject({
    exitCode: 3,
    stdout: { text: 'to shell: ‹ODD_KEY›, agent mode 1\n' },
    variables: ['ODD_KEY'],
  })
  const much = await run('much')
  expect(Buffer.byteLength(much.stdout.text) + much.stdout.omittedBytes).toBe(200_003)
  expect(much.stdout.text).toMatch(/^[é\n]+\S*end$/)
  expect(Buffer.byteLength(much.stdout.text)).toBeLessThanOrEqual(32_768)
  expect((await client.call('run_task', { task: 'none' })).error().code).toBe('command_not_found')
  expect((await client.call('run_task', { task: 'nothing' })).error()).toMatchObject({
    code: 'task_not_found',
    hint: 'there are: leak, shell, much, none',
  })
})

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** The two processes of the task `wait`, once they are there. */
async function pids(): Promise<readonly number[]> {
  const file = join(scene.project, 'pids')
  await expect
    .poll(() => (existsSync(file) ? readFileSync(file, 'utf8') : ''), { timeout: 20_000 })
    .toMatch(/^\d+ \d+\n$/)
  const found = readFileSync(file, 'utf8').trim().split(' ').map(Number)
  writeFileSync(file, '')
  return found
}
const gone = (all: readonly number[]) =>
  expect.poll(() => all.filter(isRunning), { timeout: 10_000, interval: 20 }).toEqual([])

it('ends a task with everything it has started when it is cancelled, takes too long, or the server ends', async () => {
  scene.manifest(`[tasks.wait]\nrun = "sleep 600 & echo $$ $! > pids; wait"\nenv = []\n`)
  await scene.allow('wait')
  const { id, answer } = client.begin('tools/call', { name: 'run_task', arguments: { task: 'wait' } })
  const cancelled = await pids()
  expect(cancelled.filter(isRunning)).toHaveLength(2)
  client.notify('notifications/cancelled', { requestId: id, reason: 'not needed' })
  await gone(cancelled)
  expect((await client.request('ping')).result).toEqual({})
  expect(await Promise.race([answer, Promise.resolve('no answer')])).toBe('no answer')

  const slow = await run('wait', { timeoutSeconds: 1 })
  expect(slow).toMatchObject({ timedOut: true, signal: 'SIGTERM', exitCode: null })
  await gone(await pids())

  const other = scene.start()
  void other.begin('tools/call', { name: 'run_task', arguments: { task: 'wait' } })
  const left = await pids()
  expect(await other.kill('SIGTERM')).toBe(0)
  await gone(left)
})

it('makes a value that nobody is told, and replaces none unless it is asked to', async () => {
  const ref = 'sr://prod/made/SESSION_SECRET'
  expect((await client.call('generate_secret', { ref, length: 40 })).data()).toEqual({
    ref,
    version: 1,
    created: true,
    length: 40,
  })
  const value = async () => (await scene.machine.call(['read', ref])).stdout
  const first = await value()
  expect(first).toMatch(/^[A-Za-z0-9]{40}$/)
  expect((await client.call('generate_secret', { ref })).error().code).toBe('secret_exists')
  expect(await value()).toBe(first)
  expect((await client.call('generate_secret', { ref, replace: true })).data()).toMatchObject({
    version: 2,
    created: false,
  })
  expect(await value()).not.toBe(first)
  made.push(first, await value())
  expect((await client.call('generate_secret', { ref: 'prod/two' })).error().code).toBe('usage')
  expect((await client.call('generate_secret', { ref: 'nowhere/a/B' })).error().code).toBe('vault_not_found')
})
const made: string[] = []

interface Bought {
  readonly purchaseId: string
  readonly state: string
  readonly done: boolean
  readonly itemId: string | null
}

it('buys within budgets, once for one key, and asks again for what takes longer', async () => {
  const { licenses } = (await client.call('search_licenses', { text: 'sandbox' })).data<{
    licenses: { license: string }[]
  }>()
  expect(licenses).toContainEqual(
    expect.objectContaining({ license: 'sandbox-monthly', price: '12.50 USD', variables: ['SANDBOX_LICENSE_KEY'] }),
  )
  const order = { license: 'sandbox-monthly', vault: 'new:mailer', maxPrice: '12.50' }
  expect((await client.call('buy_license', order)).error().code).toBe('insufficient_credit')
  await jsonOf(scene.machine, ['license', 'test-credit'])
  expect((await client.call('buy_license', { license: 'sandbox-monthly' })).error().code).toBe('usage')
  expect((await client.call('buy_license', { ...order, maxPrice: '12' })).error().code).toBe('quote_expired')
  const { budgetId } = await jsonOf<{ budgetId: string }>(scene.machine, [
    'budget',
    'create',
    'assistant',
    '--daily',
    '5',
  ])
  const { code, message } = (await client.call('buy_license', order)).error()
  expect([code, message]).toEqual(['budget_exceeded', expect.stringContaining('5.00 USD left')])
  const { budgets } = (await client.call('budget_status')).data<{ budgets: { budgetId: string }[] }>()
  expect(budgets).toEqual([
    expect.objectContaining({
      budgetId,
      stops: true,
      windows: [expect.objectContaining({ kind: 'daily', limit: '5.00 USD', remaining: '5.00 USD' })],
    }),
  ])
  await jsonOf(scene.machine, ['budget', 'end', budgetId, '--yes'])

  await scene.work.stop()
  const keyed = { ...order, idempotencyKey: 'once-and-only-once', waitSeconds: 0 }
  const begun = (await client.call('buy_license', keyed)).data<Bought>()
  expect(begun).toMatchObject({ done: false, state: 'reserved', price: '12.50 USD', itemId: null })
  expect((await client.call('buy_license', keyed)).data<Bought>().purchaseId).toBe(begun.purchaseId)
  scene.work = workOnLicensesOf(scene.world.h)
  const done = (await client.call('buy_license', { purchaseId: begun.purchaseId })).data<Bought>()
  expect(done).toMatchObject({
    purchaseId: begun.purchaseId,
    done: true,
    state: 'completed',
    itemId: expect.any(String),
  })
  expect(await jsonOf(scene.machine, ['license', 'list', ...AGENT])).toHaveLength(1)
  const env = await scene.machine.call(['license', 'env', 'sandbox-monthly', ...AGENT, '--json'])
  made.push((env.json().data as { values: { SANDBOX_LICENSE_KEY: string } }).values.SANDBOX_LICENSE_KEY)
})

it('reports what is missing, unless it looks like a credential', async () => {
  const told = (await client.call('report_gap', { summary: 'no way to tag items', details: 'labels for items' })).data()
  expect(told).toEqual({ feedbackId: expect.any(String) })
  const leaking = { summary: 'this key does not work', details: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc' }
  expect((await client.call('report_gap', leaking)).error().code).toBe('feedback_contains_secret')
})

it('gives nothing that the shape of an answer does not name', async () => {
  for (const one of TOOLS) {
    const careless = { ...one, input: Type.Object({}), run: async () => ({ value: SECRETS.PLAIN_KEY }) }
    const result = await callTool(careless, {} as Cli, {})
    expect(result, one.name).toMatchObject({ isError: true })
    expect(JSON.stringify(result)).not.toContain(SECRETS.PLAIN_KEY)
  }
})

it('names the vaults whose key is missing and lists the others; passes over no other refusal', async () => {
  const listing = (name: string) => {
    const refusal = Object.assign(new Error(name), { name })
    const vaults = ['shut', 'open'].map((vault) => ({ name: vault, vaultId: vault, status: 'active', role: 'READ' }))
    const strongroom = {
      vaults: { list: async () => vaults },
      items: { list: async (id: string) => (id === 'shut' ? Promise.reject(refusal) : [{ name: 'i', labels: ['A'] }]) },
    }
    const cli = { strongroom: async () => strongroom, io: { cwd: '/' } } as unknown as Cli
    const tool = TOOLS.find((one) => one.name === 'list_secrets')
    return tool && callTool(tool, cli, {})
  }
  const structuredContent = { secrets: [{ ref: 'sr://open/i/A' }], unreadable: ['shut'] }
  expect(await listing('NoWrappedKeyError')).toMatchObject({ structuredContent })
  expect(await listing('SignatureInvalidError')).toMatchObject({ isError: true })
})

it('does for an agent that may only read what it may, and ends when its input ends, after it has answered', async () => {
  const other = scene.start(scene.project, ['--profile', READER])
  scene.manifest('[tasks.read]\nrun = "echo $PLAIN_KEY"\nenv = ["PLAIN_KEY"]\n')
  await scene.allow('read')
  const ran = (await other.call('run_task', { task: 'read' })).data<Ran>()
  expect(ran).toMatchObject({ exitCode: 0, stdout: { text: '‹PLAIN_KEY›\n' } })
  const made = await other.call('generate_secret', { ref: 'prod/made/MORE' })
  expect(made.error().code).toMatch(/denied|forbidden/)
  const { answer } = other.begin('tools/call', { name: 'list_secrets', arguments: {} })
  expect(await other.end()).toBe(0)
  expect((await answer).result).toMatchObject({ structuredContent: { total: 3, unreadable: [] } })
})

it('has written no secret, in no encoding, to either stream', async () => {
  const all = scene.transcript()
  const secrets = [...Object.values(SECRETS), ...made]
  expect(secrets).toHaveLength(5)
  const found = secrets.flatMap((secret, i) =>
    formsOf(secret)
      .filter((form) => all.includes(form))
      .map(() => i),
  )
  expect(found).toEqual([])
  expect(all.length).toBeGreaterThan(50_000)
  // It would be found where it is.
  expect(
    formsOf(SECRETS.ODD_KEY).some((form) => `x${Buffer.from(SECRETS.ODD_KEY).toString('base64')}`.includes(form)),
  ).toBe(true)
  const strange = scene
    .stdout()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{"jsonrpc":"2.0",'))
  expect(strange).toEqual([])
})
