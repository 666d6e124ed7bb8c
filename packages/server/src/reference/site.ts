import { posix } from 'node:path'
import type { DocsFiles } from './docs-files.ts'
import type { LinkTarget } from './inline.ts'
import { renderMarkdown, titleOf } from './markdown.ts'
import { type NavGroup, shell } from './shell.ts'

// The pages of /docs: each file as a page and as it was written, a page for each folder, the list for programs that read.

export interface Served {
  readonly type: 'text/html' | 'text/markdown' | 'text/plain' | 'application/schema+json'
  readonly body: string
}

export interface Site {
  /** By the path behind `/docs/`; the index is the empty one. */
  at(path: string): Served | undefined
  /** In the frame that every page has. */
  framed(path: string, title: string, body: string): string
  /** Every path there is. */
  readonly paths: readonly string[]
}

const INDEX = 'README.md'
/** Served, and not by a file. */
const OTHERS = ['api', 'llms.txt']
const OUTSIDE = ['/api/v1/openapi.json']

/** `how-to/self-host.md` → `how-to/self-host`; `decisions/README.md` → `decisions`. */
const pathOf = (file: string): string => file.replace(/\.md$/, '').replace(/(^|\/)README$/, '')
const address = (path: string): string => (path === '' ? '/docs' : `/docs/${path}`)

function foldersOf(files: DocsFiles): Set<string> {
  const above = (name: string): string[] =>
    name.split('/').flatMap((_, i, all) => (i === 0 ? [] : all.slice(0, i).join('/')))
  return new Set([...files.keys()].filter((name) => name.endsWith('.md')).flatMap(above))
}

function linksFrom(files: DocsFiles, folders: ReadonlySet<string>, file: string): LinkTarget {
  const pages = new Set([
    ...[...files.keys()].filter((name) => name.endsWith('.md')).map(pathOf),
    ...folders,
    ...OTHERS,
  ])
  const served = (path: string): boolean => pages.has(path) || files.has(path)
  return (written) => {
    if (/^(?:https?|mailto):/i.test(written) || OUTSIDE.includes(written)) return written
    if (written.startsWith('#')) return written
    const [to = '', anchor] = written.split('#')
    const behind = anchor === undefined ? '' : `#${anchor}`
    if (to === '/docs') return `/docs${behind}`
    if (to.startsWith('/')) return to.startsWith('/docs/') && served(to.slice(6)) ? written : undefined
    const path = posix.normalize(posix.join(posix.dirname(file), to)).replace(/\/$/, '')
    const isThere = path.endsWith('.md') ? files.has(path) : folders.has(path)
    return isThere ? `${address(pathOf(path))}${behind}` : undefined
  }
}

const ENTRY = /^- (?:\[([^\]]+)\]\(([^)]+)\)|([^:`]+): `([^`]+)`)/

/** The lists of the index are the navigation. */
function navigationOf(index: string, link: LinkTarget): NavGroup[] {
  const groups: { title: string; entries: { title: string; href: string }[] }[] = []
  for (const line of index.split('\n')) {
    const heading = /^## (.+)$/.exec(line)
    if (heading) groups.push({ title: heading[1] ?? '', entries: [] })
    const [, title, to, otherTitle, otherTo] = ENTRY.exec(line) ?? []
    const href = link(to ?? otherTo ?? '')
    const words = title ?? otherTitle
    if (words !== undefined && href !== undefined) groups.at(-1)?.entries.push({ title: words, href })
  }
  return groups.filter(({ entries }) => entries.length > 0)
}

function listing(files: DocsFiles, folder: string): string {
  const inside = [...files].filter(([name]) => name.endsWith('.md') && posix.dirname(name) === folder)
  const lines = inside.map(([name, read]) => `- [${titleOf(read())}](${posix.basename(name)})`)
  return [`# ${folder}`, '', ...lines, ''].join('\n')
}

/** For programs that read: every page that the index names, with what the index says of it (llmstxt.org). */
function llmsText(index: string, link: LinkTarget): string {
  const lines = index.split('\n').flatMap((line) => {
    const [, title, to] = /^- \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? []
    const href = to === undefined ? undefined : link(to)
    if (href !== undefined)
      return [`- [${title}](${href}${to?.endsWith('.md') ? '.md' : ''})${line.slice(line.indexOf(')') + 1)}`]
    const other = /^- ([^:`]+): `([^`]+)`(.*)$/.exec(line)
    const place = other && link(other[2] ?? '')
    if (other && place) return [`- [${other[1]}](${place})${(other[3] ?? '').replace(/^, /, ': ')}`]
    return line.startsWith('- ') ? [] : [line]
  })
  return lines.join('\n').replace(/`(\/(?:docs|api)[^`]*)`/g, '$1')
}

export function makeSite(files: DocsFiles): Site {
  const folders = foldersOf(files)
  const index = files.get(INDEX)?.() ?? '# Documentation\n'
  const fromIndex = linksFrom(files, folders, INDEX)
  const navigation = navigationOf(index, fromIndex)
  const framed = (path: string, title: string, body: string, source?: string): string =>
    shell({ title, body, navigation, here: address(path), ...(source !== undefined && { source }) })
  const page = (path: string, file: string, text: string, isReal = true): Served => {
    const body = renderMarkdown(text, linksFrom(files, folders, file))
    return { type: 'text/html', body: framed(path, titleOf(text), body, isReal ? `/docs/${file}` : undefined) }
  }
  const at = (path: string): Served | undefined => {
    if (path === 'llms.txt') return { type: 'text/plain', body: llmsText(index, fromIndex) }
    const raw = files.get(path)
    if (raw) return { type: path.endsWith('.json') ? 'application/schema+json' : 'text/markdown', body: raw() }
    for (const file of [`${path}.md`, posix.join(path, INDEX)]) {
      const read = files.get(file)
      if (read && pathOf(file) === path) return page(path, file, read())
    }
    if (!folders.has(path)) return undefined
    return page(path, `${path}/${INDEX}`, listing(files, path), false)
  }
  const paths = [...new Set(['', ...[...files.keys()].flatMap((name) => [name, pathOf(name)]), ...folders, 'llms.txt'])]
  return { at, framed, paths }
}
