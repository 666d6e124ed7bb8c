import type { Arg, Command, Flag, Flags } from './command.ts'
import { GLOBALS } from './globals.ts'
import { HEADINGS, usageOf } from './help.ts'
import { TREE } from './tree.ts'
import type { Walked } from './walk.ts'

// The reference of the command line as Markdown, from the same model as help and man pages: a page for each command.

/** `vault list` → `vault-list`: its page and its schema. */
export const slugOfPath = (path: string): string => path.replaceAll(' ', '-')

/** A bar would end the cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|')
const rows = (head: readonly string[], lines: readonly (readonly string[])[]): string[] =>
  lines.length === 0
    ? []
    : ['', ...[head, head.map(() => '---'), ...lines].map((line) => `| ${line.map(cell).join(' | ')} |`)]

const flagName = (name: string, { kind, value }: Flag): string =>
  kind === 'switch' ? `\`--${name}\`` : `\`--${name} ${value}\``
const meaning = ({ kind, summary }: Flag | Arg): string =>
  kind === 'many' ? `${summary}; can be given several times` : summary
const flagRows = (flags: Flags): string[] =>
  rows(
    ['flag', 'meaning'],
    Object.entries(flags).map(([name, flag]) => [flagName(name, flag), meaning(flag)]),
  )

function outputPart(path: string, { output, takesCommand }: Command): string[] {
  if (takesCommand) return ['What it prints is what the command prints.']
  if (!output) return ['It prints no data of its own.']
  const what = path === 'up' ? 'each line of `--json`' : '`data` in what `--json` prints'
  return [
    `The JSON Schema of ${what}: \`/docs/schemas/cli/${slugOfPath(path)}.json\`, or \`strongroom ${path} --schema\`.`,
  ]
}

export function commandPage({ path, command }: Walked): string {
  const { summary, about, args, flags, examples, next } = command
  const argRows = Object.entries(args).map(([name, arg]) => [`\`${name.toUpperCase()}\``, meaning(arg)])
  return [
    `# strongroom ${path}`,
    '',
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ...(about === undefined ? [] : ['', about]),
    '',
    '```text',
    usageOf(path, command),
    '```',
    ...rows(['argument', 'meaning'], argRows),
    ...flagRows(flags),
    '',
    'Flags that every command understands are in `/docs/cli`.',
    '',
    '## Examples',
    '',
    '```sh',
    ...examples.flatMap(({ run, does }) => [`# ${does}`, run]),
    '```',
    '',
    '## Output',
    '',
    ...outputPart(path, command),
    'Exit codes: `/docs/reference/exit-codes`.',
    '',
    `Next: \`${next}\``,
    '',
  ].join('\n')
}

const line = ({ path, command: { summary } }: Walked): string =>
  `- [\`strongroom ${path}\`](${slugOfPath(path)}.md): ${summary}`

/** Every command by what it is for, and the flags that all of them have. */
export function commandIndex(all: readonly Walked[]): string {
  const visible = Object.entries(TREE).filter(([, { heading }]) => heading !== 'hidden')
  const parts = HEADINGS.flatMap((title) => {
    const names = visible.filter(([, { heading }]) => heading === title).map(([name]) => name)
    const own = all.filter(({ path }) => names.includes(path.split(' ')[0] ?? ''))
    return own.length === 0 ? [] : [`## ${title.charAt(0).toUpperCase()}${title.slice(1)}`, '', ...own.map(line), '']
  })
  return [
    '# The command line',
    '',
    'What `strongroom help COMMAND` says, a page for each command. Data goes to standard output and everything else to standard',
    'error; secrets are never arguments.',
    '',
    ...parts,
    '## Flags that every command understands',
    ...flagRows(GLOBALS),
    '',
  ].join('\n')
}
