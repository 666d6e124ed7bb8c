// Everything a contributor must pass: types, lint and format, and the tests in Node and in Chromium. With arguments (a
// filter such as `merkle`, or any option of Vitest) only the tests run, and the arguments go to Vitest.
import './node-24-only.mjs'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { findChromium } from './chromium.mjs'
import { root } from './setup/say.mjs'

const filters = process.argv.slice(2)
const env = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  // Tests start a hundred servers and more; each would read and compile the same files anew.
  NODE_COMPILE_CACHE: join(root, '.setup/compile-cache'),
  // See runner.config.ts.
  STRONGROOM_TESTS_BEGAN: String(Date.now()),
}

/** @typedef {{ name: string, passed: number, failed: number, skipped: number, which?: string[] }} Count */

/**
 * @param {string} command
 * @param {string[]} args
 * @param {(output: string) => void} [onOutput] otherwise it goes where ours goes
 * @returns {Promise<boolean>} whether it succeeded
 */
function succeeds(command, args, onOutput) {
  const child = spawn(command, args, {
    cwd: root,
    env,
    stdio: ['inherit', ...Array(2).fill(onOutput ? 'pipe' : 'inherit')],
  })
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => onOutput?.(text))
  return new Promise((resolve) => {
    child.once('error', () => resolve(false)).once('close', (code) => resolve(code === 0))
  })
}

/**
 * @param {string} name
 * @param {string[]} command
 * @returns {Promise<Count>}
 */
async function checkOnce(name, [command = '', ...args]) {
  let output = ''
  const passed = await succeeds(command, args, (text) => {
    output += text
  })
  console.log(`${name}: ${passed ? 'passed' : 'FAILED'}`)
  return { name, passed: Number(passed), failed: Number(!passed), skipped: 0, which: output.trim().split('\n') }
}

/** One after the other, beside the tests: these do not always need all of the machine. */
async function checkSources() {
  return [
    await checkOnce('types', ['tsc', '-p', 'tsconfig.json']),
    await checkOnce('lint and format', ['biome', 'check', '--error-on-warnings', '.']),
  ]
}

/**
 * @typedef {{ status: string, fullName: string, failureMessages?: string[], meta?: { seen?: string } }} TestResult
 * @typedef {{ name: string, status: string, message?: string, assertionResults: TestResult[] }} FileResult
 */

/** @param {FileResult[]} files @param {boolean} succeeded @returns {Count} */
function countTests(files, succeeded) {
  const tests = files.flatMap((file) => file.assertionResults)
  const passed = tests.filter(({ status }) => status === 'passed').length
  const failedTests = tests.filter(({ status }) => status === 'failed').length
  const failedFiles = files.filter(
    (f) => f.status === 'failed' && f.assertionResults.every((t) => t.status !== 'failed'),
  )
  const failed = failedTests + failedFiles.length
  const skipped = tests.length - passed - failedTests
  const which = failed > 0 ? failuresOf(files) : ['an error outside any test, see above: Unhandled']
  // Vitest also fails on an error outside any test, which no test result shows.
  return { name: 'tests', passed, failed: succeeded ? failed : Math.max(failed, 1), skipped, which }
}

/** @param {FileResult[]} files */
const failuresOf = (files) =>
  files
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const tests = assertionResults.filter(({ status }) => status === 'failed')
      const place = relative(root, name)
      return tests.length === 0
        ? [`${place}, before its first test\n    ${firstLine(message)}`]
        : tests.map((test) => `${place} > ${test.fullName}\n    ${whyOf(test)}`)
    })

/** @param {TestResult} test */
const whyOf = ({ failureMessages, meta }) =>
  [firstLine(failureMessages?.[0]), ...(meta?.seen?.split('\n') ?? [])].join('\n    ')

/** What it said first: the rest stands far above. */
const firstLine = (text = '') => text.split('\n', 1)[0]

/** @param {FileResult[]} files */
function nameSkipped(files) {
  for (const { name, assertionResults } of files) {
    const skipped = assertionResults.filter(({ status }) => status !== 'passed' && status !== 'failed')
    // A filter by name (-t) leaves whole files out on purpose.
    if (filters.length === 0)
      for (const test of skipped) console.log(`skipped: ${relative(root, name)} > ${test.fullName}`)
  }
}

/** @param {FileResult[]} files */
function countWithoutChromium(files) {
  const everywhere = files.filter(({ name }) => name.includes('/test/everywhere/'))
  const skipped = everywhere.flatMap((file) => file.assertionResults).length
  console.log(
    `no Chromium (CHROMIUM_PATH, or chromium on PATH): ${skipped} tests ran in Node only, skipped in a browser`,
  )
  return skipped
}

/** @returns {Promise<Count>} */
async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'strongroom-check-'))
  const report = join(folder, 'report.json')
  const flags = ['--allowOnly=false', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  try {
    const succeeded = await succeeds('vitest', ['run', ...flags, ...filters])
    /** @type {FileResult[]} */
    const files = JSON.parse(readFileSync(report, 'utf8')).testResults
    const count = countTests(files, succeeded)
    nameSkipped(files)
    return findChromium() ? count : { ...count, skipped: count.skipped + countWithoutChromium(files) }
  } catch (error) {
    console.error(`the test run left no report: ${error instanceof Error ? error.message : error}`)
    return { name: 'tests', passed: 0, failed: 1, skipped: 0 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const counts = (await Promise.all([filters.length > 0 ? [] : checkSources(), runTests()])).flat()
/** @param {'passed' | 'failed' | 'skipped'} kind */
const total = (kind) => counts.reduce((sum, count) => sum + count[kind], 0)
// Said again at the end: a failed check stands thousands of lines above the summary.
for (const { name, failed, which = [] } of counts)
  if (failed > 0) console.log([`FAILED: ${name} (${failed})`, ...which].join('\n  '))
const skipped = total('skipped') > 0 ? `, ${total('skipped')} skipped` : ''
console.log(`\n${total('passed')} passed, ${total('failed')} failed${skipped}`)
process.exit(total('failed') > 0 ? 1 : 0)
