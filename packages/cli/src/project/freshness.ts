import type { EnvBundle, EnvOptions, Strongroom } from '@strongroom/sdk'
import { type Cli, isOffline } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { asksNothing, type Part } from './read-sources.ts'

// When the cache may answer. Whatever it answers with is verified again; it can be old, never wrong.

export const FRESH = ['auto', 'always', 'never'] as const
export type Fresh = (typeof FRESH)[number]

export interface FreshnessFlags {
  readonly fresh: Fresh | undefined
  readonly 'max-age': number | undefined
}

export interface Freshness {
  readonly fresh: Fresh
  readonly isOffline: boolean
  readonly maxAge?: number | string
}

export function freshnessOf(cli: Cli, flags: FreshnessFlags): Freshness {
  const { STRONGROOM_FRESH: said, STRONGROOM_MAX_AGE: age } = cli.io.env
  const fresh = flags.fresh ?? FRESH.find((one) => one === said) ?? 'auto'
  const maxAge = flags['max-age'] ?? (age || undefined)
  if (isOffline(cli) && flags.fresh === 'always')
    throw new CliError('usage', '--offline and --fresh always exclude each other')
  return { fresh, isOffline: isOffline(cli), ...(maxAge !== undefined && { maxAge }) }
}

const isPassedOver = (error: unknown): boolean => {
  const { code } = error as { code?: string }
  return code === 'not_cached' || code === 'stale_view'
}

/** Reads one part; a vault whose key nobody has shared is named with who can share it. */
export async function readPart(
  cli: Cli,
  strongroom: Strongroom,
  part: Part,
  freshness: Freshness,
): Promise<EnvBundle | undefined> {
  const { source } = part
  const vault = 'vault' in source ? source.vault : part.from
  return readWanted(cli, strongroom, part, freshness).catch(async (error: unknown) => {
    // In which vault a licence lies is not known before it was read.
    if ('license' in source) throw error
    const { explainingKeys } = await import('../errors/wrapped-key.ts')
    return explainingKeys(cli, vault, () => Promise.reject(error))
  })
}

/** From the server, from the cache, or from whichever the caller prefers. */
async function readWanted(
  cli: Cli,
  { secrets }: Strongroom,
  part: Part,
  { fresh, isOffline, maxAge }: Freshness,
): Promise<EnvBundle | undefined> {
  if (asksNothing(part)) return undefined
  const options: EnvOptions = {
    ...part.options,
    ...(cli.canBeEnded && { signal: cli.signal }),
    ...(maxAge !== undefined && { maxAge }),
  }
  if (isOffline) return secrets.env(part.source, { ...options, offline: true })
  if (fresh === 'always') return secrets.env(part.source, { ...options, offline: false })
  if (fresh === 'auto') return secrets.env(part.source, options)
  return secrets.env(part.source, { ...options, offline: true }).catch((error: unknown) => {
    if (isPassedOver(error)) return secrets.env(part.source, options)
    throw error
  })
}
