import { type Expression, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import { type Listed, listRows, type PageQuery } from '../../http/pagination.ts'
import type { DepositState, IntentStatus } from './status.ts'

export interface DepositRow {
  readonly txHash: string
  readonly ordinal: number
  readonly state: DepositState
  readonly contract: string
  readonly value: string
  readonly amount: string
  readonly blockNumber: number
  readonly paidAt: string
  readonly creditedAt: string | null
}

export interface IntentRow {
  readonly intentId: string
  readonly address: string
  readonly chainId: number
  readonly symbol: string
  readonly contract: string
  readonly decimals: number
  readonly target: string
  readonly expiresAt: Date
  readonly cancelledAt: Date | null
  /** As it was last told of. */
  readonly status: IntentStatus
  readonly exceptions: readonly string[]
  readonly version: number
  readonly createdBy: string
  readonly createdAt: Date
  readonly deposits: readonly DepositRow[]
  /** The last block of the chain that is known. */
  readonly head: number
}

const depositsOfIntent = sql<DepositRow[]>`coalesce((
  select json_agg(json_build_object(
    'txHash', d.tx_hash, 'ordinal', d.ordinal, 'state', d.state, 'contract', d.contract, 'value', d.value::text,
    'amount', d.amount::text, 'blockNumber', d.block_number, 'paidAt', d.paid_at, 'creditedAt', d.credited_at)
    order by d.seen_at, d.tx_hash, d.ordinal)
  from funding_deposit d where d.org_id = i.org_id and d.intent_id = i.intent_id), '[]')`

const intents = (db: Db, orgId: string) =>
  db
    .selectFrom('funding_intent as i')
    .select([
      'i.intent_id as intentId',
      'i.address',
      'i.chain_id as chainId',
      'i.symbol',
      'i.contract',
      'i.decimals',
      'i.target',
      'i.expires_at as expiresAt',
      'i.cancelled_at as cancelledAt',
      sql<IntentStatus>`i.status`.as('status'),
      'i.exceptions',
      'i.version',
      'i.created_by as createdBy',
      'i.created_at as createdAt',
      depositsOfIntent.as('deposits'),
      sql<number>`coalesce((select c.head from chain_cursor c where c.chain_id = i.chain_id), 0)`.as('head'),
    ])
    .where('i.org_id', '=', orgId)

export const list = (db: Db, orgId: string, page: PageQuery): Promise<Listed<IntentRow>> => {
  const select: Expression<IntentRow> = intents(db, orgId)
  return listRows(db, select, { time: 'createdAt', id: 'intentId' }, page)
}

export const intent = (db: Db, orgId: string, intentId: string): Promise<IntentRow | undefined> =>
  intents(db, orgId).where('i.intent_id', '=', intentId).executeTakeFirst()

/** Until the transaction ends nobody else changes the intent or its deposits. */
export async function lockIntent(db: Db, orgId: string, intentId: string): Promise<IntentRow | undefined> {
  await sql`select 1 from funding_intent where org_id = ${orgId} and intent_id = ${intentId} for update`.execute(db)
  return intent(db, orgId, intentId)
}

/** The next number that no address was ever made with. */
export async function nextAddressIndex(db: Db): Promise<number> {
  const { rows } = await sql<{ next: number }>`
    select nextval(pg_get_serial_sequence('strongroom.funding_intent', 'address_index')) as next`.execute(db)
  const [row] = rows
  if (!row) throw new Error('there is no next address')
  return row.next
}

export interface NewIntent {
  readonly intentId: string
  readonly addressIndex: number
  readonly address: string
  readonly chainId: number
  readonly symbol: string
  readonly contract: string
  readonly decimals: number
  readonly target: string
  readonly expiresAt: Date
  readonly createdBy: string
  readonly createdAt: Date
}

export async function insertIntent(db: Db, orgId: string, made: NewIntent): Promise<void> {
  await sql`
    insert into funding_intent (org_id, intent_id, address_index, address, chain_id, symbol, contract, decimals, target,
      expires_at, created_by, created_at)
    overriding system value
    values (${orgId}, ${made.intentId}, ${made.addressIndex}, ${made.address}, ${made.chainId}, ${made.symbol}, ${made.contract},
      ${made.decimals}, ${made.target}, ${made.expiresAt}, ${made.createdBy}, ${made.createdAt})`.execute(db)
}

/** How many wait for a payment, and how many were made in a day. Asked one after the other in an organisation, so that limits hold. */
export async function countIntents(
  db: Db,
  orgId: string,
  now: Date,
): Promise<{ readonly waiting: number; readonly madeInADay: number }> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`funding ${orgId}`}, 0))`.execute(db)
  const { rows } = await sql<{ waiting: number; madeInADay: number }>`
    select count(*) filter (where status = 'requires_payment' and expires_at > ${now}) as waiting,
      count(*) filter (where created_at > ${now}::timestamptz - interval '1 day') as "madeInADay"
    from funding_intent where org_id = ${orgId}`.execute(db)
  return rows[0] ?? { waiting: 0, madeInADay: 0 }
}

/** The chain is being read, and has itself confirmed the decimals of this token. */
export async function isChecked(
  db: Db,
  chainId: number,
  { contract, decimals }: { readonly contract: string; readonly decimals: number },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from chain_asset a join chain_cursor c using (chain_id)
    where a.chain_id = ${chainId} and a.contract = ${contract} and a.decimals = ${decimals}`.execute(db)
  return rows.length > 0
}

export async function cancel(db: Db, orgId: string, intentId: string, at: Date): Promise<void> {
  await db
    .updateTable('funding_intent')
    .set({ cancelled_at: at })
    .where('org_id', '=', orgId)
    .where('intent_id', '=', intentId)
    .where('cancelled_at', 'is', null)
    .execute()
}

export interface Standing {
  readonly status: IntentStatus
  readonly exceptions: readonly string[]
}

/** False if it is another version by now. */
export async function keepStanding(db: Db, orgId: string, before: IntentRow, after: Standing): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('funding_intent')
    .set({ status: after.status, exceptions: [...after.exceptions], version: before.version + 1 })
    .where('org_id', '=', orgId)
    .where('intent_id', '=', before.intentId)
    .where('status', '=', before.status)
    .where('version', '=', before.version)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export interface Transition {
  readonly intentId: string
  readonly object: string
  readonly from: string | null
  readonly to: string
  readonly cause: string
  readonly at: Date
}

export async function insertTransition(db: Db, orgId: string, transition: Transition): Promise<void> {
  const { intentId, object, from, to, cause, at } = transition
  await db
    .insertInto('funding_transition')
    .values({ org_id: orgId, intent_id: intentId, object, from_state: from, to_state: to, cause, occurred_at: at })
    .execute()
}

/** Seen on the chain and not credited. */
export async function incomingOf(db: Db, orgId: string): Promise<bigint> {
  const { rows } = await sql<{ amount: string }>`
    select coalesce(sum(amount), 0)::text as amount from funding_deposit where org_id = ${orgId} and state = 'seen'`.execute(
    db,
  )
  return BigInt(rows[0]?.amount ?? '0')
}
