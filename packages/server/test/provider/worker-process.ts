import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { type Catalogue, SANDBOX_CATALOGUE } from '../../src/licenses/catalogue.ts'
import { makeProviders } from '../../src/licenses/providers.ts'
import { takePurchaseTurn } from '../../src/modules/licenses/purchase-turn.ts'
import { takeTerminationTurn } from '../../src/modules/licenses/termination-turn.ts'
import { openRootKey } from '../../src/secrets/root-key.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { aroundEach, type Mortal, mortalDatabase, newTestId as newId, pointOf, readOrders } from '../crash/mortal.ts'
import { SECRET } from './reference-provider.ts'

// A process that works on licences and kills itself, without a last word, at the nth point where it touches the world.

export interface LicenseOrders extends Mortal {
  readonly provider: string
}

const orders = readOrders<LicenseOrders>()
const now = (): Date => new Date(Date.now() + orders.skewMs)
const point = pointOf(orders, now)
const open = (connection: LicenseOrders['app']) =>
  mortalDatabase(
    openDatabase({ connection, poolSize: 2 }, () => undefined),
    point,
  )
const config = {
  ...readConfig({ STRONGROOM_LOG_LEVEL: 'silent', STRONGROOM_EGRESS_ALLOW: '127.0.0.0/8' }, []),
  catalogue: {
    ...SANDBOX_CATALOGUE,
    providers: new Map([['acme', { url: orders.provider, secret: SECRET }]]),
  } satisfies Catalogue,
}
const rootKey = openRootKey(new Uint8Array(32).fill(7))
const deps = { config, database: open(orders.app), rootKey, log: makeLog(config), newId, now }
const worker = open(orders.worker)
const providers = new Map([...makeProviders(deps)].map(([id, provider]) => [id, aroundEach(provider, point)]))
const works = { deps, worker, providers }

while ((await takePurchaseTurn(works)) || (await takeTerminationTurn(works)));
await worker.close()
await deps.database.close()
