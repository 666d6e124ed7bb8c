import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { api, ERRORS } from '@strongroom/contract'
import { errorsMarkdown } from './errors-page.ts'

// What there is to serve under /docs, by its path there: text, read when somebody asks for it. Nothing else is ever opened.

export type DocsFiles = ReadonlyMap<string, () => string>

const folderAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/**
 * Published, everything lies in the package. In the repository it is `docs`, and beside it what the command line says of itself, which
 * the set-up writes.
 */
export function docsFolders(): string[] {
  const isSource = import.meta.url.endsWith('.ts')
  const folders = isSource ? ['../../../../docs', '../../../../.setup/docs'] : ['../../docs']
  return folders.map(folderAt).filter((folder) => existsSync(folder))
}

const namesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /\.(?:md|json)$/.test(name))
    .sort()

/** Later folders win. */
export function findDocs(folders: readonly string[]): DocsFiles {
  const own: [string, () => string][] = [['errors.md', () => errorsMarkdown(ERRORS, api)]]
  const found = folders.flatMap((folder) =>
    namesIn(folder).map((name): [string, () => string] => [name, () => readFileSync(join(folder, name), 'utf8')]),
  )
  return new Map([...own, ...found])
}
