// Reads dotenv files as Node's --env-file and the dotenv package do where the two agree: NAME=value, quotes of three kinds that
// may span lines, `export` in front, comments. Nothing is expanded.

export interface DotenvEntry {
  readonly name: string
  readonly value: string
  /** Where it stands, counted from one. */
  readonly line: number
}

/** A line that is no entry. The message holds nothing of the line. */
export class DotenvError extends Error {
  override name = 'DotenvError'
  readonly code = 'dotenv_invalid'
  readonly hint = 'Repair that line.'
  readonly line: number
  readonly problem: string
  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`)
    this.line = line
    this.problem = problem
  }
}

const NAME = /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*/y
const SKIPPED = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y
const UNQUOTED = /[^\n#]*/y
const REST = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y

const expanded = (text: string): string => text.replaceAll('\\n', '\n')

/** Every entry in order, with its line; a line that is none is refused. A name may come twice: who reads decides. */
export function parseDotenv(source: string): readonly DotenvEntry[] {
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const entries: DotenvEntry[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  const lineAt = (index: number): number => text.slice(0, index).split('\n').length
  const refuse = (index: number, problem: string): never => {
    throw new DotenvError(lineAt(index), problem)
  }
  const quoted = (quote: string): string | undefined => {
    const end = text.indexOf(quote, at + 1)
    if (end < 0) return undefined
    const inside = text.slice(at + 1, end)
    at = end + 1
    return quote === '"' ? expanded(inside) : inside
  }
  while (at < text.length) {
    if (take(SKIPPED)) continue
    const start = at
    const [, name] = take(NAME) ?? refuse(at, 'this is not NAME=value')
    const quote = text[at]
    let value: string | undefined
    if (quote === '"' || quote === "'" || quote === '`') {
      value = quoted(quote) ?? refuse(start, 'a quote is not closed')
      if (!take(REST)) refuse(start, 'there is something after the closing quote')
    } else {
      value = (take(UNQUOTED)?.[0] ?? '').trim()
      take(REST)
    }
    entries.push({ name: name as string, value, line: lineAt(start) })
  }
  return entries
}
