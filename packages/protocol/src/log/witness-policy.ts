import { ensure } from '../errors.ts'
import type { Cosignature } from './checkpoint.ts'
import {
  hasControlCharacter,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  type NoteKeyType,
  parseVkey,
  type VerifierKey,
} from './note.ts'

// Sections 5.4 and 5.5: C2SP tlog-policy, the text that says whose cosignatures make a checkpoint believable.

const MAX_POLICY_LENGTH = 65_536
const MAX_DEFINITIONS = 64
/** How far the clock of somebody else may be ahead before what it says is not believed. */
export const MAX_CLOCK_SKEW_MS = 600_000
const NO_QUORUM = 'none'

/** The policy of a client that asks for no witnesses: written out, so that an empty text is never mistaken for it. */
export const NO_WITNESSES = 'quorum none\n'

export interface PolicyKey {
  readonly key: VerifierKey
  readonly url: string | null
}
type Member =
  | { readonly kind: 'witness'; readonly key: VerifierKey }
  | { readonly kind: 'group'; readonly threshold: number; readonly members: readonly Member[] }

export interface WitnessPolicy {
  readonly logs: readonly PolicyKey[]
  readonly witnesses: readonly (PolicyKey & { readonly name: string })[]
  /** `null` for `quorum none`. */
  readonly quorum: Member | null
}

interface Draft {
  readonly logs: PolicyKey[]
  readonly witnesses: (PolicyKey & { readonly name: string })[]
  readonly members: Map<string, Member>
  readonly taken: Set<string>
  quorum: Member | null | undefined
}

// The pinned policy is asked for with every read; what a text means never changes.
const PARSED_SIZE = 64
const parsedPolicies = new Map<string, WitnessPolicy>()

/** Parses strictly; refuses what is unknown, used before its definition, defined twice or a member twice. */
export function parseWitnessPolicy(policy: string): WitnessPolicy {
  const known = parsedPolicies.get(policy)
  if (known) return known
  const parsed = readWitnessPolicy(policy)
  if (parsedPolicies.size >= PARSED_SIZE) parsedPolicies.clear()
  parsedPolicies.set(policy, parsed)
  return parsed
}

function readWitnessPolicy(policy: string): WitnessPolicy {
  ensure(policy.length <= MAX_POLICY_LENGTH, 'limit_exceeded', 'a witness policy is larger than 64 KiB')
  ensure(
    policy.isWellFormed() && !hasControlCharacter(policy, '\t\n'),
    'malformed',
    'a witness policy has a control character',
  )
  ensure(policy.endsWith('\n'), 'malformed', 'a witness policy does not end in a newline')
  const draft: Draft = { logs: [], witnesses: [], members: new Map(), taken: new Set(), quorum: undefined }
  for (const line of policy.split('\n')) {
    const [keyword, ...rest] = line.split(/[ \t]+/).filter((word) => word !== '')
    if (keyword === undefined || keyword.startsWith('#')) continue
    const read = Object.hasOwn(READERS, keyword) ? READERS[keyword] : undefined
    ensure(read, 'malformed', 'a witness policy has an unknown line', { keyword })
    read(draft, rest)
  }
  const { logs, witnesses, members, quorum } = draft
  ensure(quorum !== undefined, 'malformed', 'a witness policy has no quorum line')
  ensure(
    logs.length <= MAX_DEFINITIONS && members.size <= 2 * MAX_DEFINITIONS,
    'limit_exceeded',
    'a witness policy is too large',
  )
  return { logs, witnesses, quorum }
}

const READERS: Readonly<Record<string, (draft: Draft, words: readonly string[]) => void>> = {
  log: (draft, words) => {
    draft.logs.push(readKey(words, NOTE_SIGNATURE, draft.logs))
  },
  witness: (draft, [name, ...words]) => {
    const witness = readKey(words, NOTE_COSIGNATURE, draft.witnesses)
    draft.witnesses.push({ name: define(draft, name, { kind: 'witness', key: witness.key }), ...witness })
  },
  group: (draft, [name, threshold, ...names]) => {
    ensure(threshold !== undefined && names.length > 0, 'malformed', 'a group has no members')
    const members = names.map((member) => take(draft, member))
    define(draft, name, { kind: 'group', threshold: readThreshold(threshold, members.length), members })
  },
  quorum: (draft, [name, ...rest]) => {
    ensure(name !== undefined && rest.length === 0, 'malformed', 'a quorum line does not have one name')
    ensure(draft.quorum === undefined, 'malformed', 'a witness policy has two quorum lines')
    draft.quorum = name === NO_QUORUM ? null : lookUp(draft, name)
  },
}

function readKey(words: readonly string[], type: NoteKeyType, others: readonly PolicyKey[]): PolicyKey {
  const [vkey, url, ...rest] = words
  ensure(
    vkey !== undefined && rest.length === 0,
    'malformed',
    'a line of a witness policy has too few or too many words',
  )
  const key = parseVkey(vkey)
  ensure(key.type === type, 'malformed', 'a key in a witness policy is of the wrong type for its line', {
    name: key.name,
  })
  // By the bare key: one witness under two names would count twice.
  const bare = String(key.publicKey)
  ensure(
    others.every((other) => String(other.key.publicKey) !== bare),
    'malformed',
    'a witness policy has one key twice',
    { name: key.name },
  )
  return { key, url: url ?? null }
}

function define(draft: Draft, name: string | undefined, member: Member): string {
  ensure(name !== undefined && name !== NO_QUORUM, 'malformed', 'a name in a witness policy is missing or reserved')
  ensure(!draft.members.has(name), 'malformed', 'a witness policy defines a name twice', { name })
  draft.members.set(name, member)
  return name
}

function lookUp(draft: Draft, name: string): Member {
  const member = draft.members.get(name)
  ensure(member, 'malformed', 'a witness policy uses a name before it is defined', { name })
  return member
}

/** Each name is a member at most once in the whole policy, so each witness counts in one way only. */
function take(draft: Draft, name: string): Member {
  const member = lookUp(draft, name)
  ensure(!draft.taken.has(name), 'malformed', 'a name is a member twice in a witness policy', { name })
  draft.taken.add(name)
  return member
}

function readThreshold(word: string, count: number): number {
  if (word === 'any') return 1
  if (word === 'all') return count
  const threshold = /^[1-9][0-9]{0,2}$/.test(word) ? Number(word) : 0
  ensure(threshold >= 1 && threshold <= count, 'malformed', 'the threshold of a group is out of range')
  return threshold
}

export type QuorumResult =
  /** `quorum none`: nobody but the log vouches for freshness, and the client says so. */
  | { readonly witnessed: false }
  /** `newestMs`: the latest time for which the quorum holds with cosignatures no older than that. */
  | { readonly witnessed: true; readonly newestMs: number }

export interface Freshness {
  readonly now: number
  readonly maxStaleMs: number
}

/** Refuses with `witness_quorum` if too few have cosigned, with `stale_view` if enough have, but too long ago. */
export function evaluateQuorum(
  policy: WitnessPolicy,
  cosignatures: readonly Cosignature[],
  { now, maxStaleMs }: Freshness,
): QuorumResult {
  if (policy.quorum === null) return { witnessed: false }
  const times = new Map<string, number>()
  const plausibleTimes = new Map<string, number>()
  for (const { key, timestamp } of cosignatures) {
    const time = timestamp * 1000
    keepNewest(times, key.vkey, time)
    // A clock far ahead would look fresh for ever, so such a cosignature shows consistency and no freshness.
    if (time <= now + MAX_CLOCK_SKEW_MS) keepNewest(plausibleTimes, key.vkey, time)
  }
  ensure(
    newestOf(policy.quorum, times) >= 0,
    'witness_quorum',
    'too few trusted witnesses have cosigned the checkpoint',
  )
  const newestMs = newestOf(policy.quorum, plausibleTimes)
  ensure(newestMs >= now - maxStaleMs, 'stale_view', 'the newest witnessed checkpoint is too old', { newestMs })
  return { witnessed: true, newestMs }
}

function keepNewest(times: Map<string, number>, vkey: string, time: number): void {
  times.set(vkey, Math.max(time, times.get(vkey) ?? Number.NEGATIVE_INFINITY))
}

/** A group of threshold k has witnessed a time as soon as its k-th newest member has. */
function newestOf(member: Member, times: ReadonlyMap<string, number>): number {
  if (member.kind === 'witness') return times.get(member.key.vkey) ?? Number.NEGATIVE_INFINITY
  const newestFirst = member.members.map((one) => newestOf(one, times)).sort((a, b) => b - a)
  return newestFirst[member.threshold - 1] as number
}
