import { readChain } from '../../src/chain/chain-config.ts'
import { openNodes } from '../../src/chain/node.ts'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { makeScanner } from '../../src/modules/funding/scanner.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { aroundEach, type Mortal, mortalDatabase, newTestId as newId, pointOf, readOrders } from '../crash/mortal.ts'

// A process that takes one turn of the scanner and kills itself, without a last word, at the nth point where it touches the database or asks
// a node.

export interface ScannerOrders extends Mortal {
  readonly settings: Readonly<Record<string, string>>
}

const orders = readOrders<ScannerOrders>()
const chain = readChain(orders.settings)
if (!chain) throw new Error('the chain is not configured')
const now = (): Date => new Date(Date.now() + orders.skewMs)
const point = pointOf(orders, now)
const worker = mortalDatabase(
  openDatabase({ connection: orders.worker, poolSize: 3 }, () => undefined),
  point,
)
const nodes = openNodes(chain.rpcUrls).map((node) => aroundEach(node, point))
const log = makeLog(readConfig({ STRONGROOM_LOG_LEVEL: 'silent' }, []))
const outcome = await makeScanner({ now, newId, log }, worker, chain, nodes).tick()
if (outcome !== 'read') throw new Error(`the chain was not read: ${outcome}`)
await worker.close()
