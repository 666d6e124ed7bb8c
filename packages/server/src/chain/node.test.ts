import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeRpc, RpcError } from './json-rpc.ts'
import { makeNode } from './node.ts'

// What a node may say that no good node says, and what of it is shown to others.
//
// Seen red: the receipt of a transaction that failed taken, the address of the node in an error, an error of the node taken for an
// answer, an answer of another shape taken.

let server: Server
let url: string
let answer: (id: number) => { status?: number; headers?: Record<string, string>; body: string }
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { status = 200, headers = {}, body } = answer((JSON.parse(text) as { id: number }).id)
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/key-of-the-operator`
})
afterAll(() => server.close())

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (result) => result,
    (error: unknown) => (error instanceof RpcError ? error.failure : error),
  )

describe('a node', () => {
  const json = (members: object) => (id: number) => ({ body: JSON.stringify({ jsonrpc: '2.0', id, ...members }) })

  it.each([
    ['an answer', json({ result: '0x10' }), 16],
    ['an error', json({ error: { code: -32005, message: 'too many' } }), 'refused'],
    ['an error beside an answer', json({ error: { code: 1 }, result: '0x10' }), 'refused'],
    ['neither', json({}), 'unreachable'],
    ['the answer to another question', () => ({ body: '{"jsonrpc":"2.0","id":-1,"result":"0x10"}' }), 'unreachable'],
    ['another shape', json({ result: 16 }), 'unreachable'],
    ['a number too large', json({ result: `0x${'f'.repeat(20)}` }), 'unreachable'],
    ['no JSON', () => ({ body: '<html>' }), 'unreachable'],
    [
      'the way to somewhere else',
      () => ({ status: 302, headers: { location: 'http://127.0.0.1:9/' }, body: '' }),
      'unreachable',
    ],
    ['without end', () => ({ body: `"${' '.repeat(17 * 1024 * 1024)}"` }), 'refused'],
  ])('that says %s', async (_, said, outcome) => {
    answer = said
    expect(await failureOf(makeNode(makeRpc(url)).blockNumber())).toBe(outcome)
  })

  it('that fails is named to nobody', async () => {
    answer = () => ({ body: '<html>' })
    for (const address of [url, 'http://127.0.0.1:9/key-of-the-operator']) {
      const error = await makeRpc(address)('eth_chainId', []).catch((reason: Error) => reason)
      const { message, stack, cause } = error as Error
      expect(`${message} ${stack} ${String(cause)}`).not.toMatch(/key-of-the-operator|127\.0\.0\.1/)
    }
  })
})

describe('a receipt', () => {
  const hash = `0x${'ab'.repeat(32)}`
  const topic = (last: string): string => `0x${last.padStart(64, '0')}`
  const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  const log = (logIndex: string, topics: readonly string[], more: object = {}) => ({
    address: `0x${'11'.repeat(20)}`,
    topics,
    data: topic('5'),
    transactionHash: hash,
    blockNumber: '0x1',
    blockHash: hash,
    logIndex,
    ...more,
  })
  const transfer = [TRANSFER, topic('1'), topic('22'.repeat(20))]
  const receipt = (status: string, logs: readonly object[]) =>
    makeNode(async () => ({ status, transactionHash: hash, blockNumber: '0x1', blockHash: hash, logs })).receipt(hash)

  it('of a transaction that failed is none', async () => {
    expect(await receipt('0x0', [log('0x0', transfer)])).toBeUndefined()
    expect(await receipt('0x1', [log('0x0', transfer)])).toMatchObject({ logs: [{ logIndex: 0 }] })
  })

  it('counts all of its logs, in their order, and takes only transfers for transfers', async () => {
    const found = await receipt('0x1', [
      log('0x9', transfer),
      log('0x7', [topic('1')]),
      log('0x8', [...transfer, topic('3')]),
      log('0xa', transfer, { removed: true }),
      log('0xb', transfer, { data: '0x' }),
      log('0xc', [TRANSFER, topic('1'), topic('ff'.repeat(32))]),
    ])
    const shown = found?.logs.map((one) => `${one.logIndex} ${one.transfer?.to} ${one.transfer?.value}`)
    const none = 'undefined undefined'
    expect(shown).toEqual([
      `7 ${none}`,
      `8 ${none}`,
      `9 0x${'22'.repeat(20)} 5`,
      `10 ${none}`,
      `11 ${none}`,
      `12 ${none}`,
    ])
  })
})
