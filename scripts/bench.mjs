// Runs every package's benchmark, one after the other so that they do not disturb each other; with the name of a package, only
// that one's: `npm run bench -- server`; what stands behind it are parts of that benchmark: `npm run bench -- server commerce`.
import './node-24-only.mjs'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

const [wanted = '*', ...parts] = process.argv.slice(2)
const files = globSync(`packages/${wanted}/bench/bench.ts`).sort()
const failed = files.filter((file) => spawnSync(process.execPath, [file, ...parts], { stdio: 'inherit' }).status !== 0)
if (files.length === 0) failed.push(`there is no benchmark of ${wanted}`)
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exit(1)
}
