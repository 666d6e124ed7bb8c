// First many sequences of what can happen to a funding intent, by the rules alone. Then payments over a real chain whose blocks are taken back,
// with the process that reads it killed at every single point.
//
//   npm run test:funding [-- --only=model|kills --cases=10000 --seed=N --step=1]
//
// With a step, only every so manieth point is one to die at. Prints one line of JSON for each half; ends with 1 if an intent has another
// status than the table of the design says, or a payment is not credited exactly once.
import { parseArgs } from 'node:util'
import { killScanners } from './kill-matrix.ts'
import { checkStatuses } from './status.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    cases: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    step: { type: 'string', default: '1' },
  },
})
if (values.only !== 'kills') checkStatuses(Number(values.cases), Number(values.seed))
if (values.only !== 'model') await killScanners(Number(values.step))
process.exit()
