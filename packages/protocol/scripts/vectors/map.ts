import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import {
  base64,
  EMPTY,
  type Entry,
  hex,
  type MapProof,
  mapLeaf,
  mapProof,
  mapRoot,
  node,
  sha256,
  utf8,
} from './reference.ts'

// Section 5.2: the state map.

const entry = (name: string, value: string): Entry => [sha256(utf8(name)), sha256(utf8(value))]

interface Table {
  readonly name: string
  readonly rows: readonly (readonly [name: string, value: string])[]
  readonly entries: readonly Entry[]
}
const tableOf = (count: number): Table => {
  const rows = Array.from({ length: count }, (_, i) => [`row/${i}`, hex(sha256(utf8(`value ${i}`)))] as const)
  return { name: `${count} rows`, rows, entries: rows.map((_, i) => entry(`row/${i}`, `value ${i}`)) }
}
const TABLES = [0, 1, 2, 3, 500].map(tableOf)

const rootCase = ({ name, rows, entries }: Table): VectorCase =>
  accepts('root', name, rows.length > 10 ? { generate: rows.length } : { rows }, { root: hex(mapRoot(entries)) })

/** Both directions: the proof that is made, and that it verifies. */
function proofCases({ name, rows, entries }: Table, wanted: string): VectorCase[] {
  const key = sha256(utf8(wanted))
  const found = entries.find(([other]) => other.equals(key))
  const proof = mapProof(entries, key)
  const root = hex(mapRoot(entries))
  const value = found ? hex(found[1]) : null
  const input = rows.length > 10 ? { generate: rows.length } : { rows }
  const title = `${wanted} in ${name}`
  return [
    accepts('prove', title, { ...input, name: wanted }, proof),
    accepts('verify', title, { root, name: wanted, value, proof }, { value }),
  ]
}

/** Two keys that share so many leading bits. */
function deepTable(shared: number): { entries: readonly Entry[]; keys: readonly [Buffer, Buffer] } {
  const first = sha256(utf8('deep'))
  const second = Buffer.from(first)
  second[shared >> 3] = (second[shared >> 3] as number) ^ (0x80 >> (shared & 7))
  const keys = [first, second] as const
  return { entries: keys.map((key, i) => [key, sha256(utf8(`value ${i}`))] as const), keys }
}

function deepCases(shared: number): VectorCase[] {
  const { entries, keys } = deepTable(shared)
  const [older, younger] = entries as readonly [Entry, Entry]
  const before = mapRoot([older])
  const after = mapRoot(entries)
  const absent = mapProof([older], keys[1])
  const proof = mapProof(entries, keys[1])
  const value = hex(younger[1])
  return [
    accepts(
      'verify',
      `a key that shares ${shared} bits with its neighbour`,
      { root: hex(after), key: hex(keys[1]), value, proof },
      {
        value,
      },
    ),
    accepts(
      'update',
      `a split at depth ${shared}`,
      { root: hex(before), key: hex(keys[1]), old: null, new: value, proof: absent },
      {
        root: hex(after),
      },
    ),
  ]
}

function updateCases(table: Table): VectorCase[] {
  const cases = [table.entries[0]?.[0], sha256(utf8('row/new'))].filter((key) => key !== undefined)
  return cases.map((key) => {
    const old = table.entries.find(([other]) => other.equals(key))
    const next = sha256(utf8('changed'))
    const after = mapRoot([...table.entries.filter(([other]) => !other.equals(key)), [key, next]])
    const input = { root: hex(mapRoot(table.entries)), key: hex(key), old: old ? hex(old[1]) : null, new: hex(next) }
    const title = `${old ? 'a change' : 'an addition'} in ${table.name}`
    return accepts('update', title, { ...input, proof: mapProof(table.entries, key) }, { root: hex(after) })
  })
}

const flipped = (text: string): string => {
  const bytes = Buffer.from(text, 'base64')
  bytes[0] = (bytes[0] as number) ^ 1
  return base64(bytes)
}

function refusedCases(): VectorCase[] {
  const table = TABLES[4] as Table
  const [key, valueHash] = table.entries[0] as Entry
  const root = hex(mapRoot(table.entries))
  const proof = mapProof(table.entries, key)
  const missing = sha256(utf8('row/new'))
  const absence = mapProof(table.entries, missing)
  const no = (name: string, change: object, code: 'bad_map_proof' | 'malformed' = 'bad_map_proof'): VectorCase =>
    refuses('verify', name, code, { root, key: hex(key), value: hex(valueHash), proof, ...change })
  const siblings = (list: readonly string[]) => ({ proof: { ...proof, siblings: list } })
  const [first, second, ...rest] = proof.siblings as [string, string, ...string[]]
  const other = sha256(utf8('other'))
  const lone = { siblings: [], terminal: [base64(key), base64(valueHash)] } as MapProof
  return [
    no('another value', { value: hex(other) }),
    no('a value where there is none', { key: hex(missing), proof: absence }),
    no('absence where there is a value', { value: null }),
    no('absence by a leaf from another place', { key: hex(missing), value: null, proof }),
    no('absence by an empty end that is not there', { value: null, proof: { ...proof, terminal: null } }),
    no('another root', { root: hex(other) }),
    no('a sibling changed', siblings([flipped(first), second, ...rest])),
    no('siblings exchanged', siblings([second, first, ...rest])),
    no('siblings from the leaf up', siblings([...proof.siblings].reverse())),
    no('a sibling left out', siblings([second, ...rest])),
    no('a sibling added', siblings([...proof.siblings, base64(EMPTY)])),
    no('another value in the end of the path', { proof: { ...proof, terminal: [base64(key), base64(other)] } }),
    no('a subtree passed off as a map', { proof: lone }),
    no('a sibling of 31 bytes', siblings([base64(other.subarray(1)), second, ...rest]), 'malformed'),
    no('more siblings than a key has bits', siblings(Array.from({ length: 257 }, () => first)), 'malformed'),
    no('a member too many', { proof: { ...proof, leaf: first } }, 'malformed'),
  ]
}

/** A root over a tree that no rows make: a leaf on the other side than its key leads to. */
function misplacedCase(): VectorCase {
  const [left, right] = [sha256(utf8('row/0')), sha256(utf8('row/1'))].map((key) => Buffer.from(key)) as [
    Buffer,
    Buffer,
  ]
  left[0] = (left[0] as number) & 0x7f
  right[0] = (right[0] as number) | 0x80
  const value = sha256(utf8('value'))
  const root = node(mapLeaf([right, value]), EMPTY)
  const proof = { siblings: [base64(EMPTY)], terminal: [base64(right), base64(value)] }
  return refuses('verify', 'absence by a leaf that stands where its key does not lead', 'bad_map_proof', {
    root: hex(root),
    key: hex(left),
    value: null,
    proof,
  })
}

function refusedChanges(): VectorCase[] {
  const table = TABLES[4] as Table
  const [key] = table.entries[0] as Entry
  const other = hex(sha256(utf8('other')))
  const input = { root: hex(mapRoot(table.entries)), key: hex(key), new: other, proof: mapProof(table.entries, key) }
  const twice = ['a', 'a'].map((name) => [name, other])
  return [
    refuses('root', 'a name that occurs twice', 'malformed', { rows: twice }),
    refuses('update', 'a change of a value that is not there', 'bad_map_proof', { ...input, old: other }),
    refuses('update', 'an addition of what is there', 'bad_map_proof', { ...input, old: null }),
  ]
}

export const makeMapVectors = (): VectorFile => ({
  vectors: 'map',
  section: '5.2',
  comment:
    'key = SHA-256(name), leaf = SHA-256(0x00 ‖ key ‖ value), node = SHA-256(0x01 ‖ left ‖ right), empty = 32 zero bytes. `generate: n` are the rows row/0 … with the values SHA-256("value 0") …; proofs have the form of section 5.4.',
  cases: [
    ...TABLES.map(rootCase),
    ...TABLES.slice(1).flatMap((table) => [...proofCases(table, 'row/0'), ...proofCases(table, 'row/absent')]),
    ...proofCases(TABLES[0] as Table, 'row/absent'),
    ...proofCases(TABLES[4] as Table, 'row/499'),
    ...[0, 7, 8, 201, 255].flatMap(deepCases),
    ...TABLES.flatMap(updateCases),
    ...refusedCases(),
    misplacedCase(),
    ...refusedChanges(),
  ],
})
