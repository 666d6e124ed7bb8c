import { type Envelope, type JsonObject, kidName, type LogState } from '@strongroom/protocol'
import type { Db } from '../db/database.ts'
import { groupBy } from './group-by.ts'
import { type Mentions, mentionsOf } from './mentions.ts'
import * as store from './state-store.ts'

// The state before a leaf, as section 5.7 of docs/reference/protocol.md asks for it. What the documents speak of is read in one statement;
// the rules then mostly find what they ask for, and what they do not find is read on its own.

interface Known {
  readonly states: Map<string, JsonObject | undefined>
  readonly documents: Map<string, Envelope>
  readonly kids: Map<string, readonly string[]>
  readonly grantsOfKid: Map<string, readonly store.Grant[]>
  readonly grantsOfVault: Map<string, readonly store.Grant[]>
}

function learn(
  known: Known,
  { names, principals, endingKids, regrantedVaults }: Mentions,
  around: store.Surroundings,
): void {
  for (const name of names) known.states.set(name, undefined)
  for (const { name, state } of around.states) known.states.set(name, state)
  for (const { hash, envelope } of around.documents) known.documents.set(hash, envelope)
  const keys = around.states.filter(({ principal }) => principal !== null)
  const byPrincipal = groupBy(keys, ({ principal }) => principal)
  for (const principal of principals)
    known.kids.set(principal, byPrincipal.get(principal)?.map(({ name }) => name.slice(kidName('').length)) ?? [])
  const grants = around.grants.map(store.grantOf)
  for (const kid of endingKids)
    known.grantsOfKid.set(
      kid,
      grants.filter((grant) => grant.kid === kid),
    )
  for (const vaultId of regrantedVaults)
    known.grantsOfVault.set(
      vaultId,
      grants.filter((grant) => grant.vaultId === vaultId && grant.isLive),
    )
}

/** What was learned, or what the database says: then it is known from now on, since nobody else writes meanwhile. */
async function recall<T>(known: Map<string, T>, key: string, read: () => Promise<T>): Promise<T> {
  const found = known.get(key)
  if (found !== undefined || known.has(key)) return found as T
  const value = await read()
  known.set(key, value)
  return value
}

export interface LogMoment {
  readonly orgId: string
  readonly lastAt: number
  readonly logRoot?: Uint8Array
}

/** The state of a log whose row the caller has locked, read around the documents of the act that is to come. */
export async function openLogState(db: Db, log: LogMoment, docs: readonly Envelope[]): Promise<LogState> {
  const mentions = mentionsOf(docs)
  return logStateOf(db, log, mentions, await store.readAround(db, log.orgId, mentions))
}

/** The same from what was read already. */
export function logStateOf(
  db: Db,
  { orgId, lastAt, logRoot }: LogMoment,
  mentions: Mentions,
  around: store.Surroundings,
): LogState {
  const known: Known = {
    states: new Map(),
    documents: new Map(),
    kids: new Map(),
    grantsOfKid: new Map(),
    grantsOfVault: new Map(),
  }
  learn(known, mentions, around)
  const grantsOfKid = (kid: string) =>
    recall(known.grantsOfKid, kid, () => store.readGrants(db, orgId, 'kid', kid, false))
  return {
    org: orgId,
    lastAt: () => lastAt,
    logRoot: () => {
      if (!logRoot) throw new Error('the root of the log was not read')
      return logRoot
    },
    get: (name) => recall(known.states, name, () => store.readState(db, orgId, name)),
    document: (hash) => known.documents.get(hash) ?? store.readDocument(db, orgId, hash).then((row) => row?.envelope),
    kidsOf: (principal) => recall(known.kids, principal, () => store.readKids(db, orgId, principal)),
    grantsOfVault: (vaultId) =>
      recall(known.grantsOfVault, vaultId, () => store.readGrants(db, orgId, 'vault_id', vaultId, true)),
    grantsOfKid: async (kid) => (await grantsOfKid(kid)).filter(({ isLive }) => isLive),
    endedGrantsOfKid: async (kid) => (await grantsOfKid(kid)).filter(({ isLive }) => !isLive),
  }
}
