import { randomUUID } from 'node:crypto'
import { CliError } from '../errors/cli-error.ts'

// An environment as text for those who read it. Each dialect has its own way with quotes, and some cannot hold every value: what
// cannot be written so that its reader reads exactly the same is refused, never approximated.

export const DIALECTS = ['dotenv', 'json', 'shell', 'docker', 'compose', 'systemd', 'github', 'yaml'] as const
export type Dialect = (typeof DIALECTS)[number]

export type Pair = readonly [name: string, value: string]

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what the reader refuses
const CONTROL_BUT_TAB_AND_NEWLINE = /[\u0000-\u0008\u000b-\u001f\u007f]/

/** A value that has no text in this dialect; the value itself is not part of the message. */
const inexpressible = (name: string, dialect: Dialect, problem: string): CliError =>
  new CliError('value_not_expressible', `${name} ${problem}, which the format ${dialect} cannot hold`, {
    fix: 'use --format json or --format shell, or give it to the process itself: strongroom run -- COMMAND',
    details: { name, dialect },
  })

function ensureIdentifier(name: string, dialect: Dialect): void {
  if (!IDENTIFIER.test(name)) throw inexpressible(name, dialect, 'is no name of letters, digits and underscores')
}

function ensureNoNul(name: string, value: string, dialect: Dialect): void {
  if (value.includes('\0')) throw inexpressible(name, dialect, 'holds a NUL')
}

/** For Node's --env-file and the dotenv package: both take single quotes and backticks as they are. */
function dotenvLine([name, value]: Pair): string {
  ensureIdentifier(name, 'dotenv')
  ensureNoNul(name, value, 'dotenv')
  if (value.includes('\r')) throw inexpressible(name, 'dotenv', 'holds a carriage return')
  if (/^[A-Za-z0-9_./:@%+,-]+$/.test(value)) return `${name}=${value}`
  if (!value.includes("'")) return `${name}='${value}'`
  // Inside double quotes the two letters \n are read as a line break, and some readers expand $.
  if (!/["\\$]/.test(value)) return `${name}="${value}"`
  if (!value.includes('`')) return `${name}=\`${value}\``
  throw inexpressible(name, 'dotenv', 'holds all three kinds of quotes')
}

/** Everything between single quotes is itself for every POSIX shell, except a single quote. */
export const shellQuote = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

function shellLine([name, value]: Pair): string {
  ensureIdentifier(name, 'shell')
  ensureNoNul(name, value, 'shell')
  return `export ${name}=${shellQuote(value)}`
}

/** `docker run --env-file` takes the rest of the line as it is. */
function dockerLine([name, value]: Pair): string {
  ensureIdentifier(name, 'docker')
  ensureNoNul(name, value, 'docker')
  if (/[\r\n]/.test(value)) throw inexpressible(name, 'docker', 'holds a line break')
  if (Buffer.byteLength(`${name}=${value}`) >= 65_536) throw inexpressible(name, 'docker', 'has more than 64 kB')
  return `${name}=${value}`
}

/** Single quotes are literal; in double quotes `$` is expanded, and there is no way around it that all versions share. */
function composeLine([name, value]: Pair): string {
  ensureIdentifier(name, 'compose')
  ensureNoNul(name, value, 'compose')
  if (!value.includes("'") && !value.endsWith('\\')) return `${name}='${value}'`
  if (value.includes('$')) throw inexpressible(name, 'compose', 'holds $ beside a quote or a final backslash')
  const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
  return `${name}="${escaped}"`
}

/** systemd.exec(5), EnvironmentFile=. */
function systemdLine([name, value]: Pair): string {
  ensureIdentifier(name, 'systemd')
  if (CONTROL_BUT_TAB_AND_NEWLINE.test(value)) throw inexpressible(name, 'systemd', 'holds a control character')
  return `${name}="${value.replace(/["\\`$]/g, '\\$&')}"`
}

/** For `$GITHUB_ENV`: a delimiter that nobody can foresee, so that no value can end it. */
function githubLine([name, value]: Pair): string {
  ensureIdentifier(name, 'github')
  ensureNoNul(name, value, 'github')
  const delimiter = `strongroom_${randomUUID()}`
  return `${name}<<${delimiter}\n${value}\n${delimiter}`
}

/** JSON is YAML, except for some characters that YAML wants escaped. */
export const yamlQuote = (value: string): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const LINES: Readonly<Record<Exclude<Dialect, 'json' | 'yaml'>, (pair: Pair) => string>> = {
  dotenv: dotenvLine,
  shell: shellLine,
  docker: dockerLine,
  compose: composeLine,
  systemd: systemdLine,
  github: githubLine,
}

/** The whole text, with a line break at its end where the dialect is one of lines. */
export function formatEnvironment(pairs: readonly Pair[], dialect: Dialect): string {
  if (dialect === 'json') return `${JSON.stringify(Object.fromEntries(pairs), null, 2)}\n`
  const line = dialect === 'yaml' ? yamlLine : LINES[dialect]
  return pairs.map((pair) => `${line(pair)}\n`).join('')
}

const yamlLine = ([name, value]: Pair): string => `${yamlQuote(name)}: ${yamlQuote(value)}`
