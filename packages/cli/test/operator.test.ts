import { afterAll, beforeAll, expect, it } from 'vitest'
import { seedOperator } from '../../server/test/principals.ts'
import { shortDuration } from '../src/output/time.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// What the operator does at the command line beside the host: the catalogue, and how the server is. Catches: an offer of the file that is sent all the same, one that is put on sale
// without being asked for, somebody else who may; a number that waits without its age, a chain nobody sees, or sees where there is none. Seen
// red: `source` sent along, offers of the file sent, no question; ages left out, the chain left out, the chain always there, a chain that nobody could
// read left out.

let world: World
let machine: Machine
let env: Record<string, string>
beforeAll(async () => {
  world = await startWorld()
  machine = world.machine()
  const { apiKey } = await seedOperator(world.h, world.founder)
  env = { STRONGROOM_SERVER: world.url, STRONGROOM_API_KEY: apiKey }
})
afterAll(() => world.close())

const words = (...more: string[]): string[] => ['admin', 'catalogue', ...more]
const refused = async (args: readonly string[], code: string, exitCode: number, own = env) => {
  const ended = await machine.call([...args, '--json'], { env: own })
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
}

interface Offer {
  readonly licenseId: string
  readonly status: string
  readonly source: string
}
const offer = {
  licenseId: 'mail-pro',
  ...{ name: 'Mail Pro', description: 'Mail', provider: 'builtin', sku: 'MP1', term: 'month' },
  price: { amount: '12500000', currency: 'USD', scale: 6 },
  fields: [{ label: 'MAIL_KEY', isEnvironmentVariable: true }],
}
const named = async (): Promise<string[]> =>
  (await jsonOf<Offer[]>(machine, words('list'), env)).map((one) => `${one.licenseId} ${one.source} ${one.status}`)
const FROM_FILE = ['sandbox-monthly file available', 'sandbox-once file available']

it('puts on sale what a file lists, changes it by the list it prints, and takes it off', async () => {
  expect(await named()).toEqual(FROM_FILE)
  machine.file('offers.json', JSON.stringify([offer]))
  await refused(words('apply', 'offers.json'), 'confirmation_required', 2)
  expect(await named()).toEqual(FROM_FILE)
  await jsonOf(machine, words('apply', 'offers.json', '--yes'), env)
  expect(await named()).toEqual([...FROM_FILE, 'mail-pro api available'])
  const printed = await machine.call(words('list', '--json'), { env })
  machine.file('printed.json', printed.stdout.replace('"sku":"MP1"', '"sku":"MP2"'))
  const after = await jsonOf<Offer[]>(machine, words('apply', 'printed.json', '--yes'), env)
  expect(after.at(-1)).toMatchObject({ licenseId: 'mail-pro', sku: 'MP2' })
  expect((await machine.call(words('list'), { env })).stdout).toMatch(/mail-pro +Mail Pro +builtin +12\.50 USD month/)
  await refused(words('remove', 'mail-pro'), 'confirmation_required', 2)
  await jsonOf(machine, words('remove', 'mail-pro', '--yes'), env)
  expect(await named()).toEqual(FROM_FILE)
})

it('says how the process that answers is, to the operator alone', async () => {
  const { stdout } = await machine.call(['system'], { env })
  expect(stdout).toMatch(/connections +\d+ of \d+ in use/)
  expect(await jsonOf(machine, ['system'], env)).toMatchObject({ sessions: { users: 1 } })
  const { orgId, tenantId } = world.founder
  const { apiKey } = await world.h.agent({ orgId, tenantId }, ['machine.all'])
  await refused(['system'], 'global_admin_required', 4, { ...env, STRONGROOM_API_KEY: apiKey })
  await refused(['system'], 'not_signed_in', 3, { STRONGROOM_SERVER: world.url })
})

it('says how long what waits has waited, and how far the chain is read where there is one', async () => {
  const { telemetry, now } = world.h.deps
  const before = (ms: number): Date => new Date(now().getTime() - ms)
  const said = async () => (await machine.call(['system'], { env })).stdout
  expect(await said()).toMatch(/^events +0 waiting\ndeliveries +0 due\nfor a human +0 in review/m)
  telemetry.backlog.saw({
    ...telemetry.backlog.read(),
    ...{ eventsWaiting: 3, oldestEvent: before(125_000), deliveriesDue: 1, oldestDelivery: before(7_500_000) },
    ...{ chainBehindBlocks: 12, chainReadAt: before(200_000_000) },
  })
  const text = await said()
  expect(text).toMatch(/^events +3 waiting, the oldest for 2 min$/m)
  expect(text).toMatch(/^deliveries +1 due, the oldest for 2 h 5 min$/m)
  expect(text).toMatch(/^chain +12 blocks behind, read 2 d 7 h ago$/m)
  expect(shortDuration(41_999)).toBe('41 s')
  // One that is set up and that nobody could read is not left out, and was not read just now.
  const { config } = world.h.deps
  const chain = { rpcUrls: ['http://127.0.0.1:9'] } as unknown as NonNullable<typeof config.chain>
  telemetry.backlog.saw({ ...telemetry.backlog.read(), chainBehindBlocks: null, chainReadAt: null })
  Object.assign(config, { chain })
  expect(await said()).toMatch(/^chain +not read yet: no node of STRONGROOM_CHAIN_RPC has answered$/m)
  const metrics = await (await fetch(`${world.url}/metrics`)).text()
  expect(metrics).toMatch(/^strongroom_chain_read_age_seconds \+Inf$/m)
  Object.assign(config, { chain: undefined })
})

it('refuses what is no list of offers, what the file of the server names, and everybody else', async () => {
  machine.file('broken.json', 'nope')
  machine.file('other.json', '{"data":[{"name":"Mail Pro"}]}')
  machine.file('wrong.json', JSON.stringify([{ ...offer, provider: 'nobody-such' }]))
  await refused(words('apply', 'broken.json', '--yes'), 'usage', 2)
  await refused(words('apply', 'other.json', '--yes'), 'usage', 2)
  await refused(words('apply', 'none.json', '--yes'), 'file_unreadable', 6)
  await refused(words('apply', '--yes'), 'usage', 2)
  await refused(words('apply', 'wrong.json', '--yes'), 'catalogue_offer_invalid', 6)
  expect((await machine.call(words('apply', 'wrong.json', '--yes'), { env })).stderr).toContain(
    'mail-pro was not taken',
  )
  await refused(words('remove', 'sandbox-once', '--yes'), 'catalogue_offer_in_file', 6)
  await refused(words('remove', 'mail-pro', '--yes'), 'license_not_found', 5)
  await refused(words('sell'), 'usage', 2)
  const founder = await world.founderMachine()
  expect((await founder.call(words('list', '--json'))).error()).toMatchObject({ code: 'not_signed_in', exitCode: 3 })
  const { orgId, tenantId } = world.founder
  const agent = await world.h.agent({ orgId, tenantId }, ['machine.all'])
  await refused(words('list'), 'global_admin_required', 4, { ...env, STRONGROOM_API_KEY: agent.apiKey })
  expect(await named()).toEqual(FROM_FILE)
})
