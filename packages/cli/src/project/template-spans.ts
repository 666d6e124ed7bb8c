import type { TemplateType } from './template.ts'

// Text of several lines within a template, in which a line does not tell what holds there: a string that goes on, a block of YAML, a
// here-document, CDATA. Nothing is parsed: what is taken for such a text and is none has only plain values put into it.

type Span = readonly [start: number, end: number]

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** Of a string from `start` to `end`: where it goes on, with the rest of the line on which it ends. */
function goesOn(text: string, start: number, end: number): readonly Span[] {
  const first = endOfLine(text, start)
  return first < end ? [[first, endOfLine(text, end)]] : []
}

/** The rest of a string and what closes it, by what opens it. */
const STRINGS: Readonly<Record<string, RegExp>> = {
  '"': /[^"\\]*(?:\\[\s\S][^"\\]*)*"/y,
  "'": /[^']*(?:''[^']*)*'/y,
  '`': /[^`]*`/y,
  "$'": /[^'\\]*(?:\\[\s\S][^'\\]*)*'/y,
  '"""': /[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""/y,
  "'''": /[^']*(?:'(?!'')[^']*)*'''/y,
}

/** What nothing closes is no string. */
function endOfString(text: string, opening: string, from: number): number {
  const rest = STRINGS[opening]
  if (!rest) return from
  rest.lastIndex = from
  return rest.test(text) ? rest.lastIndex : from
}

/** Of what `token` finds one after the other, comments among them: the strings, whose opening is its group. */
function strings(text: string, token: RegExp): readonly Span[] {
  const spans: Span[] = []
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [, opening] = match
    if (opening === undefined) continue
    const start = token.lastIndex
    token.lastIndex = endOfString(text, opening, start)
    spans.push(...goesOn(text, start, token.lastIndex))
  }
  return spans
}

/** The same text with nothing in these places. */
const blanked = (text: string, spans: readonly Span[]): string =>
  spans.reduceRight((rest, [start, end]) => rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end), text)

const inToml = (text: string): readonly Span[] => strings(text, /#.*|("""|'''|"|')/g)

const inEnv = (text: string): readonly Span[] =>
  strings(text, /^[ \t]*#.*|^[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*=[ \t]*(["'`])/gm)

const inXml = (text: string): readonly Span[] =>
  [...text.matchAll(/<!\[CDATA\[[\s\S]*?\]\]>/g)].map(({ index, 0: whole }) => [index, index + whole.length])

const HEADER = /^( *)((?:- +)*)([^#]*?:[ \t]+)?(?:[!&]\S*[ \t]+)*[|>][-+\d]*(?:[ \t]+#.*)?$/

/** How far in something stands that has a block of lines; nothing where a line does not begin one. */
function blockOn(line: string): number | undefined {
  const [, blanks = '', dashes = '', key] = HEADER.exec(line.trimEnd()) ?? []
  if (key !== undefined) return blanks.length + dashes.length
  return dashes === '' ? undefined : blanks.length + dashes.trimEnd().length - 1
}

/** The lines under `|` and `>`: those that are further in than what they belong to. */
function blocks(text: string): readonly Span[] {
  const spans: Span[] = []
  let block: number | undefined
  let at = 0
  for (const line of text.split('\n')) {
    const indent = line.search(/\S/)
    if (block !== undefined && (indent < 0 || indent > block)) spans.push([at, at + line.length])
    else block = blockOn(line)
    at += line.length + 1
  }
  return spans
}

/** A quote begins a string only where a value begins: `it's` is none. */
function inYaml(text: string): readonly Span[] {
  const inBlocks = blocks(text)
  const token = /(?:^|[ \t])#.*|(?:^[ \t]*(?:- +)*|[:?,[{-][ \t]+|[,[{])(["'])/gm
  return [...inBlocks, ...strings(blanked(text, inBlocks), token)]
}

interface Awaited {
  readonly word: string
  readonly isIndented: boolean
}

const HERE = /(?<!<)<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_][\w-]*))/g

/** The here-documents that a line of a shell begins; `<<` in arithmetic begins none. */
const awaitedOn = (line: string): readonly Awaited[] =>
  [...line.matchAll(HERE)]
    .filter(({ index }) => !/\(\((?:(?!\)\)).)*$/.test(line.slice(0, index)))
    .map(([, dash, single, double, bare]) => ({ word: single ?? double ?? bare ?? '', isIndented: dash === '-' }))

/** Its body, from `at` on; nothing where no line ends it. */
function bodyOf({ word, isIndented }: Awaited, text: string, at: number): Span | undefined {
  for (let from = at; from < text.length; from = endOfLine(text, from) + 1) {
    const line = text.slice(from, endOfLine(text, from))
    if ((isIndented ? line.replace(/^\t+/, '') : line) === word) return [at, from]
  }
  return undefined
}

function hereDocuments(text: string): readonly Span[] {
  const spans: Span[] = []
  for (let from = 0; from < text.length; ) {
    const end = endOfLine(text, from)
    const line = text.slice(from, end)
    from = end + 1
    for (const awaited of awaitedOn(line)) {
      const body = bodyOf(awaited, text, from)
      if (!body) continue
      spans.push(body)
      from = endOfLine(text, body[1]) + 1
    }
  }
  return spans
}

function inShell(text: string): readonly Span[] {
  const bodies = hereDocuments(text)
  return [...bodies, ...strings(blanked(text, bodies), /\\[\s\S]|(?:^|(?<=[\s;|&()]))#.*|(\$'|'|")/gm)]
}

const none = (): readonly Span[] => []

const SPANS: Readonly<Record<TemplateType, (text: string) => readonly Span[]>> = {
  json: none,
  yaml: inYaml,
  toml: inToml,
  env: inEnv,
  shell: inShell,
  xml: inXml,
  text: none,
}

/** Whether a place is within text of several lines. */
export function spansOf(template: string, type: TemplateType): (at: number) => boolean {
  const spans = SPANS[type](template)
  return (at) => spans.some(([start, end]) => start <= at && at < end)
}
