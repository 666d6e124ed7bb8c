import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from './build.ts'
import { BROWSER_CLIENT, type BrowserBundle, bundleForBrowser } from './bundle.ts'

// What the published client costs a page: every file by itself, gzipped, as it travels.

export interface Size {
  /** What is loaded before anything is called: enough to read secrets. */
  readonly first: number
  /** Each further part, loaded by the first call that needs it: writing, agents, projects, the log. */
  readonly later: readonly number[]
}

export const gzipped = (code: string): number => gzipSync(code, { level: 9 }).length

export function sizeOf({ files }: BrowserBundle): Size {
  const sizes = files.map(({ code, isFirst }) => ({ size: gzipped(code), isFirst }))
  return {
    first: sizes.reduce((sum, { size, isFirst }) => sum + (isFirst ? size : 0), 0),
    later: sizes.flatMap(({ size, isFirst }) => (isFirst ? [] : [size])).sort((a, b) => b - a),
  }
}

export function describeSize({ first, later }: Size): string {
  const rest = later.reduce((sum, size) => sum + size, 0)
  return `browser client, gzipped: ${first} bytes at first, ${rest} in ${later.length} parts when needed`
}

const [, script] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  const into = mkdtempSync(join(tmpdir(), 'sr-size-'))
  console.log(describeSize(sizeOf(await bundleForBrowser(BROWSER_CLIENT, build(into)))))
  rmSync(into, { recursive: true, force: true })
}
