// Money that is kept twice: in PostgreSQL, and by models of a few lines. Any sequence must leave both with the same books.
//
//   npm run test:money [-- --only=ledger,budgets,windows,charges --cases=10000 --charges=1000 --seed=N]
//
// Ledger: fundings, holds, captures, releases, refunds. Budgets: promises, settlements and refunds in windows of every kind, with months
// between them. Windows: when they begin and end, in zones whose clocks change. Charges: months of licences that come and end, of which a
// sequence takes many times longer, so that there are fewer. Says on standard error how far it is and prints one line of JSON for each; ends
// with 1 if the books part, and says the shortest sequence where they do.
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { harnessOn } from '../harness-on.ts'
import { copyDatabase, startTestPostgres } from '../postgres.ts'
import { asked, wrongWindows } from './asked-windows.ts'
import { budgetPlays, playBudgets } from './budget-model.ts'
import { steps as chargeSteps, differenceIn } from './charge-model.ts'
import { steps as ledgerSteps, playLedger } from './ledger-model.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'ledger,budgets,windows,charges' },
    cases: { type: 'string', default: '10000' },
    charges: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
})
const seed = Number(values.seed)
const only = values.only.split(',')

async function check<T>(name: string, cases: number, sequences: fc.Arbitrary<T>, play: (one: T) => Promise<void>) {
  if (!only.includes(name)) return
  const startedAt = Date.now()
  const seconds = (): number => Math.round((Date.now() - startedAt) / 1000)
  let done = 0
  const property = fc.asyncProperty(sequences, async (one) => {
    await play(one)
    done += 1
    if (done % 500 === 0) process.stderr.write(`${name}: ${done} of ${cases}, ${seconds()} s\n`)
  })
  const { failed, numRuns, counterexample, errorInstance } = await fc.check(property, { numRuns: cases, seed })
  if (failed) process.stderr.write(`${(errorInstance as Error)?.message}\n${fc.stringify(counterexample)}\n`)
  const counts = { cases: numRuns, failures: failed ? 1 : 0, seed, seconds: seconds() }
  console.log(JSON.stringify({ test: `money, ${name}`, ...counts }))
  if (failed) process.exitCode = 1
}

const orThrow = (wrong: unknown): void => {
  if (wrong !== undefined) throw new Error(typeof wrong === 'string' ? wrong : JSON.stringify(wrong))
}

const cases = Number(values.cases)
const postgres = await startTestPostgres()
const h = await harnessOn(await copyDatabase(postgres))
const { orgId } = await h.org('windows')
try {
  await check('windows', cases, asked, async (one) => orThrow((await wrongWindows(h, orgId, [one]))[0]))
  await check('budgets', cases, budgetPlays, (play) => playBudgets(h, play))
  await check('ledger', cases, ledgerSteps, (sequence) => playLedger(h, sequence))
  await check('charges', Number(values.charges), chargeSteps, async (sequence) =>
    orThrow(await differenceIn({ h, ...(await h.org('charges')) }, sequence)),
  )
} finally {
  await h.close()
  await postgres.stop()
}
process.exit()
