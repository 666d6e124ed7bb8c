import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

// The built console as files. They are named here before anything is asked for; nothing else is ever opened.

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
}

export interface ConsoleFile {
  readonly type: string
  readonly bytes: Buffer
  /** Absent where it would not be smaller. */
  readonly gzipped: Buffer | undefined
}

export interface ConsoleFiles {
  /** `index.html`, `assets/…`. */
  at(path: string): ConsoleFile | undefined
  /** The hash of the one script that is written into the page: the hashes of all others. */
  readonly mapHash: string
}

/** Published, it lies in the package; in the repository the set-up builds it. */
export function consoleFolder(): string {
  const path = import.meta.url.endsWith('.ts') ? '../../../../.setup/console' : '../../console'
  return fileURLToPath(new URL(path, import.meta.url))
}

function readFile(path: string): ConsoleFile {
  const type = TYPES[extname(path)] as string
  const bytes = readFileSync(path)
  const gzipped = type.startsWith('font/') ? undefined : gzipSync(bytes, { level: 9 })
  return { type, bytes, gzipped }
}

const isBuilt = (folder: string): boolean => existsSync(join(folder, 'index.html'))

/** Where the console is, or how it comes there, in words for whoever starts the server. */
export const describeConsole = (folder: string, url: string): string =>
  isBuilt(folder) ? url : 'none was built: node packages/console/scripts/build.ts .setup/console, and start again'

/** Undefined where no console was built: the server then serves its API and its documentation only. */
export function findConsole(folder: string): ConsoleFiles | undefined {
  if (!isBuilt(folder)) return undefined
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  const known = new Set(names.filter((name) => extname(name) in TYPES))
  const read = new Map<string, ConsoleFile>()
  const at = (path: string): ConsoleFile | undefined => {
    if (!known.has(path)) return undefined
    const file = read.get(path) ?? readFile(join(folder, path))
    read.set(path, file)
    return file
  }
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const [, map = ''] = /<script type="importmap">(.*?)<\/script>/s.exec(page) ?? []
  return { at, mapHash: `sha256-${createHash('sha256').update(map).digest('base64')}` }
}
