import {
  API_PREFIX,
  describeAccess,
  ERRORS,
  type ErrorCode,
  errorsOf,
  type Route,
  type Routes,
} from '@strongroom/contract'

// The reference at /docs, written from the contract on the server: plain pages without a script, under the strictest policy.

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)

const STYLE = `
:root{color-scheme:light dark;--ink:#1a1d21;--quiet:#5b6470;--paper:#fff;--edge:#d9dee4;--tint:#f4f6f8;--link:#0b5cad}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--quiet:#9aa4b0;--paper:#14171a;--edge:#2c333a;--tint:#1b2025;--link:#7db8f0}}
body{margin:0 auto;max-width:62rem;padding:2rem 1.25rem;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
a{color:var(--link)}h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem;border-bottom:1px solid var(--edge);padding-bottom:.3rem}
h3{font-size:1rem;margin:1.8rem 0 .3rem}code,pre{font:13.5px/1.5 ui-monospace,monospace}pre{background:var(--tint);border:1px solid var(--edge);padding:.8rem;overflow:auto;border-radius:4px}
.method{display:inline-block;min-width:4.2em;font-weight:600}.quiet{color:var(--quiet)}table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--edge)}
nav ul{columns:2;list-style:none;padding:0}@media (max-width:40rem){nav ul{columns:1}}`

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><link rel="stylesheet" href="/docs/style.css"></head><body>${body}</body></html>`

export const styleSheet = (): string => STYLE

const anchor = (group: string, name: string): string => `${group}.${name}`

function exampleOf(route: Route): string {
  const url = `http://127.0.0.1:8420${API_PREFIX[route.api]}${route.path}`
  const credential =
    {
      public: '',
      setup: ' \\\n  -H "X-Setup-Token: $SETUP_TOKEN"',
      user: ' \\\n  -H "Authorization: Bearer $ACCESS_TOKEN"',
    }[route.access.kind as string] ?? ' \\\n  -H "X-API-Key: $STRONGROOM_API_KEY"'
  const body = route.body ? ` \\\n  -H 'Content-Type: application/json' -d @body.json` : ''
  return `curl${route.method === 'GET' ? '' : ` -X ${route.method}`} ${url}${credential}${body}`
}

const shape = (title: string, schema: unknown): string =>
  schema === undefined
    ? ''
    : `<details><summary>${title}</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`

const errorLink = (code: ErrorCode): string => `<a href="/docs/errors#${code}"><code>${code}</code></a>`

function routeSection(group: string, name: string, route: Route): string {
  return `<h3 id="${anchor(group, name)}"><code><span class="method">${route.method}</span> ${escapeHtml(API_PREFIX[route.api] + route.path)}</code></h3>
<p>${escapeHtml(route.summary)}. <span class="quiet">${escapeHtml(describeAccess(route.access))}</span></p>
<pre>${escapeHtml(exampleOf(route))}</pre>${shape('Path', route.params)}${shape('Query', route.query)}${shape('Body', route.body)}${shape(`Answer ${route.status ?? 200}`, route.response)}
<p class="quiet">Refusals: ${errorsOf(route).map(errorLink).join(', ')}</p>`
}

export function referencePage(api: Readonly<Record<string, Routes>>): string {
  const groups = Object.entries(api)
  const index = groups.flatMap(([group, routes]) =>
    Object.entries(routes).map(
      ([name, route]) =>
        `<li><a href="#${anchor(group, name)}"><code>${route.method} ${escapeHtml(route.path)}</code></a></li>`,
    ),
  )
  const sections = groups.map(
    ([group, routes]) =>
      `<h2>${escapeHtml(group)}</h2>${Object.entries(routes)
        .map(([name, route]) => routeSection(group, name, route))
        .join('')}`,
  )
  return page(
    'Strongroom API',
    `<h1>Strongroom API</h1><p>Machine-readable: <a href="/api/v1/openapi.json">OpenAPI 3.1</a>. Every refusal: <a href="/docs/errors">error index</a>.</p><nav><ul>${index.join('')}</ul></nav>${sections.join('')}`,
  )
}

export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, message, hint }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${escapeHtml(message)}<br><span class="quiet">${escapeHtml(hint)}</span></td></tr>`,
  )
  return page(
    'Strongroom errors',
    `<h1>Error index</h1><p>A code never changes its meaning. <a href="/docs">Back to the reference</a></p><table><thead><tr><th>Code</th><th>Status</th><th>Meaning and next step</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  )
}
