import fc from 'fast-check'
import { inOrg } from '../../src/context.ts'
import { ApiError } from '../../src/errors.ts'
import { type Account, applyTransfers, creditOf, ledgerDifferences, type Transfer } from '../../src/ledger/ledger.ts'
import type { Harness } from '../harness.ts'

// A book that is kept twice: by the server in PostgreSQL, and here in a few lines. Any sequence of fundings, holds, captures, releases,
// charges, refunds and repetitions must leave both with the same balances, and refuse the same moves.

type Step =
  | { readonly do: 'fund' | 'hold' | 'charge' | 'refund'; readonly amount: number }
  | { readonly do: 'post'; readonly hold: number; readonly percent: number }
  | { readonly do: 'void'; readonly hold: number }
  /** Something that was asked before, asked again. */
  | { readonly do: 'again'; readonly which: number }

const amount = fc.integer({ min: 1, max: 1000 })
const hold = fc.nat({ max: 12 })
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant('fund' as const), amount }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('hold' as const), amount }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('charge' as const, 'refund' as const), amount }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('post' as const), hold, percent: fc.nat({ max: 120 }) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('void' as const), hold }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('again' as const), which: fc.nat({ max: 30 }) }) },
  ),
  { minLength: 5, maxLength: 30 },
)

const PLACES: Readonly<Record<'fund' | 'hold' | 'charge' | 'refund', readonly [dr: Account, cr: Account]>> = {
  fund: ['clearing:test', 'credit'],
  hold: ['credit', 'payable:test'],
  charge: ['credit', 'payable:test'],
  refund: ['payable:test', 'credit'],
}

/** What the book must say. */
interface Model {
  posted: bigint
  readonly holds: { readonly id: string; readonly amount: bigint; isOpen: boolean }[]
}

const heldIn = ({ holds }: Model): bigint =>
  holds.reduce((sum, { amount, isOpen }) => (isOpen ? sum + amount : sum), 0n)

const named = (id: string, code: Transfer['code']) => ({ id, group: id, code, refType: 'test', refId: id })

/** The transfer of a step, or undefined where there is nothing that it could be about. */
function transferOf(step: Exclude<Step, { do: 'again' }>, number: number, { holds }: Model): Transfer | undefined {
  const id = `test:${number}`
  if (step.do === 'void' || step.do === 'post') {
    const target = holds[step.hold % Math.max(holds.length, 1)]
    if (!target) return undefined
    if (step.do === 'void') return { ...named(id, 'purchase'), phase: 'void', pendingId: target.id }
    const part = (target.amount * BigInt(step.percent)) / 100n
    return part === 0n ? undefined : { ...named(id, 'purchase'), phase: 'post', pendingId: target.id, amount: part }
  }
  const [dr, cr] = PLACES[step.do]
  const phase = step.do === 'hold' ? 'pending' : 'single'
  const code = ({ fund: 'funding', hold: 'purchase', charge: 'charge', refund: 'refund' } as const)[step.do]
  return { ...named(id, code), phase, dr, cr, amount: BigInt(step.amount) }
}

/** Whether the model takes it; changed if so. */
function take(model: Model, transfer: Transfer): boolean {
  if (transfer.phase === 'post' || transfer.phase === 'void') {
    const target = model.holds.find(({ id }) => id === transfer.pendingId)
    if (!target?.isOpen) return false
    const spent = transfer.phase === 'post' ? transfer.amount : 0n
    if (spent > target.amount) return false
    target.isOpen = false
    model.posted -= spent
    return true
  }
  const isDebit = transfer.dr === 'credit'
  if (isDebit && transfer.amount > model.posted - heldIn(model)) return false
  if (transfer.phase === 'pending') model.holds.push({ id: transfer.id, amount: transfer.amount, isOpen: true })
  else model.posted += isDebit ? -transfer.amount : transfer.amount
  return true
}

/** Plays a sequence on a new organisation; throws where the book and the model part. */
export async function playLedger(h: Harness, sequence: readonly Step[]): Promise<void> {
  const { orgId } = await h.org('book')
  const model: Model = { posted: 0n, holds: [] }
  const taken: Transfer[] = []
  const apply = (transfer: Transfer): Promise<boolean> =>
    inOrg(h.deps, orgId, (db) => applyTransfers(db, orgId, [transfer], h.deps.now())).then(
      ({ applied }) => applied === 1,
      (error: unknown) => {
        if (error instanceof ApiError || /^the ledger refused/.test((error as Error).message)) return false
        throw error
      },
    )
  for (const [number, step] of sequence.entries()) {
    const isAgain = step.do === 'again'
    const transfer = isAgain ? taken[step.which % Math.max(taken.length, 1)] : transferOf(step, number, model)
    if (!transfer) continue
    const expected = isAgain ? false : take(model, transfer)
    if ((await apply(transfer)) !== expected)
      throw new Error(`step ${number} (${step.do}) was ${expected ? 'refused' : 'taken'}`)
    if (expected) taken.push(transfer)
    const { posted, held, available } = await inOrg(h.deps, orgId, (db) => creditOf(db, orgId))
    if (posted !== model.posted || held !== heldIn(model) || available < 0n)
      throw new Error(`after step ${number} (${step.do}): ${posted}/${held}, not ${model.posted}/${heldIn(model)}`)
  }
  const differences = await inOrg(h.deps, orgId, (db) => ledgerDifferences(db, orgId))
  if (differences.length > 0) throw new Error(`accounts are not the sum of their transfers: ${differences.join()}`)
}
