import type { ChainConfig } from '../../chain/chain-config.ts'
import { RpcError } from '../../chain/json-rpc.ts'
import type { ChainNode } from '../../chain/node.ts'
import {
  type Block,
  type ChainTransfer,
  locate,
  readStretch,
  type Stretch,
  type StretchRead,
} from '../../chain/transfers.ts'
import type { Database, Db } from '../../db/database.ts'
import { arrivedAt, endDeposit, putDeposit } from './arrive.ts'
import * as deposits from './deposit-store.ts'
import { type Folding, foldIntent } from './fold.ts'
import * as store from './scan-store.ts'
import { lockIntent } from './store.ts'

// Reading the chain on from where it was left. All questions to nodes come first; what they said is then written down with the
// cursor in one transaction, so that a crash leaves both or neither.

export interface Scan {
  readonly deps: Folding
  readonly worker: Database
  readonly chain: ChainConfig
  /** The one that is asked, and all that are asked before money moves. */
  readonly node: ChainNode
  readonly nodes: readonly ChainNode[]
  readonly head: number
  /** In blocks; less if nodes refuse. */
  readonly span: number
}

export const inside = <T>({ worker }: Pick<Scan, 'worker'>, work: (db: Db) => Promise<T>): Promise<T> =>
  worker.kysely.transaction().execute(work)

/** The newest block of those remembered that the chain still has. */
async function forkPoint(node: ChainNode, remembered: readonly Block[]): Promise<Block | undefined> {
  for (const block of remembered) if ((await node.header(block.number))?.hash === block.hash) return block
  return undefined
}

/** Blocks that may still change are read again each time: a node that was behind may have left something out. */
function startOf({ chain, head }: Scan, cursor: store.Cursor, remembered: readonly Block[], base: Block | undefined) {
  if (!base && remembered.length > 0) return cursor.firstBlock
  const again = cursor.nextBlock - chain.confirmations
  return Math.max(0, Math.min(again, (base?.number ?? head) + 1, head))
}

/** Everything that is asked for, by address and by token. */
interface Watch {
  readonly byAddress: ReadonlyMap<string, store.WatchedIntent>
  readonly decimals: ReadonlyMap<string, number>
}

async function watchOf(scan: Scan): Promise<Watch> {
  const { chainId } = scan.chain
  const [intents, assets] = await inside(scan, async (db) => [
    await store.watchedIntents(db, chainId),
    await store.checkedAssets(db, chainId),
  ])
  return {
    byAddress: new Map(intents.map((intent) => [intent.address, intent])),
    decimals: new Map([...assets, ...intents].map(({ contract, decimals }) => [contract, decimals])),
  }
}

const keyOf = ({ txHash, ordinal, to }: Pick<ChainTransfer, 'txHash' | 'ordinal' | 'to'>): string =>
  `${txHash} ${ordinal} ${to}`

/**
 * Deposits that were expected in the stretch and that no node has any more. One that has moved on is found where it is now. While
 * nodes do not agree on one that was credited, nothing is written down.
 */
async function goneFrom(scan: Scan, { from, to }: Stretch, { transfers }: StretchRead): Promise<deposits.Deposit[]> {
  const expected = await inside(scan, (db) => deposits.expectedIn(db, scan.chain.chainId, from, to))
  const there = new Set(transfers.map(keyOf))
  const gone: deposits.Deposit[] = []
  for (const deposit of expected.filter(({ address, ...rest }) => !there.has(keyOf({ ...rest, to: address })))) {
    const { txHash, ordinal, contract, address, value, wasCredited } = deposit
    const known = { txHash, ordinal, contract, to: address, value: BigInt(value) }
    const own = await locate(scan.node, known)
    const others = scan.nodes.filter((node) => node !== scan.node)
    const found = (await Promise.all(others.map((node) => locate(node, known)))).filter((place) => place !== undefined)
    const isLeftOut = own !== undefined && own.blockNumber >= from && own.blockNumber <= to
    if (isLeftOut || (own === undefined && wasCredited && found.length > 0))
      throw new RpcError('changed', 'eth_getTransactionReceipt')
    if (own === undefined && found.length === 0) gone.push(deposit)
  }
  return gone
}

interface Change {
  readonly intent: Pick<store.WatchedIntent, 'orgId' | 'intentId'>
  readonly arrived: { readonly arrived: deposits.Arrived; readonly isOtherAsset: boolean }[]
  readonly gone: deposits.Deposit[]
}

/** By intent, in one order for everybody who locks several. */
function changesOf(scan: Scan, watch: Watch, transfers: readonly ChainTransfer[], gone: readonly deposits.Deposit[]) {
  const changes = new Map<string, Change>()
  const changeOf = ({ orgId, intentId }: Change['intent']): Change => {
    const key = `${orgId} ${intentId}`
    const change = changes.get(key) ?? { intent: { orgId, intentId }, arrived: [], gone: [] }
    changes.set(key, change)
    return change
  }
  for (const transfer of transfers) {
    const intent = watch.byAddress.get(transfer.to)
    const decimals = watch.decimals.get(transfer.contract)
    const arrived = intent && decimals !== undefined && arrivedAt(intent, scan.chain.chainId, transfer, decimals)
    if (arrived) changeOf(intent).arrived.push({ arrived, isOtherAsset: transfer.contract !== intent.contract })
  }
  for (const deposit of gone) changeOf(deposit).gone.push(deposit)
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}

async function keepChange({ deps }: Scan, db: Db, { intent, arrived, gone }: Change): Promise<void> {
  const { orgId, intentId } = intent
  await lockIntent(db, orgId, intentId)
  for (const one of arrived) await putDeposit(deps, db, one.arrived, one.isOtherAsset)
  for (const deposit of gone) await endDeposit(deps, db, deposit)
  await foldIntent(deps, db, orgId, intentId, 'the chain was read')
}

/** How far it was read, and the last block then. */
interface Reached {
  readonly cursor: store.Cursor
  readonly base: Block | undefined
}

/** Reads one stretch and writes it down. */
async function advance(scan: Scan, cursor: store.Cursor, stretch: Stretch, watch: Watch): Promise<Reached> {
  const { deps, node, head, chain } = scan
  const watched = { contracts: [...watch.decimals.keys()], addresses: [...watch.byAddress.keys()] }
  const read = await readStretch(node, stretch, watched)
  const changes = changesOf(scan, watch, read.transfers, await goneFrom(scan, stretch, read))
  const nextBlock = stretch.to + 1
  await inside(scan, async (db) => {
    const isMoved = await store.moveCursor(db, chain.chainId, cursor, { nextBlock, head, at: deps.now() })
    if (!isMoved) throw new Error('somebody else reads the chain')
    await store.keepBlocks(db, chain.chainId, stretch.base?.number ?? -1, read.blocks)
    for (const change of changes) await keepChange(scan, db, change)
  })
  const base = read.blocks.find(({ number }) => number === stretch.to)
  return { cursor: { ...cursor, nextBlock, version: cursor.version + 1 }, base }
}

/** Reads up to the head. False if the node has not come as far as we have been: then nothing is said about anything. */
export async function readOn(scan: Scan): Promise<boolean> {
  const { node, head, span, chain } = scan
  const [start, remembered] = await inside(scan, async (db) => [
    await store.cursor(db, chain.chainId),
    await store.blocks(db, chain.chainId),
  ])
  if (!start || head < start.nextBlock - 1) return false
  // After the head was asked for: whoever was given an address later pays in a later block.
  const watch = await watchOf(scan)
  const base = await forkPoint(node, remembered)
  if (base?.number === head) {
    // Nothing new is news as well: it was read just now.
    await inside(scan, (db) => store.touchCursor(db, chain.chainId, scan.deps.now()))
    return true
  }
  let reached: Reached = { cursor: start, base }
  for (let from = startOf(scan, start, remembered, base); from <= head; from = reached.cursor.nextBlock)
    reached = await advance(
      scan,
      reached.cursor,
      { from, to: Math.min(head, from + span - 1), base: reached.base },
      watch,
    )
  return true
}
