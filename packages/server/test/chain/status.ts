import fc from 'fast-check'
import { playIntent, plays } from './status-model.ts'

/** Many sequences of what can happen to a funding intent, compared with the table of the design. */
export function checkStatuses(cases: number, seed: number): void {
  const property = fc.property(plays, (play) => {
    const wrong = playIntent(play)
    if (wrong !== undefined) throw new Error(wrong)
  })
  const { numRuns, failed, counterexample } = fc.check(property, { numRuns: cases, seed })
  const text = JSON.stringify(counterexample, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  if (failed) console.error(text)
  console.log(JSON.stringify({ test: 'funding', cases: numRuns, failures: failed ? 1 : 0, seed }))
  if (failed) process.exitCode = 1
}
