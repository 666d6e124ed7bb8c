import { startWebhooks } from '../../src/modules/webhooks/background.ts'
import { openWorld, type StormDatabase } from './storm-world.ts'

// The background of a server that delivers webhooks, in a process of its own that can be killed.

const TIMEOUT_MS = 400

const { logins, skewMs } = JSON.parse(process.env.STORM ?? '{}') as { logins: StormDatabase; skewMs: number }
const clock = { skewMs }
const { deps, worker } = await openWorld(logins, clock)
const { nudge } = startWebhooks(deps, worker, { timeoutMs: TIMEOUT_MS })
process.on('message', (message: { readonly skewMs: number }) => {
  clock.skewMs = message.skewMs
  nudge()
})
// Background work keeps no process alive by itself.
setInterval(() => undefined, 60_000)
process.send?.('ready')
