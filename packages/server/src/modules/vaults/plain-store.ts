import type { Envelope, JsonObject } from '@strongroom/protocol'
import { sql } from 'kysely'
import type { OpenedVaultRow } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'
import type { LockedLog } from '../../log/log-store.ts'
import type { MapNode } from '../../log/map-nodes.ts'
import type { Lists, VaultRow } from './store.ts'

// The two statements of plain commits (migrations 0028, 0050 and 0067).

export interface CommitAsk {
  readonly principal: string
  readonly vaultId: string
  readonly headHash: string
  readonly kid: string
  readonly names: readonly string[]
  readonly principals: readonly string[]
  readonly items: readonly string[]
  /** Documents that need not be given again. */
  readonly known: readonly string[]
  readonly withContent: boolean
  readonly logKey: string
}

export interface LoggedDocument {
  readonly hash: string
  readonly kind: string
  readonly envelope: Envelope
}

/** Read under the head that the commit follows. */
export interface CommitSurroundings {
  readonly adminsChain: readonly string[]
  /** Names of the keys that an answer about the vault has to prove. */
  readonly signers: readonly string[]
  readonly states: readonly { readonly name: string; readonly state: JsonObject; readonly principal: string | null }[]
  readonly documents: readonly LoggedDocument[]
  readonly details: Readonly<Record<string, Envelope>>
  /** Of the state map, what stands on and beside the ways of the vault and of the signers. */
  readonly nodes: readonly MapNode[]
  readonly content: Lists | undefined
}

export interface CommitView {
  readonly log: LockedLog | undefined
  /** Undefined where the caller's name is not on the access list. */
  readonly vault: OpenedVaultRow | undefined
  /** Undefined under another head. */
  readonly around: CommitSurroundings | undefined
}

type NodeTexts = readonly [path: string, hash: string, key: string | null, value: string | null]
interface ViewJson extends Omit<CommitSurroundings, 'nodes'> {
  readonly log: (Omit<LockedLog, 'sealedKey' | 'restoredAt'> & { sealedKey: string; restoredAt: string | null }) | null
  readonly vault?: OpenedVaultRow
  readonly nodes?: readonly NodeTexts[]
}

/** Takes the writer's turn, and then reads. */
export async function openCommit(db: Db, orgId: string, ask: CommitAsk): Promise<CommitView> {
  const { rows } = await sql<{ view: ViewJson }>`select open_commit(${orgId}, ${JSON.stringify(ask)}) as view`.execute(
    db,
  )
  return viewOf(onlyOf(rows).view)
}

/** An idempotency key, to be claimed with the commit. */
export interface Claim {
  readonly keyHash: string
  readonly requestHash: string
  readonly at: Date
}

/** The same for several commits at once, in a transaction that has named no organisation yet. Undefined where a key was used before. */
export async function openCommits(
  db: Db,
  orgId: string,
  asks: readonly (CommitAsk & { readonly claim: Claim | null })[],
): Promise<(CommitView | undefined)[]> {
  const { rows } = await sql<{ views: (ViewJson | null)[] }>`
    select open_commits(${orgId}, ${JSON.stringify(asks)}) as views`.execute(db)
  return onlyOf(rows).views.map((view) => (view ? viewOf(view) : undefined))
}

const viewOf = ({ log, vault, nodes, ...around }: ViewJson): CommitView => ({
  log: log
    ? { ...log, sealedKey: Buffer.from(log.sealedKey, 'base64'), restoredAt: dateOf(log.restoredAt) }
    : undefined,
  vault,
  around: nodes && { ...around, nodes: nodes.map(nodeOf) },
})

function onlyOf<T>(rows: readonly T[]): T {
  const [only] = rows
  if (!only) throw new Error('a function of the database gave nothing')
  return only
}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text))
const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex')

const nodeOf = ([path, hash, key, value]: NodeTexts): MapNode => ({
  path,
  hash: bytesOf(hash),
  leaf: key && value ? { key: bytesOf(key), value: bytesOf(value) } : null,
})

export interface CommitWritten {
  readonly vault: Omit<VaultRow, 'role'>
  /** How many fields were written. */
  readonly fields: number
}

type WrittenJson = Omit<CommitWritten, 'vault'> & {
  readonly vault: Omit<CommitWritten['vault'], 'createdAt' | 'updatedAt' | 'rotationDue'> & {
    readonly createdAt: string
    readonly updatedAt: string
    readonly rotationDue: string | null
  }
}

export async function writeCommit(db: Db, orgId: string, commit: object): Promise<CommitWritten> {
  const { rows } = await sql<{ written: WrittenJson }>`
    select write_next_versions(${orgId}, ${JSON.stringify(commit)}) as written`.execute(db)
  return writtenOf(onlyOf(rows).written)
}

/** What is kept of an answer for its idempotency key. */
export interface KeptAnswer {
  readonly principal: string
  readonly keyHash: string
  readonly status: number
  readonly body: unknown
}

export interface CommitsWrite {
  /** In the order of their leaves. */
  readonly commits: readonly object[]
  readonly answers: readonly KeptAnswer[]
  /** Keys of those that were opened and are not written now. */
  readonly unclaimed: readonly { readonly principal: string; readonly keyHash: string }[]
}

export async function writeCommits(db: Db, orgId: string, write: CommitsWrite): Promise<CommitWritten[]> {
  const { rows } = await sql<{ written: WrittenJson[] }>`
    select write_commits(${orgId}, ${JSON.stringify(write)}) as written`.execute(db)
  return onlyOf(rows).written.map(writtenOf)
}

function writtenOf({ vault, fields }: WrittenJson): CommitWritten {
  const { createdAt, updatedAt, rotationDue, ...row } = vault
  return {
    vault: { ...row, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt), rotationDue: dateOf(rotationDue) },
    fields,
  }
}
