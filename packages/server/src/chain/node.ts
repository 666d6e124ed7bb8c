import { makeRpc, type Rpc, RpcError } from './json-rpc.ts'

// What is asked of a node, in our words. Everything it says is read strictly: an answer of another shape is no answer.

export interface Header {
  readonly number: number
  readonly hash: string
  readonly at: Date
}

/** An event `Transfer(from, to, value)` of a token. */
export interface TransferLog {
  readonly contract: string
  readonly to: string
  readonly value: bigint
  readonly txHash: string
  readonly blockNumber: number
  readonly blockHash: string
  /** In the block; it changes when the transaction comes into another block. */
  readonly logIndex: number
}

/** Of a transaction that succeeded. */
export interface Receipt {
  readonly txHash: string
  readonly blockNumber: number
  readonly blockHash: string
  /** Indexes of all its logs, in their order; null is one that is no transfer. */
  readonly logs: readonly { readonly logIndex: number; readonly transfer: TransferLog | null }[]
}

export interface LogQuery {
  readonly from: number
  readonly to: number
  readonly contracts: readonly string[]
  readonly addresses: readonly string[]
}

export interface ChainNode {
  chainId(): Promise<number>
  blockNumber(): Promise<number>
  /** Of the chain as it is now; undefined beyond its end. */
  header(number: number): Promise<Header | undefined>
  transfersTo(query: LogQuery): Promise<readonly TransferLog[]>
  /** Undefined if the transaction is in no block, or failed. */
  receipt(txHash: string): Promise<Receipt | undefined>
  decimals(contract: string): Promise<number | undefined>
}

/** keccak256("Transfer(address,address,uint256)") */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** The first bytes of keccak256("decimals()") */
const DECIMALS = '0x313ce567'

type Members = Readonly<Record<string, unknown>>

/** Reads members of one answer, and knows which question it was. */
const reader = (method: string) => {
  const text = (value: unknown, pattern: RegExp): string => {
    if (typeof value !== 'string' || !pattern.test(value)) throw new RpcError('unreachable', method)
    return value.toLowerCase()
  }
  return {
    number: (value: unknown): number => Number.parseInt(text(value, /^0x[0-9a-fA-F]{1,13}$/), 16),
    hash: (value: unknown): string => text(value, /^0x[0-9a-fA-F]{64}$/),
    address: (value: unknown): string => text(value, /^0x[0-9a-fA-F]{40}$/),
    list: (value: unknown): readonly unknown[] => {
      if (!Array.isArray(value)) throw new RpcError('unreachable', method)
      return value
    },
    members: (value: unknown): Members => {
      if (typeof value !== 'object' || value === null) throw new RpcError('unreachable', method)
      return value as Members
    },
  }
}

const WORD = /^0x[0-9a-fA-F]{64}$/
/** An address as a topic: twelve zero bytes before it. */
const topicOf = (address: string): string => `0x${address.slice(2).padStart(64, '0')}`
const isAddressTopic = (topic: unknown): topic is string =>
  typeof topic === 'string' && /^0x0{24}[0-9a-fA-F]{40}$/.test(topic)

/** Null for what another contract, or another event, has to say. */
function transferOf(method: string, value: unknown): TransferLog | null {
  const { number, hash, address, list, members } = reader(method)
  const log = members(value)
  const [event, , to, ...more] = list(log.topics)
  const isTransfer = event === TRANSFER && isAddressTopic(to) && more.length === 0
  if (!isTransfer || typeof log.data !== 'string' || !WORD.test(log.data) || log.removed === true) return null
  return {
    contract: address(log.address),
    to: `0x${to.slice(26).toLowerCase()}`,
    value: BigInt(log.data),
    txHash: hash(log.transactionHash),
    blockNumber: number(log.blockNumber),
    blockHash: hash(log.blockHash),
    logIndex: number(log.logIndex),
  }
}

function receiptOf(value: unknown): Receipt | undefined {
  const method = 'eth_getTransactionReceipt'
  if (value === null) return undefined
  const { number, hash, list, members } = reader(method)
  const receipt = members(value)
  if (receipt.status !== '0x1') return undefined
  const logs = list(receipt.logs).map((log) => ({
    logIndex: number(members(log).logIndex),
    transfer: transferOf(method, log),
  }))
  return {
    txHash: hash(receipt.transactionHash),
    blockNumber: number(receipt.blockNumber),
    blockHash: hash(receipt.blockHash),
    logs: logs.sort((a, b) => a.logIndex - b.logIndex),
  }
}

function headerOf(value: unknown): Header | undefined {
  if (value === null) return undefined
  const { number, hash, members } = reader('eth_getBlockByNumber')
  const block = members(value)
  return { number: number(block.number), hash: hash(block.hash), at: new Date(number(block.timestamp) * 1000) }
}

const quantity = (number: number): string => `0x${number.toString(16)}`

export function makeNode(rpc: Rpc): ChainNode {
  const numberFrom = async (method: string): Promise<number> => reader(method).number(await rpc(method, []))
  return {
    chainId: () => numberFrom('eth_chainId'),
    blockNumber: () => numberFrom('eth_blockNumber'),
    header: async (number) => headerOf(await rpc('eth_getBlockByNumber', [quantity(number), false])),
    transfersTo: async ({ from, to, contracts, addresses }) => {
      const topics = [TRANSFER, null, addresses.map(topicOf)]
      const filter = { fromBlock: quantity(from), toBlock: quantity(to), address: contracts, topics }
      const logs = reader('eth_getLogs').list(await rpc('eth_getLogs', [filter]))
      return logs.map((log) => transferOf('eth_getLogs', log)).filter((log) => log !== null)
    },
    receipt: async (txHash) => receiptOf(await rpc('eth_getTransactionReceipt', [txHash])),
    decimals: async (contract) => {
      const word = await rpc('eth_call', [{ to: contract, data: DECIMALS }, 'latest'])
      return typeof word === 'string' && WORD.test(word) && BigInt(word) < 256n ? Number(BigInt(word)) : undefined
    },
  }
}

export const openNodes = (urls: readonly string[], signal?: AbortSignal): readonly ChainNode[] =>
  urls.map((url) => makeNode(makeRpc(url, signal)))
