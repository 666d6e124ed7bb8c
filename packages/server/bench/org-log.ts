import {
  appendLeaf,
  claimedKind,
  documentHash,
  EMPTY_FRONTIER,
  type Envelope,
  type Frontier,
  type JsonObject,
  leafHash,
  leafOf,
  makeCheckpoint,
  makeLedger,
  mapValue,
  type NoteSigner,
  principalOf,
  type Transition,
  transition,
} from '@strongroom/protocol'
import type pg from 'pg'
import { changeNodes } from '../src/log/map-nodes.ts'
import { type Column, insertRows } from './bulk.ts'

// A log that is made in memory, leaf by leaf under the protocol's own rules, and written to the tables at once: what a hundred
// thousand requests would leave there, without the requests. Every proof over it holds; the benchmark verifies some.

export interface OrgLog {
  readonly orgId: string
  /** Applies one act by the rules; gives the index of its leaf. */
  append(docs: readonly Envelope[]): Promise<{ index: number; transition: Transition }>
  size(): number
  /** Into the tables of an organisation whose log is empty. */
  write(client: pg.Client): Promise<void>
}

interface Leaf {
  readonly bytes: Uint8Array
  readonly updates: Uint8Array | undefined
  readonly documents: Uint8Array | undefined
  readonly note: string
}

interface Kept {
  readonly leaves: Leaf[]
  readonly nodes: { readonly level: number; readonly index: number; readonly hash: Uint8Array }[]
  readonly documents: Map<string, Envelope>
  readonly states: Map<string, JsonObject>
  frontier: Frontier
  at: number
}

export function makeOrgLog(orgId: string, origin: string, signer: NoteSigner): OrgLog {
  const ledger = makeLedger(orgId)
  const kept: Kept = {
    leaves: [],
    nodes: [],
    documents: new Map(),
    states: new Map(),
    frontier: EMPTY_FRONTIER,
    at: Date.now(),
  }
  return {
    orgId,
    size: () => kept.leaves.length,
    append: async (docs) => {
      const index = kept.leaves.length
      const applied = await transition(ledger, index, { docs, at: kept.at })
      const made = leafOf(ledger.map, applied, kept.at)
      const grown = appendLeaf(kept.frontier, leafHash(made.bytes))
      kept.frontier = grown.frontier
      kept.nodes.push(...grown.nodes)
      const note = await makeCheckpoint({ origin, size: index + 1, root: grown.root }, signer)
      kept.leaves.push({ bytes: made.bytes, updates: made.updates, documents: made.documents, note })
      for (const { name, state } of applied.updates) kept.states.set(name, state)
      for (const envelope of docs) kept.documents.set(documentHash(envelope), envelope)
      ledger.accept(applied, docs, kept.at, made.bytes)
      return { index, transition: applied }
    },
    write: (client) => write(client, orgId, kept, Buffer.from(ledger.map.root())),
  }
}

const bytes = (value: Uint8Array | undefined): Buffer | null => (value ? Buffer.from(value) : null)

async function write(client: pg.Client, orgId: string, kept: Kept, mapRoot: Buffer): Promise<void> {
  await client.query('begin')
  await writeTree(client, orgId, kept)
  await writeMap(client, orgId, kept, mapRoot)
  const { leaves, frontier, at } = kept
  await client.query(
    'update log_state set size = $2, frontier = $3, map_root = $4, last_at = $5, note = $6 where org_id = $1',
    [
      orgId,
      leaves.length,
      frontier.hashes.map((hash) => Buffer.from(hash).toString('base64')),
      mapRoot.toString('base64url'),
      at,
      leaves.at(-1)?.note,
    ],
  )
  await client.query('commit')
}

async function writeTree(client: pg.Client, orgId: string, { leaves, nodes, documents, at }: Kept): Promise<void> {
  const own = (count: number): Column => ['text', Array.from({ length: count }, () => orgId)]
  const indexes = leaves.map((_, i) => i)
  const sizes = leaves.map((_, i) => i + 1)
  await insertRows(client, 'log_leaf', {
    org_id: own(leaves.length),
    leaf_index: ['bigint', indexes],
    size: ['bigint', sizes],
    leaf: ['bytea', leaves.map((leaf) => bytes(leaf.bytes))],
    updates: ['bytea', leaves.map((leaf) => bytes(leaf.updates))],
    documents: ['bytea', leaves.map((leaf) => bytes(leaf.documents))],
  })
  await insertRows(client, 'log_checkpoint', {
    org_id: own(leaves.length),
    size: ['bigint', sizes],
    leaf_index: ['bigint', indexes],
    note: ['text', leaves.map(({ note }) => note)],
    created_at: ['timestamptz', leaves.map(() => new Date(at))],
  })
  await insertRows(client, 'log_node', {
    org_id: own(nodes.length),
    level: ['integer', nodes.map(({ level }) => level)],
    node_index: ['bigint', nodes.map(({ index }) => index)],
    hash: ['bytea', nodes.map(({ hash }) => bytes(hash))],
  })
  const all = [...documents]
  await insertRows(client, 'log_document', {
    org_id: own(all.length),
    doc_hash: ['text', all.map(([hash]) => hash)],
    kind: ['text', all.map(([, envelope]) => claimedKind(envelope))],
    envelope: ['jsonb', all.map(([, envelope]) => JSON.stringify(envelope))],
  })
}

async function writeMap(client: pg.Client, orgId: string, { states }: Kept, mapRoot: Buffer): Promise<void> {
  const all = [...states]
  const { nodes, root } = changeNodes(
    [],
    all.map(([name, state]) => ({ name, value: mapValue(state) })),
  )
  if (!root.equals(mapRoot)) throw new Error('the rows of the map give another root')
  const part = (name: string, kind: string, i: number): string | null =>
    name.startsWith(`${kind}/`) ? (name.split('/')[i] ?? null) : null
  await insertRows(client, 'map_state', {
    org_id: ['text', all.map(() => orgId)],
    name: ['text', all.map(([name]) => name)],
    state: ['jsonb', all.map(([, state]) => JSON.stringify(state))],
    principal: ['text', all.map(([name]) => (name.startsWith('kid/') ? principalOf(name.slice(4)) : null))],
    vault_id: ['text', all.map(([name]) => part(name, 'grant', 1))],
    kid: ['text', all.map(([name]) => part(name, 'grant', 2))],
    is_live: ['boolean', all.map(([name, state]) => !name.startsWith('grant/') || state.wrapHash !== '')],
  })
  await insertRows(client, 'map_node', {
    org_id: ['text', nodes.map(() => orgId)],
    path: ['text', nodes.map(({ path }) => path)],
    hash: ['bytea', nodes.map(({ hash }) => hash)],
    leaf_key: ['bytea', nodes.map(({ leaf }) => leaf?.key ?? null)],
    leaf_value: ['bytea', nodes.map(({ leaf }) => leaf?.value ?? null)],
  })
}
