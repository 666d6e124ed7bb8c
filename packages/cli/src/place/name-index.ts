import { join } from 'node:path'
import type { Completes } from '../model/command.ts'
import type { Paths } from './paths.ts'
import { readIfThere, writePrivate } from './private-file.ts'

// Names that were seen, for completions: they are no secrets, and looking them up needs no network. Nothing is decided by them.

export type Indexed = Extract<Completes, 'vault' | 'item' | 'ref' | 'agent' | 'project'>
type Index = Partial<Record<Indexed, readonly string[]>>

const MOST = 5_000
const placeOf = ({ cache }: Paths): string => join(cache, 'names.json')

async function readIndex(paths: Paths): Promise<Index> {
  try {
    return JSON.parse((await readIfThere(placeOf(paths))) ?? '{}') as Index
  } catch {
    return {}
  }
}

export const readNameIndex = async (paths: Paths, kind: string): Promise<readonly string[]> =>
  (await readIndex(paths))[kind as Indexed] ?? []

/** What was just listed takes the place of what was known of that kind; with a prefix, only of what begins so. */
export async function rememberNames(paths: Paths, kind: Indexed, names: readonly string[], prefix = ''): Promise<void> {
  const index = await readIndex(paths)
  const others = prefix === '' ? [] : (index[kind] ?? []).filter((name) => !name.startsWith(prefix))
  const all = [...new Set([...others, ...names])].sort().slice(0, MOST)
  if (JSON.stringify(all) === JSON.stringify(index[kind])) return
  // Losing it costs a completion, so nothing fails for its sake.
  await writePrivate(placeOf(paths), JSON.stringify({ ...index, [kind]: all })).catch(() => undefined)
}
