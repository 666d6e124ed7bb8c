import { ensure } from '../errors.ts'
import { claimedKind, documentHash, type Envelope, peekDocument } from '../identity/document.ts'
import { vaultHead } from '../vault/documents.ts'
import { wrappedDek } from '../wraps/wrapped-key.ts'
import {
  applyCapsSet,
  applyGenesis,
  applyKeyAdd,
  applyKeyRecover,
  applyKeyRevoke,
  applyKeyRotate,
  applyPolicySet,
  applyRecoveryEnrol,
} from './directory.ts'
import { type Draft, type LogState, openDraft, type StateUpdate } from './draft.ts'
import { adminsOf, applyGrant, readersOf, readVault } from './grants.ts'
import { applyProjectCommit } from './project.ts'
import { applyLogRecover } from './recovery.ts'
import { applyVaultCommit, type VaultCommit } from './vault.ts'

// Section 5.7: the one transition function. The server appends what it accepts, the auditor replays it; neither has rules
// of its own.

export const LEAF_TYPES = [
  'org.genesis',
  'key.add',
  'key.rotate',
  'key.recover',
  'key.revoke',
  'caps.set',
  'policy.set',
  'recovery.enrol',
  'log.recover',
  'grant.add',
  'vault.commit',
  'vault.move',
  'project.commit',
] as const
export type LeafType = (typeof LEAF_TYPES)[number]

/** So many updates with the longest names fit into the list a leaf names by its hash. */
export const MAX_UPDATES = 4096

export interface Act {
  readonly docs: readonly Envelope[]
  /** The server's time of the leaf. */
  readonly at: number
}

export interface Transition {
  readonly t: LeafType
  /** Hashes of the documents, sorted. */
  readonly d: readonly string[]
  /** What changes in the state map, sorted by name. */
  readonly updates: readonly StateUpdate[]
}

type ByKind = ReadonlyMap<string, readonly Envelope[]>

/** Verifies an act under the state before leaf `index` and gives what follows from it, or refuses. Changes nothing itself. */
export async function transition(before: LogState, index: number, { docs, at }: Act): Promise<Transition> {
  const d = docs.map(documentHash).sort()
  ensure(new Set(d).size === d.length && d.length > 0, 'bad_transition', 'an act consists of different documents')
  ensure(at >= (await before.lastAt()), 'bad_transition', 'a leaf is older than the one before it')
  const draft = openDraft(before, index, at)
  const byKind = groupByKind(docs)
  const t = leafTypeOf(byKind)
  await RULES[t](draft, byKind)
  const updates = draft.updates()
  ensure(updates.length <= MAX_UPDATES, 'limit_exceeded', 'one leaf changes too many states', {
    count: updates.length,
  })
  return { t, d, updates }
}

function groupByKind(docs: readonly Envelope[]): ByKind {
  const byKind = new Map<string, Envelope[]>()
  for (const envelope of docs) {
    const kind = claimedKind(envelope)
    const alike = byKind.get(kind)
    if (alike) alike.push(envelope)
    else byKind.set(kind, [envelope])
  }
  return byKind
}

/** The leaf type follows from the documents, so nobody can name a gentler one. */
function leafTypeOf(byKind: ByKind): LeafType {
  const heads = byKind.get('vault-head')?.length ?? 0
  if (heads === 2) return 'vault.move'
  if (heads > 0) return 'vault.commit'
  if (byKind.has('project.set')) return 'project.commit'
  const [kind] = [...byKind.keys()].filter((name) => name !== 'wrapped-dek')
  const t = kind ?? 'grant.add'
  ensure(
    t !== 'vault.commit' && t !== 'vault.move' && (LEAF_TYPES as readonly string[]).includes(t),
    'bad_transition',
    'these documents make no act',
    { kinds: [...byKind.keys()] },
  )
  return t as LeafType
}

/**
 * At most one document of each kind in `one`, any number of those in `many`, and nothing else. Nothing is missing: the
 * leaf type follows from the document that must be there.
 */
function pick(byKind: ByKind, one: readonly string[], many: readonly string[] = []): void {
  for (const [kind, envelopes] of byKind) {
    const allowed = many.includes(kind) || (one.includes(kind) && envelopes.length === 1)
    ensure(allowed, 'bad_transition', 'a document does not belong into this act', { kind })
  }
}

const only = (byKind: ByKind, kind: string): Envelope => (byKind.get(kind) as readonly [Envelope])[0]

const single =
  (kind: LeafType, apply: (draft: Draft, envelope: Envelope) => Promise<void>) =>
  async (draft: Draft, byKind: ByKind): Promise<void> => {
    pick(byKind, [kind])
    await apply(draft, only(byKind, kind))
  }

const RULES: Readonly<Record<LeafType, (draft: Draft, byKind: ByKind) => Promise<void>>> = {
  'org.genesis': single('org.genesis', applyGenesis),
  'key.add': single('key.add', applyKeyAdd),
  'key.recover': single('key.recover', applyKeyRecover),
  'key.revoke': single('key.revoke', applyKeyRevoke),
  'caps.set': single('caps.set', applyCapsSet),
  'policy.set': single('policy.set', applyPolicySet),
  'recovery.enrol': single('recovery.enrol', applyRecoveryEnrol),
  'log.recover': single('log.recover', applyLogRecover),
  'key.rotate': async (draft, byKind) => {
    pick(byKind, ['key.rotate'], ['wrapped-dek'])
    await applyKeyRotate(draft, only(byKind, 'key.rotate'), byKind.get('wrapped-dek') ?? [])
  },
  'grant.add': async (draft, byKind) => {
    pick(byKind, [], ['wrapped-dek'])
    for (const envelope of byKind.get('wrapped-dek') ?? []) await addGrant(draft, envelope)
  },
  'vault.commit': async (draft, byKind) => {
    pick(byKind, ['vault-head', 'vault.create', 'vault.admins', 'acl.set', 'epoch.new'], ['wrapped-dek'])
    await applyVaultCommit(draft, {
      head: only(byKind, 'vault-head'),
      create: byKind.get('vault.create')?.[0],
      admins: byKind.get('vault.admins')?.[0],
      acl: byKind.get('acl.set')?.[0],
      epoch: byKind.get('epoch.new')?.[0],
      wraps: byKind.get('wrapped-dek') ?? [],
    })
  },
  'vault.move': async (draft, byKind) => {
    pick(byKind, [], ['vault-head'])
    await moveItem(draft, byKind.get('vault-head') as readonly [Envelope, Envelope])
  },
  'project.commit': async (draft, byKind) => {
    pick(byKind, ['project.set', 'project.create', 'project.admins'])
    await applyProjectCommit(draft, {
      set: only(byKind, 'project.set'),
      create: byKind.get('project.create')?.[0],
      admins: byKind.get('project.admins')?.[0],
    })
  },
}

async function addGrant(draft: Draft, envelope: Envelope): Promise<void> {
  const state = await readVault(draft, peekDocument(wrappedDek, envelope).payload.vaultId)
  await applyGrant(draft, envelope, {
    state,
    admins: await adminsOf(draft, state),
    readers: await readersOf(draft, state),
  })
}

/** A move is two heads by one writer in one leaf: the item is never in both vaults, and never in none. */
async function moveItem(draft: Draft, heads: readonly [Envelope, Envelope]): Promise<void> {
  const from = peekDocument(vaultHead, heads[0]).payload
  const to = peekDocument(vaultHead, heads[1]).payload
  ensure(from.vaultId !== to.vaultId && from.by === to.by, 'bad_transition', 'a move needs two vaults and one writer')
  const plain: Omit<VaultCommit, 'head'> = {
    create: undefined,
    admins: undefined,
    acl: undefined,
    epoch: undefined,
    wraps: [],
  }
  for (const head of heads) await applyVaultCommit(draft, { head, ...plain })
}
