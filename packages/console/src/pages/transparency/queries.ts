import {
  documentsOf,
  fromBase64,
  leafHash,
  orgTrustOf,
  parseLeaf,
  peekCheckpoint,
  toBase64url,
  updatesOf,
} from '@strongroom/protocol'
import type { Checkpoint, LogEntry } from '@strongroom/sdk'
import { indexedDbTrust } from '@strongroom/sdk/browser'
import { queryOptions } from '@tanstack/react-query'
import type { OpenSession } from '../../session/session.ts'
import { ensureLastLeaves, frontierBefore, type ProvenStep, prove } from './merkle-path.ts'
import { checked } from './refusal.ts'

/** The newest log that this browser has verified, and when. */
export interface Position {
  readonly size: number
  readonly root: string
  readonly at: Date
}

async function position(orgId: string): Promise<Position | undefined> {
  const store = await indexedDbTrust().read()
  // Before its first verified read a browser stands nowhere.
  if (!Object.hasOwn(store.orgs, orgId)) return undefined
  const { checkpoint, checkpointAt } = orgTrustOf(store, orgId)
  if (checkpoint === null) return undefined
  const { size, root } = peekCheckpoint(checkpoint)
  return { size, root: toBase64url(root), at: new Date(checkpointAt) }
}

export interface Ledger {
  /** Verified in this browser: signed by the pinned key, and it continues what was seen before. */
  readonly head: Checkpoint
  readonly verifiedAt: Date
  /** Where this browser stood when the page was opened. */
  readonly before: Position | undefined
  /** The last ones of the log, oldest first: all of them and in their order, which the root proves. */
  readonly entries: readonly LogEntry[]
  /** Index of the first. */
  readonly from: number
}

type Asking = Pick<OpenSession, 'strongroom' | 'client' | 'person'>

interface Served {
  readonly leaf: string
  readonly documents?: string
  readonly updates?: string
}

/** An entry that the verified root is over. */
export interface ProvenEntry extends LogEntry {
  /** The hashes of the signed documents that made it. */
  readonly documents: readonly string[]
}

/** What a leaf says. Called only for leaves that the verified root is over. */
function entryOf({ leaf, documents, updates }: Served, index: number): ProvenEntry {
  const bytes = fromBase64(leaf)
  const parsed = parseLeaf(bytes)
  const named = updatesOf(parsed, updates === undefined ? undefined : fromBase64(updates))
  return {
    documents: documentsOf(parsed, documents === undefined ? undefined : fromBase64(documents)),
    index,
    type: parsed.t,
    subjects: named.map(([name]) => name),
    at: new Date(parsed.at),
    leafHash: toBase64url(leafHash(bytes)),
  }
}

/** Entries from `from` to the head, which are exactly what the signed root is over. */
async function provenEntries({ client, person }: Asking, head: Checkpoint, from: number, signal: AbortSignal) {
  const { treeSize: size, rootHash, note } = head
  const served: Served[] = []
  while (from + served.length < size) {
    const start = from + served.length
    const { entries } = await client.transparency.entries({ query: { start, end: size } }, { signal })
    // A gap shows itself below: what is missing leads to another root.
    if (entries.length === 0) break
    served.push(...entries)
  }
  const asked = { params: { index: from }, query: { size } }
  const hashes = from === 0 ? [] : (await client.transparency.proof(asked, { signal })).hashes
  const answer = { checkpoint: note, from, entries: served, hashes }
  return checked({ orgId: person.orgId, answer }, () => {
    const leaves = served.map(({ leaf }) => leafHash(fromBase64(leaf)))
    ensureLastLeaves(frontierBefore(from, size, hashes), leaves, rootHash)
    return served.map((one, at) => entryOf(one, from + at))
  })
}

export const ledgerQuery = (asking: Asking, count: number) => {
  const queryKey = ['transparency', 'ledger', count]
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }): Promise<Ledger> => {
      const seen = await position(asking.person.orgId)
      const head = await asking.strongroom.transparency.head({ signal })
      const from = Math.max(0, head.treeSize - count)
      const entries = await provenEntries(asking, head, from, signal)
      const before = client.getQueryData<Ledger>(queryKey)?.before ?? seen
      return { head, verifiedAt: new Date(), before, entries, from }
    },
  })
}

const POLL_MS = 10_000

/** How long the log is by now, as the server says: whether there is something new to verify. */
export const servedSizeQuery = ({ client }: Asking) =>
  queryOptions({
    queryKey: ['transparency', 'served size'],
    refetchInterval: POLL_MS,
    queryFn: async ({ signal }) => (await client.transparency.checkpoint({}, { signal })).size,
  })

export interface Proof {
  readonly entry: LogEntry
  readonly head: Checkpoint
  readonly documents: readonly string[]
  readonly steps: readonly ProvenStep[]
  /** Everything that is needed to check it again elsewhere. */
  readonly file: string
}

/** One entry and its way to the verified root, every hash recomputed in this browser. */
export const proofQuery = ({ strongroom, client, person }: Asking, index: number) =>
  queryOptions({
    queryKey: ['transparency', 'proof', index],
    queryFn: async ({ signal }): Promise<Proof> => {
      const head = await strongroom.transparency.head({ signal })
      const size = head.treeSize
      const [{ entries }, { hashes }] = await Promise.all([
        client.transparency.entries({ query: { start: index, end: index + 1 } }, { signal }),
        client.transparency.proof({ params: { index }, query: { size } }, { signal }),
      ])
      const [served] = entries
      const answer = { checkpoint: head.note, index, entry: served, hashes }
      return checked({ orgId: person.orgId, answer }, () => {
        const bytes = fromBase64(served?.leaf ?? '')
        const steps = prove({ leafHash: leafHash(bytes), index, size, root: head.rootHash, hashes })
        const entry = entryOf(served ?? { leaf: '' }, index)
        return { entry, head, documents: entry.documents, steps, file: JSON.stringify(answer, null, 2) }
      })
    },
  })

/** Every entry of the log, which the signed root proves. */
export async function wholeLog(
  asking: Asking,
  signal: AbortSignal,
): Promise<{ readonly head: Checkpoint; readonly entries: readonly ProvenEntry[] }> {
  const head = await asking.strongroom.transparency.head({ signal })
  return { head, entries: await provenEntries(asking, head, 0, signal) }
}

/** Every entry of the log, and what this browser has pinned. */
export const signersQuery = (asking: Asking) =>
  queryOptions({
    queryKey: ['transparency', 'signers'],
    queryFn: async ({ signal }) => ({
      ...(await wholeLog(asking, signal)),
      pinned: await asking.strongroom.transparency.trust.list(),
    }),
  })

export const alarmsQuery = ({ strongroom }: Pick<Asking, 'strongroom'>) =>
  queryOptions({
    queryKey: ['transparency', 'alarms'],
    queryFn: async () => [...(await strongroom.transparency.trust.alarms())].reverse(),
  })
