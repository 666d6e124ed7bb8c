// Runs every package's benchmark, one after the other so that they do not disturb each other.
import './node-24-only.mjs'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

const failed = globSync('packages/*/bench/bench.ts')
  .sort()
  .filter((file) => spawnSync(process.execPath, [file, ...process.argv.slice(2)], { stdio: 'inherit' }).status !== 0)
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exit(1)
}
