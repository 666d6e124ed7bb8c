import type { Cli } from '../cli.ts'
import type { Pair } from '../dotenv/format.ts'
import { CliError } from '../errors/cli-error.ts'
import { shellLine } from '../output/shell-line.ts'
import { type FreshnessFlags, freshnessOf } from '../project/freshness.ts'
import type { Read } from '../project/read-sources.ts'
import type { SourceFlags } from '../project/sources.ts'
import { loadVariables } from './loaded.ts'
import { type Conflict, type ShapeFlags, shaped, unified } from './shape.ts'

export interface PrintedFlags extends SourceFlags, ShapeFlags, FreshnessFlags {
  readonly conflict: Conflict | undefined
}

/** A value as text, or a refusal that names it. */
export function textIn(name: string, { value }: Read): string {
  if (typeof value === 'string') return value
  try {
    return value.reveal()
  } catch (cause) {
    throw new CliError('value_not_expressible', `${name} is not text`, {
      fix: shellLine`strongroom read ${value.ref} --out FILE`,
      cause,
    })
  }
}

/** The variables of these flags, and their values once somebody wants them. */
export async function environmentFor(
  cli: Cli,
  flags: PrintedFlags,
): Promise<{ readonly variables: ReadonlyMap<string, Read>; pairs(): readonly Pair[] }> {
  const { conflict = 'error' } = flags
  const { reads } = await loadVariables(cli, flags, freshnessOf(cli, flags), conflict)
  const variables = unified(shaped(reads, flags), conflict)
  return { variables, pairs: () => [...variables].map(([name, read]) => [name, textIn(name, read)] as const) }
}
