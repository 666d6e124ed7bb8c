import { escapeHtml } from './html.ts'

// The frame of every page: no script, one style sheet, the index beside the text.

export interface NavGroup {
  readonly title: string
  readonly entries: readonly { readonly title: string; readonly href: string }[]
}

export interface Framed {
  readonly title: string
  /** HTML. */
  readonly body: string
  readonly navigation: readonly NavGroup[]
  readonly here: string
  /** Where the page is as it was written. */
  readonly source?: string
}

export const STYLE = `
:root{color-scheme:light dark;--ink:#1a1d21;--quiet:#5b6470;--paper:#fff;--edge:#d9dee4;--tint:#f4f6f8;--link:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--quiet:#9aa4b0;--paper:#14171a;--edge:#2c333a;--tint:#1b2025;--link:#7db8f0}}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,sans-serif}
.frame{display:grid;grid-template-columns:15rem minmax(0,1fr);max-width:76rem;margin:0 auto}
.side{padding:2rem 1rem 2rem 1.25rem;font-size:.92rem;border-right:1px solid var(--edge)}
.side h2{font-size:.8rem;text-transform:uppercase;letter-spacing:.05em;color:var(--quiet);border:0;margin:1.4rem 0 .3rem;padding:0}
.side ul{list-style:none;margin:0;padding:0}.side li{margin:.15rem 0}.side a{text-decoration:none}.side a[aria-current]{font-weight:600;color:var(--ink)}
main{padding:2rem 1.25rem 4rem 2.5rem;max-width:54rem}
a{color:var(--link)}h1{font-size:1.7rem;line-height:1.25;margin-top:0}h2{font-size:1.2rem;margin-top:2.5rem;border-bottom:1px solid var(--edge);padding-bottom:.3rem}
h3{font-size:1rem;margin:1.8rem 0 .3rem}code,pre{font:13.5px/1.5 ui-monospace,monospace}code{overflow-wrap:anywhere}
pre{background:var(--tint);border:1px solid var(--edge);padding:.8rem;overflow:auto;border-radius:4px}pre.text{background:none;color:var(--quiet)}
pre code{overflow-wrap:normal}blockquote{margin:1rem 0;padding:.1rem 1rem;border-left:3px solid var(--edge);color:var(--quiet)}
.method{display:inline-block;min-width:4.2em;font-weight:600}.quiet{color:var(--quiet)}
table{border-collapse:collapse;width:100%;display:block;overflow-x:auto}td,th{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--edge)}
.index{columns:2;list-style:none;padding:0}.routes{list-style:none;padding:0}.routes li{margin:.5rem 0}:target{background:var(--tint)}footer{margin-top:4rem;font-size:.85rem}
@media (max-width:52rem){.frame{display:flex;flex-direction:column-reverse}.side{border-right:0;border-top:1px solid var(--edge);padding:1rem 1.25rem;columns:2}main{padding:1.5rem 1.25rem}.index{columns:1}}`

function sideOf({ navigation, here }: Framed): string {
  const entry = ({ title, href }: NavGroup['entries'][number]): string =>
    `<li><a href="${escapeHtml(href)}"${href === here ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`
  const groups = navigation.map(
    ({ title, entries }) => `<h2>${escapeHtml(title)}</h2><ul>${entries.map(entry).join('')}</ul>`,
  )
  return `<nav class="side" aria-label="Documentation"><a href="/docs"><strong>Strongroom</strong></a>${groups.join('')}</nav>`
}

const head = (title: string): string =>
  `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><link rel="stylesheet" href="/docs/style.css"></head>`

export function shell(page: Framed): string {
  const { title, body, source } = page
  const footer =
    source === undefined
      ? ''
      : `<footer class="quiet"><a href="${escapeHtml(source)}">This page as Markdown</a></footer>`
  const name = title === 'Strongroom' ? title : `${title} · Strongroom`
  return `<!doctype html><html lang="en">${head(name)}<body><div class="frame">${sideOf(page)}<main>${body}${footer}</main></div></body></html>`
}
