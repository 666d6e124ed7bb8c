import type { Style } from '../output/style.ts'
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

function columns(rows: readonly (readonly [string, string])[], style: Style, indent = '  '): string[] {
  const width = Math.min(34, Math.max(0, ...rows.map(([left]) => left.length)))
  return rows.map(([left, right]) => `${indent}${left.padEnd(width)}  ${style.dim(right)}`)
}

const flagRows = (flags: Flags): (readonly [string, string])[] =>
  Object.entries(flags).map(([name, flag]) => [flagWord(name, flag), flag.summary] as const)

const heading = (text: string, style: Style): string => style.bold(text)

export function commandHelp(path: string, command: Command, style: Style): string {
  const { summary, args, flags, examples, next } = command
  const argRows = Object.entries(args).map(([name, arg]) => [argWord(name, arg), arg.summary] as const)
  const lines = [summary, '', heading('usage', style), `  ${usageOf(path, command)}`]
  if (argRows.length > 0) lines.push('', ...columns(argRows, style))
  if (Object.keys(flags).length > 0) lines.push('', heading('flags', style), ...columns(flagRows(flags), style))
  lines.push('', heading('examples', style))
  for (const { run, does } of examples) lines.push(`  ${style.dim(`# ${does}`)}`, `  ${run}`)
  if (next !== undefined) lines.push('', `${style.dim('next')}  ${next}`)
  lines.push('', style.dim('--json, --profile, --quiet and others work everywhere: strongroom help flags'))
  return lines.join('\n')
}

export function groupHelp(path: string, { summary, verbs }: Group, style: Style): string {
  const rows = Object.entries(verbs).map(([verb, command]) => [verb, command.summary] as const)
  const [first] = Object.values(verbs)
  const lines = [summary, '', heading('usage', style), `  strongroom ${path} VERB`, '', ...columns(rows, style)]
  if (first) lines.push('', heading('examples', style), ...first.examples.slice(0, 1).map(({ run }) => `  ${run}`))
  lines.push('', `${style.dim('next')}  strongroom ${path} VERB --help`)
  return lines.join('\n')
}

export const HEADINGS = ['start', 'every day', 'manage', 'money', 'look', 'this program'] as const

const entriesUnder = (title: string) => Object.entries(TREE).filter(([, entry]) => entry.heading === title)

/** From an empty machine to a process with a secret, and what follows. */
const FIRST = ['up', 'init', 'login', 'set', 'read', 'run', 'env', 'search', 'verify', 'activity', 'rm'] as const
const WIDEST = 80

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
    `${style.dim('next')}  strongroom COMMAND --help; a line for each: strongroom help commands`,
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
