import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { DepositState } from './status.ts'

export interface DepositKey {
  readonly orgId: string
  readonly chainId: number
  readonly txHash: string
  readonly ordinal: number
}

export interface Deposit extends DepositKey {
  readonly intentId: string
  readonly address: string
  readonly symbol: string
  readonly contract: string
  readonly decimals: number
  readonly value: string
  readonly amount: string
  readonly remainder: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly state: DepositState
  readonly wasCredited: boolean
  readonly round: number
  readonly taken: string
}

const deposits = (db: Db) =>
  db
    .selectFrom('funding_deposit as d')
    .innerJoin('funding_intent as i', (join) =>
      join.onRef('i.org_id', '=', 'd.org_id').onRef('i.intent_id', '=', 'd.intent_id'),
    )
    .select([
      'd.org_id as orgId',
      'd.chain_id as chainId',
      'd.tx_hash as txHash',
      'd.ordinal',
      'd.intent_id as intentId',
      'i.address',
      'i.symbol',
      'd.contract',
      'i.decimals',
      'd.value',
      'd.amount',
      'd.remainder',
      'd.block_number as blockNumber',
      'd.block_hash as blockHash',
      sql<DepositState>`d.state`.as('state'),
      sql<boolean>`d.credited_at is not null`.as('wasCredited'),
      'd.round',
      'd.taken',
    ])

export const deposit = (db: Db, { orgId, chainId, txHash, ordinal }: DepositKey): Promise<Deposit | undefined> =>
  deposits(db)
    .where('d.org_id', '=', orgId)
    .where('d.chain_id', '=', chainId)
    .where('d.tx_hash', '=', txHash)
    .where('d.ordinal', '=', ordinal)
    .executeTakeFirst()

/** What the chain must still have: all of a stretch, and whatever waits to be confirmed before it. */
export const expectedIn = (db: Db, chainId: number, from: number, to: number): Promise<Deposit[]> =>
  deposits(db)
    .where('d.chain_id', '=', chainId)
    .where('d.block_number', '<=', to)
    .where(sql<boolean>`(d.state = 'seen' or (d.state in ('credited', 'held') and d.block_number >= ${from}))`)
    .execute()

/** Deep enough to be credited. */
export const confirmed = (db: Db, chainId: number, block: number): Promise<Deposit[]> =>
  deposits(db)
    .where('d.chain_id', '=', chainId)
    .where('d.state', '=', 'seen')
    .where('d.block_number', '<=', block)
    .orderBy('d.block_number')
    .orderBy('d.tx_hash')
    .orderBy('d.ordinal')
    .execute()

/** Gone after they were credited, and not all of it taken back. */
export const owed = (db: Db, chainId: number): Promise<Deposit[]> =>
  deposits(db)
    .where('d.chain_id', '=', chainId)
    .where('d.state', '=', 'reversed')
    .whereRef('d.taken', '<', 'd.amount')
    .orderBy('d.seen_at')
    .orderBy('d.tx_hash')
    .orderBy('d.ordinal')
    .execute()

export interface Arrived extends DepositKey {
  readonly intentId: string
  readonly contract: string
  readonly value: string
  readonly amount: string
  readonly remainder: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly paidAt: Date
}

export async function insertDeposit(db: Db, arrived: Arrived, state: DepositState, at: Date): Promise<void> {
  const { orgId, intentId, chainId, txHash, ordinal, contract, value, amount, remainder } = arrived
  await db
    .insertInto('funding_deposit')
    .values({
      org_id: orgId,
      intent_id: intentId,
      chain_id: chainId,
      tx_hash: txHash,
      ordinal,
      contract,
      value,
      amount,
      remainder,
      block_number: arrived.blockNumber,
      block_hash: arrived.blockHash,
      paid_at: arrived.paidAt,
      state,
      seen_at: at,
      credited_at: null,
    })
    .execute()
}

const ofKey = (db: Db, { orgId, chainId, txHash, ordinal }: DepositKey) =>
  db
    .updateTable('funding_deposit')
    .where('org_id', '=', orgId)
    .where('chain_id', '=', chainId)
    .where('tx_hash', '=', txHash)
    .where('ordinal', '=', ordinal)

/** It is in this block now. */
export async function placeDeposit(
  db: Db,
  key: DepositKey,
  { blockNumber, blockHash, paidAt }: Arrived,
): Promise<void> {
  await ofKey(db, key).set({ block_number: blockNumber, block_hash: blockHash, paid_at: paidAt }).execute()
}

/** It is another one now. Only for what was never credited. */
export async function replaceDeposit(db: Db, key: DepositKey, arrived: Arrived): Promise<void> {
  const { intentId, contract, value, amount, remainder } = arrived
  await ofKey(db, key)
    .set({ intent_id: intentId, contract, value, amount, remainder })
    .where('credited_at', 'is', null)
    .execute()
}

/** False if it is in another state by now. */
export async function changeState(db: Db, before: Deposit, to: DepositState): Promise<boolean> {
  const isReversal = before.state === 'credited' && to === 'reversed'
  const { numUpdatedRows } = await ofKey(db, before)
    .set({ state: to, ...(isReversal && { round: before.round + 1 }) })
    .where('state', '=', before.state)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** False if it is not as it was when it was found confirmed. */
export async function markCredited(db: Db, { blockHash, ...deposit }: Deposit, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await ofKey(db, deposit)
    .set({ state: 'credited', credited_at: sql`coalesce(credited_at, ${at})`, taken: '0' })
    .where('state', '=', 'seen')
    .where('block_hash', '=', blockHash)
    .where('taken', '=', deposit.taken)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function markTaken(db: Db, deposit: Deposit, taken: bigint): Promise<boolean> {
  const { numUpdatedRows } = await ofKey(db, deposit)
    .set({ taken: taken.toString() })
    .where('state', '=', 'reversed')
    .where('taken', '=', deposit.taken)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Of this token, of everything that was ever credited before this one. */
export async function remaindersBefore(
  db: Db,
  { orgId, chainId, contract, txHash, ordinal }: Deposit,
): Promise<bigint> {
  const { rows } = await sql<{ remainder: string }>`
    select coalesce(sum(remainder), 0)::text as remainder from funding_deposit
    where org_id = ${orgId} and chain_id = ${chainId} and contract = ${contract} and credited_at is not null
      and (tx_hash, ordinal) <> (${txHash}, ${ordinal}::int)`.execute(db)
  return BigInt(rows[0]?.remainder ?? '0')
}
