import type { Cli } from '../cli.ts'
import type { Pair } from '../dotenv/format.ts'
import { type FreshnessFlags, freshnessOf } from '../project/freshness.ts'
import type { Read } from '../project/read-sources.ts'
import type { SourceFlags } from '../project/sources.ts'
import { loadVariables } from './loaded.ts'
import { type Conflict, type ShapeFlags, shaped, textOf, unified } from './shape.ts'

export interface PrintedFlags extends SourceFlags, ShapeFlags, FreshnessFlags {
  readonly conflict: Conflict | undefined
}

/** The variables of these flags, and their values once somebody wants them. */
export async function environmentFor(
  cli: Cli,
  flags: PrintedFlags,
): Promise<{ readonly variables: ReadonlyMap<string, Read>; pairs(): readonly Pair[] }> {
  const { conflict = 'error' } = flags
  const { reads } = await loadVariables(cli, flags, freshnessOf(cli, flags), conflict)
  const variables = unified(shaped(reads, flags), conflict)
  return { variables, pairs: () => [...variables].map(([name, read]) => [name, textOf(read)] as const) }
}
