import type { EnvBundle, EnvOptions, EnvSource, Secret, Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Variable } from './manifest.ts'
import type { Source, Where } from './sources.ts'

// From sources to variables: one request for each vault or project, however many secrets there are.

export interface Read {
  readonly name: string
  readonly value: Secret | string
  /** For people: the vault, project or file it is from. */
  readonly from: string
}

/** One thing that is asked for, and what stands beside it without being asked for. */
export interface Part {
  readonly source: EnvSource
  readonly from: string
  readonly options: Pick<EnvOptions, 'optional' | 'allowNames'>
  /** Text of the manifest, and placeholders for what is not there. */
  readonly texts: Readonly<Record<string, string>>
  readonly placeholders: Readonly<Record<string, string>>
  /** For people: the file and the line on which a variable stands. */
  readonly where?: Where | undefined
}

type Variables = Readonly<Record<string, Variable>>

function partOfVariables(from: string, variables: Variables, where?: Where): Part {
  const refs: Record<string, string> = {}
  const texts: Record<string, string> = {}
  const placeholders: Record<string, string> = {}
  const optional: string[] = []
  for (const [name, variable] of Object.entries(variables)) {
    if (variable.kind === 'text') texts[name] = variable.text
    else {
      refs[name] = variable.ref
      if (variable.isRequired) continue
      optional.push(name)
      if (variable.placeholder !== undefined) placeholders[name] = variable.placeholder
    }
  }
  return { source: { refs }, from, options: { optional, allowNames: 'any' }, texts, placeholders, where }
}

const NOTHING = { texts: {}, placeholders: {}, options: { allowNames: 'any' } } as const

async function onlyVault(cli: Cli, strongroom: Strongroom): Promise<string> {
  const vaults = (await strongroom.vaults.list({ signal: cli.signal })).filter(({ status }) => status === 'active')
  const [first] = vaults
  if (first && vaults.length === 1) return first.vaultId
  const names = vaults.map(({ name }) => name)
  throw new CliError(
    'source_undecided',
    names.length === 0 ? 'there is no vault you may read' : `there are ${names.length} vaults, and none was named`,
    {
      fix: names.length === 0 ? 'ask for access to one' : `give --vault with one of ${names.slice(0, 5).join(', ')}`,
      details: { vaults: names },
    },
  )
}

export async function partsOf(cli: Cli, strongroom: Strongroom, sources: readonly Source[]): Promise<readonly Part[]> {
  const parts: Part[] = []
  for (const source of sources) {
    if (source.kind === 'variables') parts.push(partOfVariables(source.from, source.variables, source.where))
    else if (source.kind === 'project')
      parts.push({ ...NOTHING, source: { project: source.project }, from: source.project })
    else if (source.kind === 'license')
      parts.push({ ...NOTHING, source: { license: source.license }, from: source.license })
    else {
      const vault = source.kind === 'vault' ? source.vault : await onlyVault(cli, strongroom)
      parts.push({ ...NOTHING, source: { vault }, from: source.kind === 'vault' ? vault : 'the only vault' })
    }
  }
  return parts
}

/** What one part gives, now that it was read. */
export function readsOf(part: Part, bundle: EnvBundle | undefined): readonly Read[] {
  const { from, texts, placeholders } = part
  const secrets = (bundle?.names ?? []).map((name) => ({ name, value: bundle?.get(name) as Secret, from }))
  const missing = Object.entries(placeholders).filter(([name]) => !bundle?.get(name))
  const plain = [...Object.entries(texts), ...missing].map(([name, value]) => ({ name, value, from }))
  return [...secrets, ...plain]
}

export const asksNothing = ({ source }: Part): boolean => 'refs' in source && Object.keys(source.refs).length === 0
