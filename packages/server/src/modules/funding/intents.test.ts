import { HDKey } from '@scure/bip32'
import { money } from '@strongroom/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { outcomes } from '../../../test/people.ts'
import { addressOf, checksummed } from '../../chain/addresses.ts'
import { readChain } from '../../chain/chain-config.ts'
import { inOrg } from '../../context.ts'
import * as scan from './scan-store.ts'

// Asking for addresses, without a chain: what happens on one is tested with a real node in test/chain.
//
// Seen red: no lock around the count of those that wait; no limit for a day; addresses counted by organisation; any amount taken; an
// intent cancelled that has expired.

const account = HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/60'/0'/0")
const TOKEN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const chain = readChain({
  STRONGROOM_CHAIN_RPC: 'http://127.0.0.1:9',
  STRONGROOM_CHAIN_ID: '8453',
  STRONGROOM_CHAIN_XPUB: account.publicExtendedKey,
  STRONGROOM_CHAIN_ASSETS: JSON.stringify([{ symbol: 'USDC', contract: TOKEN, decimals: 6 }]),
})

let h: Harness
let acme: { orgId: string; tenantId: string }
let agent: TestAgent
let foreign: TestAgent
beforeAll(async () => {
  h = await startHarness({ chain })
  acme = await h.org('acme')
  agent = await h.agent(acme, ['machine.billing.all'])
  foreign = await h.agent(await h.org('other'), ['machine.billing.all'])
  const asset = { symbol: 'USDC', contract: TOKEN.toLowerCase(), decimals: 6 }
  await h.worker.kysely.transaction().execute(async (db) => {
    await scan.keepAsset(db, 8453, asset, h.deps.now())
    await scan.startCursor(db, 8453, 100, h.deps.now())
  })
})
afterAll(() => h.close())

const create = ({ client }: TestAgent, amount = 5_000_000n) =>
  client.funding.createIntent({ body: { amount: money(amount) } })

const rowsOf = ({ orgId }: { orgId: string }): Promise<number> =>
  inOrg(h.deps, orgId, async (db) => (await db.selectFrom('funding_intent').select('intent_id').execute()).length)

it('gives every intent an address of its own, which the private half of the key can spend from', async () => {
  const intents = await Promise.all([agent, foreign, agent, foreign, agent].map((who) => create(who)))
  const own = Array.from({ length: 60 }, (_, index) =>
    addressOf(account.deriveChild(index).publicKey ?? new Uint8Array()),
  )
  expect(new Set(intents.map(({ address }) => address)).size).toBe(5)
  for (const { address } of intents) expect(own.map(checksummed)).toContain(address)
})

it('answers with everything a wallet needs', async () => {
  const intent = await create(agent, 12_345_678n)
  expect(intent).toMatchObject({
    status: 'requires_payment',
    exceptions: [],
    target: money(12_345_678n),
    credited: money(0n),
    asset: { symbol: 'USDC', chainId: 8453, contract: TOKEN, decimals: 6 },
    network: 'eip155:8453',
    account: `eip155:8453:${intent.address}`,
    paymentUri: `ethereum:${TOKEN}@8453/transfer?address=${intent.address}&uint256=12345678`,
    confirmationsRequired: 12,
    cancelledAt: null,
  })
  expect(Date.parse(intent.expiresAt) - Date.parse(intent.createdAt)).toBe(86_400_000)
  expect(await agent.client.funding.getIntent({ params: { id: intent.intentId } })).toEqual(intent)
})

it('lists the intents of the organisation and none of another', async () => {
  const { data, meta } = await agent.client.funding.listIntents({ query: { page: 1, limit: 2 } })
  expect([data.length, meta?.total]).toEqual([2, await rowsOf(acme)])
  const theirs = (await foreign.client.funding.listIntents()).data.map(({ intentId }) => intentId)
  const mine = (await agent.client.funding.listIntents()).data.map(({ intentId }) => intentId)
  expect([theirs.length > 0, theirs.some((id) => mine.includes(id))]).toEqual([true, false])
})

it('refuses what makes no sense, and makes nothing then', async () => {
  const before = await rowsOf(acme)
  const body = (amount: string, asset?: string) => ({
    body: { amount: { ...money(0n), amount }, ...(asset !== undefined && { asset }) },
  })
  const { funding } = agent.client
  expect(
    await outcomes([
      funding.createIntent(body('999999')),
      funding.createIntent(body('1000000000001')),
      funding.createIntent(body('5000000', 'DOGE')),
      funding.createIntent(body('-5')),
      funding.createIntent(body('5.5')),
    ]),
  ).toEqual([
    'funding_amount_out_of_range',
    'funding_amount_out_of_range',
    'funding_asset_unsupported',
    'validation_failed',
    'validation_failed',
  ])
  expect(await rowsOf(acme)).toBe(before)
})

it('is refused to who lacks the permission, and hides the intents of others', async () => {
  const { intentId: id } = await create(agent)
  const reader = await h.agent(acme, ['machine.billing.read'])
  const nobody = await h.agent(acme, ['machine.budget.all'])
  const params = { id }
  expect(
    await outcomes([
      create(reader),
      reader.client.funding.cancelIntent({ params }),
      nobody.client.funding.listIntents(),
      nobody.client.funding.getIntent({ params }),
      foreign.client.funding.getIntent({ params }),
      foreign.client.funding.cancelIntent({ params }),
    ]),
  ).toEqual([...Array(4).fill('machine_permission_denied'), 'funding_intent_not_found', 'funding_intent_not_found'])
  expect((await reader.client.funding.getIntent({ params })).status).toBe('requires_payment')
})

it('is cancelled once, while it waits; afterwards it is too late', async () => {
  const [first, second] = [await create(agent), await create(agent)]
  const cancel = ({ intentId }: typeof first) => agent.client.funding.cancelIntent({ params: { id: intentId } })
  const done = await cancel(first)
  expect([done.status, done.version]).toEqual(['cancelled', 2])
  expect(await cancel(first)).toEqual(done)
  h.advance(25 * 3_600_000)
  const { client } = agent
  expect((await client.funding.getIntent({ params: { id: second.intentId } })).status).toBe('expired')
  expect(await outcomes([cancel(second)])).toEqual(['funding_intent_not_cancellable'])
  const { data } = await client.funding.listIntents()
  expect(data.find(({ intentId }) => intentId === second.intentId)?.cancelledAt).toBeNull()
})

it('makes no more than two hundred in a day, however many of them are cancelled', async () => {
  const org = await h.org('restless')
  const restless = await h.agent(org, ['machine.billing.all'])
  const { intentId } = await create(restless)
  await restless.client.funding.cancelIntent({ params: { id: intentId } })
  await inOrg(h.deps, org.orgId, (db) =>
    sql`
      insert into funding_intent (org_id, intent_id, address_index, address, chain_id, symbol, contract, decimals, target, expires_at,
        cancelled_at, status, created_by, created_at)
      overriding system value
      select org_id, intent_id || n, address_index + 1000 + n, '0x' || lpad(to_hex(n), 40, '0'), chain_id, symbol, contract, decimals,
        target, expires_at, cancelled_at, status, created_by, created_at
      from funding_intent, generate_series(1, 199) n`.execute(db),
  )
  expect(await outcomes([create(restless)])).toEqual(['funding_intent_limit'])
  h.advance(25 * 3_600_000)
  expect((await create(restless)).status).toBe('requires_payment')
})

it('lets no more than fifty wait at once, also when all are asked for together', async () => {
  const busy = await h.agent(await h.org('busy'), ['machine.billing.all'])
  const told = await outcomes(Array.from({ length: 55 }, () => create(busy)))
  expect(told.filter((outcome) => outcome === 'funding_intent_limit')).toHaveLength(5)
  const { data } = await busy.client.funding.listIntents()
  expect(data).toHaveLength(50)
})

it('has no rail for cards, and says so', async () => {
  const { funding } = agent.client
  expect(
    await outcomes([funding.listPaymentMethods(), funding.removePaymentMethod(), funding.createSetupIntent()]),
  ).toEqual(Array(3).fill('billing_rail_not_configured'))
})
