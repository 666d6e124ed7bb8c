import { extname } from 'node:path'
import { parseRef } from '@strongroom/sdk'
import { shellQuote, yamlQuote } from '../dotenv/format.ts'
import { CliError } from '../errors/cli-error.ts'
import { spansOf } from './template-spans.ts'

// Fills values into a text so that whoever reads it gets exactly the value: between the quotes that are there, or in quotes of its
// own where there are none.

export const TEMPLATE_TYPES = ['json', 'yaml', 'toml', 'env', 'shell', 'xml', 'text'] as const
export type TemplateType = (typeof TEMPLATE_TYPES)[number]

const BY_ENDING: Readonly<Record<string, TemplateType>> = {
  '.json': 'json',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.toml': 'toml',
  '.env': 'env',
  '.sh': 'shell',
  '.bash': 'shell',
  '.xml': 'xml',
  '.plist': 'xml',
}

/** By the ending of the file that is written, or of the template without `.tpl` and the like. */
export function typeOfFile(path: string): TemplateType {
  const name = path.replace(/\.(?:tpl|tmpl|template|in|example)$/, '')
  return /(?:^|\/)\.env(?:\.[\w-]+)?$/.test(name) ? 'env' : (BY_ENDING[extname(name)] ?? 'text')
}

/** A reference in a template: bare, or in braces where its end would not be clear. */
export interface Place {
  readonly start: number
  readonly end: number
  /** `sr://…`, or the name of a variable. */
  readonly what: string
  readonly line: number
}

const PLACES = /\{\{\s*(sr:\/\/[^}]*?|[A-Za-z_][A-Za-z0-9_]*)\s*\}\}|sr:\/\/[^\s"'`<>{}|\\^,;()[\]]+/g

export function placesIn(template: string, variables: ReadonlySet<string>): readonly Place[] {
  const places: Place[] = []
  for (const match of template.matchAll(PLACES)) {
    const [whole, braced] = match
    const what = braced ?? whole
    const start = match.index
    const line = template.slice(0, start).split('\n').length
    // Other programs use braces, too: what is no variable of ours is theirs.
    if (!what.startsWith('sr://') && !variables.has(what)) continue
    if (what.startsWith('sr://') && parseRef(what) === null)
      throw new CliError('template_invalid', `line ${line}: this is no reference sr://vault/item/field`, {
        fix: 'write {{ sr://vault/item/field }}, with a slash in a name as %2F',
      })
    places.push({ start, end: start + whole.length, what, line })
  }
  return places
}

type Quote = '"' | "'" | ''

/** The quotes that are open at this place, seen from the beginning of its line. */
function quoteAt(template: string, at: number, type: TemplateType): Quote {
  const line = template.slice(template.lastIndexOf('\n', at - 1) + 1, at)
  let open: Quote = ''
  for (let i = 0; i < line.length; i += 1) {
    const character = line[i]
    if (character === '\\' && (open === '"' || type === 'shell')) i += 1
    else if (open === '' && (character === '"' || (character === "'" && type !== 'json'))) open = character
    else if (character === open) open = ''
  }
  return open
}

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1)
/** TOML knows JSON's escapes, and wants DEL escaped, too. */
const inToml = (value: string): string => inJson(value).replaceAll('\u007f', '\\u007F')
const inXml = (value: string): string => value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

interface Where {
  readonly name: string
  readonly line: number
  readonly type: TemplateType
}

const BETWEEN_QUOTES = 'put the reference between double quotes'
const WITHOUT_ESCAPES =
  'put it on a line of its own outside of that text, or give --type text: values are then written as they are'

const unsafe = ({ name, line, type }: Where, problem: string, fix = BETWEEN_QUOTES): CliError =>
  new CliError('template_invalid', `line ${line}: ${name} ${problem} in ${type}`, { fix, details: { line } })

/** Means itself wherever it stands. */
const PLAIN = /^[A-Za-z0-9_./@%+~-]*$/

function inSingleQuotes(value: string, where: Where): string {
  const { type } = where
  if (type === 'yaml' && !/[\n\r]/.test(value)) return value.replaceAll("'", "''")
  if (type === 'shell') return value.replaceAll("'", "'\\''")
  if (/['\n\r]/.test(value)) throw unsafe(where, 'cannot stand between single quotes')
  return value
}

function inDoubleQuotes(value: string, where: Where): string {
  const { type } = where
  if (type === 'json') return inJson(value)
  if (type === 'yaml') return yamlQuote(value).slice(1, -1)
  if (type === 'toml') return inToml(value)
  if (type === 'shell') return value.replace(/["\\$`]/g, '\\$&')
  if (/["\\$\n\r]/.test(value)) throw unsafe(where, 'cannot stand between double quotes')
  return value
}

/** Outside of quotes: in quotes of its own, if nothing but the value stands there. */
function unquoted(value: string, where: Where, isAlone: boolean): string {
  const { type } = where
  if (type === 'shell') return shellQuote(value)
  if (isAlone && type === 'env') return envQuoted(value, where)
  if (isAlone)
    return type === 'json' ? JSON.stringify(value) : type === 'toml' ? `"${inToml(value)}"` : yamlQuote(value)
  if (!PLAIN.test(value)) throw unsafe(where, 'needs quotes around the whole')
  return value
}

/** Within text of several lines: as it is, or not at all. What the text is for whoever reads it, nobody knows here. */
function asItIs(value: string, where: Where): string {
  const isHeld = where.type === 'xml' ? !value.includes(']]>') : PLAIN.test(value)
  if (isHeld) return value
  throw unsafe(where, 'stands in text of several lines, and would have to be escaped', WITHOUT_ESCAPES)
}

function envQuoted(value: string, where: Where): string {
  if (!/['\r]/.test(value)) return `'${value}'`
  if (!/["\\$\r]/.test(value)) return `"${value}"`
  throw unsafe(where, 'holds characters that no quotes can hold')
}

const isAloneAt = (template: string, { start, end }: Place): boolean =>
  /[\s=:,[({-]$|^$/.test(template.slice(Math.max(0, start - 1), start)) &&
  /^(?:[\s,\]})]|$)/.test(template.slice(end, end + 1))

interface Around {
  readonly template: string
  readonly type: TemplateType
  readonly isInSpan: (at: number) => boolean
}

function escaped({ template, type, isInSpan }: Around, place: Place, value: string): string {
  if (type === 'text') return value
  const where = { name: place.what, line: place.line, type }
  if (isInSpan(place.start)) return asItIs(value, where)
  if (type === 'xml') return inXml(value)
  if (value.includes('\0')) throw unsafe(where, 'holds a NUL, which has no place')
  const quote = quoteAt(template, place.start, type)
  if (quote === "'") return inSingleQuotes(value, where)
  return quote === '"' ? inDoubleQuotes(value, where) : unquoted(value, where, isAloneAt(template, place))
}

export function filled(
  template: string,
  places: readonly Place[],
  type: TemplateType,
  give: (what: string) => string,
): string {
  const around: Around = { template, type, isInSpan: spansOf(template, type) }
  let text = ''
  let at = 0
  for (const place of places) {
    text += template.slice(at, place.start) + escaped(around, place, give(place.what))
    at = place.end
  }
  return text + template.slice(at)
}
