// Every parser of the package against random and mutated inputs: each case ends in a ProtocolError or in something accepted
// that is what it must be. Never in another error, never in a hang.
//
//   npm run test:fuzz [-- [count] [seed] [parser or parser#case]]
//
// Seen red on this breakage: a member of the envelope without its shape, a record without its check for null, a pin of an
// evidence file without its shape, a signature line that was not matched, a length read before it was checked (other errors);
// a loop that does not end (a hang); canonical form, signatures of an act, map root, map proofs of an answer, label of a value
// or final flag of a segment not compared, and a header that shares memory with its source (false acceptances and refusals).
import { mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { toHex } from '../../src/encoding/bytes.ts'
import { casesOf, type Failure, inputOf, openTargets, type Result, runTarget } from './run.ts'
import type { Target } from './target.ts'
import type { Job, WorkerSetup } from './worker.ts'

const HANG_MS = 30_000
const JOB_CASES = 20_000
const MAX_SHOWN = 3
const MAX_SHOWN_BYTES = 512
const MAX_THREADS = 8

interface Total {
  readonly target: Target
  readonly outcomes: Map<string, number>
  readonly failures: Failure[]
  cases: number
  microseconds: number
  jobsLeft: number
}

const [countText = '1000000', seedText = String(Math.floor(Math.random() * 2 ** 31)), only] = process.argv.slice(2)
const [count, seed] = [Number(countText), Number(seedText)]
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  console.error('usage: fuzz.ts [count] [seed] [parser or parser#case]')
  process.exit(2)
}
const targets = await openTargets()
const [onlyName, onlyCase] = only?.split('#') ?? []
const totals = new Map<number, Total>()
const jobs = targets.flatMap((target, i) =>
  onlyName === undefined || target.name === onlyName ? jobsOf(target, i) : [],
)

/** Slow parsers in smaller pieces, so that no thread is left alone with one at the end. */
function jobsOf(target: Target, number: number): Job[] {
  const cases = casesOf(target, count)
  const piece = Math.ceil(JOB_CASES * target.share)
  const pieces = Array.from({ length: Math.ceil(cases / piece) }, (_, i) => ({
    target: number,
    from: i * piece,
    to: Math.min(cases, (i + 1) * piece),
  }))
  const nothing = { outcomes: new Map(), failures: [], cases: 0, microseconds: 0 }
  totals.set(number, { target, ...nothing, jobsLeft: pieces.length })
  return pieces
}

/** A failure with the stack the threads do without, and its input in a file. */
async function show(target: Target, failure: Failure): Promise<void> {
  const [again] = (await runTarget(target, seed, { from: failure.index, to: failure.index + 1 })).failures
  report(target, again ?? failure)
}

function report(target: Target, { index, error }: Failure): void {
  const input = inputOf(target, seed, index)
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-fuzz-'))
  const path = join(folder, `${target.name.replaceAll(/[^A-Za-z.-]/g, '-')}-${index}.bin`)
  writeFileSync(path, input)
  const more = input.length > MAX_SHOWN_BYTES ? ` … (${input.length} bytes)` : ''
  console.log(`FAILED ${target.name}#${index}: ${error}`)
  console.log(`  input ${path}\n  ${toHex(input.subarray(0, MAX_SHOWN_BYTES))}${more}`)
}

async function printRow({ target, cases, microseconds, outcomes, failures }: Total): Promise<void> {
  const sorted = [...outcomes].sort((a, b) => b[1] - a[1]).map(([code, times]) => `${code} ${times}`)
  const each = (microseconds / cases).toFixed(1)
  console.log(`${target.name.padEnd(24)}${String(cases).padStart(9)}${each.padStart(8)} µs  ${sorted.join(', ')}`)
  for (const failure of failures.slice(0, MAX_SHOWN)) await show(target, failure)
}

async function take({ target }: Job, result: Result): Promise<void> {
  const total = totals.get(target) as Total
  total.cases += result.cases
  total.microseconds += result.microseconds
  for (const [code, times] of Object.entries(result.outcomes))
    total.outcomes.set(code, (total.outcomes.get(code) ?? 0) + times)
  total.failures.push(...result.failures)
  total.jobsLeft--
  if (total.jobsLeft === 0) await printRow(total)
}

const sum = (of: (total: Total) => number): number => [...totals.values()].reduce((all, total) => all + of(total), 0)

function finish(hangs = 0): never {
  const cases = sum((total) => total.cases) + hangs
  const failures = sum(({ outcomes }) => outcomes.get('FAILED') ?? 0) + hangs
  console.log(`fuzz: ${cases} cases, ${failures} failures, seed ${seed}`)
  process.exit(failures > 0 ? 1 : 0)
}

/** A case that does not end within half a minute never will: nothing here is larger than some hundred kilobytes. */
function watchOver(place: Int32Array): void {
  let [number, index, since] = [-1, -1, performance.now()]
  const look = (): void => {
    const now = [Atomics.load(place, 0), Atomics.load(place, 1)] as const
    if (now[0] !== number || now[1] !== index) [number, index, since] = [...now, performance.now()]
    const target = targets[number]
    if (!target || performance.now() - since < HANG_MS) return
    report(target, { target: target.name, index, error: `did not end within ${HANG_MS} ms` })
    finish(1)
  }
  setInterval(look, 1000).unref()
}

function startThread(): Promise<void> {
  const place = new Int32Array(new SharedArrayBuffer(8)).fill(-1)
  const setup: WorkerSetup = { seed, place }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: setup })
  watchOver(place)
  return new Promise((resolve, reject) => {
    const answer = async (message: 'ready' | { job: Job; result: Result }): Promise<void> => {
      Atomics.store(place, 0, -1)
      if (message !== 'ready') await take(message.job, message.result)
      const job = jobs.shift()
      if (job) worker.postMessage(job)
      else {
        await worker.terminate()
        resolve()
      }
    }
    worker.on('error', reject)
    worker.on('message', (message) => answer(message).catch(reject))
  })
}

const [first] = totals.values()
if (!first) {
  console.error(`no parser ${onlyName}; there are: ${targets.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
if (onlyCase !== undefined) {
  const index = Number(onlyCase)
  console.log(toHex(inputOf(first.target, seed, index)))
  first.jobsLeft = 1
  const target = targets.indexOf(first.target)
  await take(
    { target, from: index, to: index + 1 },
    await runTarget(first.target, seed, { from: index, to: index + 1 }),
  )
  finish()
}
console.log(`seed ${seed}, ${count} cases for each cheap parser\n`)
console.log(`${'parser'.padEnd(24)}${'cases'.padStart(9)}${'each'.padStart(11)}  outcomes`)
await Promise.all(Array.from({ length: Math.min(availableParallelism(), MAX_THREADS) }, startThread))
finish()
