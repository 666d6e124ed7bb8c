import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerErrors } from '../http/answer-errors.ts'
import { describeConsole, findConsole } from './files.ts'
import { mountConsole } from './routes.ts'

// How the built console is served. Seen red: the policy without the hash of the map, WebAssembly allowed to every script, a page in
// place of an unknown API address, a network for the worker that keeps keys, files of the folder that were not built (`../`), the
// page kept for a year.

const MAP = '{"integrity":{"/assets/a-1.js":"sha384-x"}}'
const folder = mkdtempSync(join(tmpdir(), 'sr-console-'))
let app: FastifyInstance
let url: string

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), `<!doctype html><script type="importmap">${MAP}</script>`)
  writeFileSync(join(folder, 'seal.svg'), '<svg/>')
  writeFileSync(join(folder, 'built-from.txt'), 'secret of the build')
  writeFileSync(join(folder, 'build.json'), '{"build":"b","files":{}}')
  writeFileSync(join(folder, 'assets/a-1.js'), 'export const a = 1\n'.repeat(50))
  writeFileSync(join(folder, 'assets/keys.worker-1.js'), 'postMessage(1)')
  writeFileSync(join(folder, 'assets/keeper.worker-1.js'), 'onconnect = () => 1')
  app = Fastify()
  app.setErrorHandler(answerErrors(app.log as never))
  const served = mountConsole(app, 'https://objects.example', findConsole(folder))
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404)
      return served.page(request, reply) ?? reply.code(404).send({ error: { code: 'route_not_found' } })
  })
  url = await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

const HTML = { accept: 'text/html,application/xhtml+xml' }
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> => fetch(url + path, { headers })

it('answers every address of a page with the page, under a policy without exceptions', async () => {
  for (const path of ['/', '/vaults', '/vaults/v123/keys?filter=x']) {
    const answer = await get(path, HTML)
    expect(answer.status, path).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    const policy = answer.headers.get('content-security-policy') ?? ''
    const hash = createHash('sha256').update(MAP).digest('base64')
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`)
    expect(policy).toContain("connect-src 'self' https://objects.example;")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toMatch(/unsafe|data:|\*/)
    expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin')
  }
})

it('leaves unknown addresses of the API, of programs and of files to whoever refuses them', async () => {
  for (const path of ['/api/v1/machine/nope', '/docs/nope', '/.well-known/nope', '/x.php', '/assets/nope'])
    expect((await get(path, HTML)).status, path).toBe(404)
  expect((await get('/vaults')).status).toBe(404)
  expect((await fetch(`${url}/vaults`, { method: 'POST', headers: HTML })).status).toBe(404)
})

it('serves only what was built, for good, and WebAssembly to its worker alone', async () => {
  const script = await get('/assets/a-1.js', { 'accept-encoding': 'gzip' })
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(script.headers.get('content-encoding')).toBe('gzip')
  expect(script.headers.get('cache-control')).toContain('immutable')
  expect(script.headers.get('content-security-policy') ?? '').not.toContain('wasm')
  expect(await script.text()).toContain('export const a')
  const worker = await get('/assets/keys.worker-1.js')
  expect(worker.headers.get('content-security-policy')).toContain("script-src 'self' 'wasm-unsafe-eval'")
  const keeper = (await get('/assets/keeper.worker-1.js')).headers.get('content-security-policy') ?? ''
  expect(keeper).toContain("default-src 'none'")
  expect(keeper).not.toMatch(/wasm|connect-src/)
  for (const path of ['/built-from.txt', '/assets/..%2fbuilt-from.txt', '/assets/../built-from.txt'])
    expect((await get(path, HTML)).status, path).toBe(404)
})

it('says which build it serves, and never from a cache', async () => {
  const answer = await get('/build.json')
  expect(answer.headers.get('cache-control')).toBe('no-cache')
  expect(await answer.json()).toEqual({ build: 'b', files: {} })
})

it('serves nothing where no console was built', () => {
  expect(findConsole(join(folder, 'assets'))).toBeUndefined()
  expect(describeConsole(folder, 'http://here')).toBe('http://here')
  expect(describeConsole(join(folder, 'assets'), 'http://here')).toContain('node packages/console/scripts/build.ts')
})
