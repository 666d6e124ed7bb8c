import { playwright } from '@vitest/browser-playwright'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { CHROMIUM_FLAGS, findChromium } from './scripts/chromium.mjs'

const everywhere = 'packages/*/test/everywhere/**/*.test.ts'
const chromium = findChromium()

const inNode: TestProjectConfiguration = {
  test: {
    name: 'node',
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
    expect: { poll: { timeout: 60_000 } },
    include: ['packages/{server,sdk,cli}/{src,test}/**/*.test.ts'],
    exclude: process.env.EVERY_NODE === undefined ? ['packages/cli/test/package.test.ts'] : [],
    globalSetup: ['packages/server/test/global-setup.ts'],
    setupFiles: ['packages/server/test/shared-worker.ts'],
    pool: 'threads',
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
}

/** The console in a browser; where there is none, its tests say so and do not run. */
const ofTheConsole: TestProjectConfiguration = {
  test: {
    name: 'console',
    expect: { poll: { timeout: 60_000 } },
    include: ['packages/console/test/**/*.test.ts'],
    globalSetup: ['packages/server/test/global-setup.ts', 'packages/console/test/build-first.ts'],
    setupFiles: ['packages/server/test/shared-worker.ts'],
    pool: 'threads',
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

export default defineConfig({
  // The default leaves a core free for whoever watches; on two cores that doubles the wait.
  test: {
    maxWorkers: '100%',
    projects: chromium ? [inNode, onPostgres, ofTheConsole, inChromium(chromium)] : [inNode, onPostgres],
  },
})
