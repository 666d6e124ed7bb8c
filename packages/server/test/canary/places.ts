import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'

// Where a secret could have been left: in files, in tables, in the memory of a process.

export interface Finding {
  readonly place: string
  readonly secret: string
}

/** By name, and the bytes it would be found as. */
export type Wanted = ReadonlyMap<string, readonly Buffer[]>

export function searchBytes(place: string, bytes: Buffer, wanted: Wanted): Finding[] {
  return [...wanted].flatMap(([secret, forms]) =>
    forms.some((form) => bytes.includes(form)) ? [{ place, secret }] : [],
  )
}

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Everything on disk: tables and indexes as they lie there, the write-ahead log, logs. */
export function searchFolder(folder: string, wanted: Wanted): { readonly files: number; readonly found: Finding[] } {
  const files = filesUnder(folder).filter((file) => statSync(file).size > 0)
  const found = files.flatMap((file) => searchBytes(file.slice(folder.length + 1), readFileSync(file), wanted))
  return { files: files.length, found }
}

/** As a dump would have it: what lies compressed on disk is text here. */
export async function searchTables(
  admin: pg.Client,
  wanted: Wanted,
): Promise<{ readonly tables: number; readonly found: Finding[] }> {
  const { rows } = await admin.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'strongroom' order by 1`,
  )
  const found: Finding[] = []
  for (const { name } of rows) {
    const { rows: texts } = await admin.query<{ text: string | null }>(
      `select string_agg(t::text, E'\\n') as text from ${name} t`,
    )
    found.push(...searchBytes(`table ${name}`, Buffer.from(texts[0]?.text ?? ''), wanted))
  }
  return { tables: rows.length, found }
}

const MOST_BYTES = 64 * 1_048_576

interface Region {
  readonly start: number
  readonly end: number
}

/** What the process has written into or could have: its heap, its stacks, its buffers, and what it has given back but not wiped. */
function regionsOf(pid: number): Region[] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, start = '', end = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
      return start === '' ? [] : [{ start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) }]
    })
}

const PAGE = 4096
const EMPTY = Buffer.alloc(PAGE)

/** Runs of pages that somebody has written into: most of what is reserved is not. */
function* written(piece: Buffer): Generator<Buffer> {
  let start = -1
  for (let at = 0; at < piece.length; at += PAGE) {
    const page = piece.subarray(at, at + PAGE)
    const isEmpty = page.equals(page.length === PAGE ? EMPTY : EMPTY.subarray(0, page.length))
    if (!isEmpty && start < 0) start = at
    if (!isEmpty || start < 0) continue
    yield piece.subarray(start, at)
    start = -1
  }
  if (start >= 0) yield piece.subarray(start)
}

/** Read in pieces that overlap by the longest form. */
function searchRegion(memory: number, { start, end }: Region, wanted: Wanted): { bytes: number; found: Finding[] } {
  const overlap = Math.max(...[...wanted.values()].flat().map(({ length }) => length))
  const found: Finding[] = []
  let bytes = 0
  for (let at = start; at < end; at += MOST_BYTES) {
    const piece = Buffer.alloc(Math.min(MOST_BYTES + overlap, end - at))
    try {
      readSync(memory, piece, 0, piece.length, at)
    } catch {
      // Reserved and never written: there is nothing to read.
      continue
    }
    for (const run of written(piece)) {
      bytes += run.length
      found.push(...searchBytes('memory', run, wanted))
    }
  }
  return { bytes, found }
}

/** All of the memory of a process that we have started. Linux only. */
export function searchMemory(
  pid: number,
  wanted: Wanted,
): { readonly bytes: number; readonly found: readonly Finding[] } {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  try {
    const results = regionsOf(pid).map((region) => searchRegion(memory, region, wanted))
    const found = new Map(results.flatMap((one) => one.found).map((finding) => [finding.secret, finding]))
    return { bytes: results.reduce((sum, { bytes }) => sum + bytes, 0), found: [...found.values()] }
  } finally {
    closeSync(memory)
  }
}
