import type pg from 'pg'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { type Catalogue, SANDBOX_CATALOGUE } from '../../src/licenses/catalogue.ts'
import { makeProviders } from '../../src/licenses/providers.ts'
import { takePurchaseTurn } from '../../src/modules/licenses/purchase-turn.ts'
import { takeTerminationTurn } from '../../src/modules/licenses/termination-turn.ts'
import { openRootKey } from '../../src/secrets/root-key.ts'
import { newId } from '../../src/start.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { dyingAt } from './dying.ts'
import { SECRET } from './reference-provider.ts'

// A process that works on licences and kills itself, without a last word, at the nth point where it touches the world.

export interface Orders {
  readonly app: pg.ClientConfig
  readonly worker: pg.ClientConfig
  readonly provider: string
  /** How far its clock is ahead. */
  readonly skewMs: number
  /** Absent: it lives. */
  readonly dieAt?: number
}

const orders: Orders = JSON.parse(process.env.LICENSE_ORDERS ?? '{}')
const config = {
  ...readConfig({ STRONGROOM_LOG_LEVEL: 'silent', STRONGROOM_EGRESS_ALLOW: '127.0.0.0/8' }, []),
  catalogue: {
    ...SANDBOX_CATALOGUE,
    providers: new Map([['acme', { url: orders.provider, secret: SECRET }]]),
  } satisfies Catalogue,
}
const deps = {
  config,
  database: openDatabase({ connection: orders.app, poolSize: 2 }, () => undefined),
  rootKey: openRootKey(new Uint8Array(32).fill(7)),
  log: makeLog(config),
  newId,
  now: () => new Date(Date.now() + orders.skewMs),
}
const worker = openDatabase({ connection: orders.worker, poolSize: 2 }, () => undefined)
const alive = { deps, worker, providers: makeProviders(deps) }
const kill = (): void => {
  process.kill(process.pid, 'SIGKILL')
}
const { works } = orders.dieAt === undefined ? { works: alive } : dyingAt(orders.dieAt, alive, kill)

while ((await takePurchaseTurn(works)) || (await takeTerminationTurn(works)));
await worker.close()
await deps.database.close()
