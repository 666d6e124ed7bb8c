// Purchases and terminations whose process is killed at every point where it touches the world, with a provider that loses answers.
//
//   npm run test:licenses [-- --faults=none,lost_answer,error_after_commit --step=1]
//
// With a step, only every so manieth point is one to die at.
//
// Prints one line of JSON; ends with 1 if one of them has not exactly one order, one capture, one licence and one refund in the end.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { copyDatabase, startTestPostgres } from '../postgres.ts'
import { type KillWorld, makeKillWorld } from './kill-world.ts'
import { FAULTS, type Fault } from './reference-provider.ts'
import type { Orders } from './worker-process.ts'

const WORKER = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
const LATER_MS = 4_000_000
const MOST_POINTS = 200
const MOST_TRIES = 4

const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: 'none,lost_answer,error_after_commit' },
    step: { type: 'string', default: '1' },
  },
})
const step = Number(values.step)
const isFault = (word: string): word is Fault => FAULTS.some((fault) => fault === word)
const named = values.faults.split(',')
const faults: readonly (Fault | undefined)[] = [
  ...(named.includes('none') ? [undefined] : []),
  ...named.filter(isFault),
]

/** True if it was killed. */
const run = (orders: Orders): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WORKER], {
      env: { ...process.env, LICENSE_ORDERS: JSON.stringify(orders) },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    child.once('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(true)
      else if (code === 0) resolve(false)
      else reject(new Error(`a worker ended with ${code ?? signal}`))
    })
  })

let cases = 0
const failures: string[] = []

/** One death more at a later point each time, until nobody dies. */
async function atEveryPoint(
  world: KillWorld,
  kind: 'purchase' | 'termination',
  fault: Fault | undefined,
): Promise<void> {
  const base = { ...world.logins, provider: world.provider.url }
  for (let dieAt = 0, died = true; died && dieAt < MOST_POINTS; dieAt += step) {
    const id = await world.begin(kind)
    if (fault) world.provider.misbehave(fault)
    died = await run({ ...base, skewMs: world.skewMs(), dieAt })
    let wrong: string | undefined = 'nobody has looked'
    for (let tries = 0; tries < MOST_TRIES && wrong !== undefined; tries++) {
      // The lease of who died has run out by then, and so has every wait.
      world.advance(LATER_MS)
      await run({ ...base, skewMs: world.skewMs() })
      wrong = await world.wrongWith(kind, id)
    }
    cases += 1
    process.stderr.write(
      `${kind} ${fault ?? 'none'} ${dieAt} ${wrong ?? 'right'} ${Math.round((Date.now() - startedAt) / 1000)} s\n`,
    )
    if (wrong) failures.push(`${kind}, ${fault ?? 'no fault'}, killed at ${dieAt}: ${wrong}`)
  }
}

const startedAt = Date.now()
const postgres = await startTestPostgres()
const logins = await copyDatabase(postgres)
const world = await makeKillWorld(logins)
for (const fault of faults) {
  await atEveryPoint(world, 'purchase', fault)
  await atEveryPoint(world, 'termination', fault)
}
await world.close()
await logins.drop()
await postgres.stop()
console.log(
  JSON.stringify({
    test: 'licenses',
    cases,
    faults: faults.map((fault) => fault ?? 'none'),
    seed: 0,
    seconds: Math.round((Date.now() - startedAt) / 1000),
    failures: failures.length,
    first: failures.slice(0, 5),
  }),
)
process.exit(failures.length === 0 ? 0 : 1)
