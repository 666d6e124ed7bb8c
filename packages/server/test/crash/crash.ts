// Kills the server, PostgreSQL, or both with SIGKILL under a load of writes, starts the server again by the same command, and
// compares everything that was ever acknowledged with what is there.
//
//   npm run test:crash [-- --kills=40 --seed=N --mode=server|postgres|both|all --unsafe]
//
// A kill counts only if the second before it had 100 acknowledged writes and 8 requests were open: others are void and done
// again. `--unsafe` is the mutant: the same run on a PostgreSQL that acknowledges before it writes must report losses.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../process.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import type { Checked, Seen } from './messages.ts'
import { KILL_MODES, type KillMode, type Options, readOptions } from './options.ts'
import { makeRandom } from './random.ts'
import { type Restarted, type Subject, startSubject } from './subject.ts'

const PACE = { ackedPerSecond: 100, inFlight: 8 }
/** What is measured a moment before the kill is a little more than what must have been there at the kill. */
const AIM = { ackedPerSecond: 104, inFlight: 10 }
const PACE_WITHIN_MS = 120_000
/** So that kills fall anywhere in what happens every second. */
const LONGEST_WAIT_MS = 1500
/** The mutant forgets more the longer it runs, up to the delay of its writer. */
const MUTANT_WAIT_MS = 3000
const THOROUGH_EVERY = 10
const SHOWN = 10

interface Cycle extends Seen, Restarted {
  readonly mode: KillMode
  readonly isVoid: boolean
  readonly ranMs: number
  readonly checkedMs: number
  readonly checked: Checked
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function runCycle(
  subject: Subject,
  load: LoadProcess,
  { mode, waitMs, thorough }: { mode: KillMode; waitMs: number; thorough: boolean },
): Promise<Cycle> {
  await subject.arm()
  const from = Date.now()
  load.run()
  await pause(waitMs)
  await load.reach(AIM, PACE_WITHIN_MS)
  const killedAt = subject.kill(mode)
  const seen = await load.down(killedAt)
  const restarted = await subject.restart()
  const back = Date.now()
  const checked = await load.up(thorough)
  const isVoid = seen.ackedLastSecond < PACE.ackedPerSecond || seen.inFlight < PACE.inFlight
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

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

function summaryOf(cycles: readonly Cycle[], { seed }: Options): Record<string, unknown> {
  const kills = cycles.filter(({ isVoid }) => !isVoid)
  const hung = cycles.filter(({ endedByItself }) => !endedByItself).length
  const readyMs = cycles.map((cycle) => cycle.readyMs)
  const lost = sum(cycles.map(({ checked }) => checked.lost.length))
  const failures = sum(cycles.map(({ checked }) => checked.failures.length)) + hung
  return {
    suite: 'crash',
    cases: kills.length,
    failed: lost + failures,
    kills: Object.fromEntries(KILL_MODES.map((mode) => [mode, kills.filter((kill) => kill.mode === mode).length])),
    acked: cycles.at(-1)?.checked.ackedInAll ?? 0,
    ambiguous: sum(cycles.map(({ checked }) => checked.ambiguous)),
    lost,
    failures,
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

async function runAll(options: Options, subject: Subject, load: LoadProcess): Promise<Cycle[]> {
  const { plan, seed, unsafe } = options
  const random = makeRandom(seed)
  const cycles: Cycle[] = []
  const mostCycles = plan.length * 2 + 10
  let done = 0
  while (done < plan.length && cycles.length < mostCycles) {
    const mode = plan[done] as KillMode
    const thorough = done % THOROUGH_EVERY === 0 || done === plan.length - 1
    const waitMs = unsafe ? MUTANT_WAIT_MS : random.below(LONGEST_WAIT_MS)
    const cycle = await runCycle(subject, load, { mode, waitMs, thorough })
    cycles.push(cycle)
    if (!cycle.isVoid) done++
    report(done, cycle)
    // What was lost is lost; the writers cannot go on from there.
    if (cycle.checked.lost.length > 0) break
  }
  return cycles
}

function verdictOf(options: Options, cycles: readonly Cycle[]): number {
  const summary = summaryOf(cycles, options)
  console.log(JSON.stringify(summary))
  if (options.unsafe) {
    const caught = Number(summary.lost) > 0
    console.log(caught ? `mutant caught: ${summary.lost} lost` : 'mutant NOT caught: nothing was lost')
    return caught ? 0 : 1
  }
  if (summary.failed !== 0) return 1
  if (summary.cases === options.plan.length) return 0
  say('too many void cycles: this machine is too slow or too busy for the load')
  return 1
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  const dataDirectory = mkdtempSync(join(tmpdir(), 'sr-crash-'))
  const { seed, unsafe } = options
  say(`seed ${seed}, data in ${dataDirectory}`)
  const subject = await startSubject({ dataDirectory, port: await freePort(), unsafe })
  process.on('SIGINT', () => void subject.stop().then(() => process.exit(130)))
  try {
    const { url, setupToken } = subject
    const load = await startLoad({ url, setupToken, dataDirectory, seed })
    const cycles = await runAll(options, subject, load).finally(load.end)
    const exitCode = verdictOf(options, cycles)
    await subject.stop()
    // What went wrong can be looked at afterwards.
    if (exitCode === 0) rmSync(dataDirectory, { recursive: true, force: true })
    return exitCode
  } finally {
    await subject.stop()
  }
}

process.exit(await main())
