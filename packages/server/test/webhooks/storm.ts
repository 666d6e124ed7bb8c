import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { inOrg } from '../../src/context.ts'
import { emit } from '../../src/outbox/outbox.ts'
import { makeRandom, type Random } from '../crash/random.ts'
import { type Received, startReceiver } from '../webhook-receiver.ts'
import { type Clock, openWorld, plantOrg, type StormDatabase, wrongWithSigning } from './storm-world.ts'

// Events that are committed and rolled back while receivers fail and the process that delivers is killed in the middle of deliveries.
// What is committed arrives at every endpoint, what is rolled back at none, every delivery is signed over its bytes.

export interface StormOptions {
  readonly events: number
  readonly kills: number
  readonly seed: number
  /** Of all requests to a receiver. */
  readonly faults: number
}

export interface StormResult extends StormOptions {
  readonly committed: number
  readonly rolledBack: number
  readonly requests: number
  /** Deliveries that a receiver had taken before. */
  readonly duplicates: number
  readonly failures: readonly string[]
}

const PROCESS = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
const ENDPOINTS = 2
/** A receiver that never took an event would be an endpoint that is gone, which is another test. */
const MOST_FAULTS = 6

type Fault = (response: ServerResponse) => void
const reset: Fault = (response) => response.destroy()
const half: Fault = (response) => {
  response.writeHead(200, { 'content-length': '1000' })
  response.write('half', () => response.destroy())
}
const status =
  (code: number, headers: Record<string, string> = {}): Fault =>
  (response) =>
    response.writeHead(code, headers).end()
/** Slower than anybody waits. */
const slow: Fault = () => undefined

/** Those that hold up a whole endpoint, or a place of it, are rarer: they cost the run its time. */
const FAULTS: readonly Fault[] = [
  ...Array.from({ length: 5 }, () => [
    reset,
    half,
    status(500),
    status(301, { location: 'http://127.0.0.1:1/' }),
  ]).flat(),
  status(502),
  status(429, { 'retry-after': '30' }),
  slow,
]

interface Book {
  readonly committed: Set<string>
  readonly rolledBack: Set<string>
  /** `path id` and how often it was taken. */
  readonly taken: Map<string, number>
  readonly failed: Map<string, number>
  readonly failures: string[]
  requests: number
}

type World = Awaited<ReturnType<typeof openWorld>>

interface Victim {
  child: ChildProcess
}

async function launch(logins: StormDatabase, { skewMs }: Clock): Promise<ChildProcess> {
  const child = fork(PROCESS, { env: { ...process.env, STORM: JSON.stringify({ logins, skewMs }) } })
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', (code) => reject(new Error(`the worker ended with ${code}`)))
  })
  return child
}

/** Answers with a fault or takes it, by chance. */
function receive(book: Book, random: Random, faults: number, request: Received, response: ServerResponse): void {
  const key = `${request.path} ${String(request.headers['webhook-id'])}`
  const failed = book.failed.get(key) ?? 0
  if (failed < MOST_FAULTS && random.chance(faults)) {
    book.failed.set(key, failed + 1)
    const fault = FAULTS[random.below(FAULTS.length)]
    fault?.(response)
    return
  }
  book.taken.set(key, (book.taken.get(key) ?? 0) + 1)
  response.writeHead(204).end()
}

export async function runStorm(logins: StormDatabase, options: StormOptions): Promise<StormResult> {
  const { events, seed, faults } = options
  const random = makeRandom(seed)
  const clock: Clock = { skewMs: 0 }
  const receiver = await startReceiver()
  const world = await openWorld(logins, clock)
  const paths = Array.from({ length: ENDPOINTS }, (_, i) => `/${i}`)
  const { orgId, endpoints } = await plantOrg(
    world.deps,
    paths.map((path) => receiver.url + path),
  )
  const book: Book = {
    committed: new Set(),
    rolledBack: new Set(),
    taken: new Map(),
    failed: new Map(),
    failures: [],
    requests: 0,
  }
  const victim: Victim = { child: await launch(logins, clock) }
  const killing = killNow(logins, clock, victim, options, random)
  receiver.answer((response, request) => {
    book.requests += 1
    const endpoint = endpoints[Number(request.path.slice(1))]
    const wrong = endpoint && wrongWithSigning(endpoint, request)
    if (wrong) book.failures.push(wrong)
    receiver.received.length = 0
    // In the middle of a delivery: nobody is answered.
    if (killing.isDue(book.requests)) killing.kill()
    else receive(book, random, faults, request, response)
  })
  await happen(world, orgId, book, random, events)
  await settle(world, clock, book, victim, killing)
  await killing.idle()
  victim.child.removeAllListeners('exit')
  victim.child.kill('SIGKILL')
  compare(book, paths)
  await world.close()
  receiver.close()
  const sum = [...book.taken.values()].reduce((total, times) => total + times - 1, 0)
  return {
    ...options,
    committed: book.committed.size,
    rolledBack: book.rolledBack.size,
    requests: book.requests,
    duplicates: sum,
    failures: book.failures,
  }
}

interface Killing {
  isDue(requests: number): boolean
  kill(): void
  idle(): Promise<void>
}

function killNow(
  logins: StormDatabase,
  clock: Clock,
  victim: Victim,
  { kills, events }: StormOptions,
  random: Random,
): Killing {
  const spread = Math.floor((events * ENDPOINTS) / (kills + 1))
  const moments = new Set(Array.from({ length: kills }, (_, i) => spread * i + random.below(spread) + 1))
  let restarting = Promise.resolve()
  return {
    isDue: (requests) => moments.delete(requests),
    kill: () => {
      const { child } = victim
      child.removeAllListeners('exit')
      child.kill('SIGKILL')
      restarting = restarting.then(async () => {
        victim.child = await launch(logins, clock)
      })
    },
    idle: () => restarting,
  }
}

const ROLLED_BACK = 0.2

/** Transactions side by side, a part of which fails after the event was written. */
async function happen({ deps }: World, orgId: string, book: Book, random: Random, events: number): Promise<void> {
  const one = async (): Promise<void> => {
    const fails = random.chance(ROLLED_BACK)
    let id = ''
    const work = inOrg(deps, orgId, async (db) => {
      id = await emit(deps, db, orgId, { type: 'budget.created', object: { type: 'budget', id: randomUUID() } })
      if (fails) throw new Error('rolled back')
    })
    await work.then(
      () => book.committed.add(id),
      () => book.rolledBack.add(id),
    )
  }
  while (book.committed.size < events)
    await Promise.all(Array.from({ length: Math.min(20, events - book.committed.size) }, one))
}

/** Longer than an attempt can take: what is still under way then is held by nobody. */
const ORPHANED_AFTER_MS = 1500

/** More than one is due after each step. */
const STEP_MS = 1_200_000

interface Left {
  readonly live: number
  readonly underWay: number
  readonly next: Date | null
  /** The end of the first lease. */
  readonly lease: Date | null
  readonly waiting: number
}

async function leftOf({ kysely }: World['worker']): Promise<Left | undefined> {
  const { rows } = await sql<Left>`
    select count(*) filter (where d.due_at is not null) as live, count(*) filter (where d.state = 'delivering') as "underWay",
      min(greatest(d.due_at, e.throttled_until)) filter (where d.due_at is not null) as next,
      min(d.due_at) filter (where d.state = 'delivering') as lease,
      (select count(*) from outbox_event where fanned_out_at is null) as waiting
    from webhook_delivery d join webhook_endpoint e using (org_id, endpoint_id)`.execute(kysely)
  return rows[0]
}

/** Until nothing is left: where nobody is at work, the clock goes on to the next attempt that is due. */
async function settle({ worker }: World, clock: Clock, book: Book, victim: Victim, killing: Killing): Promise<void> {
  let seen = { requests: -1, at: Date.now() }
  for (;;) {
    await sleep(60)
    await killing.idle()
    const left = await leftOf(worker)
    if (!left || left.live + left.waiting === 0) return
    if (book.requests !== seen.requests) seen = { requests: book.requests, at: Date.now() }
    const isQuiet = Date.now() - seen.at >= ORPHANED_AFTER_MS
    const msUntil = (time: Date | null): number => (time?.getTime() ?? 0) - Date.now() - clock.skewMs
    // The dead hold places until their leases end.
    const waitMs = isQuiet && left.underWay > 0 ? msUntil(left.lease) : msUntil(left.next)
    if (left.waiting > 0 || waitMs <= 0 || (left.underWay > 0 && !isQuiet)) continue
    clock.skewMs += waitMs + STEP_MS
    victim.child.send({ skewMs: clock.skewMs })
  }
}

function compare({ committed, rolledBack, taken, failures }: Book, paths: readonly string[]): void {
  for (const path of paths) {
    for (const id of committed) if (!taken.has(`${path} ${id}`)) failures.push(`${id} never arrived at ${path}`)
    for (const id of rolledBack)
      if (taken.has(`${path} ${id}`)) failures.push(`${id} was rolled back and told at ${path}`)
  }
}
