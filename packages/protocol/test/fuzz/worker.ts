import { parentPort, workerData } from 'node:worker_threads'
import { openTargets, type Range, runTarget } from './run.ts'

// One of several threads of a fuzz run: runs the ranges of cases it is given, and shows which case it is at.

export interface Job extends Range {
  readonly target: number
}
export interface WorkerSetup {
  readonly seed: number
  /** Number of the parser and of the case, for whoever watches over hangs. */
  readonly place: Int32Array
}

// Most cases end in an error, and most of the cost of an error is its stack. A failure is run again with one.
Error.stackTraceLimit = 0

const { seed, place } = workerData as WorkerSetup
const targets = await openTargets()

parentPort?.on('message', async (job: Job) => {
  const target = targets[job.target]
  if (!target) throw new Error(`there is no parser number ${job.target}`)
  Atomics.store(place, 0, job.target)
  const result = await runTarget(target, seed, job, (index) => {
    place[1] = index
  })
  parentPort?.postMessage({ job, result })
})
parentPort?.postMessage('ready')
