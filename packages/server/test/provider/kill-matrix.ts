// Purchases and terminations whose process is killed at every point where it touches the world, with a provider that loses answers.
//
//   npm run test:licenses [-- --faults=none,lost_answer,error_after_commit --step=1]
//
// With a step, only every so manieth point is one to die at.
//
// Prints one line of JSON; ends with 1 if one of them has not exactly one order, one capture, one licence and one refund in the end.
import { parseArgs } from 'node:util'
import { type Ended, runMortal, startMatrix } from '../crash/mortal.ts'
import { copyDatabase, startTestPostgres } from '../postgres.ts'
import { type KillWorld, makeKillWorld } from './kill-world.ts'
import { FAULTS, type Fault } from './reference-provider.ts'
import type { LicenseOrders } from './worker-process.ts'

const WORKER = new URL('./worker-process.ts', import.meta.url)
const LATER_MS = 4_000_000
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

/** Dies at this point, and another one goes on. */
async function play(
  world: KillWorld,
  kind: 'purchase' | 'termination',
  fault: Fault | undefined,
  dieAt: number,
): Promise<Ended> {
  const run = (more: { readonly dieAt?: number }) => {
    const orders: LicenseOrders = { ...world.logins, provider: world.provider.url, skewMs: world.skewMs(), ...more }
    return runMortal(WORKER, orders)
  }
  const id = await world.begin(kind)
  if (fault) world.provider.misbehave(fault)
  const death = await run({ dieAt })
  let wrong: string | undefined = 'nobody has looked'
  for (let tries = 0; tries < MOST_TRIES && wrong !== undefined; tries++) {
    // The lease of who died has run out by then, and so has every wait.
    world.advance(LATER_MS)
    await run({})
    wrong = await world.wrongWith(kind, id)
  }
  return { death, wrong }
}

const matrix = startMatrix('licenses', step)
const postgres = await startTestPostgres()
const logins = await copyDatabase(postgres)
const world = await makeKillWorld(logins)
for (const fault of faults)
  for (const kind of ['purchase', 'termination'] as const)
    await matrix.atEveryPoint(`${kind}, ${fault ?? 'no fault'}`, (dieAt) => play(world, kind, fault, dieAt))
await world.close()
await logins.drop()
await postgres.stop()
matrix.end({ faults: faults.map((fault) => fault ?? 'none') })
process.exit()
