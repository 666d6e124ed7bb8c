import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorIndex, exitCodes } from '../src/errors/reference.ts'
import { commandIndex, commandPage, slugOfPath } from '../src/model/reference.ts'
import { everyCommand, type Walked } from '../src/model/walk.ts'

// What the command line says of itself, for the pages a server has under /docs: `node packages/cli/scripts/write-docs.ts <directory>`.
// The server must not know the command line, so it gets files: in the repository when it is started, in its package when that is built.

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

async function schemaOf({ path, command: { output } }: Walked): Promise<string | undefined> {
  if (!output) return undefined
  const [$id, title] = [`/docs/schemas/cli/${slugOfPath(path)}.json`, `strongroom ${path} --json`]
  return `${JSON.stringify({ $schema: DIALECT, $id, title, ...(await output()) }, null, 2)}\n`
}

/** Every file by its path under /docs. */
export async function cliDocs(): Promise<ReadonlyMap<string, string>> {
  const all = (await everyCommand()).filter(({ path }) => !path.startsWith('__'))
  const files = new Map<string, string>([
    ['cli/README.md', commandIndex(all)],
    ['errors.md', await errorIndex()],
    ['reference/exit-codes.md', exitCodes()],
  ])
  for (const one of all) {
    files.set(`cli/${slugOfPath(one.path)}.md`, commandPage(one))
    const schema = await schemaOf(one)
    if (schema !== undefined) files.set(`schemas/cli/${slugOfPath(one.path)}.json`, schema)
  }
  return files
}

export async function writeDocs(into: string): Promise<void> {
  for (const part of ['cli', 'schemas']) rmSync(join(into, part), { recursive: true, force: true })
  for (const [name, text] of await cliDocs()) {
    const path = join(into, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

const [, script, into] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  if (into === undefined) throw new Error('say where to: node packages/cli/scripts/write-docs.ts <directory>')
  await writeDocs(resolve(into))
}
