import { setUp } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startHarness } from '../../server/test/harness.ts'
import { FOUNDER, keysOf, setupToken } from '../../server/test/people.ts'
import { type LicenseWork, workOnLicensesOf } from '../../server/test/provider/background.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, signIn, startWorld, type World } from './world.ts'

// Licences at the command line: an agent of the founder buys within its budget, uses what it bought and ends it. Catches: a purchase
// without an answer to its price, one that is lost when nobody watches it, values for a coding agent, a refusal without its exit code and
// next step, an organisation that cannot name its server, a format printed instead of JSON, a purchase that is made again because its answer
// was lost.
// Seen red: a lost answer told as a server that is away, without the key; the price not asked for; `resume` without what waits; --license not among the sources; `enable` that names nobody;
// --json left to --format; a refusal that names a budget by its id; purchases and budgets
// shown by theirs where money moved.

let world: World
let machine: Machine
let work: LicenseWork
const AGENT = ['--profile', 'checkout-bot']
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  const create = ['agent', 'create', 'checkout-bot', '--permission', 'machine.all', '--yes']
  expect((await machine.call(create)).stderr).not.toContain('✗')
  work = workOnLicensesOf(world.h)
})
afterAll(async () => {
  await work.stop()
  await world.close()
})

const refused = async (args: readonly string[], code: string, exitCode: number, on = machine) => {
  const ended = await on.call([...args, '--json'])
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
  return ended.error()
}

interface Bought {
  readonly licenseInstanceId: string
  readonly purchaseId: string
  readonly vaultId: string
  readonly itemId: string
}
const available = async (): Promise<string> =>
  (await jsonOf<{ available: { amount: string } }>(machine, ['billing', 'balance'])).available.amount

it('refuses a purchase before there is credit, an answer to the price, or room in a budget, and holds nothing', async () => {
  const buy = ['license', 'buy', 'sandbox-monthly', '--vault', 'new:mailer', ...AGENT]
  const { message: poor } = await refused([...buy, '--yes'], 'insufficient_credit', 8)
  expect(poor).toBe('12.50 USD is more than the 0.00 USD of credit that is left.')
  expect((await machine.call(['license', 'test-credit'])).stdout).toContain('100.00 USD')
  await refused(['license', 'test-credit'], 'sandbox_credit_granted', 6)
  const { message } = await refused(buy, 'confirmation_required', 2)
  expect(message).toContain('12.50 USD a month')
  await refused([...buy, '--max', '12'], 'quote_expired', 6)
  await refused(['license', 'buy', 'sandbox-monthly', ...AGENT, '--yes'], 'usage', 2)
  await refused(['license', 'buy', 'nothing-such', '--vault', 'new:x', ...AGENT, '--yes'], 'license_not_found', 5)
  await refused([...buy.slice(0, 4), 'nowhere', ...AGENT, '--yes'], 'vault_not_found', 5)
  const budget = await jsonOf<{ budgetId: string }>(machine, ['budget', 'create', 'checkout-bot', '--daily', '5'])
  const { message: bound, hint } = await refused([...buy, '--yes'], 'budget_exceeded', 8)
  expect(bound).toMatch(
    /^12\.50 USD is more than the 5\.00 USD left of the daily budget of agent checkout-bot until 20/,
  )
  expect(hint).toBe('who manages it: strongroom budget update checkout-bot --daily USD')
  await jsonOf(machine, ['budget', 'update', budget.budgetId, '--daily', '50', '--at-once', '9'])
  const { message: atOnce } = await refused([...buy, '--yes'], 'budget_transaction_limit', 8)
  expect(atOnce).toBe('12.50 USD is more than the budget of agent checkout-bot allows at once, 9.00 USD.')
  await jsonOf(machine, ['budget', 'end', budget.budgetId, '--yes'])
  expect(await available()).toBe('100000000')
  expect(await jsonOf(machine, ['license', 'list'])).toEqual([])
})

it('buys with a price that was said, tells each step, and gives the variables to a process', async () => {
  const offers = await jsonOf<{ licenseId: string }[]>(machine, ['license', 'search', 'sandbox', ...AGENT])
  expect(offers.map(({ licenseId }) => licenseId).sort()).toEqual(['sandbox-monthly', 'sandbox-once'])
  expect(await jsonOf(machine, ['license', 'search', 'warehouse', ...AGENT])).toEqual([])
  const ended = await machine.call([
    ...['license', 'buy', 'sandbox-monthly', '--vault', 'new:mailer', '--max', '12.5'],
    ...AGENT,
  ])
  expect(ended.code, ended.stderr).toBe(0)
  expect(ended.stderr).toMatch(/12\.50 USD a month[\s\S]*new vault mailer[\s\S]*✓ Price held[\s\S]*✓ Handed over/)
  expect(ended.stdout).toMatch(/licence +lic_[\s\S]*vault +mailer/)
  const [only] = await jsonOf<(Bought & { status: string })[]>(machine, ['license', 'list', ...AGENT])
  expect(only).toMatchObject({ status: 'active' })
  expect((await machine.call(['license', 'list', ...AGENT])).stdout).toMatch(/sandbox-monthly +active .* mailer/)
  const status = await jsonOf(machine, ['license', 'status', 'sandbox-monthly', ...AGENT])
  expect(status).toMatchObject({ kind: 'purchase', state: 'completed', nextAction: 'none', id: only?.purchaseId })
  const env = ['license', 'env', 'sandbox-monthly', ...AGENT]
  expect((await machine.call([...env, '--names'])).stdout).toBe('SANDBOX_LICENSE_KEY\n')
  expect((await machine.call(env)).stdout).toMatch(/^SANDBOX_LICENSE_KEY="?key\//)
  const file = await jsonOf<{ text: string }>(machine, [...env, '--format', 'docker'])
  expect(file).toEqual({ variables: [expect.anything()], text: expect.stringMatching(/^SANDBOX_LICENSE_KEY=key\//) })
  const agentEnv = { AI_AGENT: 'somebody' }
  expect((await machine.call(env, { env: agentEnv })).error().code).toBe('plaintext_refused_for_agent')
  await refused(['license', 'handoff', 'sandbox-monthly', ...AGENT], 'handoff_already_completed', 6)
  const run = ['run', '--license', 'sandbox-monthly', ...AGENT, '--', 'sh', '-c', 'echo $SANDBOX_LICENSE_KEY; exit 3']
  const child = await machine.spawn(run)
  expect([child.code, child.stdout], child.stderr).toEqual([3, '‹SANDBOX_LICENSE_KEY›\n'])
  machine.file('strongroom.toml', 'licenses = ["sandbox-monthly"]\n[env]\nLOG_LEVEL = "info"\n')
  const names = await jsonOf<{ variables: { name: string }[] }>(machine, ['env', '--names', ...AGENT])
  expect(names.variables.map(({ name }) => name)).toEqual(['LOG_LEVEL', 'SANDBOX_LICENSE_KEY'])
  machine.file('strongroom.toml', 'licenses = "sandbox-monthly"\n')
  expect((await refused(['env', '--names', ...AGENT], 'project_file_invalid', 6)).message).toContain('line 1')
  machine.file('strongroom.toml', '[env]\n')
  await refused(['license', 'env', 'nothing-such', ...AGENT], 'license_instance_not_found', 5)
  await refused(['license', 'status', 'nothing-such', ...AGENT], 'license_not_yours', 5)
  const moved = (await machine.call(['billing', 'transactions'])).stdout
  expect(moved).toMatch(/capture +\S+ USD +\S+ USD +license_purchase Sandbox/)
  const happened = (await machine.call(['activity', '--kind', 'money'])).stdout
  expect(happened).toContain('budget of agent checkout-bot')
  expect(`${moved}${happened}`).not.toMatch(/\b(?:pur|bud)_/)
})

/** What is bought meanwhile is bought, and the answer is lost. */
async function losingAnswers<T>(work: () => Promise<T>): Promise<T> {
  const network = globalThis.fetch
  const losing = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const response = await network(input, init)
    if (!String(input).endsWith('/licenses/purchase')) return response
    await response.arrayBuffer()
    throw new TypeError('socket closed')
  })
  return work().finally(() => losing.mockRestore())
}

it('names the command that repeats a purchase whose answer was lost, and that one buys once', async () => {
  const buy = ['license', 'buy', 'sandbox-once', '--vault', 'new:lost answer', ...AGENT, '--yes']
  const { hint = '', details } = await losingAnswers(() => refused(buy, 'outcome_unknown', 7))
  const before = await available()
  const key = String(details?.idempotencyKey)
  expect(hint).toContain(`strongroom license buy sandbox-once --vault 'new:lost answer' --max `)
  expect(hint).toContain(` --idempotency-key ${key}`)
  const [, max = ''] = /--max (\S+)/.exec(hint) ?? []
  await jsonOf(machine, [...buy, '--max', max, '--idempotency-key', key])
  expect(await available()).toBe(before)
})

it('goes on with a purchase that nobody watched any more', async () => {
  await work.stop()
  const buy = ['license', 'buy', 'sandbox-once', '--vault', 'new:left', '--yes', ...AGENT]
  const left = await machine.call([...buy, '--timeout', '1s'])
  expect(left.code, left.stderr).toBe(124)
  const [, id = ''] = /strongroom license resume (pur_\w+)/.exec(left.stderr) ?? []
  expect(await jsonOf(machine, ['license', 'status', id, ...AGENT])).toMatchObject({ state: 'reserved' })
  await refused(['license', 'handoff', id, ...AGENT], 'handoff_not_ready', 6)
  expect(await jsonOf(machine, ['license', 'resume', ...AGENT])).toEqual({ purchases: [], terminations: [] })
  work = workOnLicensesOf(world.h)
  await expect
    .poll(async () => (await machine.call(['license', 'list', ...AGENT])).stdout, { timeout: 20_000 })
    .toContain('waits for its vault')
  const { purchases } = await jsonOf<{ purchases: Bought[] }>(machine, ['license', 'resume', ...AGENT])
  expect(purchases).toMatchObject([{ purchaseId: id, license: 'sandbox-once' }])
  expect(await jsonOf(machine, ['license', 'resume', id, ...AGENT])).toMatchObject({ purchases })
})

it('ends a licence when asked twice, gives the rest back, and ends it once', async () => {
  const [bought] = (await jsonOf<(Bought & { licenseId: string })[]>(machine, ['license', 'list', ...AGENT])).filter(
    ({ licenseId }) => licenseId === 'sandbox-monthly',
  )
  const before = BigInt(await available())
  await refused(['license', 'terminate', 'sandbox-monthly', ...AGENT], 'confirmation_required', 2)
  const ending = await jsonOf<{ terminationId: string; refund: { amount: string } }>(machine, [
    ...['license', 'terminate', 'sandbox-monthly', '--reason', 'not needed', '--yes'],
    ...AGENT,
  ])
  expect(BigInt(await available())).toBe(before + BigInt(ending.refund.amount))
  expect(BigInt(ending.refund.amount)).toBeGreaterThan(0n)
  const status = await jsonOf(machine, ['license', 'status', ending.terminationId, ...AGENT])
  expect(status).toMatchObject({ kind: 'termination', state: 'completed', refund: ending.refund })
  const again = await jsonOf<{ terminations: unknown[] }>(machine, [
    'license',
    'resume',
    ending.terminationId,
    ...AGENT,
  ])
  expect(again.terminations).toHaveLength(1)
  const id = bought?.licenseInstanceId ?? ''
  await refused(['license', 'terminate', id, '--yes', ...AGENT], 'license_terminated', 5)
  await refused(['license', 'env', id, '--names', ...AGENT], 'license_terminated', 5)
  const child = await machine.spawn(['run', '--license', id, ...AGENT, '--', 'true'])
  expect([child.code, child.stderr.includes('license_terminated')]).toEqual([125, true])
})

it('names the server in the policy of an organisation that does not, which can buy from then on', async () => {
  const h = await startHarness()
  const working = workOnLicensesOf(h)
  try {
    // As a server without licences answers.
    const network: typeof fetch = async (input, init) =>
      String(input).includes('/.well-known/') ? new Response('nothing here', { status: 404 }) : fetch(input, init)
    const given = { baseUrl: h.url, setupToken: await setupToken(h), ...FOUNDER, keys: keysOf('alice') }
    const founder = await setUp({ ...given, fetch: network })
    const own = world.machine()
    await signIn(own, h.url, founder)
    await jsonOf(own, ['license', 'test-credit'])
    const buy = ['license', 'buy', 'sandbox-once', '--vault', 'new:tools', '--yes']
    expect((await refused(buy, 'provisioner_not_named', 6, own)).hint).toContain('strongroom license enable')
    expect(await jsonOf(own, ['license', 'enable'])).toMatchObject({ isNew: true })
    expect(await jsonOf(own, ['license', 'enable'])).toMatchObject({ isNew: false })
    expect(await jsonOf<Bought>(own, buy)).toMatchObject({ license: 'sandbox-once' })
    expect((await own.call(['verify'])).code).toBe(0)
  } finally {
    await working.stop()
    await h.close()
  }
})
