import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { RpcError } from '../../src/chain/json-rpc.ts'
import { type ChainNode, openNodes } from '../../src/chain/node.ts'
import { checkChain } from '../../src/modules/funding/check-chain.ts'
import { makeScanner, startFundingScanner } from '../../src/modules/funding/scanner.ts'
import { readBacklog } from '../../src/telemetry/backlog.ts'
import { type FundingWorld, startFundingWorld } from './funding-world.ts'

// Turns that break off, nodes that are silent, behind or of another opinion: nothing is lost, and nothing is credited twice.
//
// Seen red: the cursor moved before what was read is kept; blocks that may change not read again; no lock; two writers; a second node
// not asked, or not asked how far it is; long stretches asked for again and again; decimals not looked at; no turn taken by itself; a chain without
// a new block said to be read long ago.

let w: FundingWorld
beforeAll(async () => {
  w = await startFundingWorld()
  await w.tick()
})
afterAll(() => w.close())

describe('the scanner', () => {
  it('goes on where it was when a turn breaks off: between reading and crediting, or while it writes', async () => {
    const { acme, chain, token, h, config } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.transfer(token, intent.address, 5_000_000n)
    await chain.mine(5)
    const crash = (): never => {
      throw new Error('crash')
    }
    const broken = { ...h.deps, newId: crash }
    await expect(makeScanner(broken, h.worker, config).tick()).rejects.toThrow('crash')
    expect((await acme.read(intent)).deposits).toEqual([])
    const [node] = openNodes(config.rpcUrls)
    if (!node) throw new Error('no node')
    let receipts = 0
    const dying: ChainNode = {
      ...node,
      // The first is asked for by the reading, the second before crediting.
      receipt: (txHash) => (receipts++ === 0 ? node.receipt(txHash) : Promise.reject(new Error('crash'))),
    }
    await expect(w.tick([dying])).rejects.toThrow('crash')
    expect(await acme.read(intent)).toMatchObject({ status: 'processing' })
    expect(await acme.available()).toBe(before)
    await w.tick()
    expect(await acme.read(intent)).toMatchObject({ status: 'funded' })
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('loses nothing while the node does not answer, and names it to nobody', async () => {
    const { acme, chain, token, config, h } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.transfer(token, intent.address, 5_000_000n)
    const nowhere = { ...config, rpcUrls: ['http://127.0.0.1:9/secret-key'] }
    const error = await makeScanner(h.deps, h.worker, nowhere)
      .tick()
      .catch((reason: Error) => reason)
    expect(String(error)).toBe('RpcError: the node of the chain: unreachable (eth_chainId)')
    await w.settle()
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('has read the chain just now also where it has no new block', async () => {
    const readAt = async () => (await readBacklog(w.h.worker, w.h.deps.now())).chainReadAt?.getTime() ?? 0
    await w.tick()
    const before = await readAt()
    w.h.advance(60_000)
    await w.tick()
    expect(await readAt()).toBeGreaterThanOrEqual(before + 60_000)
  })

  it('finds what a node left out when it was behind', async () => {
    const { acme, chain, token, config } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.transfer(token, intent.address, 5_000_000n)
    const [node] = openNodes(config.rpcUrls)
    if (!node) throw new Error('no node')
    await w.tick([{ ...node, transfersTo: async () => [] }])
    expect((await acme.read(intent)).deposits).toEqual([])
    await chain.mine()
    await w.tick()
    expect(await acme.read(intent)).toMatchObject({ status: 'processing' })
    await w.settle()
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('reads from another node while the first is silent, and waits for it before money moves', async () => {
    const { acme, chain, token, config } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.transfer(token, intent.address, 5_000_000n)
    await chain.mine(5)
    await expect(w.tick(openNodes(['http://127.0.0.1:9', ...config.rpcUrls]))).rejects.toMatchObject({
      failure: 'unreachable',
    })
    expect(await acme.read(intent)).toMatchObject({ status: 'processing' })
    expect(await acme.available()).toBe(before)
    await w.tick()
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('credits nothing that a second node does not have', async () => {
    const { acme, chain, token, config } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.transfer(token, intent.address, 5_000_000n)
    await chain.mine(5)
    const nodes = openNodes([...config.rpcUrls, ...config.rpcUrls])
    const [first, second] = nodes
    if (!first || !second) throw new Error('no nodes')
    await w.tick([first, { ...second, receipt: async () => undefined }])
    expect(await acme.read(intent)).toMatchObject({ status: 'processing' })
    // It is behind: the block is known and not deep enough.
    await w.tick([first, { ...second, blockNumber: async () => (await second.blockNumber()) - 4 }])
    expect(await acme.available()).toBe(before)
    await w.tick(nodes)
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('works in one process at a time, and of two that do all the same one writes', async () => {
    const { acme, chain, token, h, config } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.transfer(token, intent.address, 5_000_000n)
    await chain.mine(5)
    const [node] = openNodes(config.rpcUrls)
    if (!node) throw new Error('no node')
    const seconds: string[] = []
    const slow: ChainNode = {
      ...node,
      transfersTo: async (query) => {
        seconds.push(await w.tick())
        const logs = await node.transfersTo(query)
        // As if another had not noticed the lock.
        await h.worker.pool.query('update strongroom.chain_cursor set version = version + 1')
        return logs
      },
    }
    await expect(w.tick([slow])).rejects.toThrow('somebody else reads the chain')
    expect(seconds).toEqual(['elsewhere'])
    await w.tick()
    expect(await acme.available()).toBe(before + 5_000_000n)
  })

  it('reads a long way in stretches, and shorter ones when a node refuses', async () => {
    const { acme, chain, token, h, config } = w
    const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
    await chain.transfer(token, intent.address, 5_000_000n)
    await chain.mine(4500)
    const [node] = openNodes(config.rpcUrls)
    if (!node) throw new Error('no node')
    const spans: number[] = []
    const strict: ChainNode = {
      ...node,
      transfersTo: async (query) => {
        spans.push(query.to - query.from + 1)
        if (query.to - query.from >= 1000) throw new RpcError('refused', 'eth_getLogs')
        return node.transfersTo(query)
      },
    }
    const scanner = makeScanner(h.deps, h.worker, config, [strict])
    await expect(scanner.tick()).rejects.toMatchObject({ failure: 'refused' })
    await scanner.tick()
    expect(spans).toEqual([2000, 1000, 1000, 1000, 1000, expect.any(Number)])
    expect(await acme.available()).toBe(before + 5_000_000n)
  })
})

it('takes its turns by itself in the background, and ends when it is told to', async () => {
  const { acme, chain, token, h } = w
  const [before, intent] = [await acme.available(), await acme.intent(5_000_000n)]
  await chain.transfer(token, intent.address, 5_000_000n)
  await chain.mine(5)
  const running = startFundingScanner(h.deps, h.worker)
  running.nudge()
  await vi.waitFor(async () => expect(await acme.available()).toBe(before + 5_000_000n), { timeout: 30_000 })
  await running.stop()
  const silent = startFundingScanner({ ...h.deps, config: { ...h.deps.config, chain: undefined } }, h.worker)
  silent.nudge()
  await silent.stop()
})

it('does not start with a node of another chain or a token with other decimals, and starts without an answer', async () => {
  const { config } = w
  const [asset] = config.assets
  if (!asset) throw new Error('no asset')
  await expect(checkChain(config)).resolves.toBeUndefined()
  await expect(checkChain({ ...config, chainId: 1 })).rejects.toMatchObject({ code: 'chain_mismatch' })
  await expect(checkChain({ ...config, assets: [{ ...asset, decimals: 18 }] })).rejects.toMatchObject({
    message: 'the token TUSD has 6 decimals on the chain, not 18',
  })
  await expect(checkChain({ ...config, rpcUrls: ['http://127.0.0.1:9'] })).resolves.toBeUndefined()
})
