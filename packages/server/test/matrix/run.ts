import { groupBy } from '../../src/log/group-by.ts'
import type { Asker } from './askers.ts'
import { type Case, casesOf, isWrite, nameOf, refresh, send } from './cases.ts'
import { type Judged, judge, judgeAudit, judgeSameness } from './judge.ts'
import type { Row } from './oracle.ts'
import type { Principal } from './relations.ts'
import { changesBetween, type State } from './state.ts'
import type { World } from './world.ts'

// Sends the cases of a row and says what is wrong: first what must change nothing, then what may change something.

export interface Counts {
  cases: number
  refused: number
  succeeded: number
  readonly relations: Set<string>
}

export interface Bench {
  readonly world: World
  readonly state: State
  readonly principals: readonly Principal[]
  readonly askers: readonly Asker[]
  readonly counts: Counts
}

const AT_ONCE = 8
/** Below the limit of failures for an address in a minute. */
const STRANGERS_A_MINUTE = 48

async function inParallel<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(all.length)
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) results[at] = await work(all[at] as T)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

const isStranger = ({ principal, row }: Case): boolean => principal.caller === undefined || row.may === 'everybody'

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
}

/** A minute of the server's clock, in which everybody who was at work stays at work. */
async function passMinute({ world: { h }, state }: Bench): Promise<void> {
  h.advance(60_000)
  const sql = "update session set last_used_at = $1 where last_used_at > $1::timestamptz - interval '5 minutes'"
  await state.query(sql, [h.deps.now()])
}

/** The limits of the server hold: failures are spread over minutes. */
async function sendPaced(bench: Bench, cases: readonly Case[]): Promise<Judged[]> {
  const ask = async (one: Case): Promise<Judged> => ({ one, answer: await send(bench.world, one) })
  const judged: Judged[] = []
  await passMinute(bench)
  judged.push(
    ...(await inParallel(
      cases.filter((one) => !isStranger(one)),
      ask,
    )),
  )
  for (const some of chunks(cases.filter(isStranger), STRANGERS_A_MINUTE)) {
    await passMinute(bench)
    judged.push(...(await inParallel(some, ask)))
  }
  return judged
}

async function judgeAll({ world, state, counts }: Bench, judged: readonly Judged[]): Promise<string[]> {
  counts.cases += judged.length
  for (const { one } of judged) {
    counts[one.refusal === undefined ? 'succeeded' : 'refused']++
    counts.relations.add(one.relation)
  }
  const audited = await state.audited(judged.map(({ answer }) => answer.requestId))
  return judged.flatMap((one) => [...judge(world, one), ...judgeAudit(one, audited.get(one.answer.requestId) ?? [])])
}

/** Which of the cases changes something, when all of them together did: halves, as long as one of them does it again. */
async function findChanging(bench: Bench, cases: readonly Case[]): Promise<string> {
  const [only, ...more] = cases
  if (only && more.length === 0) return nameOf(only)
  const middle = Math.ceil(cases.length / 2)
  for (const half of [cases.slice(0, middle), cases.slice(middle)]) {
    const before = await bench.state.digest()
    await sendPaced(bench, half)
    if (changesBetween(before, await bench.state.digest()).length > 0) return findChanging(bench, half)
  }
  return `one of ${cases.length} cases, once`
}

/** Cases that must leave every organisation as it was. */
export async function runStill(bench: Bench, cases: readonly Case[]): Promise<string[]> {
  const { state } = bench
  const before = await state.digest()
  const judged = await sendPaced(bench, cases)
  const problems = [...(await judgeAll(bench, judged)), ...judgeSameness(judged)]
  const changed = changesBetween(before, await state.digest())
  if (changed.length > 0) problems.push(`${await findChanging(bench, cases)}: changed ${changed.join(', ')}`)
  return problems
}

/** A case with objects of its own and, where it uses up the credential, with a caller of its own. */
async function prepare({ world, askers }: Bench, one: Case): Promise<Case> {
  const asker = askers.find(({ name }) => name === one.principal.name)
  if (!one.row.spends || !asker) return refresh(world, one)
  const principal = { ...(await asker.make(world)), name: asker.name }
  return refresh(world, { ...one, principal, caller: principal.caller ?? one.caller })
}

/** Writes that succeed change their own organisation and no other. */
async function runWrites(bench: Bench, cases: readonly Case[]): Promise<string[]> {
  const { world, state } = bench
  const problems: string[] = []
  const byOrg = groupBy(cases, (one) => (isStranger(one) ? undefined : one.caller.home.orgId))
  for (const [orgId, group] of byOrg) {
    const prepared = await inParallel(group, (one) => prepare(bench, one))
    const before = await state.digest()
    problems.push(...(await judgeAll(bench, await sendPaced(bench, prepared))))
    const others = world.orgs.map((org) => org.orgId).filter((other) => other !== orgId)
    const changed = changesBetween(before, await state.digest(), others)
    if (changed.length > 0) problems.push(`successes of ${orgId ?? 'strangers'} changed ${changed.join(', ')}`)
  }
  return problems
}

export async function runRow(bench: Bench, row: Row): Promise<string[]> {
  const cases = await casesOf(bench.world, row, bench.principals)
  const changes = (one: Case): boolean => one.refusal === undefined && (isWrite(row) || row.changes === true)
  const still = await runStill(
    bench,
    cases.filter((one) => !changes(one)),
  )
  return [...still, ...(await runWrites(bench, cases.filter(changes)))]
}
