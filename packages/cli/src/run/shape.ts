import { shellLine } from '@strongroom/contract'
import { nameProblem } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import type { Read } from '../project/read-sources.ts'

// Which variables a child gets, and under which names. Every name is looked at after it was changed: it is the child that must not
// get a dangerous one.

export const CONFLICTS = ['error', 'vault', 'process'] as const
export type Conflict = (typeof CONFLICTS)[number]

export interface ShapeFlags {
  readonly only: readonly string[]
  readonly except: readonly string[]
  readonly prefix: string | undefined
  readonly rename: readonly string[]
}

const names = (given: readonly string[]): readonly string[] =>
  given.flatMap((one) => one.split(',')).filter((one) => one !== '')

/** A flag that is given chooses: `--only "$NAMES"` with nothing in NAMES must not come to mean everything. */
function chosenBy(flag: string, given: readonly string[]): readonly string[] {
  const chosen = names(given)
  if (given.length > 0 && chosen.length === 0)
    throw new CliError('usage', `${flag} is given without a name`, { fix: `${flag} A,B, or leave ${flag} out` })
  return chosen
}

function renamesOf(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names(given).map((one) => {
      const [from = '', to = '', ...more] = one.split('=')
      if (from === '' || to === '' || more.length > 0)
        throw new CliError('usage', '--rename takes OLD=NEW', { fix: '--rename STRIPE_SECRET_KEY=API_KEY' })
      return [from, to] as const
    }),
  )
}

/** Families that the runtimes of programs read before the program has a say; the list of single names is the SDK's. */
const FAMILIES = /^(?:PYTHON|PERL5|RUBY(?!GEMS_API_KEY$)|GIT_.*SSH|LD_|DYLD_|STRONGROOM_)/

export function ensureName(name: string): void {
  const problem =
    name === '' ? 'is empty' : (nameProblem(name) ?? (FAMILIES.test(name) ? 'changes how programs run' : undefined))
  if (problem === undefined) return
  throw new CliError('env_name_refused', `a variable called ${JSON.stringify(name)} ${problem}`, {
    fix: 'rename the field, or leave it out: --except NAME, --rename OLD=NEW, --prefix APP_',
    details: { name },
  })
}

/** The chosen ones under their new names. */
export function shaped(reads: readonly Read[], flags: ShapeFlags): readonly Read[] {
  const [only, except] = [chosenBy('--only', flags.only), new Set(chosenBy('--except', flags.except))]
  const renames = renamesOf(flags.rename)
  const known = new Set(reads.map(({ name }) => name))
  const missing = [...only, ...renames.keys()].filter((name) => !known.has(name))
  if (missing.length > 0)
    throw new CliError(
      'env_missing',
      `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} in none of the sources`,
      {
        fix: 'strongroom env --names lists what there is',
        details: { missing },
      },
    )
  const chosen = reads.filter(({ name }) => (only.length === 0 || only.includes(name)) && !except.has(name))
  const named = chosen.map((read) => {
    const { name } = read
    return { ...read, name: renames.get(name) ?? `${flags.prefix ?? ''}${name}` }
  })
  for (const { name } of named) ensureName(name)
  return named
}

const conflict = (message: string, name: string): CliError =>
  new CliError('env_conflict', message, {
    fix: '--conflict vault takes the one from the vault, --conflict process the one that is set; or --rename, --except',
    details: { name },
  })

/** What a variable holds. Refuses what is not text: one value that no environment can hold must say which one it is. */
export function textOf({ name, value }: Read): string {
  if (typeof value === 'string') return value
  try {
    return value.reveal()
  } catch (cause) {
    throw new CliError('value_not_expressible', `${name} is not text, so no environment can hold it`, {
      fix: shellLine`leave it out with --except ${name}, or take it as a file: strongroom read ${value.ref} --out FILE`,
      details: { name },
      cause,
    })
  }
}

/** One of each name. Two sources that say the same do not contradict each other. */
export function unified(reads: readonly Read[], policy: Conflict): ReadonlyMap<string, Read> {
  const unique = new Map<string, Read>()
  for (const read of reads) {
    const { name, from } = read
    const first = unique.get(name)
    if (!first) unique.set(name, read)
    else if (policy === 'error' && textOf(first) !== textOf(read))
      throw conflict(`${name} is in ${first.from} and in ${from}`, name)
  }
  return unique
}

/**
 * What of them goes into a process that has variables of its own. A secret that contradicts one of them is refused unless it was
 * said who wins; for text of a project file the process wins, so that `LOG_LEVEL=debug strongroom run` works as people expect.
 */
export function forProcess(
  variables: ReadonlyMap<string, Read>,
  own: Readonly<Record<string, string | undefined>>,
  policy: Conflict,
): ReadonlyMap<string, Read> {
  const kept = new Map<string, Read>()
  for (const [name, read] of variables) {
    const before = own[name]
    const isSame = before === undefined || policy === 'vault' || before === textOf(read)
    if (isSame) kept.set(name, read)
    else if (policy === 'error' && typeof read.value !== 'string')
      throw conflict(`${name} from ${read.from} is set in this process already`, name)
  }
  return kept
}
