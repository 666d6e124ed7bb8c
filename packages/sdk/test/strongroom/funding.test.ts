import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FundingWorld, startFundingWorld } from '../../../server/test/chain/funding-world.ts'
import type { FundingIntent } from '../../src/strongroom/funding.ts'
import type { StrongroomOptions } from '../../src/strongroom/options.ts'
import { Strongroom } from '../../src/strongroom/strongroom.ts'
import { errorOf } from './world.ts'

// Waiting for money on a real chain. Catches: waiting that ends before it is credited or never, progress that is told twice or not, a
// network that is gone for a moment taken for the end, an intent of another organisation.
// Seen red: ending at the first confirmation, progress told at every look, any error ends it, a partly paid intent waited for for ever.

let w: FundingWorld
let client: Strongroom
beforeAll(async () => {
  w = await startFundingWorld()
  await w.tick()
  client = connect()
})
afterAll(() => w.close())

const connect = (more: StrongroomOptions = {}): Strongroom =>
  new Strongroom({ server: w.h.url, apiKey: w.acme.apiKey, ...more })
const usd = (dollars: number) => ({ amount: `${dollars}000000`, currency: 'USD', scale: 6 }) as const
const fund = (strongroom = client): Promise<FundingIntent> => strongroom.billing.fund({ amount: usd(5), asset: 'TUSD' })

const standing = ({ status, deposits }: FundingIntent): string =>
  [status, ...deposits.map(({ state, confirmations }) => `${state} ${Math.min(confirmations, 3)}`)].join(', ')

it('waits until it is credited, and tells each step once', async () => {
  const intent = await fund()
  const { chain, token } = w
  const steps = [
    () => chain.transfer(token, intent.address, 5_000_000n).then(() => w.tick()),
    () => chain.mine().then(() => w.tick()),
    () => chain.mine().then(() => w.tick()),
  ]
  const told: string[] = []
  let taken: Promise<unknown> = Promise.resolve()
  const funded = await intent.wait({
    interval: 5,
    onProgress: (now) => {
      told.push(standing(now))
      const step = steps.shift()
      if (step) taken = taken.then(step)
    },
  })
  await taken
  // The number of the newest block is known a moment before what it confirms is credited.
  expect(told.filter((step) => step !== 'processing, seen 3')).toEqual([
    'requires_payment',
    'processing, seen 1',
    'processing, seen 2',
    'funded, credited 3',
  ])
  expect(funded).toMatchObject({ status: 'funded', credited: usd(5) })
  // Whoever comes later waits for nothing.
  expect((await (await client.billing.intent(intent.intentId)).wait()).status).toBe('funded')
  const [newest] = await client.billing.intents().all()
  expect(newest).toMatchObject({ intentId: intent.intentId, status: 'funded' })
})

it('is not ended by a network that is gone for a while, and ends with its signal', async () => {
  let asked = 0
  const network: typeof fetch = (input, init) => {
    asked += 1
    return asked > 1 && asked < 5 ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init)
  }
  const intent = await fund(connect({ fetch: network, maxRetries: 0 }))
  await w.chain.transfer(w.token, intent.address, 5_000_000n)
  await w.settle()
  expect((await intent.wait({ interval: 5 })).status).toBe('funded')
  expect(asked).toBeGreaterThanOrEqual(5)
  const waiting = await fund()
  const ended = new AbortController()
  const over = waiting.wait({ signal: ended.signal, onProgress: () => ended.abort() })
  expect(await errorOf(over)).toMatchObject({ name: 'AbortError' })
})

it('ends with a reason when it is not going to be credited by itself', async () => {
  const [cancelled, expired, partly, wrong] = [await fund(), await fund(), await fund(), await fund()]
  await client.billing.cancelIntent(cancelled.intentId)
  await w.chain.transfer(w.token, partly.address, 1_000_000n)
  await w.chain.transfer(w.otherToken, wrong.address, 5_000_000n)
  await w.settle()
  await w.h.worker.pool.query(
    "update funding_intent set expires_at = now() - interval '1 hour' where intent_id = any($1)",
    [[expired.intentId, partly.intentId]],
  )
  const codes = []
  for (const { intentId } of [cancelled, expired, partly, wrong])
    codes.push((await errorOf((await client.billing.intent(intentId)).wait({ interval: 5 }))).code)
  expect(codes).toEqual(['funding_cancelled', 'funding_expired', 'funding_incomplete', 'funding_in_review'])
})

it('refuses an amount and an asset that are not taken, and knows nothing of another organisation', async () => {
  const { intentId } = await fund()
  expect(await errorOf(client.billing.fund({ amount: usd(5), asset: 'DOGE' }))).toMatchObject({
    code: 'funding_asset_unsupported',
  })
  expect(await errorOf(client.billing.fund({ amount: { ...usd(5), amount: '1' }, asset: 'TUSD' }))).toMatchObject({
    code: 'funding_amount_out_of_range',
  })
  const other = connect({ apiKey: w.other.apiKey })
  expect(await errorOf(other.billing.intent(intentId))).toMatchObject({ code: 'funding_intent_not_found' })
  expect(await other.billing.intents().all()).toEqual([])
})
