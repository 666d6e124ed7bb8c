import type { CommitReceipt } from '@strongroom/contract'
import type { Commit } from '@strongroom/protocol'
import { type Ctx, type TxCtx, translating } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { makeLines } from '../../db/together-in-line.ts'
import { ApiError } from '../../errors.ts'
import { logAfter, mapOf } from '../../log/append.ts'
import { openWays } from '../../log/map-store.ts'
import { type CommitOptions, keptPlace } from './commit.ts'
import {
  type Appended,
  appendDecided,
  askOf,
  type Change,
  type Decided,
  decide,
  type Growing,
  keep,
  namesIn,
  open,
  type PlainCommit,
  plainCommit,
  receiptOf,
  rowsOf,
} from './plain-commit.ts'
import { type AtHand, atHandFor } from './plain-commit-at-hand.ts'
import { type CommitView, openCommits, writeCommits } from './plain-store.ts'

// Commits of one organisation follow one another in its log, so those that wait in one process anyway go in one transaction: read in
// one statement, decided one after the other, written in one. Each has its own leaf, checkpoint, audit row and receipt, as if it had
// come alone, and all of them are answered when all are stored. Whatever is not as expected goes alone afterwards, and is refused there.

interface Waiting {
  readonly ctx: Ctx
  readonly vaultId: string
  readonly commit: Commit
  readonly plain: PlainCommit
  readonly options: CommitOptions
  /** Undefined sends it away to go alone. */
  answer(receipt: CommitReceipt | undefined): void
  fail(error: unknown): void
}

/** While they are decided nothing else is answered, and all wait for the last one. */
const MOST_TOGETHER = 16

const waitInLine = makeLines<Waiting>({
  most: MOST_TOGETHER,
  // Of each vault and of each idempotency key the first one only: what follows depends on it.
  namesOf: (one) => [`vault ${one.vaultId}`, ...keyOf(one)],
  go: commitGroup,
})

/** The receipt, once the commit is stored; undefined if it has to go alone, and then nothing of it is stored. */
export async function commitTogether(
  ctx: Ctx,
  vaultId: string,
  commit: Commit,
  options: CommitOptions,
): Promise<CommitReceipt | undefined> {
  const plain = plainCommit(commit)
  if (!plain) return undefined
  return new Promise((answer, fail) =>
    waitInLine(ctx.database, ctx.principal.orgId, { ctx, vaultId, commit, plain, options, answer, fail }),
  )
}

const keyOf = ({ ctx: { principal, idempotent } }: Waiting): string[] =>
  idempotent ? [`key ${principal.id} ${idempotent.keyHash.toString('hex')}`] : []

async function commitGroup(group: readonly Waiting[]): Promise<void> {
  const [first] = group
  if (!first) return
  const { database, principal } = first.ctx
  let isWritten = false
  try {
    const receipts = await translating(() =>
      database.kysely.transaction().execute(async (db) => {
        const done = await changeAll(db, principal.orgId, group)
        isWritten = true
        return done
      }),
    )
    for (const [i, { answer }] of group.entries()) answer(receipts[i])
  } catch (error) {
    // Once all is written nobody can tell whether it was stored: alone it could be taken for somebody else's commit.
    if (isWritten) for (const { fail } of group) fail(error)
    else for (const { answer } of group) answer(undefined)
  }
}

interface Settled {
  readonly ctx: TxCtx
  readonly change: Change
  readonly decided: Decided
  readonly logged: Appended
  readonly rows: ReturnType<typeof rowsOf>
}

const NOBODY_LEFT = 'all of them have to go alone'

async function changeAll(
  db: Db,
  orgId: string,
  group: readonly Waiting[],
): Promise<readonly (CommitReceipt | undefined)[]> {
  const atHand = group.map(({ vaultId, commit, plain }) => atHandFor(orgId, vaultId, commit, plain.itemIds))
  const views = await openCommits(
    db,
    orgId,
    group.map((one, i) => askFor(one, atHand[i] as AtHand)),
  )
  const changes = await Promise.all(group.map((one, i) => changeOf(db, one, views[i], atHand[i] as AtHand)))
  const settled = await settleAll(db, group, changes)
  if (settled.every((one) => !one)) throw new Error(NOBODY_LEFT)
  const written = await writeCommits(db, orgId, {
    commits: settled.flatMap((one) => (one ? [one.rows] : [])),
    answers: settled.flatMap((one) => (one ? keptOf(one) : [])),
    unclaimed: group.flatMap(({ ctx }, i) => (settled[i] || !views[i] ? [] : claimedBy(ctx))),
  })
  const rows = written.values()
  return settled.map((one) => {
    if (!one) return undefined
    const { value } = rows.next()
    if (value?.fields !== one.rows.fields.length) throw new ApiError('id_conflict')
    keep(one.change, one.decided)
    return receiptOf(one.change, one.logged, value.vault)
  })
}

const askFor = ({ ctx, vaultId, commit, plain }: Waiting, atHand: AtHand) => ({
  ...askOf(ctx, vaultId, commit, plain, atHand),
  claim: ctx.idempotent
    ? {
        keyHash: ctx.idempotent.keyHash.toString('hex'),
        requestHash: ctx.idempotent.requestHash.toString('hex'),
        at: ctx.now(),
      }
    : null,
})

/** Undefined where it is refused, or was answered before. */
async function changeOf(
  db: Db,
  one: Waiting,
  view: CommitView | undefined,
  atHand: AtHand,
): Promise<Change | undefined> {
  const { ctx, vaultId, commit, plain, options } = one
  // A conflict is answered with much that has to be read: not while others wait.
  if (!view?.around || view.vault?.headVersion !== commit.expect.headVersion) return undefined
  const opened = await open({ ...ctx, db }, vaultId, commit, plain, { view, atHand }, options.needs).catch(refused)
  return opened && { commit, plain, opened }
}

/** The rules refuse with an error of the API; anything else is the matter of all. */
function refused(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}

async function settleAll(
  db: Db,
  group: readonly Waiting[],
  changes: readonly (Change | undefined)[],
): Promise<(Settled | undefined)[]> {
  let growing = growingOf(changes.flatMap((change) => change ?? []))
  const settled: (Settled | undefined)[] = []
  for (const [i, { ctx: outer, options }] of group.entries()) {
    const change = changes[i]
    const ctx = { ...outer, db }
    const decided = growing && change && (await decide(ctx, change, growing.log, options.rule).catch(refused))
    if (!decided || !growing) {
      settled.push(undefined)
      continue
    }
    const logged = await appendDecided(ctx, change, decided, growing)
    growing = grownBy(growing, logged)
    settled.push({ ctx, change, decided, logged, rows: rowsOf(ctx, change, decided, logged, options.action) })
  }
  return settled
}

/** All of them were read under one lock, and so of one moment of the log. */
function growingOf(changes: readonly Change[]): Growing | undefined {
  const [first] = changes
  if (!first) return undefined
  const arounds = changes.map(({ opened }) => opened.around)
  const ways = openWays(
    arounds.flatMap(({ nodes }) => nodes),
    arounds.flatMap(({ states }) => states),
  )
  const { log } = first.opened
  return { log, map: mapOf(log, [...new Set(changes.flatMap(namesIn))].map(ways.pathTo)), ways, unstored: [] }
}

function grownBy({ log, map, ways, unstored = [] }: Growing, { grown, at }: Appended): Growing {
  ways.learn(grown.nodes)
  return { log: logAfter(log, grown, at), map, ways, unstored: [...unstored, ...grown.grown.nodes] }
}

const claimedBy = ({ principal, idempotent }: Ctx) =>
  idempotent ? [{ principal: principal.id, keyHash: idempotent.keyHash.toString('hex') }] : []

const keptOf = ({ ctx, change, logged }: Settled) =>
  claimedBy(ctx).map((claimed) => ({
    ...claimed,
    status: ctx.idempotent?.status ?? 0,
    body: keptPlace(logged.log.size, change.opened.vault.vaultId),
  }))
