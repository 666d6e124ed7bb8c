import { randomUUID } from 'node:crypto'
import { type Commit, ProtocolError, peekDocument, vaultHead } from '@strongroom/protocol'
import { type Ctx, type TransactOptions, type TxCtx, transact } from '../../context.ts'
import type { Database } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { type Latecomers, type Line, makeLatecomers, makeLine } from './turn-line.ts'
import { endTurn, hasTurn, type TurnPlace, takeTurn } from './turn-store.ts'

// A head is signed by the client, so of many who change one vault at a time one is in and all others have to build again on the newer
// head. Left to chance, somebody loses nine times in a row. So commits of a vault are taken one after the other, in the order they
// came, and the conflict that a writer is answered with carries a turn: whoever comes back with it (`Vault-Turn`) in a moment goes
// first. Between processes the turn lies in the database. It is about fairness and nothing else: no lock of the log depends on it.

/** From the answer of a conflict until the writer is back. */
const HOLD_MS = 750
/** Longer than a hold and two transactions; only the turn of a process that died lasts that long. */
const LEASE_MS = 2500
/** In the line and for other processes together; with the transaction it stays below the deadline of a request. */
const WAIT_MS = 7000
const ASK_EVERY_MS = 20
/** Whoever let a turn lapse gets none for a while: nobody can hold up a vault again and again. */
const NO_TURN_MS = 5000
const MOST_LAPSED = 1000

interface Lines {
  readonly byVault: Map<string, Line>
  readonly latecomers: Latecomers
  /** When a principal last let a turn lapse. */
  readonly lapsed: Map<string, number>
}

/** One set for each process, which has one pool. */
const linesOf = new WeakMap<Database, Lines>()

function linesFor(database: Database): Lines {
  const known = linesOf.get(database)
  if (known) return known
  const lines = { byVault: new Map<string, Line>(), latecomers: makeLatecomers(), lapsed: new Map<string, number>() }
  linesOf.set(database, lines)
  return lines
}

function lineFor({ byVault }: Lines, { orgId, vaultId }: TurnPlace): Line {
  const key = `${orgId} ${vaultId}`
  const line = byVault.get(key) ?? makeLine(() => byVault.delete(key))
  byVault.set(key, line)
  return line
}

/** Somebody in front, or back with a turn. */
interface Place extends TurnPlace {
  readonly line: Line
  /** Undefined where nobody else is about, and other processes need not be told. */
  turn: string | undefined
  /** In front of the line of this process; false for who came back to another process than they were sent away by. */
  readonly isInLine: boolean
  readonly isBack: boolean
}

const overloaded = (): ApiError => new ApiError('overloaded', { headers: { 'retry-after': '1' } })
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A transaction that changes these vaults, when it is its turn. */
export const transactInTurn = <T>(
  ctx: Ctx,
  vaultIds: readonly string[],
  work: (ctx: TxCtx) => Promise<T>,
  options: TransactOptions<T>,
): Promise<T> => inTurn(ctx, vaultIds, () => transact(ctx, work, options))

/** The vaults that commits say they are about. What cannot be read waits for nobody, and is refused where it is checked. */
export function claimedVaults(...commits: readonly Commit[]): readonly string[] {
  try {
    return commits.map(({ head }) => peekDocument(vaultHead, head).payload.vaultId)
  } catch (error) {
    if (error instanceof ProtocolError) return []
    throw error
  }
}

/** Runs a commit of these vaults when it is its turn. Refuses with `overloaded` if that takes too long. */
export async function inTurn<T>(ctx: Ctx, vaultIds: readonly string[], work: () => Promise<T>): Promise<T> {
  const turn = ctx.request.turn ?? randomUUID()
  // Sorted, so that two moves between the same vaults do not wait for each other.
  const [first, ...others] = [...new Set(vaultIds)].sort()
  if (first === undefined) return work()
  const place = await begin(ctx, { orgId: ctx.principal.orgId, vaultId: first }, turn)
  try {
    const result = await (others.length === 0 ? work() : inTurn(ctx, others, work))
    finish(ctx, place)
    return result
  } catch (error) {
    throw await end(ctx, place, turn, error)
  }
}

async function begin(ctx: Ctx, { orgId, vaultId }: TurnPlace, turn: string): Promise<Place> {
  const { database, request } = ctx
  const lines = linesFor(database)
  const line = lineFor(lines, { orgId, vaultId })
  const place = { orgId, vaultId, line }
  if (request.turn !== undefined) {
    if (line.resume(turn)) return { ...place, turn, isInLine: true, isBack: true }
    if (await hasTurn(database, place, turn)) return { ...place, turn, isInLine: false, isBack: true }
  }
  const deadline = performance.now() + WAIT_MS
  await enter(ctx, lines, line)
  if (!line.isContended()) return { ...place, turn: undefined, isInLine: true, isBack: false }
  try {
    const taken = await take(ctx, place, turn, deadline)
    return { ...place, turn: taken, isInLine: true, isBack: false }
  } catch (error) {
    line.leave()
    throw error
  }
}

async function enter({ principal, idempotent }: Ctx, { latecomers }: Lines, line: Line): Promise<void> {
  // The same request sent again; without a key nobody can tell that it is.
  const who = idempotent && `${principal.id} ${idempotent.keyHash.toString('hex')}`
  const since = who === undefined ? performance.now() : latecomers.since(who)
  if (await line.enter(since, WAIT_MS)) return
  if (who !== undefined) latecomers.sentAway(who, since)
  throw overloaded()
}

/** Those of this process stand in line; this one stands for them before the other processes. */
async function take(ctx: Ctx, place: TurnPlace, turn: string, deadline: number): Promise<string> {
  const { isOpen } = ctx.connection()
  for (;;) {
    // Nobody is there to be answered any more, and nobody would use the turn.
    if (!isOpen()) throw overloaded()
    if (await takeTurn(ctx.database, place, turn, LEASE_MS)) return turn
    if (performance.now() > deadline) throw overloaded()
    await pause(ASK_EVERY_MS)
  }
}

/** The answer does not wait for this; the next in line does. */
function finish({ database }: Ctx, { orgId, vaultId, line, turn, isInLine }: Place): void {
  const leave = (): void => {
    if (isInLine) line.leave()
  }
  if (turn === undefined) {
    leave()
    return
  }
  endTurn(database, { orgId, vaultId }, turn)
    // It lapses by itself.
    .catch(() => undefined)
    .finally(leave)
}

const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'vault_head_conflict'

/** A conflict is answered with a turn, once: who is back and meets another one stands in line again. */
async function end(ctx: Ctx, place: Place, turn: string, error: unknown): Promise<unknown> {
  const { line, isBack } = place
  if (isConflict(error)) line.conflicted()
  const mayHold = isConflict(error) && !isBack && !hasLapsed(ctx) && ctx.connection().isOpen()
  if (mayHold && place.turn === undefined) place.turn = await takeNow(ctx, place, turn)
  if (!mayHold || place.turn === undefined) {
    finish(ctx, place)
    return error
  }
  line.hold(turn, HOLD_MS, () => {
    lapse(ctx)
    finish(ctx, place)
  })
  return new ApiError(error.code, { details: { ...error.details, turn } })
}

const takeNow = async ({ database }: Ctx, place: TurnPlace, turn: string): Promise<string | undefined> =>
  (await takeTurn(database, place, turn, LEASE_MS).catch(() => false)) ? turn : undefined

function lapse({ database, principal }: Ctx): void {
  const { lapsed } = linesFor(database)
  lapsed.delete(principal.id)
  lapsed.set(principal.id, performance.now())
  const [oldest] = lapsed.keys()
  if (lapsed.size > MOST_LAPSED && oldest !== undefined) lapsed.delete(oldest)
}

function hasLapsed({ database, principal }: Ctx): boolean {
  const at = linesFor(database).lapsed.get(principal.id)
  return at !== undefined && performance.now() - at < NO_TURN_MS
}
