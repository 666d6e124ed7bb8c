import { mutateText, ODD_CHARACTERS } from './mutate-text.ts'
import type { Random } from './random.ts'

// Changes of one node of a JSON value: delete, swap, replay, flip, change of type. The original is never touched.

export type Path = readonly (string | number)[]

/** A valid value with the paths of its nodes, listed once. */
export interface Tree {
  readonly root: unknown
  readonly paths: readonly Path[]
}

export function treeOf(root: unknown): Tree {
  const paths: Path[] = []
  const walk = (node: unknown, path: Path): void => {
    if (path.length > 0) paths.push(path)
    if (Array.isArray(node)) for (const [i, entry] of node.entries()) walk(entry, [...path, i])
    else if (typeof node === 'object' && node !== null)
      for (const [key, entry] of Object.entries(node)) walk(entry, [...path, key])
  }
  walk(root, [])
  return { root, paths: paths.length > 0 ? paths : [[]] }
}

type Container = Record<string | number, unknown>
const isContainer = (node: unknown): node is Container => typeof node === 'object' && node !== null

export function nodeAt(root: unknown, path: Path): unknown {
  let node = root
  for (const key of path) {
    if (!isContainer(node) || !Object.hasOwn(node, key)) return undefined
    node = node[key]
  }
  return node
}

/** Gives `change` a copy of the container that holds the last step of the path, and copies all containers above it. */
function withCopy(
  root: unknown,
  path: Path,
  change: (holder: Container, key: string | number) => void,
  depth = 0,
): unknown {
  const key = path[depth] as string | number
  if (!isContainer(root) || !Object.hasOwn(root, key)) return root
  const copy = (Array.isArray(root) ? root.slice() : { ...root }) as Container
  if (depth === path.length - 1) change(copy, key)
  else put(copy, key, withCopy(root[key], path, change, depth + 1))
  return copy
}

/** As JSON.parse does it: `__proto__` becomes a member like any other. */
function put(holder: Container, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true })
}

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}
const DEEP = [nested(15), nested(16), nested(17), nested(500)]
/** What JSON can hold and a parser may not expect. `toString` that is no function breaks every silent conversion. */
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, 1, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e308, -1e308],
  ...[
    '',
    '0',
    'true',
    'null',
    '__proto__',
    'constructor',
    'A'.repeat(43),
    'v3.',
    '\ud800',
    'é',
    'e\u0301',
    'x'.repeat(5000),
  ],
  ...[[], {}, [null], [[]], { toString: null, valueOf: null }, { toString: 1 }, { length: 1 }, new Array(300).fill(0)],
  ...DEEP,
]
/** Objects that cannot be compared, added or joined: every silent conversion of them throws. */
const NO_PRIMITIVES: readonly unknown[] = [{ toString: null, valueOf: null }, [{ toString: 1, valueOf: 1 }]]
const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'length',
  'then',
  'a',
  'v',
  't',
  '',
] as const

type Change = (random: Random, holder: Container, key: string | number, pool: readonly Tree[]) => void

const anyNode = (random: Random, pool: readonly Tree[]): unknown => {
  const { root, paths } = random.pick(pool)
  return nodeAt(root, random.pick(paths))
}

const CHANGES: readonly Change[] = [
  (random, holder, key) => put(holder, key, random.pick(VALUES)),
  (random, holder, key) => put(holder, key, random.pick(NO_PRIMITIVES)),
  (random, holder, key) => put(holder, key, changeLeaf(random, holder[key])),
  (random, holder, key) => put(holder, key, changeLeaf(random, holder[key])),
  (random, holder, key) => put(holder, key, changeLeaf(random, holder[key])),
  (_, holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holder[key]
  },
  (random, holder, key) => {
    const others = Object.keys(holder)
    const other = random.pick(others)
    const kept = holder[key]
    put(holder, key, holder[other])
    put(holder, other, kept)
  },
  (random, holder, key) => {
    if (Array.isArray(holder)) holder.splice(random.int(holder.length + 1), 0, holder[Number(key)])
    else put(holder, random.pick(KEYS), holder[key])
  },
  (random, holder, key, pool) => put(holder, key, anyNode(random, pool)),
  (random, holder) => {
    if (Array.isArray(holder)) holder.push(random.pick(VALUES))
    else put(holder, random.pick(KEYS), random.pick(VALUES))
  },
  (random, holder, key) => put(holder, key, random.once(2) ? [holder[key]] : { [String(key)]: holder[key] }),
]

function changeLeaf(random: Random, node: unknown): unknown {
  if (typeof node === 'string') return random.once(3) ? node + random.pick(ODD_CHARACTERS) : mutateText(random, node)
  if (typeof node === 'number')
    return random.pick([node + 1, node - 1, -node, node + 0.5, node * 2 ** 32, 0, String(node)])
  if (typeof node === 'boolean') return random.pick([!node, Number(node), String(node)])
  if (Array.isArray(node))
    return random.pick([[], node.toReversed(), [...node, ...node], Object.fromEntries(node.entries())])
  return random.pick(VALUES)
}

/** Any node, or one on a random way down: what stands alone near the root would hardly ever be met among a thousand others. */
function anyPath(random: Random, { root, paths }: Tree): Path {
  if (random.once(2)) return random.pick(paths)
  const path: (string | number)[] = []
  let node = root
  do {
    if (!isContainer(node)) break
    const keys = Object.keys(node)
    if (keys.length === 0) break
    const key = random.pick(keys)
    path.push(Array.isArray(node) ? Number(key) : key)
    node = node[key]
  } while (!random.once(4))
  return path
}

/**
 * The same path in another recorded value: a replay of an old or foreign part in its own place. Otherwise one node, rarely
 * two or three, changed in some other way.
 */
export function mutateJson(random: Random, tree: Tree, pool: readonly Tree[] = [tree]): unknown {
  if (random.once(100)) return random.pick(VALUES)
  const path = anyPath(random, tree)
  if (path.length === 0) return random.pick(VALUES)
  if (random.once(6)) {
    const replayed = nodeAt(random.pick(pool).root, path)
    if (replayed !== undefined) return replaceAt(tree.root, path, replayed)
  }
  let root = tree.root
  for (let left = random.once(4) ? 1 + random.int(3) : 1; left > 0; left--)
    root = withCopy(root, anyPath(random, tree), (holder, key) => random.pick(CHANGES)(random, holder, key, pool))
  return root
}

/** The value with another node at a path. */
export const replaceAt = (root: unknown, path: Path, node: unknown): unknown =>
  withCopy(root, path, (holder, key) => put(holder, key, node))

/** JSON text with sorted keys, whatever the value: canonical wherever the value can be, so that parsers look inside. */
export function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(',')}]`
  if (!isContainer(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.keys(value).sort()
  return `{${members.map((key) => `${JSON.stringify(key)}:${sortedText(value[key])}`).join(',')}}`
}
