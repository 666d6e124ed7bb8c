import { availableParallelism } from 'node:os'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { CHROMIUM_FLAGS, findChromium } from './scripts/chromium.mjs'

const everywhere = 'packages/*/test/everywhere/**/*.test.ts'
const chromium = findChromium()
const runner = './scripts/runner.config.ts'

/** Whole servers live in these processes, and what they keep for a moment is copied less often where there is more room for what is new. */
const execArgv = ['--max-semi-space-size=64']

const inNode: TestProjectConfiguration = {
  test: {
    name: 'node',
    runner,
    include: ['*.test.ts', 'packages/{protocol,contract}/{src,test}/**/*.test.ts'],
    // No test is timed: a busy machine is slow, not wrong. This only ends one that hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'threads',
    // Test files share a worker's modules: nothing here keeps state at module level, and it is several times faster.
    isolate: false,
  },
}

/** What needs a database: one PostgreSQL for the run, a copy of its template for each file. */
const onPostgres: TestProjectConfiguration = {
  test: {
    name: 'server',
    runner,
    expect: { poll: { timeout: 60_000 } },
    include: ['packages/{server,sdk,cli}/{src,test}/**/*.test.ts'],
    exclude: process.env.EVERY_NODE === undefined ? ['packages/cli/test/package.test.ts'] : [],
    globalSetup: ['packages/server/test/global-setup.ts'],
    setupFiles: ['packages/server/test/shared-worker.ts'],
    // Processes and no threads: a thread that ends closes by number what it opened and gave to a socket, and by then that is another one's.
    pool: 'forks',
    execArgv,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
}

/** The console in a browser; where there is none, its tests say so and do not run. */
const ofTheConsole: TestProjectConfiguration = {
  test: {
    name: 'console',
    runner,
    expect: { poll: { timeout: 60_000 } },
    include: ['packages/console/test/**/*.test.ts'],
    globalSetup: ['packages/server/test/global-setup.ts', 'packages/console/test/build-first.ts'],
    setupFiles: ['packages/server/test/shared-worker.ts'],
    pool: 'forks',
    execArgv,
    isolate: false,
    // A story of many pages, on a machine that does four things at once.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
}

const inChromium = (executablePath: string): TestProjectConfiguration => ({
  test: {
    name: 'chromium',
    include: [everywhere],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions: { executablePath, args: CHROMIUM_FLAGS } }),
      instances: [{ browser: 'chromium' }],
    },
  },
})

const ORDER = ['packages/protocol/', 'packages/contract/', 'packages/server/', 'packages/sdk/', 'packages/cli/']
const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = ORDER.findIndex((folder) => moduleId.includes(folder))
  return rank < 0 ? ORDER.length : rank
}

/** What others stand on comes first. */
class FromTheGround extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b))
  }
}

export default defineConfig({
  // The default leaves a core free for whoever watches. And with as many files as cores a tenth of the time goes by with nothing to do, while they
  // wait for programs that they started: so there is one more of them at work.
  test: {
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: FromTheGround },
    projects: chromium ? [inNode, onPostgres, ofTheConsole, inChromium(chromium)] : [inNode, onPostgres],
  },
})
