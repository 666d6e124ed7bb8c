import {
  appendLeaf,
  documentHash,
  type Envelope,
  type LeafType,
  leafHash,
  leafOf,
  makeCheckpoint,
  mapValue,
  openPartialMap,
  type StateUpdate,
} from '@strongroom/protocol'
import { inOrg } from '../src/context.ts'
import { LOG_KEY, openLogKey } from '../src/log/log-key.ts'
import * as store from '../src/log/log-store.ts'
import { changeNodes } from '../src/log/map-nodes.ts'
import { readPaths } from '../src/log/map-store.ts'
import type { Harness } from './harness.ts'

// What a server could do that does not obey the rules: a leaf of its own invention, in a log that is append-only, under a map that
// has the root the leaf names, with a checkpoint that the log's own key signed.

export interface Forgery {
  readonly t: LeafType
  readonly docs: readonly Envelope[]
  readonly updates: readonly StateUpdate[]
}

export async function forgeLeaf({ deps }: Harness, orgId: string, { t, docs, updates }: Forgery): Promise<number> {
  const now = Date.now()
  return inOrg(deps, orgId, async (db) => {
    const log = await store.lockLog(db, orgId, LOG_KEY)
    if (!log?.sealedKey) throw new Error('there is no log')
    const paths = await readPaths(
      db,
      orgId,
      updates.map(({ name }) => name),
    )
    const claims = paths.map(({ name, state, siblings, terminal }) => ({
      name,
      valueHash: state === null ? null : mapValue(state),
      proof: { siblings, terminal },
    }))
    const map = openPartialMap(Buffer.from(log.mapRoot, 'base64url'), claims)
    const leaf = leafOf(map, { t, d: docs.map(documentHash).sort(), updates }, now)
    const changes = updates.map(({ name, state }) => ({ name, value: mapValue(state) }))
    const { nodes, root } = changeNodes(
      paths.flatMap((path) => path.nodes),
      changes,
    )
    const frontier = { size: log.size, hashes: log.frontier.map((hash) => Buffer.from(hash, 'base64')) }
    const grown = appendLeaf(frontier, leafHash(leaf.bytes))
    const mapRoot = root.toString('base64url')
    await store.writeLeaf(db, { orgId, index: log.size, at: now, leaf, grown, docs, states: updates, nodes, mapRoot })
    const size = log.size + 1
    const note = await makeCheckpoint({ origin: log.origin, size, root: grown.root }, openLogKey(deps, log.sealedKey))
    await store.writeCheckpoint(db, { orgId, size, note, at: new Date(now) })
    return log.size
  })
}

/** The log's own signature on any claim about it. */
export async function signAsLog(
  { deps }: Harness,
  orgId: string,
  claim: { size: number; root: Uint8Array },
): Promise<string> {
  return inOrg(deps, orgId, async (db) => {
    const log = await store.lockLog(db, orgId, LOG_KEY)
    if (!log?.sealedKey) throw new Error('there is no log')
    return makeCheckpoint({ origin: log.origin, ...claim }, openLogKey(deps, log.sealedKey))
  })
}
