// Thousands of events, receivers that fail at two requests of five, and the process that delivers killed again and again.
//
//   npm run test:webhooks [-- --events=2000 --kills=10 --seed=N]
//
// Prints one line of JSON; ends with 1 if a committed event did not arrive, one that was rolled back did, or a signature is wrong.
import { parseArgs } from 'node:util'
import { copyDatabase, startTestPostgres } from '../postgres.ts'
import { runStorm } from './storm.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const options = { events: Number(values.events), kills: Number(values.kills), seed: Number(values.seed), faults: 0.4 }
const postgres = await startTestPostgres()
const logins = await copyDatabase(postgres)
const startedAt = Date.now()
const result = await runStorm(logins, options)
await logins.drop()
await postgres.stop()
const { failures, ...numbers } = result
console.log(
  JSON.stringify({
    test: 'webhooks',
    ...numbers,
    seconds: Math.round((Date.now() - startedAt) / 1000),
    failures: failures.length,
    first: failures.slice(0, 5),
  }),
)
process.exit(failures.length === 0 ? 0 : 1)
