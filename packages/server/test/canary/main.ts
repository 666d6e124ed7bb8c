// A purchase with marked credentials; afterwards they are looked for in tables, files, write-ahead log, log, traces and memory.
//
//   npm run test:canary [-- --mutant=here|log|heap]
//
// Prints one line of JSON; ends with 1 if one was found, or if something that must be there was not. A mutant must be found.
import { parseArgs } from 'node:util'
import { MUTANTS, runCanary } from './run.ts'

const { values } = parseArgs({ options: { mutant: { type: 'string' } } })
const mutant = MUTANTS.find((name) => name === values.mutant)
if (values.mutant !== undefined && !mutant) throw new Error(`there is no mutant ${values.mutant}`)
const startedAt = Date.now()
const { found, blind, ...numbers } = await runCanary(mutant)
const failures = [
  ...found.map(({ place, secret }) => `${secret} in ${place}`),
  ...blind.map((one) => `blind in ${one}`),
]
console.log(
  JSON.stringify({
    test: 'canary',
    mutant: mutant ?? 'none',
    ...numbers,
    seconds: Math.round((Date.now() - startedAt) / 1000),
    failures: failures.length,
    first: failures.slice(0, 8),
  }),
)
process.exit(failures.length === 0 ? 0 : 1)
