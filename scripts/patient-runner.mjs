// The runner of the tests, with an end to its patience: on a machine that is so busy that an hour is not enough, what has not begun by
// then is not begun, and is named and counted as skipped. `check.mjs` says when the run began; without it there is no end.
import { TestRunner } from 'vitest'

const LONGEST_MS = 55 * 60_000

/** @param {import('vitest').RunnerTestSuite | import('vitest').RunnerTask} task */
function skip(task) {
  task.mode = 'skip'
  if ('tasks' in task) for (const inner of task.tasks) skip(inner)
}

// Vitest takes the default export.
export default class extends TestRunner {
  /** @param {import('vitest').RunnerTestFile[]} files */
  onCollected(files) {
    const ranMs = Date.now() - Number(process.env.STRONGROOM_TESTS_BEGAN ?? Date.now())
    if (ranMs < LONGEST_MS) return
    for (const file of files) {
      skip(file)
      console.log(`skipped: ${file.name}, because this run began ${Math.round(ranMs / 60_000)} minutes ago`)
    }
  }
}
