// Many clients of one vault at once, the server, PostgreSQL or both killed with SIGKILL again and again, and everything compared.
//
//   npm run test:writers [-- --kills=50 --writers=64 --seed=N --mode=server|postgres|both|all --unsafe]
//
// Clients are the SDK as a package: services of four places each, with keys of their own. After each restart every acknowledged
// write is looked for in a verified read and in the log, which is replayed from its first leaf; every checkpoint that any client
// was ever shown is compared with the tree of the leaves. `--unsafe` is the mutant, as in crash.ts.
import { runSuite, verdictOf } from './cycles.ts'
import { readOptions } from './options.ts'

const options = readOptions(process.argv.slice(2), 50)
const summary = await runSuite(
  {
    name: 'vault-writers',
    load: new URL('./vault-load.ts', import.meta.url),
    // Commits of one vault come one after the other, so what counts is how many are under way, and that the server takes them.
    pace: { ackedPerSecond: 1, inFlight: 32 },
    aim: { ackedPerSecond: 2, inFlight: 40 },
  },
  options,
)
process.exit(verdictOf(summary, options))
