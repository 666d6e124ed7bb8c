import { translating } from '../../context.ts'
import type { Database } from '../../db/database.ts'

// Whose turn it is, for all processes. Each is one statement of its own: a turn outlives the transactions of the commits it is for.

export interface TurnPlace {
  readonly orgId: string
  readonly vaultId: string
}

const TAKE = { name: 'take_vault_turn', text: 'select take_vault_turn($1, $2, $3, $4) as done' } as const
const HAS = { name: 'has_vault_turn', text: 'select has_vault_turn($1, $2, $3) as done' } as const
const END = { name: 'end_vault_turn', text: 'select end_vault_turn($1, $2, $3)' } as const

const ask = ({ pool }: Database, query: typeof TAKE | typeof HAS | typeof END, values: unknown[]): Promise<boolean> =>
  translating(async () => (await pool.query<{ done: boolean }>({ ...query, values })).rows[0]?.done === true)

/** False if somebody else has it. */
export const takeTurn = (database: Database, { orgId, vaultId }: TurnPlace, turn: string, ms: number) =>
  ask(database, TAKE, [orgId, vaultId, turn, ms])

export const hasTurn = (database: Database, { orgId, vaultId }: TurnPlace, turn: string): Promise<boolean> =>
  ask(database, HAS, [orgId, vaultId, turn])

export const endTurn = (database: Database, { orgId, vaultId }: TurnPlace, turn: string): Promise<boolean> =>
  ask(database, END, [orgId, vaultId, turn])
