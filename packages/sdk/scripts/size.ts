import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { build } from './build.ts'

// What the published client costs a page: the browser entry with everything it brings along, as a bundler leaves it.

const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Size {
  /** What is loaded before anything is called, gzipped: enough to read secrets. */
  readonly first: number
  /** Each further part, gzipped, loaded by the first call that needs it: writing, agents, projects, the log. */
  readonly later: readonly number[]
}

/** The size of what this code brings along; the built packages stand in for those of the repository. */
export async function sizeOf(code: string, packages: Readonly<Record<string, string>>): Promise<Size> {
  const alias = Object.fromEntries([
    ['@strongroom/sdk/browser', join(packages.sdk ?? '', 'dist/strongroom/browser.js')],
    ['@strongroom/protocol', join(packages.protocol ?? '', 'dist/index.js')],
    ['@strongroom/contract', join(packages.contract ?? '', 'dist/index.js')],
  ])
  const bundle = await rolldown({
    input: 'entry',
    platform: 'browser',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : undefined),
        load: (id) => (id === 'entry' ? code : undefined),
      },
    ],
    resolve: { alias, modules: [join(root, 'node_modules')], conditionNames: ['browser', 'import', 'default'] },
  })
  const { output } = await bundle.generate({ format: 'es', minify: true, comments: false })
  const parts = output.flatMap((part) => (part.type === 'chunk' ? [part] : []))
  const gzipped = (code: string): number => gzipSync(code, { level: 9 }).length
  const needed = new Set(
    parts.filter(({ isEntry }) => isEntry).flatMap(({ fileName, imports }) => [fileName, ...imports]),
  )
  for (const part of parts) if (needed.has(part.fileName)) for (const more of part.imports) needed.add(more)
  const [now, then] = [true, false].map((isNeeded) => parts.filter(({ fileName }) => needed.has(fileName) === isNeeded))
  return {
    first: gzipped((now ?? []).map(({ code }) => code).join('')),
    later: (then ?? []).map(({ code }) => gzipped(code)).sort((a, b) => b - a),
  }
}

/** The client as a page uses it. */
export const BROWSER_CLIENT = `export { Strongroom } from '@strongroom/sdk/browser'`

const [, script] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  const into = mkdtempSync(join(tmpdir(), 'sr-size-'))
  const { first, later } = await sizeOf(BROWSER_CLIENT, build(into))
  const all = later.reduce((sum, size) => sum + size, first)
  console.log(`browser client, gzipped: ${first} bytes at first, ${later.length} parts when needed, ${all} in all`)
  rmSync(into, { recursive: true, force: true })
}
