import type { ChainAsset, ChainConfig } from '../../chain/chain-config.ts'
import { RpcError } from '../../chain/json-rpc.ts'
import { type ChainNode, openNodes } from '../../chain/node.ts'
import { locate } from '../../chain/transfers.ts'
import type { Deps } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { type Repeating, repeat } from '../../telemetry/repeat.ts'
import { credit, takeBack } from './credit.ts'
import * as deposits from './deposit-store.ts'
import { foldIntent } from './fold.ts'
import { inside, readOn, type Scan } from './scan.ts'
import * as store from './scan-store.ts'

// The turns of the scanner: read on, credit what is confirmed, take back what is gone, notice what has expired. It keeps nothing in
// memory that matters: another process goes on where this one ended.

export type Scanning = Pick<Deps, 'now' | 'newId' | 'log'>

export interface Scanner {
  /** `elsewhere`: another process is at it. `behind`: the node does not know what was read already. */
  tick(): Promise<'read' | 'behind' | 'elsewhere'>
}

const SCANNER_LOCK = 43
const MAX_SPAN = 2000

/** One scanner at a time, for the sake of the nodes: the cursor itself takes only one of two writers. */
async function alone<T>({ pool }: Database, chainId: number, work: () => Promise<T>): Promise<T | 'elsewhere'> {
  const client = await pool.connect()
  const lock = [SCANNER_LOCK, String(chainId)]
  let isFree = false
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1::int, hashtext($2)) as mine', lock)
    isFree = !rows[0]?.mine
    if (isFree) return 'elsewhere'
    try {
      return await work()
    } finally {
      await client.query('select pg_advisory_unlock($1::int, hashtext($2))', lock)
      isFree = true
    }
  } finally {
    // A connection that is closed gives its locks back by itself.
    client.release(!isFree)
  }
}

/** The first node that answers and is of the right chain. */
async function answering(nodes: readonly ChainNode[], chainId: number): Promise<ChainNode> {
  for (const node of nodes) {
    const id = await node.chainId().catch(() => undefined)
    if (id === chainId) return node
  }
  throw new RpcError('unreachable', 'eth_chainId')
}

/** Tokens the chain has confirmed the decimals of. Intents in others are refused. */
async function checkAssets(deps: Scanning, scan: Scan): Promise<void> {
  const { chain, node, head } = scan
  const { chainId, assets } = chain
  const [checked, cursor] = await inside(scan, async (db) => [
    await store.checkedAssets(db, chainId),
    await store.cursor(db, chainId),
  ])
  const isChecked = ({ contract, decimals }: ChainAsset): boolean =>
    checked.some((known) => known.contract === contract && known.decimals === decimals)
  const right: ChainAsset[] = []
  for (const asset of assets.filter((one) => !isChecked(one)))
    if ((await node.decimals(asset.contract).catch(() => undefined)) === asset.decimals) right.push(asset)
    else deps.log.error({ event: 'funding_asset_refused', asset: asset.symbol })
  if (cursor && right.length === 0) return
  await inside(scan, async (db) => {
    for (const asset of right) await store.keepAsset(db, chainId, asset, deps.now())
    await store.startCursor(db, chainId, head, deps.now())
  })
}

/** Every node has it in the block we know, with as many on top as are asked for. */
async function isAgreed({ nodes, chain }: Scan, deposit: deposits.Deposit): Promise<boolean> {
  const { txHash, ordinal, contract, address, value, blockNumber, blockHash } = deposit
  const known = { txHash, ordinal, contract, to: address, value: BigInt(value) }
  for (const node of nodes) {
    const place = await locate(node, known)
    const head = await node.blockNumber()
    if (place?.blockHash !== blockHash || head - blockNumber + 1 < chain.confirmations) return false
  }
  return true
}

async function moveMoney(scan: Scan): Promise<void> {
  const { deps, worker, chain, head } = scan
  const deep = head - chain.confirmations + 1
  for (const deposit of await inside(scan, (db) => deposits.confirmed(db, chain.chainId, deep)))
    if (await isAgreed(scan, deposit)) await credit(deps, worker, deposit)
  for (const deposit of await inside(scan, (db) => deposits.owed(db, chain.chainId)))
    await takeBack(deps, worker, deposit)
}

async function expire(scan: Scan): Promise<void> {
  const { deps, chain } = scan
  const overdue = await inside(scan, (db) => store.overdueIntents(db, chain.chainId, deps.now()))
  for (const { orgId, intentId } of overdue)
    await inside(scan, (db) => foldIntent(deps, db, orgId, intentId, 'time has passed'))
}

export function makeScanner(
  deps: Scanning,
  worker: Database,
  chain: ChainConfig,
  nodes: readonly ChainNode[] = openNodes(chain.rpcUrls),
): Scanner {
  let span = MAX_SPAN
  const turn = async (): Promise<'read' | 'behind'> => {
    const node = await answering(nodes, chain.chainId)
    const scan: Scan = { deps, worker, chain, node, nodes, head: await node.blockNumber(), span }
    await checkAssets(deps, scan)
    if (!(await readOn(scan))) return 'behind'
    await moveMoney(scan)
    await expire(scan)
    return 'read'
  }
  return {
    tick: () =>
      alone(worker, chain.chainId, async () => {
        try {
          const outcome = await turn()
          span = Math.min(MAX_SPAN, span * 2)
          return outcome
        } catch (error) {
          // Nodes answer so many logs at a time and no more.
          if (error instanceof RpcError && error.failure === 'refused') span = Math.max(1, Math.floor(span / 2))
          throw error
        }
      }),
  }
}

const EVERY_MS = 6_000
const MAX_PAUSE_MS = 300_000

/** In the background. After a failure it waits, each time twice as long; what was not read is read later. */
export function startFundingScanner(deps: Deps, worker: Database): Repeating {
  const { chain } = deps.config
  if (!chain) return { nudge: () => undefined, stop: async () => undefined }
  const ending = new AbortController()
  const scanner = makeScanner(deps, worker, chain, openNodes(chain.rpcUrls, ending.signal))
  let [failures, notBefore] = [0, 0]
  const work = async (): Promise<void> => {
    if (ending.signal.aborted || deps.now().getTime() < notBefore) return
    await scanner.tick()
    failures = 0
  }
  const failed = (error: unknown): void => {
    if (ending.signal.aborted) return
    failures += 1
    notBefore = deps.now().getTime() + Math.min(MAX_PAUSE_MS, EVERY_MS * 2 ** Math.min(failures, 10))
    const { failure, method, code } = error as { failure?: string; method?: string; code?: string }
    deps.log.warn({ event: 'funding_scan_failed', failure, method, code, failures })
  }
  const repeating = repeat(EVERY_MS, work, failed)
  return {
    nudge: repeating.nudge,
    stop: async () => {
      ending.abort()
      await repeating.stop()
    },
  }
}
