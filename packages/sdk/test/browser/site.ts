import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserBundle } from '../../scripts/bundle.ts'

// A site as somebody would run it: pages and scripts of its own, and the API of a real server under the same origin.

/** Scripts of this origin only: none in the page, none from text, no WebAssembly. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
].join('; ')

export interface Site {
  readonly origin: string
  /** Scripts that were loaded, in order. */
  readonly loaded: string[]
  /** While true, the API cannot be reached. */
  isAway: boolean
  /** Answers in place of the server, for what it returns something for. */
  instead?: ((asked: string) => unknown) | undefined
  /** Sees what the server answered. */
  seen?: ((asked: string, body: string) => void) | undefined
  close(): Promise<void>
}

/** `scripts` by folder; a page for each, at `/<folder>/`. */
export async function startSite(api: string, scripts: Readonly<Record<string, BrowserBundle>>): Promise<Site> {
  const loaded: string[] = []
  const server = createServer((asked, answer) => {
    const path = new URL(asked.url ?? '/', 'http://site').pathname
    if (path.startsWith('/api/')) return void forward(site, api, asked, answer)
    const [, folder = '', name = ''] = path.split('/')
    const bundle = scripts[folder]
    const file = bundle?.files.find((one) => one.name === name)
    if (file) {
      loaded.push(`${folder}/${name}`)
      return void answer.writeHead(200, { 'content-type': 'text/javascript' }).end(file.code)
    }
    if (!bundle || name !== '') return void answer.writeHead(404).end()
    const page = `<!doctype html><title>page</title><script type="module" src="/${folder}/${bundle.entry}"></script>`
    answer.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': POLICY }).end(page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const site: Site = {
    origin: `http://127.0.0.1:${port}`,
    loaded,
    isAway: false,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return site
}

function forward(site: Site, api: string, asked: IncomingMessage, answer: ServerResponse): void {
  if (site.isAway) return void asked.socket.destroy()
  const name = `${asked.method} ${asked.url?.replace(/^\/api\/v1\/[a-z]+/, '')}`
  const invented = site.instead?.(name)
  if (invented !== undefined)
    return void answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(invented))
  const { method, headers } = asked
  const onward = request(`${api}${asked.url}`, { method: method ?? 'GET', headers }, (from) => {
    answer.writeHead(from.statusCode ?? 502, from.headers)
    const parts: Buffer[] = []
    from.on('data', (part: Buffer) => parts.push(part))
    from.on('end', () => site.seen?.(name, Buffer.concat(parts).toString()))
    from.pipe(answer)
  })
  onward.on('error', () => answer.destroy())
  answer.on('close', () => onward.destroy())
  asked.pipe(onward)
}
