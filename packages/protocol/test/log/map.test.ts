import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toBase64url } from '../../src/encoding/base64.ts'
import { concat, toHex } from '../../src/encoding/bytes.ts'
import {
  decodeMapProof,
  EMPTY_MAP_ROOT,
  encodeMapProof,
  type MapEntry,
  type MapName,
  mapKey,
  mapLeaf,
  mapRoot,
  mapValue,
  proveMap,
  updateMapRoot,
  verifyMapProof,
} from '../../src/log/map.ts'
import { makeMap, openPartialMap } from '../../src/log/map-tree.ts'
import { nodeHash } from '../../src/log/merkle.ts'
import { refusal } from './refusal.ts'

// Section 5.2. Seen red: least significant bit first, siblings from the leaf up, a single leaf hashed into a node, the empty
// neighbours of a split left out (update, partial map), a partial map that grafts no terminal, each `ensure` of
// `verifyMapProof` switched off alone, a full map that keeps the hashes of an older path.

const value = (n: number): Uint8Array => mapValue({ n })

/** The map as section 5.2 defines it, by filtering and nothing cleverer. */
function definedRoot(rows: readonly (readonly [string, Uint8Array])[], prefix = ''): Uint8Array {
  const inside = rows.filter(([bits]) => bits.startsWith(prefix))
  const [first] = inside
  if (!first) return EMPTY_MAP_ROOT
  if (inside.length === 1) return first[1]
  return nodeHash(definedRoot(inside, `${prefix}0`), definedRoot(inside, `${prefix}1`))
}
const bitsOf = (key: Uint8Array): string => Array.from(key, (byte) => byte.toString(2).padStart(8, '0')).join('')
const defined = (entries: readonly MapEntry[]): Uint8Array =>
  definedRoot(entries.map(([name, hash]) => [bitsOf(toKey(name)), mapLeaf(toKey(name), hash)]))
const toKey = (name: MapName): Uint8Array => (typeof name === 'string' ? mapKey(name) : name)

/** A key that shares its first `depth` bits with `key`, and not the next. */
function cousin(key: Uint8Array, depth: number): Uint8Array {
  const copy = new Uint8Array(key)
  copy[depth >> 3] = (copy[depth >> 3] as number) ^ (0x80 >> (depth & 7))
  return copy
}

// Ordinary names, and families of raw keys that part only at depths over 200, where no hash would ever lead.
const ancestor = mapKey('ancestor')
const name: fc.Arbitrary<MapName> = fc.oneof(
  fc.nat(60).map((n) => `vault/${n}`),
  fc.integer({ min: 200, max: 255 }).map((depth) => cousin(ancestor, depth)),
  fc.constant(ancestor),
)
const entries = (max: number): fc.Arbitrary<MapEntry[]> =>
  fc.uniqueArray(fc.tuple(name, fc.nat(1000).map(value)), { maxLength: max, selector: ([name]) => toHex(toKey(name)) })

describe('the root of a map', () => {
  it('is the one the definition gives, for names and for keys that part at depths over 200', () => {
    fc.assert(
      fc.property(entries(40), (rows) => {
        expect(mapRoot(rows)).toEqual(defined(rows))
      }),
    )
  })

  it('does not depend on the order of insertion, and is the same for a map that grows', () => {
    const shuffled = entries(60).chain((rows) =>
      fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length })),
    )
    fc.assert(
      fc.property(shuffled, ([rows, others]) => {
        expect(mapRoot(others)).toEqual(mapRoot(rows))
        const map = makeMap()
        for (const [name, hash] of others) {
          map.set(name, value(0))
          map.root()
          map.set(name, hash)
        }
        expect(map.root()).toEqual(mapRoot(rows))
        expect(makeMap(new Map(rows)).root()).toEqual(mapRoot(new Map(rows)))
      }),
    )
  })

  it('is 32 zero bytes for nothing and the leaf itself for one entry', () => {
    expect(mapRoot([])).toEqual(new Uint8Array(32))
    expect(makeMap().root()).toEqual(new Uint8Array(32))
    expect(mapRoot([['policy', value(1)]])).toEqual(mapLeaf(mapKey('policy'), value(1)))
  })

  it('is refused for a name that occurs twice and for values that are no hashes', async () => {
    expect(
      await refusal(() =>
        mapRoot([
          ['a', value(1)],
          ['b', value(2)],
          ['a', value(3)],
        ]),
      ),
    ).toBe('malformed')
    expect(await refusal(() => mapRoot([['a', new Uint8Array(31)]]))).toBe('malformed')
    expect(await refusal(() => mapRoot([[new Uint8Array(33), value(1)]]))).toBe('malformed')
    expect(await refusal(() => makeMap([['a', new Uint8Array(33)]]))).toBe('malformed')
  })

  it('for 10 000 names has paths of about log2 N + 1.5', () => {
    const rows = Array.from({ length: 10_000 }, (_, n): MapEntry => [`item/${n}`, value(n)])
    const map = makeMap(rows)
    const total = rows.slice(0, 500).reduce((sum, [name]) => sum + map.prove(name).siblings.length, 0)
    expect(total / 500).toBeGreaterThan(13)
    expect(total / 500).toBeLessThan(17)
  })
})

describe('map proofs', () => {
  it('show what is in the map and what is not, from rows and from a map in memory alike, also after the wire', () => {
    fc.assert(
      fc.property(entries(40), name, (rows, wanted) => {
        const root = mapRoot(rows)
        const map = makeMap(rows)
        for (const asked of [wanted, ...rows.map(([name]) => name)]) {
          const proof = proveMap(rows, asked)
          expect(map.prove(asked)).toEqual(proof)
          const arrived = decodeMapProof(JSON.parse(JSON.stringify(encodeMapProof(proof))))
          expect(verifyMapProof(root, asked, map.get(asked), arrived)).toMatchObject({ valueHash: map.get(asked) })
        }
      }),
    )
  })

  it('never show another value, a presence as absence, an absence as presence, or anything of another root', async () => {
    await fc.assert(
      fc.asyncProperty(entries(30), name, fc.nat(255), async (rows, wanted, choice) => {
        const map = makeMap(rows)
        const [root, held, proof] = [map.root(), map.get(wanted), map.prove(wanted)]
        const lie = held ? null : value(5000)
        expect(await refusal(() => verifyMapProof(root, wanted, lie, proof))).toBe('bad_map_proof')
        expect(await refusal(() => verifyMapProof(root, wanted, value(5001), proof))).toBe('bad_map_proof')
        const forged = { ...proof, terminal: [toKey(wanted), value(5002)] as const }
        expect(await refusal(() => verifyMapProof(root, wanted, value(5002), forged))).toBe('bad_map_proof')
        expect(await refusal(() => verifyMapProof(value(5003), wanted, held, proof))).toBe('bad_map_proof')
        if (proof.siblings.length === 0) return
        const at = choice % proof.siblings.length
        const siblings = proof.siblings.map((hash, i) => (i === at ? value(5004) : hash))
        expect(await refusal(() => verifyMapProof(root, wanted, held, { ...proof, siblings }))).toBe('bad_map_proof')
        const cut = { ...proof, siblings: proof.siblings.filter((_, i) => i !== at) }
        expect(await refusal(() => verifyMapProof(root, wanted, held, cut))).toBe('bad_map_proof')
      }),
      { numRuns: 100 },
    )
  })

  it('of presence cannot be replayed for another name, nor a state hidden behind its neighbour', async () => {
    const rows: MapEntry[] = [
      ['a', value(1)],
      ['b', value(2)],
      ['c', value(3)],
    ]
    const root = mapRoot(rows)
    expect(await refusal(() => verifyMapProof(root, 'b', value(1), proveMap(rows, 'a')))).toBe('bad_map_proof')
    expect(await refusal(() => verifyMapProof(root, 'b', null, proveMap(rows, 'a')))).toBe('bad_map_proof')
  })

  it('refuse the leaf itself as its own absence', async () => {
    const root = mapRoot([['a', value(1)]])
    expect(await refusal(() => verifyMapProof(root, 'a', null, proveMap([['a', value(1)]], 'a')))).toBe('bad_map_proof')
  })

  it('refuse a leaf that stands where its key does not lead, even if the root was made that way', async () => {
    const key = ancestor
    const stranger = cousin(key, 0)
    const leaf = mapLeaf(stranger, value(1))
    const root = (key[0] as number) >= 0x80 ? nodeHash(value(2), leaf) : nodeHash(leaf, value(2))
    const proof = { siblings: [value(2)], terminal: [stranger, value(1)] as const }
    expect(await refusal(() => verifyMapProof(root, key, null, proof))).toBe('bad_map_proof')
  })

  it('refuse more siblings than a key has bits, even if the root was made that way', async () => {
    const siblings = Array.from({ length: 257 }, () => value(1))
    let root: Uint8Array = EMPTY_MAP_ROOT
    for (let depth = 256; depth >= 0; depth--) {
      const goesRight = depth < 256 && bitsOf(ancestor)[depth] === '1'
      root = goesRight ? nodeHash(value(1), root) : nodeHash(root, value(1))
    }
    expect(await refusal(() => verifyMapProof(root, ancestor, null, { siblings, terminal: null }))).toBe(
      'bad_map_proof',
    )
  })

  it('refuse hashes that are not 32 bytes long, even where the surplus is overwritten', async () => {
    const rows: MapEntry[] = [
      [ancestor, value(1)],
      [cousin(ancestor, 0), value(2)],
    ]
    const proof = proveMap(rows, ancestor)
    const wide = concat(proof.siblings[0] as Uint8Array, new Uint8Array(1))
    const left = (ancestor[0] as number) < 0x80 ? cousin(ancestor, 0) : ancestor
    const wideProof = { ...proveMap(rows, left), siblings: [wide] }
    expect(await refusal(() => verifyMapProof(mapRoot(rows), left, value(left === ancestor ? 1 : 2), wideProof))).toBe(
      'bad_map_proof',
    )
  })

  it('are read from exactly two members of hashes in base64', async () => {
    const good = encodeMapProof(
      proveMap(
        [
          ['a', value(1)],
          ['b', value(2)],
        ],
        'a',
      ),
    )
    const [hash = ''] = good.siblings
    decodeMapProof(good)
    const bad = [
      null,
      [],
      { siblings: [] },
      { ...good, more: 1 },
      { ...good, siblings: hash },
      { ...good, siblings: [hash.slice(1)] },
      { ...good, siblings: [hash.replace('=', '')] },
      { ...good, siblings: Array(257).fill(hash) },
      { ...good, terminal: [hash] },
      { ...good, terminal: [hash, hash, hash] },
      { ...good, terminal: [hash, ''] },
      { ...good, terminal: 'x' },
      { ...good, terminal: undefined },
    ]
    for (const candidate of bad) expect(await refusal(() => decodeMapProof(candidate))).toBe('malformed')
  })
})

describe('the root after a change', () => {
  it('follows from the path of one name: replaced, added to an empty place, or split from another leaf', () => {
    fc.assert(
      fc.property(entries(30), name, fc.nat(1000), (rows, changed, n) => {
        const map = makeMap(rows)
        const [root, old, proof] = [map.root(), map.get(changed), map.prove(changed)]
        map.set(changed, value(n))
        expect(updateMapRoot(root, changed, old, value(n), proof)).toEqual(map.root())
      }),
    )
  })

  it('is computed only after the old leaf was verified', async () => {
    const rows: MapEntry[] = [
      ['a', value(1)],
      ['b', value(2)],
    ]
    const run = (old: Uint8Array | null) => updateMapRoot(mapRoot(rows), 'a', old, value(3), proveMap(rows, 'a'))
    expect(await refusal(() => run(value(1)))).toBe('accepted')
    expect(await refusal(() => run(value(2)))).toBe('bad_map_proof')
    expect(await refusal(() => run(null))).toBe('bad_map_proof')
  })

  it('by many changes is the same in a partial map as in the whole one, whatever their order and however deep they split', () => {
    const changes = fc.uniqueArray(fc.tuple(name, fc.nat(1000)), {
      maxLength: 20,
      selector: ([name]) => toHex(toKey(name)),
    })
    fc.assert(
      fc.property(entries(40), changes, changes, (rows, first, second) => {
        const whole = makeMap(rows)
        const claims = [...first, ...second].map(([name]) => ({
          name,
          valueHash: whole.get(name),
          proof: whole.prove(name),
        }))
        const partial = openPartialMap(whole.root(), claims)
        expect(partial.root()).toEqual(whole.root())
        for (const { name, valueHash } of claims) expect(partial.get(name)).toEqual(valueHash)
        for (const [name, n] of [...first, ...second]) {
          whole.set(name, value(n))
          partial.set(name, value(n))
          expect(partial.get(name)).toEqual(value(n))
        }
        expect(partial.root()).toEqual(whole.root())
        for (const { name } of claims) expect(partial.prove(name)).toEqual(whole.prove(name))
      }),
      { numRuns: 200 },
    )
  })

  it('of an empty map needs no proof', () => {
    const partial = openPartialMap(EMPTY_MAP_ROOT, [])
    partial.set('policy', value(1))
    partial.set('kid/x', value(2))
    expect(partial.root()).toEqual(
      mapRoot([
        ['policy', value(1)],
        ['kid/x', value(2)],
      ]),
    )
  })

  it('is refused outside of what was proven, and for a proof that fails', async () => {
    const rows = Array.from({ length: 50 }, (_, n): MapEntry => [`vault/${n}`, value(n)])
    const whole = makeMap(rows)
    const claim = { name: 'vault/0', valueHash: value(0), proof: whole.prove('vault/0') }
    const partial = openPartialMap(whole.root(), [claim])
    // A name whose path leaves the proven one at once.
    const far = rows.map(([name]) => name).find((name) => bitsOf(toKey(name))[0] !== bitsOf(mapKey('vault/0'))[0]) ?? ''
    expect(await refusal(() => partial.get(far))).toBe('bad_map_proof')
    expect(await refusal(() => partial.prove(far))).toBe('bad_map_proof')
    expect(await refusal(() => partial.set(far, value(9)))).toBe('bad_map_proof')
    expect(await refusal(() => openPartialMap(whole.root(), [{ ...claim, valueHash: value(1) }]))).toBe('bad_map_proof')
    expect(await refusal(() => openPartialMap(EMPTY_MAP_ROOT, [claim]))).toBe('bad_map_proof')
  })

  it('leaves proofs made before untouched', () => {
    const map = makeMap([
      ['a', value(1)],
      ['b', value(2)],
    ])
    const [root, proof] = [map.root(), map.prove('a')]
    map.set('a', value(3))
    verifyMapProof(root, 'a', value(1), proof)
    expect(toBase64url(map.root())).not.toBe(toBase64url(root))
  })
})
