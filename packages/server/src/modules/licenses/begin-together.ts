import type { Purchase } from '@strongroom/contract'
import pg from 'pg'
import type { Ctx } from '../../context.ts'
import { makeLines } from '../../db/together-in-line.ts'
import { type Ready, readyJson } from '../../http/one-trip.ts'
import { type BeginAsk, type Begun, beginPurchases } from './begin-store.ts'

// Purchases of one organisation follow one another at its credit, so those that wait in one process anyway are begun in one transaction,
// each as if it had come alone, and all are answered when all are stored. Where one of them would be refused nothing is stored, and each goes
// alone afterwards, to be begun or refused there.

/** All of them wait for the last one. */
const MOST_TOGETHER = 16

interface Waiting {
  readonly ctx: Ctx
  readonly ask: BeginAsk
  readonly answer: Purchase
  settle(): void
  fail(error: unknown): void
  /** Settles or fails by itself. */
  goAlone(): Promise<void>
}

const waitInLine = makeLines<Waiting>({
  most: MOST_TOGETHER,
  // Whoever asks twice with one key is answered by what the first has left.
  namesOf: ({ ask: { principal, request } }) => (request ? [`${principal} ${request.keyHash}`] : []),
  go: beginGroup,
})

/** Gives the answer once the purchase is begun and stored, with others or by itself. */
export const beginTogether = <T>(
  ctx: Ctx,
  ask: BeginAsk & Begun,
  answer: Purchase,
  alone: () => Promise<T>,
): Promise<Ready | T> =>
  new Promise<Ready | T>((resolve, fail) => {
    // With the first that test credit does not pay for, the test credit ends: they do not go with the others.
    const line = `${ctx.principal.orgId} ${ask.endsGrant}`
    const settle = () => resolve(readyJson(answer))
    const goAlone = () => alone().then(resolve, fail)
    waitInLine(ctx.database, line, { ctx, ask, answer, settle, fail, goAlone })
  })

async function beginGroup(group: readonly Waiting[]): Promise<void> {
  const [first, second] = group
  if (!first) return
  // Whoever comes meanwhile goes together.
  if (!second) return first.goAlone()
  const { database, principal } = first.ctx
  try {
    const asks = group.map(({ ask, answer }) => ({ ...ask, answer }))
    const isBegun = await beginPurchases(database, principal.orgId, asks)
    for (const one of group) isBegun ? one.settle() : void one.goAlone()
  } catch (error) {
    for (const one of group) isTakenBack(error) ? void one.goAlone() : one.fail(error)
  }
}

/** The database says so itself. Where its connection has ended nobody can tell whether they are stored: alone they would be bought twice. */
const isTakenBack = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !/^(?:08|57P)/.test(error.code ?? '')
