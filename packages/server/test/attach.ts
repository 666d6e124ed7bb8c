import { openOperator } from '../bench/world.ts'
import { readConfig } from '../src/config.ts'
import type { Deps } from '../src/context.ts'
import { newId } from '../src/start.ts'
import { makeLog } from '../src/telemetry/log.ts'
import { makeTelemetry } from '../src/telemetry/telemetry.ts'
import { type Harness, seedAgent, seedOrg } from './harness-on.ts'

/** A harness around a server that is a process of its own, through its data directory. */
export async function attach(url: string, data: string) {
  const operator = await openOperator(data)
  const config = readConfig({ STRONGROOM_LOG_LEVEL: 'silent', STRONGROOM_DATA: data }, [])
  const telemetry = makeTelemetry({ exportsSpans: false })
  const { database, rootKey, pepper, now, admin } = operator
  const deps: Deps = { database, rootKey, pepper, now, config, log: makeLog(config), telemetry, newId }
  const refuse = (): never => {
    throw new Error('this server is a process of its own')
  }
  const h: Harness = {
    url,
    deps,
    worker: database,
    advance: refuse,
    org: (name) => seedOrg(deps, name),
    agent: (org, permissions, roles) => seedAgent(deps, url, org, permissions, roles),
    sibling: refuse,
    close: async () => {
      telemetry.stop()
      await operator.close()
    },
  }
  return { h, admin }
}
