import { toBase64url } from '../encoding/base64.ts'
import { compareText } from '../encoding/bytes.ts'
import type { JsonObject } from '../encoding/canonical.ts'
import { ensure } from '../errors.ts'
import { documentHash, type Envelope } from '../identity/document.ts'
import { principalOf } from '../identity/identifiers.ts'
import { documentsOf, type LeafUpdate, type MadeLeaf, makeLeaf, parseLeaf, updatesOf } from '../log/leaf.ts'
import { mapValue } from '../log/map.ts'
import { makeMap, openPartialMap, type StateMap } from '../log/map-tree.ts'
import { leafHash } from '../log/merkle.ts'
import { appendLeaf, EMPTY_FRONTIER, frontierRoot } from '../log/merkle-proofs.ts'
import { grantName } from '../log/state.ts'
import type { LiveGrant, LogState } from './draft.ts'
import { type Act, type Transition, transition } from './transition.ts'

// Sections 5.1 and 5.5: making a leaf from a transition, and replaying leaves as an auditor does.

/** Applies a transition to the state map and makes its leaf. The map may be a partial one, proven path by path. */
export function leafOf(map: StateMap, { t, d, updates }: Transition, at: number): MadeLeaf {
  const u = updates.map(({ name, state }): LeafUpdate => {
    const old = map.get(name)
    const value = mapValue(state)
    map.set(name, value)
    return [name, old ? toBase64url(old) : '', toBase64url(value)]
  })
  return makeLeaf({ t, d, u, r: toBase64url(map.root()), at })
}

/** A whole log state in memory: what an auditor holds between two leaves. */
export interface Ledger extends LogState {
  readonly map: StateMap
  size(): number
  names(): Iterable<string>
  /** Takes over what a transition changed at `at`; its leaf was made or checked before. */
  accept(applied: Transition, docs: readonly Envelope[], at: number, leaf: Uint8Array): void
}

export function makeLedger(org: string): Ledger {
  const states = new Map<string, JsonObject>()
  const documents = new Map<string, Envelope>()
  const kids = makeShelf<string>()
  const grantsByVault = makeShelf<LiveGrant>()
  const grantsByKid = makeShelf<LiveGrant>()
  const map = makeMap()
  let frontier = EMPTY_FRONTIER
  let lastAt = 0
  const isGranted = ({ vaultId, kid, dekVersion }: LiveGrant): boolean =>
    states.get(grantName(vaultId, kid, dekVersion))?.wrapHash !== ''
  /** A name is put where it will be looked for when it is first written. */
  function shelve(name: string): void {
    const [kind, ...rest] = name.split('/')
    if (kind === 'kid') kids.add(principalOf(rest[0] as string), rest[0] as string)
    if (kind !== 'grant') return
    const [vaultId, kid, version] = rest as [string, string, string]
    const grant = { vaultId, kid, dekVersion: Number(version) }
    grantsByVault.add(vaultId, grant)
    grantsByKid.add(kid, grant)
  }
  return {
    org,
    map,
    size: () => frontier.size,
    lastAt: () => lastAt,
    logRoot: () => frontierRoot(frontier),
    names: () => states.keys(),
    get: (name) => states.get(name),
    document: (docHash) => documents.get(docHash),
    kidsOf: (principal) => kids.of(principal),
    grantsOfVault: (vaultId) => grantsByVault.of(vaultId).filter(isGranted),
    grantsOfKid: (kid) => grantsByKid.of(kid).filter(isGranted),
    endedGrantsOfKid: (kid) => grantsByKid.of(kid).filter((grant) => !isGranted(grant)),
    accept: (applied, docs, at, leaf) => {
      for (const { name, state } of applied.updates) {
        if (!states.has(name)) shelve(name)
        states.set(name, state)
        map.set(name, mapValue(state))
      }
      for (const envelope of docs) documents.set(documentHash(envelope), envelope)
      frontier = appendLeaf(frontier, leafHash(leaf)).frontier
      lastAt = at
    },
  }
}

/** Lists by key, for what is asked for again and again while a log is replayed. */
function makeShelf<T>(): { add(key: string, entry: T): void; of(key: string): readonly T[] } {
  const lists = new Map<string, T[]>()
  return {
    add: (key, entry) => {
      const list = lists.get(key)
      if (list) list.push(entry)
      else lists.set(key, [entry])
    },
    of: (key) => lists.get(key) ?? [],
  }
}

/** What an auditor fetches for one leaf. */
export interface LeafMaterial {
  readonly leaf: Uint8Array
  readonly docs: readonly Envelope[]
  /** The lists a large leaf only names by hash. */
  readonly updates?: Uint8Array
  readonly documents?: Uint8Array
}

/**
 * Replays one leaf: documents complete, signatures valid under the state before, transition rule, new root.
 * Refuses a false leaf with the code of the broken rule; the ledger has changed only if it returns.
 */
export async function auditLeaf(ledger: Ledger, material: LeafMaterial): Promise<Transition> {
  const leaf = parseLeaf(material.leaf)
  const act: Act = { docs: material.docs, at: leaf.at }
  const named = documentsOf(leaf, material.documents)
  const delivered = material.docs.map(documentHash).sort(compareText)
  ensure(
    named.length === delivered.length && named.every((hash, i) => hash === delivered[i]),
    'bad_transition',
    'a leaf names other documents than were delivered',
  )
  const applied = await transition(ledger, ledger.size(), act)
  ensure(applied.t === leaf.t, 'bad_transition', 'a leaf names another act than its documents make', { t: leaf.t })
  ensureUpdates(ledger.map, applied, updatesOf(leaf, material.updates))
  ensure(toBase64url(rootAfter(ledger.map, applied)) === leaf.r, 'bad_transition', 'a leaf names another state root')
  ledger.accept(applied, material.docs, leaf.at, material.leaf)
  return applied
}

/** The root the map would have, found on the proven paths alone: the ledger itself stays as it is. */
function rootAfter(map: StateMap, { updates }: Transition): Uint8Array {
  const claims = updates.map(({ name }) => ({ name, valueHash: map.get(name), proof: map.prove(name) }))
  const draft = openPartialMap(map.root(), claims)
  for (const { name, state } of updates) draft.set(name, mapValue(state))
  return draft.root()
}

function ensureUpdates(map: StateMap, { updates }: Transition, claimed: readonly LeafUpdate[]): void {
  ensure(updates.length === claimed.length, 'bad_transition', 'a leaf changes more or less than its documents ask')
  for (const [i, { name, state }] of updates.entries()) {
    const [claimedName, claimedOld, claimedNew] = claimed[i] as LeafUpdate
    const old = map.get(name)
    ensure(
      claimedName === name && claimedOld === (old ? toBase64url(old) : ''),
      'bad_transition',
      'a leaf starts from another state',
      { name },
    )
    ensure(
      claimedNew === toBase64url(mapValue(state)),
      'bad_transition',
      'a leaf writes another state than its documents ask',
      { name },
    )
  }
}
