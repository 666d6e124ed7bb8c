import { type OrgTrust, orgTrustOf, type TrustStore } from '@strongroom/protocol'
import type { Round } from './verified.ts'

// When something was last seen online, kept with the pins: what a cache says of its own age is as little proven as the rest of it.

/**
 * Written along with whatever is written. By itself only when it is so old: a start that reads several vaults, one after the other,
 * writes once as before, and not once for each. The age of what is cached is known this exactly and no better.
 */
const SEEN_MS = 600_000

const HASH = /^[A-Za-z0-9_-]{43}$/

/** Rounds carry no projects; what the log says of one is in the view, and its pin follows. */
const shownIn = ({ directory, heads }: Round): readonly string[] => [
  ...heads.map(({ hash }) => hash),
  ...[...directory.view.states]
    .filter(([name]) => name.startsWith('project/'))
    .map(([, state]) => String((state as { docHash?: unknown } | null)?.docHash))
    .filter((docHash) => HASH.test(docHash)),
]

/** What is pinned no more goes, so that the store does not grow with every change. */
export function withSeen(store: TrustStore, org: string, rounds: readonly Round[], now: number): TrustStore {
  const trust = orgTrustOf(store, org)
  const { vaults, projects, seenAt = {} } = trust
  const pinned = [
    ...Object.values(vaults).map(({ headHash }) => headHash),
    ...Object.values(projects).map(({ docHash }) => docHash),
  ]
  const kept = Object.entries(seenAt).filter(([hash]) => pinned.includes(hash))
  const next = Object.fromEntries([...kept, ...rounds.flatMap(shownIn).map((hash) => [hash, now])])
  return { ...store, orgs: { ...store.orgs, [org]: { ...trust, seenAt: next } } }
}

/** False also for what was not seen before, and where a clock that was ahead is right again. */
export const isSeenLately = ({ seenAt: old = {} }: OrgTrust, { seenAt = {} }: OrgTrust): boolean =>
  Object.entries(seenAt).every(([hash, at]) => Math.abs(at - (old[hash] ?? Number.NaN)) < SEEN_MS)

/** The latest that a cached answer can have been fetched; no bound in a store that has not seen it since it knows of this. */
export const latestFetch = ({ seenAt }: OrgTrust, hash = ''): number =>
  (seenAt?.[hash] ?? Number.POSITIVE_INFINITY) + SEEN_MS
