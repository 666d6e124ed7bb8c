// First a storm: thousands of events, receivers that fail at two requests of five, and the process that delivers killed again and again.
// Then few events, with the process killed at every single point.
//
//   npm run test:webhooks [-- --only=storm|kills --events=2000 --kills=10 --seed=N --step=1]
//
// With a step, only every so manieth point is one to die at. Prints one line of JSON for each half; ends with 1 if a committed event did not
// arrive, one that was rolled back did, a signature is wrong, or something is left undone.
import { parseArgs } from 'node:util'
import { copyDatabase, startTestPostgres } from '../postgres.ts'
import { killDeliveries } from './kill-matrix.ts'
import { runStorm } from './storm.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    events: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    step: { type: 'string', default: '1' },
  },
})
const postgres = await startTestPostgres()

async function storm(): Promise<void> {
  const options = { events: Number(values.events), kills: Number(values.kills), seed: Number(values.seed), faults: 0.4 }
  const logins = await copyDatabase(postgres)
  const startedAt = Date.now()
  const { failures, ...numbers } = await runStorm(logins, options)
  await logins.drop()
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  const counted = { seconds, failures: failures.length, first: failures.slice(0, 5) }
  console.log(JSON.stringify({ test: 'webhooks', ...numbers, ...counted }))
  if (failures.length > 0) process.exitCode = 1
}

async function kills(): Promise<void> {
  const logins = await copyDatabase(postgres)
  await killDeliveries(logins, Number(values.step))
  await logins.drop()
}

if (values.only !== 'kills') await storm()
if (values.only !== 'storm') await kills()
await postgres.stop()
process.exit()
