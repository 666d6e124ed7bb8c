import { escapeHtml } from './html.ts'
import { inline, type LinkTarget } from './inline.ts'

// The Markdown that our pages are written in, and no more of it: headings, paragraphs, lists, tables, quotes, code, links. HTML in a
// page is shown as text, comments are left out, and a link leads where `link` says or nowhere.

const FENCE = /^ *(`{3,})(\S*)/
const HEADING = /^(#{1,6}) +(.+?) *#*$/
const ITEM = /^( *)([-*]|\d+\.) +(.*)$/
const ROW = /^ *\|(.*)\| *$/
const RULE_ROW = /^ *\|(?: *:?-+:? *\|)+ *$/
const QUOTE = /^> ?(.*)$/
const indentOf = (line: string): number => line.length - line.trimStart().length

/** As GitHub names them, so that links work there too. */
export const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')

interface Reading {
  readonly link: LinkTarget
  /** How often a heading was met. */
  readonly slugs: Map<string, number>
}

/** Some lines, and how many of them were taken. */
type Block = readonly [html: string, lines: number]

function fenced(lines: readonly string[], [, ticks = '', language = '']: RegExpExecArray): Block {
  const end = lines.findIndex((line, i) => i > 0 && line.trim() === ticks)
  const last = end < 0 ? lines.length : end
  const indent = indentOf(lines[0] ?? '')
  const code = lines.slice(1, last).map((line) => line.slice(Math.min(indent, indentOf(line))))
  const kind = /^[a-z]+$/.test(language) ? ` class="${language}"` : ''
  return [`<pre${kind}><code>${escapeHtml(code.join('\n'))}</code></pre>`, Math.min(last + 1, lines.length)]
}

function heading([, marks = '', words = '']: RegExpExecArray, { link, slugs }: Reading): Block {
  const slug = slugOf(words)
  const before = slugs.get(slug) ?? 0
  slugs.set(slug, before + 1)
  const id = before === 0 ? slug : `${slug}-${before}`
  return [`<h${marks.length} id="${escapeHtml(id)}">${inline(words, link)}</h${marks.length}>`, 1]
}

/** A bar in code or behind a backslash does not end a cell. */
const cellsOf = (row: string): string[] =>
  (row.match(/(?:`[^`]*`|\\.|[^|])+|(?<=\|)(?=\|)/g) ?? []).map((cell) => cell.trim().replaceAll('\\|', '|'))

function table(lines: readonly string[], { link }: Reading): Block {
  const end = lines.findIndex((line) => !ROW.test(line))
  const rows = lines.slice(0, end < 0 ? lines.length : end)
  const row = (line: string, tag: string): string => {
    const cells = cellsOf(ROW.exec(line)?.[1] ?? '')
    return `<tr>${cells.map((cell) => `<${tag}>${inline(cell, link)}</${tag}>`).join('')}</tr>`
  }
  const body = rows.slice(2).map((line) => row(line, 'td'))
  return [`<table><thead>${row(rows[0] ?? '', 'th')}</thead><tbody>${body.join('')}</tbody></table>`, rows.length]
}

/** The lines of one item: those that are further in, and blank ones between them. */
function itemEnd(lines: readonly string[], start: number, inner: number): number {
  let end = start + 1
  while (end < lines.length) {
    const line = lines[end] ?? ''
    const next = lines.slice(end).find((l) => l.trim() !== '') ?? ''
    if (line.trim() === '' ? indentOf(next) < inner || next === '' : indentOf(line) < inner) break
    end += 1
  }
  return end
}

function list(lines: readonly string[], first: RegExpExecArray, reading: Reading): Block {
  const [, indent = '', mark = ''] = first
  const isOrdered = /\d/.test(mark)
  const items: string[] = []
  let at = 0
  while (at < lines.length) {
    const found = ITEM.exec(lines[at] ?? '')
    if (!found || found[1] !== indent || /\d/.test(found[2] ?? '') !== isOrdered) break
    const inner = (lines[at] ?? '').length - (found[3] ?? '').length
    // A line that is a little less far in still goes on.
    const end = itemEnd(lines, at, Math.min(inner, indent.length + 2))
    const rest = lines.slice(at + 1, end).map((line) => line.slice(Math.min(inner, indentOf(line))))
    items.push(blocks([found[3] ?? '', ...rest], reading).replace(/^<p>(.*?)<\/p>/s, '$1'))
    at = end
    while ((lines[at] ?? '').trim() === '' && ITEM.exec(lines[at + 1] ?? '')?.[1] === indent) at += 1
  }
  const tag = isOrdered ? 'ol' : 'ul'
  const start = isOrdered && mark !== '1.' ? ` start="${Number.parseInt(mark, 10)}"` : ''
  return [`<${tag}${start}>${items.map((item) => `<li>${item}</li>`).join('')}</${tag}>`, at]
}

function quote(lines: readonly string[], reading: Reading): Block {
  const end = lines.findIndex((line) => !QUOTE.test(line))
  const inside = lines.slice(0, end < 0 ? lines.length : end)
  const text = inside.map((line) => QUOTE.exec(line)?.[1] ?? '')
  return [`<blockquote>${blocks(text, reading)}</blockquote>`, inside.length]
}

const startsBlock = (line: string, next: string): boolean =>
  line.trim() === '' ||
  FENCE.test(line) ||
  HEADING.test(line) ||
  ITEM.test(line) ||
  QUOTE.test(line) ||
  (ROW.test(line) && RULE_ROW.test(next))

function paragraph(lines: readonly string[], { link }: Reading): Block {
  const end = lines.findIndex((line, i) => i > 0 && startsBlock(line, lines[i + 1] ?? ''))
  const own = lines.slice(0, end < 0 ? lines.length : end)
  const html = inline(own.map((line) => line.trim()).join('\n'), link)
  return [html.trim() === '' ? '' : `<p>${html}</p>`, own.length]
}

function block(lines: readonly string[], reading: Reading): Block {
  const [line = '', next = ''] = lines
  if (line.trim() === '') return ['', 1]
  const fence = FENCE.exec(line)
  if (fence) return fenced(lines, fence)
  const title = HEADING.exec(line)
  if (title) return heading(title, reading)
  if (ROW.test(line) && RULE_ROW.test(next)) return table(lines, reading)
  const item = ITEM.exec(line)
  if (item) return list(lines, item, reading)
  return QUOTE.test(line) ? quote(lines, reading) : paragraph(lines, reading)
}

function blocks(lines: readonly string[], reading: Reading): string {
  const found: string[] = []
  for (let at = 0; at < lines.length; ) {
    const [html, taken] = block(lines.slice(at), reading)
    if (html !== '') found.push(html)
    at += taken
  }
  return found.join('\n')
}

/** Comments of several lines, outside of code. */
function withoutComments(lines: readonly string[]): string[] {
  let [fence, isComment] = ['', false]
  return lines.filter((line) => {
    const mark = FENCE.exec(line)?.[1] ?? ''
    if (!isComment && mark !== '' && (fence === '' || line.trim() === fence)) fence = fence === '' ? mark : ''
    if (fence !== '') return true
    if (!isComment && /^<!--/.test(line)) isComment = true
    const isOut = isComment
    if (isComment && line.includes('-->')) isComment = false
    return !isOut
  })
}

export const renderMarkdown = (text: string, link: LinkTarget): string =>
  blocks(withoutComments(text.split('\n')), { link, slugs: new Map() })

/** The words of the first heading. */
export const titleOf = (text: string): string =>
  (/^# +(.+)$/m.exec(text)?.[1] ?? '').replace(/[`*]/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

/** Every name a link can have behind `#`. */
export const anchorsOf = (html: string): string[] => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)
