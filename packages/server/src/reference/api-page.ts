import { API_PREFIX, describeAccess, type ErrorCode, errorsOf, type Route, type Routes } from '@strongroom/contract'
import { escapeHtml } from './html.ts'

// The reference, written from the contract: an index at /docs/api, and a page for each noun below it. As one page it is more than two megabytes.

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
  return `<h2 id="${anchor(group, name)}"><code><span class="method">${route.method}</span> ${escapeHtml(API_PREFIX[route.api] + route.path)}</code></h2>
<p><code>${anchor(group, name)}</code> ${escapeHtml(route.summary)}. <span class="quiet">${escapeHtml(describeAccess(route.access))}</span></p>
<pre>${escapeHtml(exampleOf(route))}</pre>${shape('Path', route.params)}${shape('Query', route.query)}${shape('Body', route.body)}${shape(`Answer ${route.status ?? 200}`, route.response)}
<p class="quiet">Refusals: ${errorsOf(route).map(errorLink).join(', ')}</p>`
}

/** Every route in a line, so that a browser finds it by its path, its name or its words. Each has the anchor that it has on its own page. */
export function referenceIndex(api: Readonly<Record<string, Routes>>): string {
  const line = (group: string, name: string, { method, path, summary }: Route): string =>
    `<li id="${anchor(group, name)}"><a href="/docs/api/${group}#${anchor(group, name)}"><code><span class="method">${method}</span> ${escapeHtml(path)}</code></a><br><code>${anchor(group, name)}</code> <span class="quiet">${escapeHtml(summary)}</span></li>`
  const groups = Object.entries(api).map(
    ([group, routes]) =>
      `<h2 id="${group}"><a href="/docs/api/${group}">${group}</a></h2><ul class="routes">${Object.entries(routes)
        .map(([name, route]) => line(group, name, route))
        .join('')}</ul>`,
  )
  return `<h1>API reference</h1><p>A page for each noun. Machine-readable: <a href="/api/v1/openapi.json">OpenAPI 3.1</a>. Every refusal: <a href="/docs/errors">error index</a>.</p>${groups.join('')}`
}

/** The routes of one noun, whole. */
export function referencePage(group: string, routes: Routes): string {
  const index = Object.entries(routes).map(
    ([name, { method, path }]) =>
      `<li><a href="#${anchor(group, name)}"><code>${method} ${escapeHtml(path)}</code></a></li>`,
  )
  const sections = Object.entries(routes).map(([name, route]) => routeSection(group, name, route))
  return `<p><a href="/docs/api">API reference</a></p><h1>${group}</h1><ul class="index">${index.join('')}</ul>${sections.join('')}`
}
