import {
  hash,
  hashOrNone,
  integer,
  list,
  literal,
  nullable,
  type Of,
  record,
  risingIntegers,
} from '../encoding/shape.ts'
import { kidText, projectIdText, vaultIdText } from '../identity/identifiers.ts'

// Section 5.2: the names and values of the state map. A value says what is current; it may take authority away, never give it.

const index = integer()
const version = integer(1)
const dekVersion = integer(1, 0xffff_ffff)
const MAX_CHAIN = 1024
const indexes = risingIntegers(MAX_CHAIN)

/**
 * `policy`: `indexes[k]` is the leaf that made version k+1 current. `recoveries` names every log.recover; it stands here
 * because every answer proves this state, so nobody who reads can miss one.
 */
const recoveries = list(record({ index, docHash: hash }), MAX_CHAIN)
export type Recoveries = Of<typeof recoveries>
export const policyState = record({ policyVersion: version, policyHash: hash, indexes }, { recoveries })
export type PolicyState = Of<typeof policyState>

/** `kid/<kid>` (4.2). Live at index i iff `added <= i < end`. `capSets` names every caps.set of this key, in order. */
export const kidState = record({
  kid: kidText,
  status: literal('active', 'superseded', 'removed', 'compromised'),
  added: index,
  end: nullable(index),
  rec: hash,
  capSets: list(record({ index, docHash: hash }), MAX_CHAIN),
})
export type KidState = Of<typeof kidState>

/** `vault/<vaultId>`. `draining` lists the older key versions that values still use, each with its commitment. */
export const vaultState = record({
  vaultId: vaultIdText,
  createIndex: index,
  adminsHash: hash,
  adminsIndexes: indexes,
  headVersion: version,
  headHash: hash,
  headIndex: index,
  aclVersion: version,
  aclHash: hash,
  aclIndex: index,
  dekVersion,
  dekCommit: hash,
  epochIndex: index,
  oldestDek: dekVersion,
  draining: list(record({ dekVersion, dekCommit: hash }), MAX_CHAIN),
  rotationDue: nullable(record({ index, at: integer() })),
})
export type VaultState = Of<typeof vaultState>

/** `grant/<vaultId>/<kid>/<dekVersion>`; an empty `wrapHash` is a tombstone. */
export const grantState = record({ wrapHash: hashOrNone, index })
export type GrantState = Of<typeof grantState>

/** `project/<projectId>`. */
export const projectState = record({
  projectId: projectIdText,
  createIndex: index,
  adminsHash: hash,
  adminsIndexes: indexes,
  projectVersion: version,
  docHash: hash,
  index,
})
export type ProjectState = Of<typeof projectState>

/** `recovery/<principal>`: the user's own consent to organisation recovery (section 8). */
export const recoveryState = record({ recoveryKid: kidText, docHash: hash, index })

/** `invite/<docHash>`: who came in by it. An invite serves once (4.6). */
export const inviteState = record({ kid: kidText, index })

export const POLICY_NAME = 'policy'
export const kidName = (kid: string): string => `kid/${kid}`
export const vaultName = (vaultId: string): string => `vault/${vaultId}`
export const grantName = (vaultId: string, kid: string, version: number): string => `grant/${vaultId}/${kid}/${version}`
export const projectName = (projectId: string): string => `project/${projectId}`
export const inviteName = (docHash: string): string => `invite/${docHash}`
export const recoveryName = (principal: string): string => `recovery/${principal}`

/** Was this key live at that leaf? History signed by former members stays valid, new objects by them do not (4.4). */
export const isLive = (entry: KidState, at: number): boolean =>
  entry.added <= at && (entry.end === null || at < entry.end)
