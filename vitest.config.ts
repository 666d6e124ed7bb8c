import { playwright } from '@vitest/browser-playwright'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { CHROMIUM_FLAGS, findChromium } from './scripts/chromium.mjs'

const everywhere = 'packages/*/test/everywhere/**/*.test.ts'
const chromium = findChromium()

const inNode: TestProjectConfiguration = {
  test: {
    name: 'node',
    include: ['*.test.ts', 'packages/*/{src,test}/**/*.test.ts'],
    pool: 'threads',
    // Test files share a worker's modules: nothing here keeps state at module level, and it is several times faster.
    isolate: false,
  },
}

const inChromium = (executablePath: string): TestProjectConfiguration => ({
  test: {
    name: 'chromium',
    include: [everywhere],
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
  test: { projects: chromium ? [inNode, inChromium(chromium)] : [inNode] },
})
