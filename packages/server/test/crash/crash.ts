// Kills the server, PostgreSQL, or both with SIGKILL under a load of writes, starts the server again by the same command, and
// compares everything that was ever acknowledged with what is there.
//
//   npm run test:crash [-- --kills=40 --seed=N --mode=server|postgres|both|all --unsafe]
//
// A kill counts only if the second before it had 100 acknowledged writes and 8 requests were open: others are void and done
// again. `--unsafe` is the mutant: the same run on a PostgreSQL that acknowledges before it writes must report losses.
import { runSuite, verdictOf } from './cycles.ts'
import { readOptions } from './options.ts'

const options = readOptions(process.argv.slice(2))
const summary = await runSuite(
  {
    name: 'crash',
    load: new URL('./load.ts', import.meta.url),
    pace: { ackedPerSecond: 100, inFlight: 8 },
    aim: { ackedPerSecond: 104, inFlight: 10 },
  },
  options,
)
process.exit(verdictOf(summary, options))
