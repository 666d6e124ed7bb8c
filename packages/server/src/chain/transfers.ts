import { RpcError } from './json-rpc.ts'
import type { ChainNode, Header, Receipt, TransferLog } from './node.ts'

// Transfers of a stretch of the chain, each under a name that stays the same in whatever block its transaction ends up: the
// transaction, and the place of the log among the logs of its own receipt.

export interface ChainTransfer {
  readonly txHash: string
  readonly ordinal: number
  readonly contract: string
  readonly to: string
  readonly value: bigint
  readonly blockNumber: number
  readonly blockHash: string
  /** When the block was made. */
  readonly paidAt: Date
}

/** A block that was read, and what it was then. */
export interface Block {
  readonly number: number
  readonly hash: string
}

export interface Stretch {
  readonly from: number
  readonly to: number
  /** What was read before; it must still be there afterwards. */
  readonly base: Block | undefined
}

export interface Watched {
  readonly contracts: readonly string[]
  readonly addresses: readonly string[]
}

export interface StretchRead {
  readonly transfers: readonly ChainTransfer[]
  /** The last block of the stretch, and those that hold transfers. */
  readonly blocks: readonly Block[]
}

const ADDRESSES_AT_ONCE = 500

const changed = (): RpcError => new RpcError('changed', 'eth_getLogs')

async function headerAt(node: ChainNode, number: number): Promise<Header> {
  const header = await node.header(number)
  if (!header || header.number !== number) throw changed()
  return header
}

/** All transfers of a token to somebody that a receipt holds, with their places. */
export const transfersIn = ({ logs }: Receipt): readonly (TransferLog & { readonly ordinal: number })[] =>
  logs.flatMap(({ transfer }, ordinal) => (transfer ? [{ ...transfer, ordinal }] : []))

async function logsOf(node: ChainNode, { from, to }: Stretch, { contracts, addresses }: Watched) {
  const logs: TransferLog[] = []
  for (let at = 0; at < addresses.length; at += ADDRESSES_AT_ONCE)
    logs.push(
      ...(await node.transfersTo({ from, to, contracts, addresses: addresses.slice(at, at + ADDRESSES_AT_ONCE) })),
    )
  const [tokens, ours] = [new Set(contracts), new Set(addresses)]
  // A node may answer more than it was asked for.
  return logs.filter(
    (log) =>
      tokens.has(log.contract) &&
      ours.has(log.to) &&
      log.value > 0n &&
      log.blockNumber >= from &&
      log.blockNumber <= to,
  )
}

/** Reads a stretch as one chain has it. Throws `RpcError` (changed) if that was another one at the end than at the start. */
export async function readStretch(node: ChainNode, stretch: Stretch, watched: Watched): Promise<StretchRead> {
  const { base, to } = stretch
  const last = await headerAt(node, to)
  const logs = await logsOf(node, stretch, watched)
  const headers = new Map([[to, last]])
  for (const number of new Set(logs.map((log) => log.blockNumber)))
    if (!headers.has(number)) headers.set(number, await headerAt(node, number))
  const receipts = new Map<string, Receipt | undefined>()
  for (const txHash of new Set(logs.map((log) => log.txHash))) receipts.set(txHash, await node.receipt(txHash))
  const transfers = logs.map((log) => named(log, headers.get(log.blockNumber), receipts.get(log.txHash)))
  if ((await headerAt(node, to)).hash !== last.hash) throw changed()
  if (base && (await headerAt(node, base.number)).hash !== base.hash) throw changed()
  return { transfers, blocks: [...headers.values()].map(({ number, hash }) => ({ number, hash })) }
}

/** A log, its block and its receipt must be of one chain. */
function named(log: TransferLog, header: Header | undefined, receipt: Receipt | undefined): ChainTransfer {
  const found = receipt && transfersIn(receipt).find(({ logIndex }) => logIndex === log.logIndex)
  const isOne =
    found?.contract === log.contract &&
    found.to === log.to &&
    found.value === log.value &&
    header?.hash === log.blockHash &&
    receipt?.blockHash === log.blockHash
  if (!found || !header || !isOne) throw changed()
  const { contract, to, value, txHash, blockNumber, blockHash } = log
  return { txHash, ordinal: found.ordinal, contract, to, value, blockNumber, blockHash, paidAt: header.at }
}

/** What a transfer was when it was read. */
export type KnownTransfer = Pick<ChainTransfer, 'txHash' | 'ordinal' | 'contract' | 'to' | 'value'>

/**
 * Where the transfer is now, by the word of this node; undefined if it is nowhere. Asked by transaction, never by the hash of a block:
 * about one that is gone some nodes answer nothing and some an error, and an error must not look like a payment that vanished.
 */
export async function locate(node: ChainNode, known: KnownTransfer): Promise<ChainTransfer | undefined> {
  const receipt = await node.receipt(known.txHash)
  if (!receipt) return undefined
  const log = transfersIn(receipt).find(({ ordinal }) => ordinal === known.ordinal)
  const isSame = log?.contract === known.contract && log.to === known.to && log.value === known.value
  const header = await node.header(receipt.blockNumber)
  if (!isSame || header?.hash !== receipt.blockHash) return undefined
  return { ...known, blockNumber: receipt.blockNumber, blockHash: receipt.blockHash, paidAt: header.at }
}
