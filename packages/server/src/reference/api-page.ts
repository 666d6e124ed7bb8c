import { API_PREFIX, describeAccess, type ErrorCode, errorsOf, type Route, type Routes } from '@strongroom/contract'
import { escapeHtml } from './html.ts'

// The reference at /docs/api, written from the contract.

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
  return `<h1>API reference</h1><p>Machine-readable: <a href="/api/v1/openapi.json">OpenAPI 3.1</a>. Every refusal: <a href="/docs/errors">error index</a>.</p><ul class="index">${index.join('')}</ul>${sections.join('')}`
}
