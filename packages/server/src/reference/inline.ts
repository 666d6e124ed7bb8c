import { escapeHtml } from './html.ts'

// What stands inside a line of Markdown: code, links, strong and emphasised words. Everything else is text, and escaped.

/** Where a link of the page leads as served; undefined: nowhere, and only its words are shown. */
export type LinkTarget = (written: string) => string | undefined

const CODE = /(`+)(.+?)\1(?!`)/sy
const LINK = /\[((?:[^[\]\\]|\\.|`[^`]*`)*)\]\(([^()\s]+)\)/y
const STRONG = /\*\*(?=\S)(.+?\S|\S)\*\*/sy
const EMPHASIS = /\*(?=[^\s*])((?:[^*]|\*\*[^*]+\*\*)*?[^\s*])\*(?!\*)/y
const ESCAPED = /\\([!-/:-@[-`{-~])/y
const COMMENT = /<!--.*?-->/sy

type Rule = readonly [pattern: RegExp, html: (found: RegExpExecArray, link: LinkTarget) => string]

const anchor = (words: string, target: string | undefined): string =>
  target === undefined ? words : `<a href="${escapeHtml(target)}">${words}</a>`

/** What only a running server has, such as `/docs/cli`, is written as code: there it is a link, elsewhere it is not broken. */
const codeOf = (code: string, link: LinkTarget): string =>
  anchor(`<code>${escapeHtml(code)}</code>`, /^\/(?:docs|api\/v1)[\w./#-]*$/.test(code) ? link(code) : undefined)

const RULES: readonly Rule[] = [
  [ESCAPED, ([, char = '']) => escapeHtml(char)],
  [COMMENT, () => ''],
  [CODE, ([, , code = ''], link) => codeOf(code.replace(/^ (.*\S.*) $/s, '$1'), link)],
  // A link in a link is no link.
  [
    LINK,
    ([, words = '', to = ''], link) =>
      anchor(
        inline(words, () => undefined),
        link(to),
      ),
  ],
  [STRONG, ([, words = ''], link) => `<strong>${inline(words, link)}</strong>`],
  [EMPHASIS, ([, words = ''], link) => `<em>${inline(words, link)}</em>`],
]

/** The first rule that matches here, and how long what it matched is. */
function applied(text: string, at: number, link: LinkTarget): readonly [string, number] | undefined {
  for (const [pattern, html] of RULES) {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) return [html(found, link), found[0].length]
  }
  return undefined
}

export function inline(text: string, link: LinkTarget): string {
  let [html, plain, at] = ['', '', 0]
  while (at < text.length) {
    const found = /[\\`*[<]/.test(text.charAt(at)) ? applied(text, at, link) : undefined
    if (found) {
      html += escapeHtml(plain) + found[0]
      plain = ''
      at += found[1]
    } else {
      plain += text.charAt(at)
      at += 1
    }
  }
  return html + escapeHtml(plain)
}
