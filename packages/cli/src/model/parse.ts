import { CliError } from '../errors/cli-error.ts'
import type { Args, Command, Flag, Flags, Input } from './command.ts'
import { GLOBALS, type GlobalFlags, SHORT } from './globals.ts'
import { nearest } from './nearest.ts'

// argv → typed values. What is not understood is refused with the nearest thing that would be.

interface Split {
  /** Flags as written, with their value if it stood in the same word. */
  readonly words: readonly string[]
  readonly rest: readonly string[]
}

const splitAtDashes = (argv: readonly string[]): Split => {
  const at = argv.indexOf('--')
  return at < 0 ? { words: argv, rest: [] } : { words: argv.slice(0, at), rest: argv.slice(at + 1) }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

export function durationOf(name: string, text: string): number {
  const [, digits, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  if (digits === undefined || unit === undefined)
    throw new CliError('usage', `--${name} ${text} is not a duration`, { fix: 'write 90s, 15m, 24h or 7d' })
  return Number(digits) * (UNITS[unit] ?? 1)
}

function countOf(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new CliError('usage', `--${name} ${text} is not a whole number`, { fix: 'write it in digits' })
  return Number(text)
}

function flagValue(name: string, { kind, choices }: Flag, text: string): unknown {
  if (choices && !choices.includes(text))
    throw new CliError('usage', `--${name} ${text} is unknown`, { fix: `use one of ${choices.join(', ')}` })
  if (kind === 'count') return countOf(name, text)
  return kind === 'duration' ? durationOf(name, text) : text
}

interface Word {
  readonly name: string
  readonly inline: string | undefined
}

/** `--name`, `--name=value` or `-n`. */
function wordOf(word: string): Word | undefined {
  if (word.startsWith('--')) {
    const at = word.indexOf('=')
    return at < 0 ? { name: word.slice(2), inline: undefined } : { name: word.slice(2, at), inline: word.slice(at + 1) }
  }
  if (!/^-[A-Za-z]$/.test(word)) return undefined
  return { name: SHORT[word.slice(1)] ?? word.slice(1), inline: undefined }
}

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
}

function parseWords(words: readonly string[], flags: Flags, where: string): Parsed {
  const values: Record<string, unknown> = {}
  const positionals: string[] = []
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] as string
    const named = wordOf(word)
    if (!named) {
      positionals.push(word)
      continue
    }
    const flag = Object.hasOwn(flags, named.name) ? flags[named.name] : undefined
    if (!flag) throw unknownFlag(word, named, flags, where)
    if (flag.kind === 'switch') {
      if (named.inline !== undefined) throw new CliError('usage', `--${named.name} takes no value`)
      values[named.name] = true
      continue
    }
    if (named.inline === undefined) i += 1
    const text = named.inline ?? words[i]
    if (text === undefined)
      throw new CliError('usage', `--${named.name} needs a value`, { fix: usageOfFlag(named.name, flag) })
    const value = flagValue(named.name, flag, text)
    values[named.name] = flag.kind === 'many' ? [...((values[named.name] as string[]) ?? []), value] : value
  }
  return { values, positionals }
}

const usageOfFlag = (name: string, { value = 'VALUE' }: Flag): string => `write --${name} ${value}`

function unknownFlag(word: string, { name }: Word, flags: Flags, where: string): CliError {
  const near = nearest(name, Object.keys(flags))
  const typed = word.startsWith('--') ? `--${name}` : word
  return new CliError('usage', `${typed} is not a flag of ${where}`, {
    fix: near ? `did you mean --${near}?` : `strongroom ${where} --help lists them`,
  })
}

function withDefaults(values: Readonly<Record<string, unknown>>, flags: Flags): Record<string, unknown> {
  // Without a prototype an object takes dozens of members without finding a form for each number of them.
  const all: Record<string, unknown> = Object.create(null)
  for (const [name, { kind }] of Object.entries(flags))
    all[name] = values[name] ?? (kind === 'switch' ? false : kind === 'many' ? [] : undefined)
  return all
}

/** The first words that are no flags: what is asked for, before it is known which flags there are. */
export function findPath(argv: readonly string[]): {
  readonly path: readonly string[]
  readonly at: readonly number[]
} {
  const { words } = splitAtDashes(argv)
  const found: { word: string; at: number }[] = []
  for (let i = 0; i < words.length && found.length < 2; i += 1) {
    const named = wordOf(words[i] as string)
    if (!named) found.push({ word: words[i] as string, at: i })
    else {
      const global: Flag | undefined = (GLOBALS as Flags)[named.name]
      // A flag of the command may stand before its verb only with `=`: whether it takes a value is not known yet.
      if (global && global.kind !== 'switch' && named.inline === undefined) i += 1
    }
  }
  return { path: found.map(({ word }) => word), at: found.map(({ at }) => at) }
}

/** The global flags alone, for when there is no command to say which others there are. Refuses nothing. */
export function globalsOf(argv: readonly string[]): GlobalFlags {
  const { words } = splitAtDashes(argv)
  const known = words.filter((word) => {
    const { name } = wordOf(word) ?? {}
    const global = name === undefined ? undefined : (GLOBALS as Flags)[name]
    return global?.kind === 'switch'
  })
  return withDefaults(parseWords(known, GLOBALS, '').values, GLOBALS) as unknown as GlobalFlags
}

function argValues(positionals: readonly string[], args: Args, where: string): Record<string, unknown> {
  const left = [...positionals]
  const values: Record<string, unknown> = {}
  for (const [name, { kind, summary, choices }] of Object.entries(args)) {
    if (kind === 'rest') values[name] = left.splice(0)
    else {
      const value = left.shift()
      if (value === undefined && kind === 'one')
        throw new CliError('usage', `${name.toUpperCase()} is missing: ${summary}`, {
          fix: `strongroom ${where} --help`,
        })
      if (value !== undefined && choices && !choices.includes(value))
        throw new CliError('usage', `${value} is unknown`, { fix: `use one of ${choices.join(', ')}` })
      values[name] = value
    }
  }
  // The words themselves are not repeated: one of them may be a secret that was put here by mistake.
  if (left.length > 0)
    throw new CliError(
      'usage',
      `strongroom ${where} does not take ${left.length} more ${left.length > 1 ? 'arguments' : 'argument'}`,
      {
        fix: `strongroom ${where} --help`,
      },
    )
  return values
}

export interface ParsedInput {
  readonly input: Input
  readonly globals: GlobalFlags
}

/** Everything of one command; `argv` without the words of its name. */
export function parseInput(
  argv: readonly string[],
  { args, flags, takesCommand }: Command,
  where: string,
): ParsedInput {
  const { words, rest } = splitAtDashes(argv)
  // Without a prototype an object takes dozens of members without finding a form for each number of them.
  const all: Flags = Object.assign(Object.create(null), GLOBALS, flags)
  const { values, positionals } = parseWords(words, all, where)
  const globals = withDefaults(values, GLOBALS) as unknown as GlobalFlags
  const own = withDefaults(values, flags)
  if (globals.help || globals.schema) return { globals, input: { args: {}, flags: own, rest } }
  const positional = takesCommand ? positionals : [...positionals, ...rest]
  return { globals, input: { args: argValues(positional, args, where), flags: own, rest: takesCommand ? rest : [] } }
}
