// How set-up speaks: short lines on standard error; a failure always names the next step.
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/** @param {string} line */
export const say = (line) => console.error(`setup: ${line}`)

/**
 * @param {string} problem
 * @param {string} nextStep
 * @returns {never}
 */
export function fail(problem, nextStep) {
  say(`failed: ${problem}`)
  say(`next: ${nextStep}`)
  process.exit(1)
}
