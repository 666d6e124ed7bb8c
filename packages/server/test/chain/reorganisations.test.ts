import { type FundingIntent, money } from '@strongroom/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChainNode, openNodes } from '../../src/chain/node.ts'
import { inOrg } from '../../src/context.ts'
import { applyTransfers } from '../../src/ledger/ledger.ts'
import { CONFIRMATIONS, type FundingWorld, startFundingWorld } from './funding-world.ts'
import { inAnotherPlace, reorganise, signedPayment } from './reorganise.ts'

// The chain becomes another one, on a real node: what was paid is gone, comes back, or comes back elsewhere in its block.
//
// Seen red: deposits named by the index of their log in the block; blocks not remembered, or not compared; a payment that is gone kept;
// one that was credited and is gone treated like one that was not; nothing taken back, or more than there is; nothing given back, or
// credited a second time; other nodes not asked; a node that is behind believed; the block below what is read not looked at again.
// Logs, blocks and receipts of two chains are told apart in three ways, each of which is enough in the test for it.

let w: FundingWorld
beforeAll(async () => {
  w = await startFundingWorld()
  await w.tick()
})
afterAll(() => w.close())

const states = ({ deposits }: FundingIntent): string[] => deposits.map(({ state }) => state)

async function spend(id: string, amount: bigint): Promise<void> {
  const { h, acme } = w
  const transfer = { id: `test:${id}`, group: id, code: 'charge', refType: 'test', refId: id, phase: 'single' } as const
  await inOrg(h.deps, acme.orgId, (db) =>
    applyTransfers(db, acme.orgId, [{ ...transfer, dr: 'credit', cr: 'payable:test', amount }], h.deps.now()),
  )
}

const logIndex = async (txHash: string): Promise<number> => {
  const { logs } = await w.chain.rpc<{ logs: { logIndex: string }[] }>('eth_getTransactionReceipt', [txHash])
  return Number(logs[0]?.logIndex)
}

describe('before it was credited', () => {
  it('a payment that is gone is not credited; when it is paid again, it is credited once', async () => {
    const { acme, chain, token } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.mine()
    await w.tick()
    const snapshot = await chain.snapshot()
    await chain.transfer(token, intent.address, 5_000_000n)
    await w.tick()
    expect(await acme.read(intent)).toMatchObject({ status: 'processing' })
    await reorganise(w.chain, snapshot)
    await w.tick()
    const gone = await acme.read(intent)
    expect(gone).toMatchObject({ status: 'requires_payment', incoming: money(0n) })
    expect(states(gone)).toEqual(['orphaned'])
    await w.settle()
    expect(await acme.available()).toBe(before)
    await chain.transfer(token, intent.address, 5_000_000n, { gasPrice: 30_000_000_000n })
    await w.settle()
    expect(await acme.read(intent)).toMatchObject({ status: 'funded' })
    expect(await acme.available()).toBe(before + 5_000_000n)
    expect(await acme.told(intent)).toEqual([
      'funding_intent.created',
      'deposit.seen',
      'funding_intent.processing',
      'deposit.orphaned',
      'deposit.seen',
      'funding_intent.processing',
      'deposit.credited',
      'funding_intent.funded',
      'balance.credited',
    ])
  })

  it('the same transaction in another block, with another index of its log, is credited once', async () => {
    const { acme, chain } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    const pay = await signedPayment(w, intent, 5_000_000n)
    const snapshot = await chain.snapshot()
    const txHash = await pay()
    expect(await logIndex(txHash)).toBe(0)
    await w.tick()
    await reorganise(w.chain, snapshot, inAnotherPlace(w, pay))
    expect(await logIndex(txHash)).toBe(1)
    await w.tick()
    await w.settle()
    await w.settle()
    const { deposits, status } = await acme.read(intent)
    expect([status, deposits.length, deposits[0]?.ordinal]).toEqual(['funded', 1, 0])
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('says nothing while the node knows less than was read', async () => {
    const { acme, chain, token } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    const snapshot = await chain.snapshot()
    await chain.transfer(token, intent.address, 5_000_000n)
    await chain.mine()
    await w.tick()
    await chain.revert(snapshot)
    expect(await w.tick()).toBe('behind')
    expect(await acme.read(intent)).toMatchObject({ status: 'processing' })
    await w.chain.mine(5)
    await w.tick()
    expect(states(await acme.read(intent))).toEqual(['orphaned'])
    expect(await acme.available()).toBe(before)
  })

  it('does not mix two chains when it changes while it is read', async () => {
    const { acme, chain, token, config } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.mine()
    const snapshot = await chain.snapshot()
    await chain.transfer(token, intent.address, 5_000_000n)
    const [node] = openNodes(config.rpcUrls)
    if (!node) throw new Error('no node')
    const changing: ChainNode = {
      ...node,
      transfersTo: async (query) => {
        const logs = await node.transfersTo(query)
        await reorganise(w.chain, snapshot)
        return logs
      },
    }
    await expect(w.tick([changing])).rejects.toMatchObject({ failure: 'changed' })
    await w.settle()
    expect((await acme.read(intent)).deposits).toEqual([])
    expect(await acme.available()).toBe(before)
  })
})

describe('after it was credited', () => {
  it('a payment that is gone is taken back into suspense, and given back when it is there again', async () => {
    const { acme, chain } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    const pay = await signedPayment(w, intent, 5_000_000n)
    const snapshot = await chain.snapshot()
    const txHash = await pay()
    await w.settle()
    expect(await acme.available()).toBe(before + 5_000_000n)
    await reorganise(w.chain, snapshot)
    await w.tick()
    const gone = await acme.read(intent)
    expect(gone).toMatchObject({ status: 'in_review', exceptions: ['reorged'], credited: money(0n) })
    expect(states(gone)).toEqual(['reversed'])
    expect([await acme.available(), await acme.account('suspense')]).toEqual([before, 5_000_000n])
    await w.settle()
    expect(await acme.available()).toBe(before)
    expect(await pay()).toBe(txHash)
    await w.settle()
    expect(await acme.read(intent)).toMatchObject({ status: 'funded', exceptions: [] })
    expect([await acme.available(), await acme.account('suspense')]).toEqual([before + 5_000_000n, 0n])
  })

  it('the same transaction in another block, with another index of its log, is not credited again', async () => {
    const { acme, chain } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    const pay = await signedPayment(w, intent, 5_000_000n)
    const snapshot = await chain.snapshot()
    const txHash = await pay()
    await w.settle()
    await reorganise(w.chain, snapshot, inAnotherPlace(w, pay))
    expect(await logIndex(txHash)).toBe(1)
    await w.tick()
    await w.settle()
    expect((await acme.read(intent)).deposits).toMatchObject([{ txHash, ordinal: 0, state: 'credited' }])
    expect(await acme.read(intent)).toMatchObject({ status: 'funded', exceptions: [] })
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('what was spent meanwhile is taken from what comes later, and never more than is there', async () => {
    const { acme, chain, token } = w
    const [intent, next] = [await acme.intent(5_000_000n), await acme.intent(9_000_000n)]
    const snapshot = await chain.snapshot()
    await chain.transfer(token, intent.address, 5_000_000n)
    await w.settle()
    await spend('most', (await acme.available()) - 2_000_000n)
    await reorganise(w.chain, snapshot)
    await w.tick()
    expect([await acme.available(), await acme.account('suspense')]).toEqual([0n, 2_000_000n])
    await w.settle()
    await chain.transfer(token, next.address, 9_000_000n, { gasPrice: 40_000_000_000n })
    await w.settle()
    expect([await acme.available(), await acme.account('suspense')]).toEqual([6_000_000n, 5_000_000n])
    expect(await acme.read(intent)).toMatchObject({ status: 'in_review' })
    expect(await acme.read(next)).toMatchObject({ status: 'funded' })
  })

  it('nothing is taken back while another node still has it', async () => {
    const { other, chain, token, config } = w
    const [before, intent] = [await other.available(), await other.intent(5_000_000n)]
    const snapshot = await chain.snapshot()
    await chain.transfer(token, intent.address, 5_000_000n)
    await w.settle()
    const [node] = openNodes(config.rpcUrls)
    const { deposits } = await other.read(intent)
    const txHash = deposits[0]?.txHash ?? ''
    const [receipt, header] = [await node?.receipt(txHash), await node?.header(deposits[0]?.blockNumber ?? 0)]
    if (!node) throw new Error('no node')
    const old: ChainNode = { ...node, receipt: async () => receipt, header: async () => header }
    await reorganise(w.chain, snapshot)
    await expect(w.tick([node, old])).rejects.toMatchObject({ failure: 'changed' })
    expect(await other.available()).toBe(before + 5_000_000n)
    await w.tick()
    expect(await other.available()).toBe(before)
  })

  it('is noticed however far back the chain changed', async () => {
    const { other, chain, token } = w
    const [before, intent] = [await other.available(), await other.intent(5_000_000n)]
    await w.tick()
    const snapshot = await chain.snapshot()
    await chain.transfer(token, intent.address, 5_000_000n)
    for (let turn = 0; turn < 4; turn++) await w.settle()
    expect(await other.available()).toBe(before + 5_000_000n)
    await reorganise(w.chain, snapshot)
    expect(await chain.height()).toBeGreaterThan(4 * CONFIRMATIONS)
    await w.tick()
    expect(await other.read(intent)).toMatchObject({ status: 'in_review' })
    expect(await other.available()).toBe(before)
  })

  it('is noticed also when the chain changes below what is being read', async () => {
    const { other, chain, token, config } = w
    const [before, intent] = [await other.available(), await other.intent(5_000_000n)]
    const snapshot = await chain.snapshot()
    await chain.transfer(token, intent.address, 5_000_000n)
    for (let turn = 0; turn < 3; turn++) await w.settle()
    await chain.mine()
    const [node] = openNodes(config.rpcUrls)
    if (!node) throw new Error('no node')
    let headers = 0
    const changing: ChainNode = {
      ...node,
      // The first is the block that was read last time: it is still there.
      header: async (number) => {
        if (headers++ === 1) await reorganise(w.chain, snapshot)
        return node.header(number)
      },
    }
    await expect(w.tick([changing])).rejects.toMatchObject({ failure: 'changed' })
    await w.tick()
    expect(await other.read(intent)).toMatchObject({ status: 'in_review' })
    expect(await other.available()).toBe(before)
  })
})
