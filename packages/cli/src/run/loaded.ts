import type { EnvBundle, Receipt } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Freshness } from '../project/freshness.ts'
import { readNamedPart } from '../project/missing-reference.ts'
import { type Part, partsOf, type Read, readsOf } from '../project/read-sources.ts'
import { type SourceFlags, sourcesFor } from '../project/sources.ts'
import type { Conflict } from './shape.ts'

// The variables of a command, read and verified, with what proves them.

export interface Loaded {
  readonly reads: readonly Read[]
  readonly receipts: readonly Receipt[]
  /** For people: `prod`, or `prod, staging`. */
  readonly from: string
}

/** What the parts give, in their order. Two vaults of one project that give the same name contradict each other. */
export function loadedFrom(
  read: readonly { readonly part: Part; readonly bundle: EnvBundle | undefined }[],
  policy: Conflict,
): Loaded {
  for (const { part, bundle } of read) {
    const [name] = bundle?.duplicates ?? []
    if (name !== undefined && policy === 'error')
      throw new CliError('env_conflict', `${name} is in several vaults of ${part.from}`, {
        fix: '--conflict vault takes the first of them; or rename one',
        details: { name },
      })
  }
  const bundles = read.flatMap(({ bundle }) => bundle ?? [])
  return {
    reads: read.flatMap(({ part, bundle }) => readsOf(part, bundle)),
    receipts: distinct(bundles.flatMap((bundle) => receiptsIn(bundle))),
    from: [...new Set(read.map(({ part }) => part.from))].join(', '),
  }
}

function receiptsIn(bundle: EnvBundle): readonly Receipt[] {
  const own = bundle.names.flatMap((name) => bundle.get(name)?.receipt ?? [])
  return own.length > 0 ? own : bundle.receipt ? [bundle.receipt] : []
}

const distinct = (receipts: readonly Receipt[]): readonly Receipt[] => [
  ...new Map(receipts.map((receipt) => [`${receipt.vaultId} ${receipt.headVersion}`, receipt])).values(),
]

export async function loadVariables(
  cli: Cli,
  flags: SourceFlags,
  freshness: Freshness,
  policy: Conflict,
): Promise<Loaded & { readonly parts: readonly Part[] }> {
  const sources = await sourcesFor(cli, flags)
  const strongroom = await cli.strongroom()
  const parts = await partsOf(cli, strongroom, sources)
  const read = await Promise.all(
    parts.map(async (part) => ({ part, bundle: await readNamedPart(cli, strongroom, part, freshness) })),
  )
  return { ...loadedFrom(read, policy), parts }
}
