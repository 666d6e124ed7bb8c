import { expect, it } from 'vitest'
import { renderMarkdown, slugOf, titleOf } from './markdown.ts'

// Markdown → HTML. Catches, each seen red: text, code, a heading, a cell or an address that is not escaped; a link to a script; a comment
// that is shown; a bar in code that ends a cell; a list that swallows the paragraph behind it.

const render = (text: string): string => renderMarkdown(text, (to) => (/^(https?:|#|\/)/.test(to) ? to : undefined))

it('renders what our pages are written in', () => {
  expect(
    render('# One *two* `three`\n\nSome text\nover two lines, **strong** and [linked](https://x.test/?a=1&b=2).'),
  ).toBe(
    '<h1 id="one-two-three">One <em>two</em> <code>three</code></h1>\n' +
      '<p>Some text\nover two lines, <strong>strong</strong> and <a href="https://x.test/?a=1&#38;b=2">linked</a>.</p>',
  )
  expect(render('```sh\na < b && c\n\n# no heading\n```\nafter')).toBe(
    '<pre class="sh"><code>a &#60; b &#38;&#38; c\n\n# no heading</code></pre>\n<p>after</p>',
  )
  expect(render('> said\n> twice')).toBe('<blockquote><p>said\ntwice</p></blockquote>')
})

it('renders lists in lists, with blocks in them, and ends where the text goes on', () => {
  expect(render('- one\n  goes on\n- two\n  1. inner\n  2. other\n\nafter')).toBe(
    '<ul><li>one\ngoes on</li><li>two\n<ol><li>inner</li><li>other</li></ol></li></ul>\n<p>after</p>',
  )
  expect(render('1. one\n\n   ```sh\n   code\n   ```\n\n2. two')).toBe(
    '<ol><li>one\n<pre class="sh"><code>code</code></pre></li><li>two</li></ol>',
  )
})

it('renders tables, with bars in code and behind a backslash', () => {
  expect(render('| a | b |\n|---|---|\n| `x|y` | 1 \\| 2 |\n| | end |\nafter')).toBe(
    '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>' +
      '<tr><td><code>x|y</code></td><td>1 | 2</td></tr><tr><td></td><td>end</td></tr></tbody></table>\n<p>after</p>',
  )
})

it('gives headings the names that links use, each its own', () => {
  expect(render('## A: b (c)\n## A: b (c)\n## log_rollback').match(/id="[^"]*"/g)).toEqual([
    'id="a-b-c"',
    'id="a-b-c-1"',
    'id="log_rollback"',
  ])
  expect(slugOf('9.4 A restored log')).toBe('94-a-restored-log')
  expect(titleOf('<!-- starts: x -->\n# `strongroom` *up*\n')).toBe('strongroom up')
})

it('lets nothing in a page become markup, an attribute or a script', () => {
  const evil = '<script>alert(1)</script><img src=x onerror="a">'
  const places = [
    evil,
    `# ${evil}`,
    `- ${evil}`,
    `| ${evil} |\n|---|\n| ${evil} |`,
    `\`${evil}\``,
    `\`\`\`html\n${evil}\n\`\`\``,
    `\`\`\`"onclick="a\n${evil}\n\`\`\``,
    `**${evil}** *${evil}*`,
    `[${evil}](https://x.test/"onmouseover="a)`,
    `[x](https://x.test/'"><script>)`,
    `> ${evil}`,
    `\\<script>`,
  ]
  for (const text of places) {
    const tags =
      render(text)
        .replace(/&#\d+;/g, '')
        .match(/<\/?([a-z0-9]+)([^>]*)>/g) ?? []
    const known =
      /^<\/?(?:p|h1|ul|li|table|thead|tbody|tr|th|td|code|pre|strong|em|blockquote|a)(?: (?:id|href|class)="[^"<>]*")?>$/
    expect(
      tags.filter((tag) => !known.test(tag)),
      text,
    ).toEqual([])
  }
})

it('links where it is told to, and shows only the words otherwise', () => {
  expect(render('[`x`](nowhere.md) and `/docs/cli`')).toBe(
    '<p><code>x</code> and <a href="/docs/cli"><code>/docs/cli</code></a></p>',
  )
})

it('leaves comments out, of one line and of several, and keeps them in code', () => {
  expect(render('<!-- a -->\ntext <!-- b --> more\n<!-- c\nd = e\n-->\nend')).toBe('<p>text  more\nend</p>')
  expect(render('```html\n<!-- kept -->\n```')).toContain('kept')
})
