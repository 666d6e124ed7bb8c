import type { Command, Flags } from './command.ts'
import { GLOBALS } from './globals.ts'
import { usageOf } from './help.ts'

// Man pages from the command model: `strongroom man run | man -l -`.

const roff = (text: string): string =>
  text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^\./gm, '\\&.').replace(/^'/gm, "\\&'")

const flagParts = (flags: Flags): string[] =>
  Object.entries(flags).flatMap(([name, { kind, value, summary }]) => [
    '.TP',
    `.B ${roff(`--${name}`)}${kind === 'switch' ? '' : ` \\fI${roff(value ?? '')}\\fR`}`,
    roff(summary),
  ])

export function manPage(path: string, command: Command): string {
  const { summary, about, args, flags, examples, next } = command
  const name = `strongroom-${path.replaceAll(' ', '-')}`
  const argParts = Object.entries(args).flatMap(([arg, { summary: what }]) => [
    '.TP',
    `.I ${arg.toUpperCase()}`,
    roff(what),
  ])
  const parts = [
    `.TH "${roff(name).toUpperCase()}" 1`,
    '.SH NAME',
    `${roff(name)} \\- ${roff(summary)}`,
    '.SH SYNOPSIS',
    roff(usageOf(path, command)),
    ...(about === undefined ? [] : ['.SH DESCRIPTION', roff(about)]),
    ...(argParts.length > 0 ? ['.SH ARGUMENTS', ...argParts] : []),
    ...(Object.keys(flags).length > 0 ? ['.SH OPTIONS', ...flagParts(flags)] : []),
    '.SH GLOBAL OPTIONS',
    ...flagParts(GLOBALS),
    '.SH EXAMPLES',
    ...examples.flatMap(({ run, does }) => ['.TP', roff(does), `.B ${roff(run)}`]),
    '.SH SEE ALSO',
    roff(next),
  ]
  return `${parts.join('\n')}\n`
}
