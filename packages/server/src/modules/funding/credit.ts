import { money } from '@strongroom/contract'
import type { Database, Db } from '../../db/database.ts'
import { applyTransfers, creditOf, type Transfer } from '../../ledger/ledger.ts'
import { emit } from '../../outbox/outbox.ts'
import { roundingOf } from './amounts.ts'
import * as deposits from './deposit-store.ts'
import { type Folding, foldIntent } from './fold.ts'
import { lockIntent } from './store.ts'
import { tellDeposit } from './tell-deposit.ts'

// Money moves here and nowhere else in funding. The name of each transfer is made of the name of the deposit, so that whatever
// happens to the chain, and however often it is told, it moves once.

const nameOf = ({ chainId, txHash, ordinal }: deposits.DepositKey): string => `${chainId}.${txHash}.${ordinal}`

const about = (id: string, { intentId }: deposits.Deposit) =>
  ({ id, group: id, refType: 'funding_intent', refId: intentId, phase: 'single' }) as const

/** The first time it is credited, and what remainders of the token have made of whole micro-units by now. */
function firstTime(deposit: deposits.Deposit, remaindersBefore: bigint): readonly Transfer[] {
  const { chainId, symbol, decimals } = deposit
  const [name, dr] = [nameOf(deposit), `clearing:${chainId}:${symbol}`] as const
  const amount = BigInt(deposit.amount)
  const rounded = roundingOf(remaindersBefore, BigInt(deposit.remainder), decimals)
  const credit: Transfer = { ...about(`fund:${name}`, deposit), code: 'funding', dr, cr: 'credit', amount }
  const rest: Transfer = { ...about(`round:${name}`, deposit), code: 'funding', dr, cr: 'rounding', amount: rounded }
  return rounded > 0n ? [credit, rest] : [credit]
}

/** It was credited before, taken back, and is on the chain again: what was taken is given back. */
function again(deposit: deposits.Deposit): readonly Transfer[] {
  const [id, amount] = [`restore:${nameOf(deposit)}:${deposit.round}`, BigInt(deposit.taken)]
  return amount > 0n ? [{ ...about(id, deposit), code: 'reorg', dr: 'suspense', cr: 'credit', amount }] : []
}

const transfersFor = async (db: Db, deposit: deposits.Deposit): Promise<readonly Transfer[]> =>
  deposit.wasCredited ? again(deposit) : firstTime(deposit, await deposits.remaindersBefore(db, deposit))

/** Credits a deposit that every node has confirmed. Does nothing if it has changed since it was read. */
export const credit = (deps: Folding, worker: Database, deposit: deposits.Deposit): Promise<void> =>
  worker.kysely.transaction().execute(async (db) => {
    const { orgId, intentId, state: from, amount, taken, wasCredited } = deposit
    await lockIntent(db, orgId, intentId)
    if (!(await deposits.markCredited(db, deposit, deps.now()))) return
    const transfers = await transfersFor(db, deposit)
    await tellDeposit(deps, db, { ...deposit, from, to: 'credited', cause: 'confirmed' })
    await foldIntent(deps, db, orgId, intentId, 'deposit credited')
    if (transfers.length === 0) return
    const object = { type: 'balance', id: orgId, amount: money(wasCredited ? taken : amount), intentId }
    await emit(deps, db, orgId, { type: 'billing.balance.credited', object })
    await applyTransfers(db, orgId, transfers, deps.now())
  })

/**
 * Takes back what was credited for a deposit that is gone, as far as there is credit: what was spent meanwhile is taken from what
 * comes later. Should a purchase be quicker, the ledger refuses and the next turn tries again.
 */
export const takeBack = (
  deps: Folding,
  worker: Database,
  { orgId, intentId, ...key }: deposits.Deposit,
): Promise<void> =>
  worker.kysely.transaction().execute(async (db) => {
    await lockIntent(db, orgId, intentId)
    const deposit = await deposits.deposit(db, { orgId, ...key })
    if (deposit?.state !== 'reversed') return
    const [taken, { available }] = [BigInt(deposit.taken), await creditOf(db, orgId)]
    const missing = BigInt(deposit.amount) - taken
    const amount = available < missing ? available : missing
    if (amount <= 0n || !(await deposits.markTaken(db, deposit, taken + amount))) return
    const id = `reorg:${nameOf(deposit)}:${deposit.round}.${taken}`
    await applyTransfers(
      db,
      orgId,
      [{ ...about(id, deposit), code: 'reorg', dr: 'credit', cr: 'suspense', amount }],
      deps.now(),
    )
  })
