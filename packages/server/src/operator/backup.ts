import { sql } from 'kysely'
import { inOrg } from '../context.ts'
import type { Db } from '../db/database.ts'
import type { RootKey } from '../secrets/root-key.ts'
import { type ArchiveLock, type ArchiveWriter, createArchive } from './archive.ts'
import { unwritable } from './archive-place.ts'
import { type LogEnd, logEnd } from './log-root.ts'
import { asOwner, listOrgs, nameOrg, type OperatorDeps, recordOperator } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'
import { describeTables, readRows, type Table } from './tables.ts'

// Everything the database holds, of one moment, as lines: a head, then for each table of each organisation its name and its
// rows, then a tail that says how many there were. The server's own secrets are in it opened, and sealed anew by the restore:
// with a passphrase the archive alone is enough, also when the root key is lost.

export interface Head {
  readonly line: 'head'
  readonly createdAt: string
  readonly migrations: readonly { readonly name: string; readonly digest: string }[]
}
export interface Section {
  readonly line: 'table'
  readonly table: string
  /** null for what belongs to no organisation. */
  readonly org: string | null
}
export interface Tail {
  readonly line: 'tail'
  /** How many rows each section has, in its order. */
  readonly sections: readonly { readonly table: string; readonly org: string | null; readonly rows: number }[]
  readonly logs: Readonly<Record<string, LogEnd>>
  /** Of every line before this one. */
  readonly sha256: string
}
export const ROW = 'r'
export const SECRETS = 'server_secret'

export interface BackupReport {
  readonly file: string
  readonly bytes: number
  readonly orgs: number
  readonly rows: number
  readonly createdAt: string
  /** The last migration: a restore wants the same. */
  readonly schema: string
  /** Where each log ends in it. */
  readonly logs: Tail['logs']
}

/** Locked with the root key unless a passphrase is given. The act itself is recorded first, so the archive knows of it. */
export async function backup(
  deps: OperatorDeps,
  file: string,
  lock: ArchiveLock = deps,
  onRows: (rows: number) => void = () => undefined,
): Promise<BackupReport> {
  const archive = await createArchive(file, lock).catch((error: unknown) => {
    throw unwritable(file, error)
  })
  try {
    await recordEverywhere(deps, 'operator.backup')
    const { head, tail } = await asOwner(deps, 'repeatable read', (db) => writeAll(deps, db, counted(archive, onRows)))
    await archive.write(JSON.stringify(tail))
    const { bytes } = await archive.finish()
    return {
      file,
      bytes,
      orgs: new Set(tail.sections.flatMap(({ org }) => org ?? [])).size,
      rows: tail.sections.reduce((sum, { rows }) => sum + rows, 0),
      createdAt: head.createdAt,
      schema: head.migrations.at(-1)?.name ?? '',
      logs: tail.logs,
    }
  } catch (error) {
    await archive.abandon()
    throw unwritable(file, error)
  }
}

const COUNT_EVERY = 1000

/** Says now and then how many lines were written. */
function counted(archive: ArchiveWriter, onRows: (rows: number) => void): ArchiveWriter {
  let lines = 0
  return {
    ...archive,
    write: async (line) => {
      await archive.write(line)
      lines += 1
      if (lines % COUNT_EVERY === 0) onRows(lines)
    },
  }
}

async function recordEverywhere(deps: OperatorDeps, action: string): Promise<void> {
  for (const orgId of await deps.database.kysely.transaction().execute(listOrgs))
    await inOrg(deps, orgId, (db) => recordOperator(deps, db, orgId, { action }))
}

export const appliedMigrations = async (db: Db): Promise<Head['migrations']> =>
  (await sql<{ name: string; digest: string }>`select name, digest from migration order by name`.execute(db)).rows

async function writeAll(deps: OperatorDeps, db: Db, archive: ArchiveWriter): Promise<{ head: Head; tail: Tail }> {
  const head: Head = {
    line: 'head',
    createdAt: deps.now().toISOString(),
    migrations: await appliedMigrations(db),
  }
  await archive.write(JSON.stringify(head))
  const tables = await describeTables(db)
  const sections: Tail['sections'][number][] = []
  const logs: Record<string, LogEnd> = {}
  const write = async (org: string | null, table: Table): Promise<void> => {
    await archive.write(JSON.stringify({ line: 'table', table: table.name, org } satisfies Section))
    sections.push({ table: table.name, org, rows: await writeRows(deps.rootKey, db, archive, table) })
  }
  for (const table of tables.filter(({ hasOrg }) => !hasOrg)) await write(null, table)
  for (const orgId of await listOrgs(db)) {
    await nameOrg(db, orgId)
    for (const table of tables.filter(({ hasOrg }) => hasOrg)) await write(orgId, table)
    const end = await logEnd(db, orgId)
    if (end) logs[orgId] = end
  }
  return { head, tail: { line: 'tail', sections, logs, sha256: archive.digest() } }
}

async function writeRows(rootKey: RootKey, db: Db, archive: ArchiveWriter, table: Table): Promise<number> {
  let rows = 0
  for await (const row of readRows(db, table)) {
    await archive.write(
      ROW + (table.name === SECRETS ? changeSecret(row, (name, sealed) => rootKey.open(name, sealed)) : row),
    )
    rows++
  }
  return rows
}

/** The row of a secret with its bytes in another form: opened on the way out, sealed on the way in. */
export function changeSecret(row: string, change: (name: string, bytes: Buffer) => Buffer | undefined): string {
  const secret = JSON.parse(row) as { name: string; sealed: string }
  const bytes = change(secret.name, Buffer.from(secret.sealed.slice(2), 'hex'))
  if (!bytes)
    throw new OperatorError(
      'root_key_wrong',
      `the root key does not open the secret ${secret.name}`,
      'give the root key the server last ran with',
    )
  return JSON.stringify({ ...secret, sealed: `\\x${bytes.toString('hex')}` })
}
