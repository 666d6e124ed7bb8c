// The writers, in a process of their own: they write until the very moment the server dies, and whoever kills it cannot hold
// them up. Started by crash.ts.
import { ApiError } from '@strongroom/sdk'
import { type AuditCheck, makeAuditCheck } from './checks/audit.ts'
import { type LogMonitor, makeLogMonitor } from './checks/log.ts'
import type { FromLoad, Start, ToLoad } from './messages.ts'
import { makeRandom } from './random.ts'
import { makeWorld, type World } from './world.ts'
import { KINDS } from './writers/list.ts'
import { failed, type Kind, type Problem, type Writer } from './writers/writer.ts'

const PACE_EVERY_MS = 50
const SETTLED_WITHIN_MS = 30_000

const tell = (message: FromLoad): void => {
  process.send?.(message)
}

interface Load {
  readonly world: World
  readonly writers: readonly { readonly kind: Kind; readonly writer: Writer }[]
  readonly log: LogMonitor
  readonly audit: AuditCheck
}

async function openLoad(start: Start): Promise<Load> {
  const world = await makeWorld(start)
  const writers = await Promise.all(KINDS.map(async (kind) => ({ kind, writer: await kind.open(world) })))
  return { world, writers, log: makeLogMonitor(world), audit: await makeAuditCheck(world) }
}

/** A client repeats its round. A refusal is in the journal already; the next round begins with something new. */
async function repeat({ kind, writer }: Load['writers'][number], seed: number, client: number): Promise<never> {
  const random = makeRandom(seed)
  for (let round = 0; ; round++) {
    await writer.round(random, `${kind.name} ${client} ${round}`).catch(() => new Promise((r) => setTimeout(r, 20)))
  }
}

function begin({ world, writers, log }: Load): void {
  let number = 0
  for (const one of writers)
    for (let i = 0; i < one.kind.clients; i++) void repeat(one, world.seed * 1000 + number, number++)
  void log.watch()
  setInterval(() => tell(world.journal.pace()), PACE_EVERY_MS)
}

const TRIES = 3

/** What went wrong in comparing is a failure too, never silence; only a server that is too busy is asked again. */
async function checking(name: string, check: () => Promise<Problem[]>, tries = TRIES): Promise<Problem[]> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'overloaded' && tries > 1) return checking(name, check, tries - 1)
    return [failed(`${name} cannot be compared: ${(error as Error).stack}`)]
  }
}

async function compare({ world, writers, log, audit }: Load, thorough: boolean): Promise<void> {
  const { journal } = world
  const problems: Problem[] = (await journal.settle(SETTLED_WITHIN_MS)) ? [] : [failed('requests do not settle')]
  for (const { kind, writer } of writers) problems.push(...(await checking(kind.name, writer.check)))
  problems.push(...(await checking('log', log.check)))
  // Last, because comparing leaves audit rows too.
  problems.push(...(await checking('audit', () => audit.check(thorough))))
  problems.push(...journal.takeRefusals().map(failed))
  tell({
    type: 'checked',
    ackedInAll: journal.acknowledged(),
    ambiguous: journal.ambiguous(),
    lost: problems.filter(({ isLoss }) => isLoss).map(({ what }) => what),
    failures: problems.filter(({ isLoss }) => !isLoss).map(({ what }) => what),
  })
}

let load: Load | undefined

async function follow(message: ToLoad): Promise<void> {
  if (message.type === 'start') {
    load = await openLoad(message)
    begin(load)
    return tell({ type: 'ready' })
  }
  if (!load) throw new Error('there is no load yet')
  if (message.type === 'run') return load.world.journal.run()
  if (message.type === 'down') return tell(load.world.journal.down(message.killedAt))
  return compare(load, message.thorough)
}

process.on('message', (message: ToLoad) => {
  follow(message).catch((error: Error) => tell({ type: 'broken', why: error.stack ?? error.message }))
})
process.on('disconnect', () => process.exit(0))
