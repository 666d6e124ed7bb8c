import { HDKey } from '@scure/bip32'
import { money } from '@strongroom/contract'
import { createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness, type TestAgent } from '../../test/harness.ts'
import { makeDirectory, operatorOf } from '../../test/operator-seed.ts'
import { readChain } from '../chain/chain-config.ts'
import * as scan from '../modules/funding/scan-store.ts'
import { backup } from './backup.ts'
import { restore } from './restore.ts'

// Catches: a deposit address that two organisations were told. Seen red: a gap of a fixed size, which the second restore of one backup
// lands in again.

const TOKEN = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const chain = readChain({
  STRONGROOM_CHAIN_RPC: 'http://127.0.0.1:9',
  STRONGROOM_CHAIN_ID: '8453',
  STRONGROOM_CHAIN_XPUB: HDKey.fromMasterSeed(new Uint8Array(32).fill(9)).derive("m/44'/60'/0'/0").publicExtendedKey,
  STRONGROOM_CHAIN_ASSETS: JSON.stringify([{ symbol: 'USDC', contract: TOKEN, decimals: 6 }]),
})
const directory = makeDirectory()
let source: Harness
let agent: TestAgent
beforeAll(async () => {
  source = await startHarness({ chain })
  const asset = { symbol: 'USDC', contract: TOKEN.toLowerCase(), decimals: 6 }
  await source.worker.kysely.transaction().execute(async (db) => {
    await scan.keepAsset(db, 8453, asset, source.deps.now())
    await scan.startCursor(db, 8453, 100, source.deps.now())
  })
  agent = await source.agent(await source.org('acme'), ['machine.billing.all'])
})
afterAll(async () => {
  await source.close()
  directory.remove()
})

const addresses = async (client: TestAgent['client'], count: number): Promise<string[]> => {
  const given: string[] = []
  for (let i = 0; i < count; i++)
    given.push((await client.funding.createIntent({ body: { amount: money('5000000') } })).address)
  return given
}

/** What a server gives out that was restored from the backup. */
async function afterRestore(file: string, hoursLater: number): Promise<string[]> {
  const target = await startHarness({ chain })
  target.advance(hoursLater * 3_600_000)
  try {
    await restore(operatorOf(target), file)
    const started = await target.sibling()
    const given = await addresses(createClient({ baseUrl: started.url, apiKey: agent.apiKey }), 3)
    await started.close()
    return given
  } finally {
    await target.close()
  }
}

it('gives no address twice, neither after a restore nor after a second one of the same backup', async () => {
  const before = await addresses(agent.client, 2)
  const file = directory.path('one.srb')
  await backup(operatorOf(source), file)
  const lost = await addresses(agent.client, 3)
  const all = [...before, ...lost, ...(await afterRestore(file, 0)), ...(await afterRestore(file, 1))]
  expect(new Set(all).size).toBe(11)
})
