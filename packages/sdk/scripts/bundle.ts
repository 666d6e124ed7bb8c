import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type OutputChunk, type OutputOptions, type RolldownBuild, rolldown } from 'rolldown'

// The published client as files for a page, as a bundler leaves it: one file for what every page needs, and one for each part
// that is loaded by the first call that needs it.

const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface BundledFile {
  readonly name: string
  readonly code: string
  /** Whether it is loaded with the page, before anything is called. */
  readonly isFirst: boolean
}

export interface BrowserBundle {
  readonly entry: string
  readonly files: readonly BundledFile[]
}

/** The client as a page uses it. */
export const BROWSER_CLIENT = `export { Strongroom } from '@strongroom/sdk/browser'`

function open(code: string, packages: Readonly<Record<string, string>>): Promise<RolldownBuild> {
  const alias = Object.fromEntries([
    ['@strongroom/sdk/browser', join(packages.sdk ?? '', 'dist/strongroom/browser.js')],
    ['@strongroom/protocol', join(packages.protocol ?? '', 'dist/index.js')],
    ['@strongroom/contract', join(packages.contract ?? '', 'dist/index.js')],
  ])
  return rolldown({
    input: { strongroom: 'entry' },
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
}

async function chunksOf(bundle: RolldownBuild, options: OutputOptions): Promise<readonly OutputChunk[]> {
  const { output } = await bundle.generate({ format: 'es', minify: true, comments: false, ...options })
  return output.flatMap((part) => (part.type === 'chunk' ? [part] : []))
}

/** What the entry brings along by itself. */
function firstOf(chunks: readonly OutputChunk[]): ReadonlySet<string> {
  const needed = new Set(chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName))
  for (const name of needed)
    for (const more of chunks.find((one) => one.fileName === name)?.imports ?? []) needed.add(more)
  return needed
}

/** What this code brings along; the built packages stand in for those of the repository. */
export async function bundleForBrowser(
  code: string,
  packages: Readonly<Record<string, string>>,
): Promise<BrowserBundle> {
  const bundle = await open(code, packages)
  // Left alone, a bundler cuts what comes first into as many files as there are ways to share it with what comes later.
  const scattered = await chunksOf(bundle, {})
  const first = firstOf(scattered)
  const modules = new Set(scattered.flatMap(({ fileName, moduleIds }) => (first.has(fileName) ? moduleIds : [])))
  const together = { groups: [{ name: 'strongroom', test: (id: string) => modules.has(id) }] }
  const chunks = await chunksOf(bundle, { codeSplitting: together })
  const isFirst = firstOf(chunks)
  await bundle.close()
  return {
    entry: chunks.find(({ isEntry }) => isEntry)?.fileName ?? '',
    files: chunks.map(({ fileName, code: text }) => ({ name: fileName, code: text, isFirst: isFirst.has(fileName) })),
  }
}
