import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nextFor } from '../src/commands/agent/create.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Catches: keys of an agent in the open or shown by any verb but `bundle`, a bundle shown to a coding agent, an agent left behind
// by a create that failed, old keys that are lost before the new ones count, something ended without asking,
// a next step that fails or leaves the bundle to be read by everybody, a tenant that is not found by its name. Seen red: the last two; limits that are
// not sent, a day that does not exist, limits that cannot be taken away; of a simulated call, a vault that is not found by its name, an
// address that is not sent, a refusal that ends like a success.

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  await machine.call(['set', 'prod/stripe/STRIPE_SECRET_KEY', '--create-vault'], { input: 'sk_test_1' })
})
afterAll(() => world.close())

interface Created {
  readonly agent: { agentId: string; name: string; permissions: string[] }
  readonly keyId: string
  readonly profile: string
}
interface Tested {
  readonly vaults: { vault: string; ok: boolean; variables?: string[]; code?: string }[]
}

const bundleOf = async (name: string): Promise<string> => (await machine.call(['agent', 'bundle', name])).stdout.trim()

it('makes an agent with keys made here, saves it as a profile, and shows no secret', async () => {
  const ended = await machine.call(['agent', 'create', 'checkout-bot', '--vault', 'prod', '--kind', 'server'])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(ended.stdout).toMatch(/✓ Vault keys {6}1 wrapped for it, signed by you/)
  const [, words = ''] = /^ +strongroom (agent bundle .+)$/m.exec(ended.stdout) ?? []
  expect(await machine.call(words.split(' '))).toMatchObject({ code: 0, stdout: '' })
  expect(statSync(join(machine.home, 'checkout-bot.bundle')).mode & 0o777).toBe(0o600)
  expect(ended.stdout).not.toMatch(/srb1\.|sra_|PRIVATE/)
  const kept = readFileSync(join(machine.home, '.local/share/strongroom/keys/checkout-bot.key'), 'utf8')
  expect(kept).not.toMatch(/srb1|PRIVATE|sra_/)
  expect(await jsonOf<Tested>(machine, ['agent', 'test', 'checkout-bot'])).toMatchObject({
    vaults: [{ vault: 'prod', ok: true, variables: ['STRIPE_SECRET_KEY'] }],
  })
  expect(await jsonOf(machine, ['agent', 'list'])).toMatchObject([{ name: 'checkout-bot', profile: 'checkout-bot' }])
  expect(await jsonOf(machine, ['agent', 'show', 'checkout-bot'])).toMatchObject({ description: 'Server or job' })
  const who = await machine.call(['whoami', '--profile', 'checkout-bot', '--json'])
  expect(who.json().data).toMatchObject({ kind: 'agent', name: 'checkout-bot' })
})

it('prints the bundle alone, for another machine, and never to a coding agent', async () => {
  const printed = await machine.call(['agent', 'bundle', 'checkout-bot'])
  expect(printed).toMatchObject({ code: 0, stderr: '' })
  expect(printed.stdout).toMatch(/^srb1\.[A-Za-z0-9_-]+\n$/)
  const out = join(machine.home, 'bot.bundle')
  expect((await machine.call(['agent', 'bundle', 'checkout-bot', '--out', out])).stdout).toBe('')
  expect(statSync(out).mode & 0o777).toBe(0o600)
  const env = { STRONGROOM_AGENT_MODE: '1' }
  const refused = await machine.call(['agent', 'bundle', 'checkout-bot'], { env })
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.stderr).not.toContain('srb1')

  const other = world.machine()
  const read = await other.spawn(['read', 'prod/stripe/STRIPE_SECRET_KEY'], {
    env: { STRONGROOM_BUNDLE_FILE: out },
  })
  expect(read).toMatchObject({ code: 0, stdout: 'sk_test_1' })
  const elsewhere = await (await world.founderMachine()).call(['agent', 'bundle', 'checkout-bot', '--json'])
  expect(elsewhere.error()).toMatchObject({ code: 'bundle_not_here', exitCode: 5 })
})

it('rotates the API key into the profile; the old one is dead', async () => {
  const old = await bundleOf('checkout-bot')
  expect((await machine.call(['agent', 'rotate-key', 'checkout-bot', '--json'])).error().code).toBe(
    'confirmation_required',
  )
  const rotated = await jsonOf<{ saved: boolean }>(machine, ['agent', 'rotate-key', 'checkout-bot', '--yes'])
  expect(rotated).toMatchObject({ saved: true, profile: 'checkout-bot' })
  expect(JSON.stringify(rotated)).not.toContain('sra_')
  const refused = await world.machine().spawn(['whoami', '--json'], { env: { STRONGROOM_BUNDLE: old } })
  expect(refused.error()).toMatchObject({ code: 'invalid_api_key', exitCode: 3 })
  expect((await machine.call(['agent', 'test', 'checkout-bot'])).code).toBe(0)
  // Where there is no profile to take it, it is shown once, and not to a coding agent.
  const other = await world.founderMachine()
  const env = { STRONGROOM_AGENT_MODE: '1' }
  expect((await other.call(['agent', 'rotate-key', 'checkout-bot', '--yes'], { env })).code).toBe(4)
  expect((await machine.call(['agent', 'test', 'checkout-bot'])).code).toBe(0)
})

it('rotates the private keys: the new ones read, the old ones do not', async () => {
  const old = await bundleOf('checkout-bot')
  const rotated = await jsonOf<{ keyId: string }>(machine, ['agent', 'rotate-runtime-key', 'checkout-bot'])
  expect(rotated).toMatchObject({ rewrapped: 1, profile: 'checkout-bot' })
  expect(await bundleOf('checkout-bot')).not.toBe(old)
  expect((await machine.call(['agent', 'test', 'checkout-bot'])).code).toBe(0)
  const ref = 'prod/stripe/STRIPE_SECRET_KEY'
  const refused = await world.machine().spawn(['read', ref, '--json'], { env: { STRONGROOM_BUNDLE: old } })
  expect(refused.code).not.toBe(0)
  expect(refused.stdout).toBe('')
})

it('says who can give a vault key that is missing, with exit code 4', async () => {
  await machine.call(['vault', 'create', 'later'])
  await jsonOf<Created>(machine, ['agent', 'create', 'empty-bot'])
  const lonely = await machine.call(['agent', 'test', 'empty-bot', '--json'])
  expect(lonely.error()).toMatchObject({ code: 'no_wrapped_key', exitCode: 4 })
  expect(lonely.error().hint).toContain('strongroom vault share')
})

it('ends with a command that works: without a vault, with one, and with several', () => {
  const [prod, ci] = (['prod', 'ci west'] as const).map((vault) => ({ vault, role: 'read' as const }))
  if (!prod || !ci) throw new Error('two vaults')
  expect(nextFor({ name: 'bot', vaults: [] }, 'bot-2', '')).toBe('strongroom vault share VAULT --with bot')
  expect(nextFor({ name: 'bot', vaults: [prod] }, 'bot', 'KEY')).toBe('strongroom run --profile bot -- printenv KEY')
  expect(nextFor({ name: 'bot', vaults: [ci, prod] }, 'bot', '')).toBe(
    "strongroom run --profile bot --vault 'ci west' -- printenv",
  )
})

it('leaves no agent and no profile behind where making it failed', async () => {
  const before = await jsonOf<unknown[]>(machine, ['agent', 'list'])
  const refused = await machine.call(['agent', 'create', 'nobody', '--vault', 'nowhere', '--json'])
  expect(refused.error()).toMatchObject({ code: 'vault_not_found', exitCode: 5 })
  const wrong = await machine.call(['agent', 'create', 'nobody', '--vault', 'prod:owner', '--json'])
  expect(wrong.error()).toMatchObject({ code: 'usage', hint: expect.stringContaining(':read') })
  const permission = await machine.call(['agent', 'create', 'nobody', '--permission', 'machine.vault.reed', '--json'])
  expect(permission.error().hint).toContain('machine.vault.read')
  const taken = await machine.call(['agent', 'create', 'checkout-bot', '--vault', 'prod', '--json'])
  expect(taken.error()).toMatchObject({ code: 'name_taken', exitCode: 6 })
  expect(await jsonOf(machine, ['agent', 'list'])).toEqual(before)
  expect((await machine.call(['config', 'profiles'])).stdout).not.toMatch(/nobody|checkout-bot-2/)
  const nameless = await machine.call(['agent', 'create', '--json'])
  expect(nameless.error()).toMatchObject({ code: 'input_required', exitCode: 2 })
})

it('limits an agent in time and to networks, says so, and takes both away again', async () => {
  const create = ['agent', 'create', 'edge-bot', '--vault', 'prod', '--expires', '30d', '--network', '192.0.2.0/24']
  const ended = await machine.call([...create, '--network', '2001:DB8::/32'])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(ended.stdout).toMatch(/✓ Until {11}\d+ [A-Z][a-z]{2}.*\n✓ From {12}192\.0\.2\.0\/24, 2001:db8::\/32\n/)
  const refused = await machine.call(['agent', 'test', 'edge-bot', '--json'])
  expect(refused.error()).toMatchObject({ code: 'network_not_allowed', exitCode: 4 })
  expect(refused.error().message).toContain('127.0.0.1')

  const update = (...flags: string[]) => ['agent', 'update', 'edge-bot', ...flags]
  expect(await jsonOf(machine, update('--network', '127.0.0.1', '--expires', '2199-12-31'))).toMatchObject({
    expiresAt: '2199-12-31T00:00:00.000Z',
    networks: ['127.0.0.1'],
  })
  expect((await machine.call(['agent', 'test', 'edge-bot'])).code).toBe(0)
  const shown = (await machine.call(['agent', 'show', 'edge-bot'])).stdout
  expect(shown).toMatch(/^expires {3}\d+ [A-Z][a-z]{2} (2199|2200) \d\d:\d\d$/m)
  expect(shown).toMatch(/^networks {2}127\.0\.0\.1$/m)
  expect((await machine.call(['agent', 'list'])).stdout).toMatch(/^edge-bot +active +\d+ [A-Z][a-z]{2} (2199|2200) /m)

  for (const wrong of [
    ['--expires', 'soon'],
    ['--expires', '2027-02-30'],
    ['--expires', '30'],
    ['--network', '10.1.2.3/8'],
  ])
    expect((await machine.call([...update(...wrong), '--json'])).error()).toMatchObject({ code: 'usage', exitCode: 2 })
  const past = await machine.call([...update('--expires', '2020-01-01'), '--json'])
  expect(past.error()).toMatchObject({ code: 'validation_failed' })
  expect(await jsonOf(machine, update('--expires', 'never', '--network', 'any'))).toMatchObject({
    expiresAt: null,
    networks: [],
  })
  expect((await machine.call(['agent', 'show', 'edge-bot'])).stdout).not.toMatch(/^(expires|networks)/m)
})

it('changes, links and ends an agent; what does not come back asks first', async () => {
  expect(await jsonOf(machine, ['agent', 'update', 'checkout-bot', '--description', 'Charges cards'])).toMatchObject({
    description: 'Charges cards',
  })
  expect((await machine.call(['agent', 'update', 'checkout-bot', '--json'])).error().code).toBe('usage')
  expect(await jsonOf(machine, ['agent', 'roles', 'checkout-bot'])).toEqual({ direct: [], inherited: [] })
  const role = `${world.founder.tenantId}:TENANT_MEMBER`
  expect(await jsonOf(machine, ['agent', 'roles', 'checkout-bot', '--set', role])).toMatchObject({
    direct: [{ role: 'TENANT_MEMBER' }],
  })
  expect(await jsonOf(machine, ['agent', 'roles', 'checkout-bot', '--set', 'main:tenant_agent_manager'])).toEqual({
    direct: [{ tenantId: world.founder.tenantId, role: 'TENANT_AGENT_MANAGER' }],
    inherited: [],
  })
  const unknown = async (role: string) =>
    (await machine.call(['agent', 'roles', 'checkout-bot', '--set', role, '--json'])).error()
  expect(await unknown('nowhere:TENANT_MEMBER')).toMatchObject({
    code: 'tenant_not_found',
    hint: `there are: main (${world.founder.tenantId})`,
  })
  expect(await unknown('ten_0:TENANT_MEMBER')).toMatchObject({ hint: 'strongroom api GET /tenant' })
  expect(await unknown('main:EMPEROR')).toMatchObject({ hint: expect.stringContaining('TENANT_AGENT_MANAGER') })
  expect(await jsonOf(machine, ['agent', 'link-item', 'checkout-bot', 'prod/stripe'])).toMatchObject({
    vaultItem: { itemId: expect.any(String) },
  })
  expect((await machine.call(['agent', 'archive', 'checkout-bot', '--json'])).error().code).toBe(
    'confirmation_required',
  )
  expect((await machine.call(['agent', 'test', 'checkout-bot'])).code).toBe(0)
  expect(await jsonOf(machine, ['agent', 'archive', 'checkout-bot', '--yes'])).toMatchObject({ profileRemoved: true })
  expect((await machine.call(['agent', 'test', 'checkout-bot', '--json'])).code).toBe(5)
  expect((await machine.call(['agent', 'show', 'checkout-bt', '--json'])).error()).toMatchObject({
    code: 'agent_not_found',
    hint: expect.stringContaining('checkout-bot'),
  })
})

it('tells what a call of an agent would be answered, ends like the call would, and names what would help', async () => {
  await jsonOf<Created>(machine, ['agent', 'create', 'tried-bot', '--vault', 'prod', '--network', '192.0.2.0/24'])
  const environment = (...more: string[]) => ['agent', 'simulate', 'tried-bot', 'vaults.environmentFields', ...more]
  const inside = await machine.call(environment('--param', 'vaultId=prod', '--from', '192.0.2.7'))
  expect(inside).toMatchObject({ code: 0, stderr: '' })
  expect(inside.stdout).toMatch(/^✓ {2}network {4,}passed/m)
  expect(inside.stdout).toContain('answered: 200')
  expect(await jsonOf(machine, environment('--param', 'vaultId=prod'))).toMatchObject({
    outcome: 'admitted',
    checks: expect.arrayContaining([{ check: 'network', result: 'not_tried', reason: expect.any(String) }]),
  })

  const outside = await machine.call(environment('--param', 'vaultId=prod', '--from', '198.51.100.9'))
  expect(outside.code).toBe(4)
  expect(outside.stdout).toContain('refused: 403 network_not_allowed')
  expect(outside.stdout).toContain(
    'Try strongroom agent update tried-bot --network 192.0.2.0/24 --network 198.51.100.9',
  )
  const closed = await machine.call(environment('--param', 'vaultId=later', '--from', '192.0.2.7', '--json'))
  expect(closed.code).toBe(5)
  expect(closed.json().data).toMatchObject({ outcome: 'refused', refusal: { code: 'vault_not_found' } })

  const nameless = await machine.call(environment('--json'))
  expect(nameless.error()).toMatchObject({ code: 'usage', hint: 'give --param vaultId=…' })
  const unknown = await machine.call(['agent', 'simulate', 'tried-bot', 'vaults.lisst', '--json'])
  expect(unknown.error()).toMatchObject({ code: 'usage', hint: 'did you mean vaults.list?' })
})
