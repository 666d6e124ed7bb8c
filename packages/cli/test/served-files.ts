import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

// A small console, and whoever serves it: as it was built, or changed.

export type Files = Readonly<Record<string, string>>

export const PAGE = '<!doctype html><script type="importmap">{}</script><script src="/assets/a-1.js"></script>'
export const FILES: Files = {
  'assets/a-1.css': 'body {}',
  'assets/a-1.js': 'export const a = 1',
  'index.html': PAGE,
  'seal.svg': '<svg/>',
}
export const hashOf = (text: string): string => `sha384-${createHash('sha384').update(text).digest('base64')}`

export function manifestOf(files: Files): { readonly build: string; readonly text: string } {
  const hashes = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, hashOf(text)]))
  const lines = Object.entries(hashes).map(([path, hash]) => `${path} ${hash}\n`)
  const build = createHash('sha256').update(lines.join('')).digest('hex')
  return { build, text: JSON.stringify({ build, files: hashes }) }
}

export interface Served {
  /** The page at every address that is no file. */
  readonly further?: string | undefined
  /** What it lists as its files. */
  readonly list?: string | undefined
}

export interface FileServers {
  /** Serves these files as the server does, and says where. */
  serve(files: Files, served?: Served): Promise<string>
  close(): void
}

export function fileServers(): FileServers {
  const servers: Server[] = []
  return {
    serve: async (files, { further = files['index.html'], list = manifestOf(files).text } = {}) => {
      const served: Readonly<Record<string, string | undefined>> = {
        ...files,
        '': files['index.html'],
        'build.json': list,
      }
      const server = createServer((request, response) => {
        const path = (request.url ?? '').slice(1)
        const found = Object.hasOwn(served, path) ? served[path] : undefined
        const isPage = !/\.\w+$/.test(path) && request.headers.accept?.includes('text/html')
        const body = found ?? (isPage ? further : undefined)
        response.writeHead(body === undefined ? 404 : 200).end(body)
      })
      servers.push(server)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    close: () => {
      for (const server of servers) server.close()
    },
  }
}
