import {
  appendLeaf,
  auditLeaf,
  documentsOf,
  EMPTY_FRONTIER,
  type Envelope,
  type Frontier,
  frontierRoot,
  leafHash,
  makeLedger,
  parseLeaf,
  parseTrustAnchor,
  peekDocument,
  vaultHead,
  verifyCheckpoint,
} from '@strongroom/protocol'
import type { Client, FirstPerson } from '@strongroom/sdk'
import type { Database } from '../../../src/db/database.ts'
import { failed, lost, type Problem } from '../writers/writer.ts'

// An auditor beside the writers: every leaf that is served, replayed by the protocol's own transition function from the first, and
// every checkpoint that any client was ever shown compared with the tree that the leaves give.

export interface Replay {
  /** Replays what is new. */
  catchUp(): Promise<Problem[]>
  /** Of notes that clients were shown. Each is kept and compared again with every later state of the log. */
  show(notes: readonly string[]): Promise<Problem[]>
  compareShown(): Problem[]
  /** Different sizes that were shown. */
  shown(): number
  /** Pairs of checkpoints, or of a checkpoint and the leaves, that cannot both be true. */
  inconsistent(): number
  /** The leaves that changed a vault. */
  commitsOf(vaultId: string): readonly number[]
}

export interface ReplayOptions {
  readonly founder: Pick<FirstPerson, 'orgId' | 'trustAnchor'>
  client(): Client
  asAuditor<T>(work: (database: Database) => Promise<T>): Promise<T>
}

type Entry = Awaited<ReturnType<Client['transparency']['entries']>>['entries'][number]

const bytes = (text: string): Buffer => Buffer.from(text, 'base64')
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex')
const listOf = (text: string | undefined): Buffer | undefined => (text === undefined ? undefined : bytes(text))

const DOCUMENTS =
  'select doc_hash as hash, envelope from strongroom.log_document where org_id = $1 and doc_hash = any($2)'

export function makeReplay({ founder, client, asAuditor }: ReplayOptions): Replay {
  const { origin, logVkeys: logKeys } = parseTrustAnchor(founder.trustAnchor)
  const ledger = makeLedger(founder.orgId)
  const roots: string[] = []
  const commits = new Map<string, number[]>()
  const shown = new Map<number, string>()
  let frontier: Frontier = EMPTY_FRONTIER
  let inconsistent = 0

  const documentsFor = (entries: readonly Entry[]): Promise<ReadonlyMap<string, Envelope>> => {
    const hashes = entries.flatMap(({ leaf, documents }) => documentsOf(parseLeaf(bytes(leaf)), listOf(documents)))
    return asAuditor(async ({ pool }) => {
      const { rows } = await pool.query<{ hash: string; envelope: Envelope }>(DOCUMENTS, [founder.orgId, hashes])
      return new Map(rows.map(({ hash, envelope }) => [hash, envelope]))
    })
  }

  const replay = async ({ leaf, documents, updates }: Entry, found: ReadonlyMap<string, Envelope>): Promise<void> => {
    const index = frontier.size
    const lists = { documents: listOf(documents), updates: listOf(updates) }
    const docs = documentsOf(parseLeaf(bytes(leaf)), lists.documents).map((hash) => found.get(hash) as Envelope)
    await auditLeaf(ledger, {
      leaf: bytes(leaf),
      docs,
      ...(lists.updates && { updates: lists.updates }),
      ...(lists.documents && { documents: lists.documents }),
    })
    for (const doc of docs.filter(({ payloadType }) => payloadType.includes('.vault-head+'))) {
      const { vaultId } = peekDocument(vaultHead, doc).payload
      commits.set(vaultId, [...(commits.get(vaultId) ?? []), index])
    }
    frontier = appendLeaf(frontier, leafHash(bytes(leaf))).frontier
    roots[frontier.size] = hex(frontierRoot(frontier))
  }

  const compare = (size: number, root: string): Problem[] => {
    if (size > frontier.size) return [lost(`a checkpoint of ${size} leaves was shown, and there are ${frontier.size}`)]
    if (roots[size] === root) return []
    inconsistent++
    return [failed(`the leaves do not give the root that was signed for ${size}`)]
  }

  return {
    catchUp: async () => {
      const newest = await client().transparency.checkpoint()
      const { size, root } = await verifyCheckpoint(newest.checkpoint, { origin, logKeys })
      if (size < frontier.size) return [lost(`the log had ${frontier.size} leaves and has ${size}`)]
      while (frontier.size < size) {
        const { entries } = await client().transparency.entries({ query: { start: frontier.size, end: size } })
        const found = await documentsFor(entries)
        for (const entry of entries) {
          if (entry.index !== frontier.size) return [failed(`leaf ${frontier.size} is missing`)]
          await replay(entry, found)
        }
      }
      return compare(size, hex(root))
    },
    show: async (notes) => {
      const problems: Problem[] = []
      for (const note of notes) {
        const { size, root } = await verifyCheckpoint(note, { origin, logKeys })
        const known = shown.get(size)
        if (known !== undefined && known !== hex(root)) {
          inconsistent++
          problems.push(failed(`size ${size} was signed with two roots`))
        }
        shown.set(size, hex(root))
      }
      return problems
    },
    compareShown: () => [...shown].flatMap(([size, root]) => compare(size, root)),
    shown: () => shown.size,
    inconsistent: () => inconsistent,
    commitsOf: (vaultId) => commits.get(vaultId) ?? [],
  }
}
