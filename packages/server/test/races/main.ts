// Two hundred purchases at once against room for ten: in the credit, and in a budget of each level.
//
//   npm run test:races [-- --rounds=500 --levels=balance,org,tenant,user,agent --seed=N --mutant]
//
// A round is one race at each level; 500 of them take about an hour on two cores, and two beside other work. Says on standard error how far
// it is, and prints one line of JSON; ends with 1 if one of them sold more or less than ten, if anybody was answered otherwise, at a deadlock,
// or if the books do not add up. With --mutant the database looks first and changes afterwards, and the races must fail.
import { parseArgs } from 'node:util'
import { makeRandom } from '../crash/random.ts'
import { harnessOn } from '../harness-on.ts'
import { copyDatabase, startTestPostgres } from '../postgres.ts'
import { checkThenAct, deadlocksIn, LEVELS, makeTrack, type Track } from './races.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '500' },
    levels: { type: 'string', default: LEVELS.join(',') },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    mutant: { type: 'boolean', default: false },
  },
})
const [rounds, seed] = [Number(values.rounds), Number(values.seed)]
const levels = LEVELS.filter((level) => values.levels.split(',').includes(level))
const random = makeRandom(seed)

const postgres = await startTestPostgres()
const logins = await copyDatabase(postgres)
if (values.mutant) await checkThenAct(logins.owner)
// So many that they meet in the database, where it is decided, and not in the line before it.
const h = await harnessOn(logins, { purchasesAtOnce: 8 })
const tracks: Track[] = []
for (const level of levels) tracks.push(await makeTrack(h, level))

const startedAt = Date.now()
const failures: string[] = []
let races = 0
for (let round = 1; round <= rounds; round++) {
  for (const { level, run } of random.shuffled(tracks)) {
    const wrong = await run(random)
    races += 1
    if (wrong === undefined) continue
    failures.push(`${level}, round ${round}: ${wrong}`)
    process.stderr.write(`${failures.at(-1)}\n`)
  }
  const seconds = (Date.now() - startedAt) / 1000
  const left = Math.ceil(((seconds / round) * (rounds - round)) / 60)
  if (round % 10 === 0)
    process.stderr.write(
      `round ${round} of ${rounds}, ${Math.round(seconds)} s, ${failures.length} failures, about ${left} minutes left\n`,
    )
}
const seconds = (Date.now() - startedAt) / 1000
const deadlocks = await deadlocksIn(postgres.superuser, String(logins.app.database))
if (deadlocks > 0) failures.push(`${deadlocks} deadlocks`)
await h.close()
await postgres.stop()
console.log(
  JSON.stringify({
    test: 'races',
    mutant: values.mutant,
    rounds,
    races,
    levels,
    connections: h.deps.config.poolSize,
    deadlocks,
    seed,
    seconds: Math.round(seconds),
    secondsPerRace: Number((seconds / races).toFixed(2)),
    failures: failures.length,
    first: failures.slice(0, 5),
  }),
)
process.exit(failures.length === 0 ? 0 : 1)
