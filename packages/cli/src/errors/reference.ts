import { EXIT } from './codes.ts'
import { everyCode } from './every-code.ts'
import { EXIT_MEANINGS } from './exit-meanings.ts'

// The error index and the exit codes as Markdown, from the tables that the program itself uses.

const SOURCES = { program: 'the command line', api: 'the server', protocol: 'verification' } as const

export async function errorIndex(): Promise<string> {
  const all = [...(await everyCode()).values()].sort((a, b) => (a.code < b.code ? -1 : 1))
  const entries = all.flatMap(({ code, from, meaning, next, status, exitCode }) => [
    `## ${code}`,
    '',
    meaning,
    '',
    ...(next === undefined ? [] : [`*Do:* ${next}`, '']),
    `Of ${from.map((one) => SOURCES[one]).join(' and ')}.${status === undefined ? '' : ` Status ${status}.`} Exit code ${exitCode}.`,
    '',
  ])
  return [
    '# Error index',
    '',
    'Every code that the server, the verification on your machine or the command line can refuse with. A code never changes its meaning.',
    '`strongroom explain CODE` prints the same. What a status means is in `/docs/reference/status-codes`.',
    '',
    ...entries,
  ].join('\n')
}

export function exitCodes(): string {
  const rows = Object.entries(EXIT).map(([name, code]) => `| ${code} | ${EXIT_MEANINGS[name as keyof typeof EXIT]} |`)
  return [
    '# Exit codes',
    '',
    'They are part of the interface and do not change.',
    '',
    '| code | meaning |',
    '|---|---|',
    ...rows,
    '',
    'Under `strongroom run` the exit code is that of the command, or 128 and the number of the signal that ended it. Whatever',
    'fails before the command is started ends in 125, so that nobody has to guess whose code it is; with `--json` the error on standard error',
    'has the real one as `exitCode`.',
    '',
    'Codes of errors are at `/docs/errors`.',
    '',
  ].join('\n')
}
