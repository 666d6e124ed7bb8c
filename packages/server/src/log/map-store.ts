import { type JsonObject, principalOf } from '@strongroom/protocol'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { groupBy } from './group-by.ts'
import { bitsOf, keyOfName, type MapNode } from './map-nodes.ts'

// The state map in its tables: states by name, nodes by path.

/** The way of one name from the root down: what stands on it, what stands beside it. */
export interface MapPath {
  readonly name: string
  /** What the map holds under the name. */
  readonly state: JsonObject | null
  readonly siblings: readonly Buffer[]
  readonly terminal: readonly [key: Buffer, value: Buffer] | null
  /** Every node that was met, for whoever changes the map. */
  readonly nodes: readonly MapNode[]
}

interface Step {
  readonly name: string
  readonly bits: string
  readonly depth: number
  readonly hash: Buffer | null
  readonly leaf_key: Buffer | null
  readonly leaf_value: Buffer | null
  readonly beside: Buffer | null
  readonly beside_key: Buffer | null
  readonly beside_value: Buffer | null
  readonly state: JsonObject | null
}

/**
 * A step for each node on the way to each name, down to the leaf or the empty place where the way ends. The next two places are
 * columns: under row-level security a condition with a function in it would not be looked up in an index.
 */
const steps = (orgId: string, names: readonly string[]) => sql`
  with recursive step (name, bits, depth, next, next_beside, hash, leaf_key, leaf_value, beside, beside_key, beside_value) as (
    select w.name, w.bits, 0, ${placesBelow('w.bits', '0')},
      n.hash, n.leaf_key, n.leaf_value, null::bytea, null::bytea, null::bytea
    from unnest(${[...names]}::text[], ${names.map((name) => bitsOf(keyOfName(name)))}::text[]) as w (name, bits)
    left join map_node n on n.org_id = ${orgId} and n.path = ''
    union all
    select s.name, s.bits, s.depth + 1, ${placesBelow('s.bits', 's.depth + 1')},
      n.hash, n.leaf_key, n.leaf_value, b.hash, b.leaf_key, b.leaf_value
    from step s
    left join lateral (select * from map_node where org_id = ${orgId} and path = s.next offset 0) as n on true
    left join lateral (select * from map_node where org_id = ${orgId} and path = s.next_beside offset 0) as b on true
    where s.hash is not null and s.leaf_key is null
  )
  select s.name, s.bits, s.depth, s.hash, s.leaf_key, s.leaf_value, s.beside, s.beside_key, s.beside_value,
    case when s.depth = 0 then (select m.state from map_state m where m.org_id = ${orgId} and m.name = s.name) end as state
  from step s`

/** From a node at this depth: the next place on the way, and the one beside it. */
const placesBelow = (bits: string, depth: string): RawBuilder<unknown> =>
  sql.raw(
    `substr(${bits}, 1, ${depth} + 1), substr(${bits}, 1, ${depth}) || translate(substr(${bits}, ${depth} + 1, 1), '01', '10')`,
  )

const nodeOf = (path: string, hash: Buffer | null, key: Buffer | null, value: Buffer | null): MapNode[] =>
  hash === null ? [] : [{ path, hash, leaf: key && value ? { key, value } : null }]

const other = (bit: string | undefined): string => (bit === '0' ? '1' : '0')
const NO_LEAVES = Buffer.alloc(32)

function nodesOf({ bits, depth, ...step }: Step): MapNode[] {
  const on = nodeOf(bits.slice(0, depth), step.hash, step.leaf_key, step.leaf_value)
  if (depth === 0) return on
  const besidePath = bits.slice(0, depth - 1) + other(bits[depth - 1])
  return [...on, ...nodeOf(besidePath, step.beside, step.beside_key, step.beside_value)]
}

function pathOf(name: string, steps: readonly Step[]): MapPath {
  const [first, ...below] = [...steps].sort((a, b) => a.depth - b.depth)
  const last = below.at(-1) ?? first
  return {
    name,
    state: first?.state ?? null,
    siblings: below.map(({ beside }) => beside ?? NO_LEAVES),
    terminal: last?.leaf_key && last.leaf_value ? [last.leaf_key, last.leaf_value] : null,
    nodes: steps.flatMap(nodesOf),
  }
}

function groupPaths(names: readonly string[], rows: readonly Step[]): readonly MapPath[] {
  const byName = groupBy(rows, ({ name }) => name)
  return names.map((name) => pathOf(name, byName.get(name) ?? []))
}

/** The path of a name among nodes that hold all of it: down to the leaf or the empty place where the way ends. */
export function pathAmong(name: string, state: JsonObject | null, nodes: ReadonlyMap<string, MapNode>): MapPath {
  const bits = bitsOf(keyOfName(name))
  const onTheWay: MapNode[] = []
  const siblings: Buffer[] = []
  let node = nodes.get('')
  for (let depth = 0; node; depth++) {
    onTheWay.push(node)
    if (node.leaf) break
    const beside = nodes.get(bits.slice(0, depth) + other(bits[depth]))
    if (beside) onTheWay.push(beside)
    siblings.push(beside?.hash ?? NO_LEAVES)
    node = nodes.get(bits.slice(0, depth + 1))
  }
  return { name, state, siblings, terminal: node?.leaf ? [node.leaf.key, node.leaf.value] : null, nodes: onTheWay }
}

/** Nodes and states that were read, for whoever asks for paths among them and changes them meanwhile. */
export interface Ways {
  pathTo(name: string): MapPath
  learn(changed: readonly MapNode[]): void
}

export function openWays(
  nodes: readonly MapNode[],
  states: readonly { readonly name: string; readonly state: JsonObject }[],
): Ways {
  const byPath = new Map(nodes.map((node) => [node.path, node]))
  const stateOf = new Map(states.map(({ name, state }) => [name, state]))
  return {
    pathTo: (name) => pathAmong(name, stateOf.get(name) ?? null, byPath),
    learn: (changed) => {
      for (const node of changed) byPath.set(node.path, node)
    },
  }
}

/** The paths of different names as one statement sees them, so that they belong to one root. */
export async function readPaths(db: Db, orgId: string, names: readonly string[]): Promise<readonly MapPath[]> {
  const { rows } = await sql<Step>`${steps(orgId, names)}`.execute(db)
  return groupPaths(names, rows)
}

export interface LogView {
  readonly size: number
  readonly note: string
  readonly paths: readonly MapPath[]
}

/**
 * The newest checkpoint with its cosignatures and the paths of these names, in one statement and so of one moment: a writer that commits meanwhile is
 * seen in all of it or in nothing of it. Everything else a proof needs is never changed and can be read afterwards.
 */
export async function readView(db: Db, orgId: string, names: readonly string[]): Promise<LogView | undefined> {
  const { rows } = await sql<{ size: number; note: string } & Step>`
    with steps as (${steps(orgId, names)})
    select l.size, l.note || l.cosignatures as note, s.* from log_state l left join steps s on true where l.org_id = ${orgId}`.execute(
    db,
  )
  const [first] = rows
  return first && { size: first.size, note: first.note, paths: groupPaths(names, rows) }
}

/** Writes what an append changed: the states, and the nodes on their paths. */
export interface MapWrite {
  readonly states: readonly { readonly name: string; readonly state: JsonObject }[]
  readonly nodes: readonly MapNode[]
}

/** What the rules look a state up by, besides its name. */
function columnsOf({ name, state }: MapWrite['states'][number]) {
  const [kind, first, second] = name.split('/')
  return {
    name,
    state: JSON.stringify(state),
    principal: kind === 'kid' && first ? principalOf(first) : null,
    vaultId: kind === 'grant' ? (first ?? null) : null,
    kid: kind === 'grant' ? (second ?? null) : null,
    isLive: kind !== 'grant' || state.wrapHash !== '',
  }
}

/** As parts of the one statement that writes a leaf. */
export function upsertStates(orgId: string, states: MapWrite['states']): RawBuilder<unknown> {
  const rows = states.map(columnsOf)
  return sql`
    insert into map_state (org_id, name, state, principal, vault_id, kid, is_live)
    select ${orgId}, name, state::jsonb, principal, vault_id, kid, is_live
    from unnest(
      ${rows.map((row) => row.name)}::text[], ${rows.map((row) => row.state)}::text[],
      ${rows.map((row) => row.principal)}::text[], ${rows.map((row) => row.vaultId)}::text[],
      ${rows.map((row) => row.kid)}::text[], ${rows.map((row) => row.isLive)}::boolean[]
    ) as row (name, state, principal, vault_id, kid, is_live)
    on conflict (org_id, name) do update set state = excluded.state, is_live = excluded.is_live`
}

export const upsertNodes = (orgId: string, nodes: readonly MapNode[]): RawBuilder<unknown> => sql`
    insert into map_node (org_id, path, hash, leaf_key, leaf_value)
    select ${orgId}, * from unnest(
      ${nodes.map(({ path }) => path)}::text[], ${nodes.map(({ hash }) => hash)}::bytea[],
      ${nodes.map(({ leaf }) => leaf?.key ?? null)}::bytea[], ${nodes.map(({ leaf }) => leaf?.value ?? null)}::bytea[]
    )
    on conflict (org_id, path) do update
    set hash = excluded.hash, leaf_key = excluded.leaf_key, leaf_value = excluded.leaf_value`
