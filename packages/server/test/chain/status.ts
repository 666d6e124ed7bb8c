// Many sequences of what can happen to a funding intent, compared with the table of the design.
//
//   npm run test:funding [-- --cases=10000 --seed=N]
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { playIntent, plays } from './status-model.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '10000' }, seed: { type: 'string' } },
})
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed)
const property = fc.property(plays, (play) => {
  const wrong = playIntent(play)
  if (wrong !== undefined) throw new Error(wrong)
})
const { numRuns, failed, counterexample } = fc.check(property, { numRuns: Number(values.cases), seed })
const text = JSON.stringify(counterexample, (_, value) => (typeof value === 'bigint' ? String(value) : value))
if (failed) console.error(text)
console.log(JSON.stringify({ suite: 'funding', cases: numRuns, failures: failed ? 1 : 0, seed }))
process.exit(failed ? 1 : 0)
