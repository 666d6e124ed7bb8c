import { type Envelope, type JsonObject, POLICY_NAME, vaultName } from '@strongroom/protocol'
import { sql } from 'kysely'
import type { OpenedVaultRow } from '../../access/vaults.ts'
import type { Db } from '../../db/database.ts'
import type { LockedLog } from '../../log/log-store.ts'
import type { MapNode } from '../../log/map-nodes.ts'
import { type MapPath, pathAmong } from '../../log/map-store.ts'
import type { Lists, VaultRow } from './store.ts'

// The two statements of a plain commit (migration 0028).

export interface CommitAsk {
  readonly principal: string
  readonly vaultId: string
  readonly headHash: string
  readonly kid: string
  readonly names: readonly string[]
  readonly principals: readonly string[]
  readonly items: readonly string[]
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
  readonly paths: readonly MapPath[]
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
interface ViewJson extends Omit<CommitSurroundings, 'paths'> {
  readonly log: (Omit<LockedLog, 'sealedKey' | 'restoredAt'> & { sealedKey: string; restoredAt: string | null }) | null
  readonly vault?: OpenedVaultRow
  readonly nodes?: readonly NodeTexts[]
}

/** Takes the writer's turn, and then reads. */
export async function openCommit(db: Db, orgId: string, ask: CommitAsk): Promise<CommitView> {
  const { rows } = await sql<{ view: ViewJson }>`select open_commit(${orgId}, ${JSON.stringify(ask)}) as view`.execute(
    db,
  )
  const { log, vault, nodes, ...around } = onlyOf(rows).view
  return {
    log: log
      ? { ...log, sealedKey: Buffer.from(log.sealedKey, 'base64'), restoredAt: dateOf(log.restoredAt) }
      : undefined,
    vault,
    around: nodes && {
      ...around,
      paths: pathsOf([POLICY_NAME, vaultName(ask.vaultId), ...around.signers], nodes, around.states),
    },
  }
}

function onlyOf<T>(rows: readonly T[]): T {
  const [only] = rows
  if (!only) throw new Error('a function of the database gave nothing')
  return only
}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text))
const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex')

function pathsOf(
  names: readonly string[],
  rows: readonly NodeTexts[],
  states: CommitSurroundings['states'],
): MapPath[] {
  const nodes = new Map(
    rows.map(([path, hash, key, value]): [string, MapNode] => {
      const leaf = key && value ? { key: bytesOf(key), value: bytesOf(value) } : null
      return [path, { path, hash: bytesOf(hash), leaf }]
    }),
  )
  const stateOf = new Map(states.map(({ name, state }) => [name, state]))
  return names.map((name) => pathAmong(name, stateOf.get(name) ?? null, nodes))
}

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
    select write_commit(${orgId}, ${JSON.stringify(commit)}) as written`.execute(db)
  const { vault, fields } = onlyOf(rows).written
  const { createdAt, updatedAt, rotationDue, ...row } = vault
  return {
    vault: { ...row, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt), rotationDue: dateOf(rotationDue) },
    fields,
  }
}
