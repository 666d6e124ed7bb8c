import type { Style } from '../output/style.ts'
import { widthOf } from '../output/table.ts'
import type { Arg, Command, Flag, Flags, Group } from './command.ts'
import { GLOBALS } from './globals.ts'
import { TREE } from './tree.ts'

// Help fits a screen, shows a line that runs, and names the next step.

const argWord = (name: string, { kind }: Arg): string => {
  const word = name.toUpperCase()
  return kind === 'one' ? word : kind === 'maybe' ? `[${word}]` : `[${word}…]`
}

export function usageOf(path: string, { args, flags, takesCommand }: Command): string {
  const words = Object.entries(args).map(([name, arg]) => argWord(name, arg))
  const hasFlags = Object.keys(flags).length > 0
  return [
    'strongroom',
    path,
    ...words,
    ...(hasFlags ? ['[flags]'] : []),
    ...(takesCommand ? ['--', 'COMMAND'] : []),
  ].join(' ')
}

const flagWord = (name: string, { kind, value }: Flag): string =>
  kind === 'switch' ? `--${name}` : `--${name} ${value}`

const WIDEST = 80
const WIDEST_LEFT = 26

/** Lines of whole words; one that is too long has a line of its own. */
function wrapped(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

function columns(rows: readonly (readonly [string, string])[], style: Style): string[] {
  const lengths = rows.map(([left]) => left.length).filter((length) => length <= WIDEST_LEFT)
  const width = Math.max(0, ...lengths)
  return rows.flatMap(([left, right]) => {
    const start = `  ${left.padEnd(width)}  `
    return wrapped(right.split(' '), WIDEST - start.length).map(
      (line, at) => `${at === 0 ? start : ' '.repeat(start.length)}${style.dim(line)}`,
    )
  })
}

const flagRows = (flags: Flags): (readonly [string, string])[] =>
  Object.entries(flags).map(([name, flag]) => [flagWord(name, flag), flag.summary] as const)

const heading = (text: string, style: Style): string => style.bold(text)

const labelled = (label: string, text: string, style: Style): string => `${style.dim(label.padEnd(5))}  ${text}`

function page(path: string, command: Command, also: readonly string[], style: Style): string {
  const { summary, about, args, flags, examples, next } = command
  const argRows = Object.entries(args).map(([name, arg]) => [argWord(name, arg), arg.summary] as const)
  const lines = [summary, '']
  if (about !== undefined) lines.push(...wrapped(about.split(' '), WIDEST), '')
  lines.push(labelled('usage', usageOf(path, command), style))
  if (argRows.length > 0) lines.push('', ...columns(argRows, style))
  if (Object.keys(flags).length > 0)
    lines.push('', heading('flags', style), ...columns(flagRows(flags), style), ...also)
  lines.push('', heading('examples', style))
  for (const { run, does } of examples) lines.push(`  ${style.dim(`# ${does}`)}`, `  ${run}`)
  lines.push('', labelled('next', next, style))
  lines.push(style.dim('--json, --profile, --quiet and others work everywhere: strongroom help flags'))
  return lines.join('\n')
}

/** Everything there is to say of a command, however long. */
export const wholeHelp = (path: string, command: Command, style: Style): string => page(path, command, [], style)

/** Fits a screen: of flags that few need it has the names. */
export function commandHelp(path: string, command: Command, style: Style): string {
  const { about: _, ...shown } = command
  const flags = Object.entries(command.flags)
  const rare = flags
    .filter(([, { isRare }]) => isRare)
    .map(([name], at, { length }) => `--${name}${at + 1 < length ? ',' : ':'}`)
  // The command to type stays in one piece.
  const also = wrapped(['also', ...rare, `strongroom help ${path}`], WIDEST - 2).map((line) => `  ${line}`)
  const often = Object.fromEntries(flags.filter(([, { isRare }]) => !isRare))
  return page(path, { ...shown, flags: often }, rare.length === 0 ? [] : also, style)
}

export function groupHelp(path: string, { summary, verbs }: Group, style: Style): string {
  const rows = Object.entries(verbs).map(([verb, command]) => [verb, command.summary] as const)
  const [example] = Object.values(verbs).flatMap(({ examples }) => examples)
  return [
    summary,
    labelled('usage', `strongroom ${path} VERB`, style),
    '',
    ...columns(rows, style),
    '',
    ...(example ? [labelled('try', example.run, style)] : []),
    labelled('next', `strongroom ${path} VERB --help`, style),
  ].join('\n')
}

export const HEADINGS = ['start', 'every day', 'manage', 'money', 'look', 'this program'] as const

const entriesUnder = (title: string) => Object.entries(TREE).filter(([, entry]) => entry.heading === title)

/** From an empty machine to a process with a secret, and what follows. */
const FIRST = ['up', 'init', 'login', 'set', 'read', 'run', 'env', 'search', 'verify', 'activity', 'rm'] as const

/** Names under a heading, on as many lines as they need. */
function named(title: string, names: readonly string[], style: Style): string[] {
  const lines: string[] = []
  let line = ''
  for (const name of names) {
    const longer = line === '' ? name : `${line}, ${name}`
    if (longer.length + 15 > WIDEST) {
      lines.push(`${line},`)
      line = name
    } else line = longer
  }
  return [...lines, line].map((text, at) => `${heading((at === 0 ? title : '').padEnd(14), style)}${text}`)
}

/** Fits a screen: what most people need with a line each, and the names of the rest. */
export function rootHelp(style: Style): string {
  const first: ReadonlySet<string> = new Set(FIRST)
  const [start, everyDay, ...others] = HEADINGS.map((title) => ({
    title,
    names: entriesUnder(title)
      .map(([name]) => name)
      .filter((name) => !first.has(name)),
  }))
  const more = [...(everyDay?.names ?? []), ...(start?.names ?? [])]
  return [
    'Secrets for processes, people and agents, verified before they are opened.',
    '',
    ...columns(
      FIRST.map((name) => [name, TREE[name]?.summary ?? ''] as const),
      style,
    ),
    '',
    ...named('also', more, style),
    ...others.flatMap(({ title, names }) => named(title, names, style)),
    '',
    labelled('next', 'strongroom COMMAND --help; a line for each: strongroom help commands', style),
  ].join('\n')
}

/** Every command with its line. */
export const commandsHelp = (style: Style): string =>
  HEADINGS.map((title) =>
    [
      heading(title, style),
      ...columns(
        entriesUnder(title).map(([name, { summary }]) => [name, summary] as const),
        style,
      ),
    ].join('\n'),
  ).join('\n\n')

export const flagsHelp = (style: Style): string =>
  ['Flags that every command understands.', '', ...columns(flagRows(GLOBALS), style)].join('\n')
