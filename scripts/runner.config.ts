import { type RunnerTask, type RunnerTestFile, TestRunner } from 'vitest'

// The runner of the tests, with an end to its patience: on a machine that is so busy that this is not enough, what has not begun by
// then is not begun, and is named and counted as skipped. `check.mjs` says when the run began; without it there is no end.

const LONGEST_MS = 55 * 60_000

function skip(task: RunnerTask): void {
  task.mode = 'skip'
  if ('tasks' in task) for (const inner of task.tasks) skip(inner)
}

export default class extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    const ranMs = Date.now() - Number(process.env.STRONGROOM_TESTS_BEGAN ?? Date.now())
    if (ranMs < LONGEST_MS) return
    for (const file of files) {
      skip(file)
      console.log(`skipped: ${file.name}, because this run began ${Math.round(ranMs / 60_000)} minutes ago`)
    }
  }
}
