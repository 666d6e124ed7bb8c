import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { leaveAddressGap } from './address-gap.ts'
import { type ArchiveLock, readArchive } from './archive.ts'
import { appliedMigrations, changeSecret, type Head, ROW, SECRETS, type Section, type Tail } from './backup.ts'
import { logEnd } from './log-root.ts'
import { asOwner, listOrgs, nameOrg, type OperatorDeps, recordOperator } from './operator-deps.ts'
import { OperatorError } from './operator-error.ts'
import { countRows, describeTables, insertRows, type Table } from './tables.ts'

export interface RestoreReport {
  readonly createdAt: string
  readonly orgs: number
  readonly rows: number
  /** Nobody stays logged in: a session may have been ended after the backup was made. */
  readonly endedSessions: number
}

const BATCH_ROWS = 500
const BATCH_CHARACTERS = 4_000_000

/**
 * Into an empty database of the same version, all or nothing. Counts, the archive's digest and the root of every log are
 * compared before anything is kept. The server has to be started anew afterwards, since its secrets are those of the archive
 * then. Every log waits for a signed recovery statement: until then it is read and not written. API keys are as they were: one
 * that was revoked after the backup works again until it is revoked again.
 */
export async function restore(deps: OperatorDeps, file: string, lock: ArchiveLock = deps): Promise<RestoreReport> {
  return asOwner(deps, 'read committed', async (db) => {
    await ensureEmpty(db)
    const tables = new Map((await describeTables(db)).map((table) => [table.name, table]))
    const withTriggers = [...tables.values()].filter(({ hasTriggers }) => hasTriggers)
    // What a trigger once wrote is in the archive as well.
    for (const { name } of withTriggers) await sql`alter table ${sql.table(name)} disable trigger user`.execute(db)
    const { head, tail } = await readAll(deps, db, file, lock, tables)
    await sql`set constraints all immediate`.execute(db)
    for (const { name } of withTriggers) await sql`alter table ${sql.table(name)} enable trigger user`.execute(db)

    await compareCounts(db, tail)
    const orgs = await compareLogs(db, tail)
    await advanceIdentities(db, [...tables.values()], orgs)
    await leaveAddressGap(deps, db)
    let endedSessions = 0
    for (const orgId of orgs) {
      endedSessions += await endSessions(deps, db, orgId)
      await markRestored(deps, db, orgId)
      await recordOperator(deps, db, orgId, { action: 'operator.restore', metadata: { backupOf: head.createdAt } })
    }
    return {
      createdAt: head.createdAt,
      orgs: orgs.length,
      rows: tail.sections.reduce((sum, { rows }) => sum + rows, 0),
      endedSessions,
    }
  })
}

async function ensureEmpty(db: Db): Promise<void> {
  // Nobody sets the server up meanwhile.
  await sql`lock table org in exclusive mode`.execute(db)
  if ((await listOrgs(db)).length > 0)
    throw new OperatorError(
      'database_not_empty',
      'the database holds an organisation already',
      'restore into an empty database or data directory',
    )
  for (const { name, hasOrg } of await describeTables(db))
    if (!hasOrg) await sql`delete from ${sql.table(name)}`.execute(db)
}

interface Progress {
  head?: Head
  tail?: Tail
  table?: Table
  waiting: string[]
  characters: number
  readonly sections: { table: string; org: string | null; rows: number }[]
}

const incomplete = (what: string): OperatorError =>
  new OperatorError(
    'restore_incomplete',
    `the archive does not hold what it says: ${what}`,
    'nothing was restored; use another copy of it',
  )

async function readAll(
  deps: OperatorDeps,
  db: Db,
  file: string,
  lock: ArchiveLock,
  tables: ReadonlyMap<string, Table>,
): Promise<{ head: Head; tail: Tail }> {
  const progress: Progress = { waiting: [], characters: 0, sections: [] }
  const digest = createHash('sha256')
  for await (const line of readArchive(file, lock)) {
    if (progress.tail) throw incomplete('lines follow its end')
    if (line.startsWith(ROW)) await takeRow(deps, db, progress, line.slice(ROW.length))
    else await takeMark(db, progress, JSON.parse(line) as Head | Section | Tail, tables, digest.copy().digest('hex'))
    digest.update(`${line}\n`)
  }
  const { head, tail } = progress
  if (!head || !tail) throw incomplete('it has no end')
  if (JSON.stringify(tail.sections) !== JSON.stringify(progress.sections))
    throw incomplete('the numbers of rows differ')
  return { head, tail }
}

async function takeRow({ rootKey }: OperatorDeps, db: Db, progress: Progress, row: string): Promise<void> {
  const section = progress.sections.at(-1)
  if (!progress.table || !section) throw incomplete('a row belongs to no table')
  progress.waiting.push(
    progress.table.name === SECRETS ? changeSecret(row, (name, secret) => rootKey.seal(name, secret)) : row,
  )
  progress.characters += row.length
  section.rows++
  const isFull = progress.waiting.length >= BATCH_ROWS || progress.characters >= BATCH_CHARACTERS
  if (isFull && !progress.table.refersToItself) await flush(db, progress)
}

async function flush(db: Db, progress: Progress): Promise<void> {
  if (progress.table) await insertRows(db, progress.table, progress.waiting)
  progress.waiting = []
  progress.characters = 0
}

async function takeMark(
  db: Db,
  progress: Progress,
  mark: Head | Section | Tail,
  tables: ReadonlyMap<string, Table>,
  sha256: string,
): Promise<void> {
  await flush(db, progress)
  if (mark.line === 'head') {
    await ensureSameVersion(db, mark)
    progress.head = mark
  } else if (mark.line === 'table') {
    const table = progress.head && tables.get(mark.table)
    if (!table) throw incomplete(`there is no table ${mark.table}`)
    progress.table = table
    progress.sections.push({ table: mark.table, org: mark.org, rows: 0 })
    await nameOrg(db, mark.org ?? '')
  } else {
    if (mark.sha256 !== sha256) throw incomplete('its digest differs')
    progress.tail = mark
  }
}

async function ensureSameVersion(db: Db, { migrations }: Head): Promise<void> {
  if (JSON.stringify(migrations) === JSON.stringify(await appliedMigrations(db))) return
  throw new OperatorError(
    'archive_other_version',
    `the archive was made at the migration ${migrations.at(-1)?.name ?? 'none'} and this version is at another`,
    'restore with the version that made the archive, then upgrade',
  )
}

async function compareCounts(db: Db, { sections }: Tail): Promise<void> {
  for (const { table, org, rows } of sections) {
    await nameOrg(db, org ?? '')
    if ((await countRows(db, { name: table, hasOrg: org !== null })) !== rows)
      throw incomplete(`${table} has another number of rows`)
  }
}

/** Answers the organisations. */
async function compareLogs(db: Db, { logs }: Tail): Promise<string[]> {
  const orgs = await listOrgs(db)
  for (const orgId of orgs) {
    await nameOrg(db, orgId)
    const end = await logEnd(db, orgId)
    if (end?.size !== logs[orgId]?.size || end?.root !== logs[orgId]?.root)
      throw incomplete(`the log of ${orgId} has another root`)
  }
  return orgs
}

/** The next identity comes after all that were restored. */
async function advanceIdentities(db: Db, tables: readonly Table[], orgs: readonly string[]): Promise<void> {
  for (const { name, columns } of tables) {
    for (const column of columns.filter(({ isIdentity }) => isIdentity)) {
      let highest = 0
      for (const orgId of orgs) {
        await nameOrg(db, orgId)
        const { rows } = await sql<{
          highest: number | null
        }>`select max(${sql.ref(column.name)}) as highest from ${sql.table(name)}`.execute(db)
        highest = Math.max(highest, rows[0]?.highest ?? 0)
      }
      if (highest > 0)
        await sql`select setval(pg_get_serial_sequence(${`strongroom.${name}`}, ${column.name}), ${highest})`.execute(
          db,
        )
    }
  }
}

/** Nothing is appended to a log that comes from a backup before its administrators have signed that it goes on from there. */
async function markRestored({ now }: OperatorDeps, db: Db, orgId: string): Promise<void> {
  await nameOrg(db, orgId)
  await db
    .updateTable('log_state')
    .set({ restored_at: now() })
    .where('org_id', '=', orgId)
    .where('size', '>', 0)
    .execute()
}

async function endSessions({ now }: OperatorDeps, db: Db, orgId: string): Promise<number> {
  await nameOrg(db, orgId)
  const { numUpdatedRows } = await db
    .updateTable('session')
    .set({ revoked_at: now() })
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
