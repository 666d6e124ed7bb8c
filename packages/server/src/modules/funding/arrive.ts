import type { ChainTransfer } from '../../chain/transfers.ts'
import type { Db } from '../../db/database.ts'
import { microsOf } from './amounts.ts'
import * as store from './deposit-store.ts'
import { onArrival, onDeparture } from './deposits.ts'
import type { Folding } from './fold.ts'
import type { WatchedIntent } from './scan-store.ts'
import { tellDeposit } from './tell-deposit.ts'

// Writing down what a stretch of the chain has, and what it has no longer, under the lock of the intent.

/** More than there is of any money: a token that says so is no money, and must not keep others from theirs. */
const TOO_MUCH = 10n ** 24n

/** What arrived at the address of an intent; undefined if it is less than a micro-unit, or nonsense. */
export function arrivedAt(
  { orgId, intentId }: WatchedIntent,
  chainId: number,
  transfer: ChainTransfer,
  decimals: number,
): store.Arrived | undefined {
  const { txHash, ordinal, contract, value, blockNumber, blockHash, paidAt } = transfer
  const { amount, remainder } = microsOf(value, decimals)
  if (amount === 0n || amount >= TOO_MUCH) return undefined
  return {
    ...{ orgId, intentId, chainId, txHash, ordinal, contract, blockNumber, blockHash, paidAt },
    value: value.toString(),
    amount: amount.toString(),
    remainder: remainder.toString(),
  }
}

async function change(deps: Folding, db: Db, known: store.Deposit, to: store.Deposit['state'], cause: string) {
  if (to === known.state) return
  if (!(await store.changeState(db, known, to))) throw new Error('the deposit changed under the lock of its intent')
  await tellDeposit(deps, db, { ...known, from: known.state, to, cause })
}

export async function putDeposit(deps: Folding, db: Db, arrived: store.Arrived, isOtherAsset: boolean): Promise<void> {
  const known = await store.deposit(db, arrived)
  const isSame =
    known?.value === arrived.value && known.contract === arrived.contract && known.intentId === arrived.intentId
  const to = onArrival(known, { isSame, isOtherAsset })
  if (!known) {
    await store.insertDeposit(db, arrived, to, deps.now())
    await tellDeposit(deps, db, { ...arrived, from: null, to, cause: 'on the chain' })
    return
  }
  if (isSame || !known.wasCredited) await store.placeDeposit(db, known, arrived)
  if (!isSame) await store.replaceDeposit(db, known, arrived)
  await change(deps, db, known, to, isSame ? 'on the chain' : 'another transfer under its name')
}

export async function endDeposit(deps: Folding, db: Db, gone: store.Deposit): Promise<void> {
  const known = await store.deposit(db, gone)
  // Found again in the same stretch, under another block.
  if (!known || known.blockHash !== gone.blockHash) return
  await change(deps, db, known, onDeparture(known), 'no longer on the chain')
}
