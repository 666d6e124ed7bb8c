import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { api } from '@strongroom/contract'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { answerErrors } from '../http/answer-errors.ts'
import { makeLog } from '../telemetry/log.ts'
import { docsFolders } from './docs-files.ts'
import { anchorsOf } from './markdown.ts'
import { mountReference } from './routes.ts'
import { makeSite } from './site.ts'

// The documentation as a server shows it, with what the command line wrote of itself. Catches, each seen red: a link or an anchor that leads
// nowhere, a page that the index does not name, a page without its Markdown, a script or a looser policy, a file that is not documentation
// served, an error of the API without its entry, a route that an old link to the one large page finds no more.

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const DOCS = join(root, 'docs')

let written: string
let app: FastifyInstance
let bare: FastifyInstance

function serve(folders: readonly string[]): FastifyInstance {
  const made = Fastify({ exposeHeadRoutes: false })
  made.setErrorHandler(answerErrors(makeLog(readConfig({ STRONGROOM_LOG_LEVEL: 'silent' }, []))))
  mountReference(made, '0.1.0', () => folders)
  return made
}

beforeAll(() => {
  written = mkdtempSync(join(tmpdir(), 'sr-reference-'))
  // As a program, because this package does not know that one.
  execFileSync(process.execPath, [join(root, 'packages/cli/scripts/write-docs.ts'), written])
  app = serve([DOCS, written])
  bare = serve([DOCS])
})
afterAll(async () => {
  await app.close()
  await bare.close()
  rmSync(written, { recursive: true, force: true })
})

const get = async (path: string, from = app) => {
  const { statusCode, headers, body } = await from.inject({ url: path, headers: { host: '127.0.0.1:8420' } })
  return { status: statusCode, headers, body, type: String(headers['content-type']) }
}

const linksOf = (html: string): string[] =>
  [...html.matchAll(/<(?:a|link)[^>]* href="([^"]*)"/g)].map(([, to = '']) => to.replaceAll('&#38;', '&'))

/** Every page that can be reached from the index, by its address. */
async function crawl(from: FastifyInstance): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const waiting = ['/docs']
  for (const path of waiting) {
    if (found.has(path)) continue
    const { status, body, type } = await get(path, from)
    expect(status, path).toBe(200)
    found.set(path, body)
    if (!type.startsWith('text/html')) continue
    const inside = linksOf(body).filter((to) => to.startsWith('/'))
    waiting.push(...inside.map((to) => to.split('#')[0] ?? ''))
  }
  return found
}

async function brokenAnchors(pages: ReadonlyMap<string, string>): Promise<string[]> {
  return [...pages].flatMap(([path, body]) =>
    linksOf(body)
      .filter((to) => to.includes('#') && !to.startsWith('http'))
      .filter((to) => {
        const [page = '', anchor = ''] = to.split('#')
        return !anchorsOf(pages.get(page === '' ? path : page) ?? '').includes(anchor)
      })
      .map((to) => `${path} -> ${to}`),
  )
}

it('has every route in the index under the anchor it always had, and whole on the page of its noun', async () => {
  const index = await get('/docs/api')
  const ids = anchorsOf(index.body)
  expect(index.body.length).toBeLessThan(200_000)
  for (const [group, routes] of Object.entries(api)) {
    const page = await get(`/docs/api/${group}`)
    expect(page.body.length, group).toBeLessThan(500_000)
    for (const name of Object.keys(routes)) {
      expect(ids).toContain(`${group}.${name}`)
      expect(anchorsOf(page.body)).toContain(`${group}.${name}`)
      expect(linksOf(index.body)).toContain(`/docs/api/${group}#${group}.${name}`)
    }
  }
})

it('leads nowhere by no link: with the pages of the command line, and without them', async () => {
  const whole = await crawl(app)
  expect(await brokenAnchors(whole)).toEqual([])
  expect(whole.has('/docs/cli/vault-list')).toBe(true)
  expect(whole.has('/docs/api')).toBe(true)
  const alone = await crawl(bare)
  expect(await brokenAnchors(alone)).toEqual([])
  expect([...alone.keys()].filter((path) => path.startsWith('/docs/cli'))).toEqual([])
})

it('has every page of the repository within reach of the index, each also as it was written', async () => {
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const reached = await crawl(app)
  for (const name of files) {
    const raw = await get(`/docs/${name}`)
    expect(raw.body).toBe(readFileSync(join(DOCS, name), 'utf8'))
    expect(raw.type).toBe('text/markdown; charset=utf-8')
    const address = `/docs/${name.replace(/\.md$/, '')}`.replace(/\/README$/, '')
    expect(reached.has(address), `the index does not lead to ${name}`).toBe(true)
  }
  // Besides the decisions, the index names every page itself.
  const index = readFileSync(join(DOCS, 'README.md'), 'utf8')
  const named = files.filter((name) => name.includes('/') && !name.startsWith('decisions/'))
  expect(named.filter((name) => !index.includes(`](${name})`))).toEqual([])
})

it('lists for programs what the index lists, as addresses of Markdown', async () => {
  const { body, type } = await get('/docs/llms.txt')
  expect(type).toBe('text/plain; charset=utf-8')
  const addresses = [...body.matchAll(/\]\(([^)]+)\)/g)].map(([, to = '']) => to)
  expect(addresses).toContain('/docs/tutorials/first-secret.md')
  expect(addresses).toContain('/docs/cli')
  for (const address of addresses) expect((await get(address)).status, address).toBe(200)
})

it('sends no script, allows none, and asks nothing of others', async () => {
  for (const [path, body] of await crawl(app)) {
    const { headers, type } = await get(path)
    if (!type.startsWith('text/html')) continue
    expect(headers['content-security-policy'], path).toBe(
      "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    )
    expect(body, path).not.toMatch(/<(?:script|style|iframe|img|object|form|base)\b| on[a-z]+="| style="/i)
    expect(body.match(/<link [^>]*>/g), path).toEqual(['<link rel="stylesheet" href="/docs/style.css">'])
  }
})

it('has an entry for every error of the API and of the command line, under the address that refusals name', async () => {
  for (const from of [app, bare]) {
    const ids = anchorsOf((await get('/docs/errors', from)).body)
    for (const code of ['validation_failed', 'route_not_found', 'recovery_required']) expect(ids).toContain(code)
  }
  const ids = anchorsOf((await get('/docs/errors')).body)
  for (const code of ['not_signed_in', 'plaintext_refused_for_agent', 'log_rollback']) expect(ids).toContain(code)
})

it('has the JSON Schema of every command, which says where it is', async () => {
  const names = readdirSync(join(written, 'schemas/cli'))
  expect(names.length).toBeGreaterThan(50)
  for (const name of names) {
    const address = `/docs/schemas/cli/${name}`
    const { body, type } = await get(address)
    expect(type).toBe('application/schema+json; charset=utf-8')
    expect(JSON.parse(body)).toMatchObject({ $id: address })
  }
})

it('serves the files it found and nothing else', async () => {
  const paths = [
    '',
    '../package.json',
    '%2e%2e/package.json',
    '..%2fpackage.json',
    'README',
    'how-to/',
    'cli/nothing',
    'api/nothing',
    'api/constructor',
    '__proto__',
    'constructor',
  ]
  for (const path of paths) {
    const { status, body } = await get(`/docs/${path}`)
    expect(status, path).toBe(404)
    expect(body, path).not.toMatch(/workspaces|root:/)
  }
  expect(JSON.parse((await get('/docs/cli/nothing')).body)).toMatchObject({ error: { code: 'route_not_found' } })
})

it('links to pages, to the web and nowhere else', () => {
  const to = (written: string) => makeSite(new Map([['README.md', () => `[x](${written})`]])).at('')?.body ?? ''
  const evil = [
    'javascript:alert`1`',
    'JavaScript:x',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//x.test/',
    '/metrics',
    '../x.md',
  ]
  for (const written of evil) expect(to(written), written).toContain('<p>x</p>')
  for (const written of ['https://x.test/', '#here', 'README.md'])
    expect(to(written), written).toMatch(/<p><a href="[^"]+">x</)
})

it('writes the address of this server into its examples, and nothing that a header brings', async () => {
  const at = async (host: string) => (await app.inject({ url: '/docs/api/vaults', headers: { host } })).body
  expect(await at('localhost:9000')).toContain('curl http://localhost:9000/api/v1/')
  expect(await at('vault.example.com')).toContain('curl https://vault.example.com/api/v1/')
  expect(await at('"><script>')).not.toContain('"><script>')
})

it('finds its pages in the repository by itself', () => {
  expect(docsFolders()[0]).toBe(DOCS)
})
