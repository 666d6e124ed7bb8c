import {
  appendLeaf,
  decodeProof,
  documentsOf,
  EMPTY_FRONTIER,
  frontierRoot,
  leafHash,
  POLICY_NAME,
  parseLeaf,
  parseTrustAnchor,
  peekCheckpoint,
  verifyCheckpoint,
  verifyConsistency,
} from '@strongroom/protocol'
import type { Client } from '@strongroom/sdk'
import type { World } from '../world.ts'
import { failed, lost, type Problem } from '../writers/writer.ts'

// The log of the organisation as a monitor sees it: it watches all the time and remembers every checkpoint it was ever shown.

export interface LogMonitor {
  /** Asks for checkpoints for ever; a server that is away is asked again. */
  watch(): Promise<never>
  check(): Promise<Problem[]>
}

const EVERY_MS = 40
const PROVEN_OLD_ONES = 10
const bytes = (text: string): Buffer => Buffer.from(text, 'base64')
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex')

interface Rehashed {
  readonly size: number
  /** By size. */
  readonly roots: readonly string[]
  readonly documents: ReadonlySet<string>
}

/** Every leaf as it is served, hashed anew. */
async function rehash(client: Client): Promise<Rehashed> {
  let frontier = EMPTY_FRONTIER
  const roots: string[] = [hex(frontierRoot(frontier))]
  const documents = new Set<string>()
  const { size } = await client.transparency.checkpoint()
  while (frontier.size < size) {
    const { entries } = await client.transparency.entries({ query: { start: frontier.size, end: size } })
    for (const { index, leaf, documents: list } of entries) {
      if (index !== frontier.size) throw new Error(`leaf ${frontier.size} is missing`)
      frontier = appendLeaf(frontier, leafHash(bytes(leaf))).frontier
      roots.push(hex(frontierRoot(frontier)))
      for (const hash of documentsOf(parseLeaf(bytes(leaf)), list === undefined ? undefined : bytes(list)))
        documents.add(hash)
    }
  }
  return { size, roots, documents }
}

export function makeLogMonitor({ session, founder, journal, asAuditor, loggedDocuments }: World): LogMonitor {
  const { origin, logVkeys: logKeys } = parseTrustAnchor(founder.trustAnchor)
  /** Size to root, of every checkpoint ever served. */
  const seen = new Map<number, string>()
  const forks: Problem[] = []
  let unproven: number[] = []

  const remember = async (note: string): Promise<void> => {
    const { size, root } = await verifyCheckpoint(note, { origin, logKeys })
    const known = seen.get(size)
    if (known !== undefined && known !== hex(root)) forks.push(failed(`size ${size} was signed with two roots`))
    if (known !== undefined) return
    seen.set(size, hex(root))
    unproven.push(size)
  }

  const prove = async (from: number): Promise<Problem[]> => {
    const answer = await session().transparency.state({ query: { name: POLICY_NAME, have: from } })
    const { size: to, root: toRoot } = peekCheckpoint(answer.checkpoint)
    await remember(answer.checkpoint)
    if (from >= to) return from > to ? [lost(`the log had ${from} leaves and has ${to}`)] : []
    const fromRoot = Buffer.from(seen.get(from) as string, 'hex')
    try {
      verifyConsistency({ from, fromRoot, to, toRoot, proof: decodeProof(answer.consistency?.hashes ?? []) })
      return []
    } catch (error) {
      return [failed(`no consistency from ${from} to ${to}: ${(error as Error).message}`)]
    }
  }

  /** What the database keeps as signed. */
  const checkStored = async ({ size, roots }: Rehashed): Promise<Problem[]> => {
    const stored = await asAuditor(
      async ({ pool }) =>
        (await pool.query<{ size: number; note: string }>('select size, note from strongroom.log_checkpoint')).rows,
    )
    const wrong = stored.filter((row) => hex(peekCheckpoint(row.note).root) !== roots[row.size])
    return [
      ...wrong.map((row) => failed(`the stored checkpoint of size ${row.size} has another root than the leaves`)),
      ...(stored.length === size ? [] : [failed(`${stored.length} checkpoints are stored for ${size} leaves`)]),
    ]
  }

  return {
    watch: async () => {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
        if (!journal.isRunning()) continue
        const answer = await session()
          .transparency.checkpoint()
          .catch(() => undefined)
        if (answer) await remember(answer.checkpoint)
      }
    },
    check: async () => {
      const log = await rehash(session())
      await remember((await session().transparency.checkpoint()).checkpoint)
      const differing = [...seen].flatMap(([size, root]) => {
        if (size > log.size) return [lost(`a checkpoint of ${size} leaves was served, and there are ${log.size}`)]
        return log.roots[size] === root ? [] : [failed(`the leaves do not give the root that was signed for ${size}`)]
      })
      const missing = [...loggedDocuments].filter((hash) => !log.documents.has(hash))
      const older = [...seen.keys()].filter((_, i) => i % Math.ceil(seen.size / PROVEN_OLD_ONES) === 0)
      const proofs: Problem[] = []
      for (const size of new Set([...unproven, ...older])) proofs.push(...(await prove(size)))
      unproven = []
      return [
        ...differing,
        ...missing.map((hash) => lost(`the log does not name the document ${hash}`)),
        ...proofs,
        ...(await checkStored(log)),
        ...forks.splice(0),
      ]
    },
  }
}
