import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../process.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import type { Checked, Seen } from './messages.ts'
import { KILL_MODES, type KillMode, type Options } from './options.ts'
import { makeRandom } from './random.ts'
import { type Restarted, type Subject, startSubject } from './subject.ts'

// Load, kill, start again by the same command, compare: again and again. A kill counts only if there was enough under way; others
// are void and done again.

export interface Pace {
  readonly ackedPerSecond: number
  readonly inFlight: number
}

export interface Suite {
  readonly name: string
  /** The program of the writers. */
  readonly load: URL
  /** What must have been there at a kill. */
  readonly pace: Pace
  /** What is measured a moment before the kill: a little more. */
  readonly aim: Pace
  readonly env?: NodeJS.ProcessEnv
}

const PACE_WITHIN_MS = 120_000
/** So that kills fall anywhere in what happens every second. */
const LONGEST_WAIT_MS = 1500
/** The mutant forgets more the longer it runs, up to the delay of its writer. */
const MUTANT_WAIT_MS = 3000
const THOROUGH_EVERY = 10
const SHOWN = 10

export interface Cycle extends Seen, Restarted {
  readonly mode: KillMode
  readonly isVoid: boolean
  readonly ranMs: number
  readonly checkedMs: number
  readonly checked: Checked
}

export const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Turn {
  readonly mode: KillMode
  readonly waitMs: number
  readonly thorough: boolean
}

async function runCycle(suite: Suite, subject: Subject, load: LoadProcess, turn: Turn): Promise<Cycle> {
  const { mode, waitMs, thorough } = turn
  await subject.arm()
  const from = Date.now()
  load.run()
  await pause(waitMs)
  await load.reach(suite.aim, PACE_WITHIN_MS)
  const killedAt = subject.kill(mode)
  const seen = await load.down(killedAt)
  const restarted = await subject.restart()
  const back = Date.now()
  const checked = await load.up(thorough)
  const isVoid = seen.ackedLastSecond < suite.pace.ackedPerSecond || seen.inFlight < suite.pace.inFlight
  return { ...seen, ...restarted, mode, isVoid, checked, ranMs: killedAt - from, checkedMs: Date.now() - back }
}

function report(number: number, cycle: Cycle): void {
  const { mode, isVoid, checked, ackedLastSecond, inFlight, readyMs, ranMs, checkedMs } = cycle
  const { ambiguous, lost, failures } = checked
  say(
    `${isVoid ? 'void' : `kill ${number}`} (${mode}): ${ackedLastSecond} acked/s, ${inFlight} in flight, ${ambiguous} ambiguous, ready after ${readyMs} ms (ran ${ranMs}, compared ${checkedMs}), ${lost.length} lost, ${failures.length} failures`,
  )
  for (const what of lost.slice(0, SHOWN)) say(`  LOST ${what}`)
  for (const what of failures.slice(0, SHOWN)) say(`  FAILED ${what}`)
}

async function runAll(suite: Suite, options: Options, subject: Subject, load: LoadProcess): Promise<Cycle[]> {
  const { plan, seed, unsafe } = options
  const random = makeRandom(seed)
  const cycles: Cycle[] = []
  const mostCycles = plan.length * 2 + 10
  let done = 0
  while (done < plan.length && cycles.length < mostCycles) {
    const mode = plan[done] as KillMode
    const thorough = done % THOROUGH_EVERY === 0 || done === plan.length - 1
    const waitMs = unsafe ? MUTANT_WAIT_MS : random.below(LONGEST_WAIT_MS)
    const cycle = await runCycle(suite, subject, load, { mode, waitMs, thorough })
    cycles.push(cycle)
    if (!cycle.isVoid) done++
    report(done, cycle)
    // What was lost is lost; the writers cannot go on from there.
    if (cycle.checked.lost.length > 0) break
  }
  return cycles
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** One line for the whole run. */
export interface Summary {
  readonly cases: number
  readonly failed: number
  readonly lost: number
  readonly [member: string]: unknown
}

function summaryOf({ name }: Suite, cycles: readonly Cycle[], { seed }: Options): Summary {
  const kills = cycles.filter(({ isVoid }) => !isVoid)
  const hung = cycles.filter(({ endedByItself }) => !endedByItself).length
  const readyMs = cycles.map((cycle) => cycle.readyMs)
  const lost = sum(cycles.map(({ checked }) => checked.lost.length))
  const failures = sum(cycles.map(({ checked }) => checked.failures.length)) + hung
  return {
    suite: name,
    cases: kills.length,
    failed: lost + failures,
    kills: Object.fromEntries(KILL_MODES.map((mode) => [mode, kills.filter((kill) => kill.mode === mode).length])),
    acked: cycles.at(-1)?.checked.ackedInAll ?? 0,
    ambiguous: sum(cycles.map(({ checked }) => checked.ambiguous)),
    lost,
    failures,
    ...cycles.at(-1)?.checked.counts,
    void: cycles.length - kills.length,
    ackedPerSecond: {
      median: median(kills.map((k) => k.ackedLastSecond)),
      min: Math.min(...kills.map((k) => k.ackedLastSecond)),
    },
    inFlight: { median: median(kills.map((k) => k.inFlight)), min: Math.min(...kills.map((k) => k.inFlight)) },
    readyMs: { median: median(readyMs), max: Math.max(...readyMs) },
    seed,
  }
}

/** Runs a whole suite on a server of its own. What went wrong can be looked at in its data directory afterwards. */
export async function runSuite(suite: Suite, options: Options): Promise<Summary> {
  const dataDirectory = mkdtempSync(join(tmpdir(), `sr-${suite.name}-`))
  const { seed, unsafe, writers } = options
  say(`seed ${seed}, data in ${dataDirectory}`)
  const { env = {} } = suite
  const subject = await startSubject({ dataDirectory, port: await freePort(), unsafe, env })
  const interrupted = (): void => void subject.stop().then(() => process.exit(130))
  process.on('SIGINT', interrupted)
  try {
    const { url, setupToken } = subject
    const start = { url, setupToken, dataDirectory, seed, ...(writers !== undefined && { writers }) }
    const load = await startLoad(suite.load, start)
    const summary = summaryOf(suite, await runAll(suite, options, subject, load).finally(load.end), options)
    await subject.stop()
    if (summary.failed === 0) rmSync(dataDirectory, { recursive: true, force: true })
    return summary
  } finally {
    process.off('SIGINT', interrupted)
    await subject.stop()
  }
}

/** The exit code of a run. The mutant must be caught. */
export function verdictOf(summary: Summary, { unsafe, plan }: Options): number {
  console.log(JSON.stringify(summary))
  if (unsafe) {
    const caught = summary.lost > 0
    console.log(caught ? `mutant caught: ${summary.lost} lost` : 'mutant NOT caught: nothing was lost')
    return caught ? 0 : 1
  }
  if (summary.failed !== 0) return 1
  if (summary.cases === plan.length) return 0
  say('too many void cycles: this machine is too slow or too busy for the load')
  return 1
}
