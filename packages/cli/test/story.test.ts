import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CONFIRMATIONS, scan, startTokens } from '../../server/test/chain/funding-world.ts'
import { tellAll } from '../../server/test/operator.ts'
import { type LicenseWork, workOnLicensesOf } from '../../server/test/provider/background.ts'
import { type Receiver, startReceiver, toLoopback } from '../../server/test/webhook-receiver.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// One story from a payment on a chain to a refund, told by the commands that people type, with a real chain, a real receiver and an
// independent verifier of what it receives. Catches parts that work alone and not together: credit that a purchase cannot use, a licence
// that `run` does not find, a charge that is missing in its month, a refund of another amount than the ledger says, events that are not
// sent or not signed.
// Seen red: no charge for a purchase; a refund that is said and not credited; the events of purchases not told.

let world: World
let machine: Machine
let receiver: Receiver
let work: LicenseWork
let tokens: Awaited<ReturnType<typeof startTokens>>
const AGENT = ['--profile', 'checkout-bot']

beforeAll(async () => {
  tokens = await startTokens()
  receiver = await startReceiver()
  receiver.answer((response) => response.writeHead(204).end())
  world = await startWorld({ chain: tokens.config, egress: toLoopback() })
  machine = await world.founderMachine()
  work = workOnLicensesOf(world.h)
})
afterAll(async () => {
  await work?.stop()
  await world?.close()
  receiver?.close()
  await tokens?.chain.close()
})

const available = async (): Promise<bigint> =>
  BigInt((await jsonOf<{ available: { amount: string } }>(machine, ['billing', 'balance'])).available.amount)

async function payIn(amount: string, micros: bigint): Promise<void> {
  await scan(world.h, tokens.config)
  const fund = ['billing', 'fund', amount, '--asset', 'TUSD', '--no-wait']
  const { address, intentId } = await jsonOf<{ address: string; intentId: string }>(machine, fund)
  await tokens.chain.transfer(tokens.token, address, micros)
  await tokens.chain.mine(CONFIRMATIONS)
  await scan(world.h, tokens.config)
  expect(await jsonOf(machine, ['billing', 'intent', intentId])).toMatchObject({ status: 'funded' })
}

interface Charges {
  readonly licenses: readonly { readonly licenseInstanceId: string; readonly subtotal: { readonly amount: string } }[]
}

const isMonth = (days: number): boolean => days >= 28 && days <= 31

/** What the receiver got, as the independent verifier reads it. */
const told = (secret: string): { readonly type: string }[] =>
  receiver.received.map(
    ({ headers, body }) => new Webhook(secret).verify(body, headers as Record<string, string>) as { type: string },
  )

it('funds, budgets, buys, hands off, runs, charges, ends and refunds, and tells of all of it', async () => {
  const hook = ['webhook', 'create', `${receiver.url}/hook`, '--events', 'license.*,billing.*,budget.*']
  const { secret } = await jsonOf<{ secret: string }>(machine, hook)
  await payIn('50', 50_000_000n)
  expect(await available()).toBe(50_000_000n)

  const create = ['agent', 'create', 'checkout-bot', '--permission', 'machine.all', '--yes']
  expect((await machine.call(create)).code).toBe(0)
  await jsonOf(machine, ['budget', 'create', 'checkout-bot', '--daily', '20'])

  const buy = ['license', 'buy', 'sandbox-monthly', '--vault', 'new:mailer', '--yes', ...AGENT]
  const { licenseInstanceId } = await jsonOf<{ licenseInstanceId: string }>(machine, buy)
  expect(await available()).toBe(37_500_000n)
  const second = await machine.call([...buy.slice(0, 4), 'new:other', '--yes', ...AGENT, '--json'])
  expect(second.error()).toMatchObject({ code: 'budget_exceeded', exitCode: 8 })

  const script = 'process.exit(process.env.SANDBOX_LICENSE_KEY.startsWith("key/") ? 7 : 1)'
  const run = await machine.spawn([
    'run',
    '--license',
    'sandbox-monthly',
    ...AGENT,
    '--',
    process.execPath,
    '-e',
    script,
  ])
  expect(run.code, run.stderr).toBe(7)

  // The price is charged day by day: on the first day it is one of as many as the period has.
  const [today] = (await jsonOf<Charges>(machine, ['billing', 'charges'])).licenses
  const days = 12_500_000 / Number(today?.subtotal.amount)
  expect([today?.licenseInstanceId, Math.round(days)]).toEqual([licenseInstanceId, expect.toSatisfy(isMonth)])

  const end = ['license', 'terminate', 'sandbox-monthly', '--yes', ...AGENT]
  const { refund } = await jsonOf<{ refund: { amount: string } }>(machine, end)
  expect(await available()).toBe(37_500_000n + BigInt(refund.amount))
  const [kept] = (await jsonOf<Charges>(machine, ['billing', 'charges'])).licenses
  expect(BigInt(kept?.subtotal.amount ?? 0) + BigInt(refund.amount)).toBe(12_500_000n)

  await tellAll(world.h)
  const types = new Set(told(secret).map(({ type }) => type))
  for (const type of [
    'billing.funding_intent.funded',
    'billing.balance.credited',
    'budget.created',
    'budget.exceeded',
    'license.purchase.reserved',
    'license.purchase.awaiting_handoff',
    'license.purchase.completed',
    'license.activated',
    'billing.charge.posted',
    'license.termination.completed',
    'license.terminated',
  ])
    expect([...types], type).toContain(type)
}, 240_000)
