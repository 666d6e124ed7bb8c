import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeUtf8, utf8 } from '../../src/encoding/bytes.ts'
import { canonical, parseStrict } from '../../src/encoding/canonical.ts'
import { hashText } from '../../src/identity/document.ts'
import { documentsOf, type LeafUpdate, MAX_LEAF_BYTES, makeLeaf, parseLeaf, updatesOf } from '../../src/log/leaf.ts'
import { refusal } from './refusal.ts'

// Section 5.1. Seen red: lists left in the order given, the border at 129, served lists taken without their hash, a leaf with
// both `u` and `uh` accepted, each `ensure` switched off alone.

const hash = (n: number): string => hashText(utf8(String(n)))
const update = (n: number): LeafUpdate => [`vault/v${String(n).padStart(4, '0')}`, n % 2 ? hash(n) : '', hash(n + 1)]
const content = { t: 'vault.commit', d: [hash(1)], u: [update(1)], r: hash(7), at: 1_767_225_600_000 }
const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

describe('a leaf', () => {
  it('is canonical JSON with sorted lists, whatever the order they came in', () => {
    const { bytes, updates, documents } = makeLeaf({
      ...content,
      d: [hash(2), hash(1), hash(3)],
      u: [update(3), update(1), update(2)],
    })
    const d = [hash(1), hash(2), hash(3)].sort()
    expect(decodeUtf8(bytes)).toBe(
      `{"at":1767225600000,"d":${JSON.stringify(d)},"r":"${hash(7)}","t":"vault.commit","u":${JSON.stringify([update(1), update(2), update(3)])},"v":3}`,
    )
    expect(updates).toBeUndefined()
    expect(documents).toBeUndefined()
    const leaf = parseLeaf(bytes)
    expect(leaf).toMatchObject({ v: 3, t: 'vault.commit', r: hash(7), at: 1_767_225_600_000 })
    expect(updatesOf(leaf)).toEqual([update(1), update(2), update(3)])
    expect(documentsOf(leaf)).toEqual(d)
  })

  it('gives back any content, with lists of any length up to 300', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(300), (documents, updates) => {
        const d = many(documents, hash)
        const u = many(updates, update)
        const made = makeLeaf({ ...content, d, u })
        const leaf = parseLeaf(made.bytes)
        expect(documentsOf(leaf, made.documents)).toEqual([...d].sort())
        expect(updatesOf(leaf, made.updates)).toEqual(u)
        expect(made.bytes.length).toBeLessThanOrEqual(MAX_LEAF_BYTES)
      }),
      { numRuns: 40 },
    )
  })

  it('names lists of more than 128 entries by the hash of their canonical form', () => {
    const inline = makeLeaf({ ...content, d: many(128, hash), u: many(128, update) })
    expect(inline.updates).toBeUndefined()
    expect(inline.documents).toBeUndefined()
    const { bytes, updates, documents } = makeLeaf({ ...content, d: many(129, hash), u: many(129, update) })
    expect(updates).toEqual(canonical(many(129, update)))
    expect(documents).toEqual(canonical(many(129, hash).sort()))
    const dh = hashText(documents ?? new Uint8Array())
    const uh = hashText(updates ?? new Uint8Array())
    expect(parseStrict(bytes)).toEqual({ v: 3, t: 'vault.commit', dh, uh, r: hash(7), at: content.at })
  })

  it('with 128 of the longest names and 128 documents still fits into a tile entry', () => {
    const longest = (n: number): LeafUpdate => [
      `grant/${'v'.repeat(60)}/${'k'.repeat(128)}/${n + 1000}`,
      hash(n),
      hash(n + 1),
    ]
    expect(longest(0)[0].length).toBe(200)
    const { bytes } = makeLeaf({
      ...content,
      t: 'a'.repeat(40),
      at: 2 ** 53 - 1,
      d: many(128, hash),
      u: many(128, longest),
    })
    expect(bytes.length).toBeGreaterThan(40_000)
    expect(bytes.length).toBeLessThanOrEqual(MAX_LEAF_BYTES)
  })

  it('is not made with a name or a document twice, or with what cannot be read back', async () => {
    expect(await refusal(() => makeLeaf({ ...content, u: [update(1), update(1)] }))).toBe('malformed')
    expect(await refusal(() => makeLeaf({ ...content, d: [hash(1), hash(1)] }))).toBe('malformed')
    expect(await refusal(() => makeLeaf({ ...content, d: [...many(200, hash), hash(3)] }))).toBe('malformed')
    expect(await refusal(() => makeLeaf({ ...content, u: [['Vault/x', '', hash(1)]] }))).toBe('malformed')
    expect(await refusal(() => makeLeaf({ ...content, r: '' }))).toBe('malformed')
    expect(await refusal(() => makeLeaf({ ...content, at: -1 }))).toBe('malformed')
    expect(await refusal(() => makeLeaf({ ...content, t: 'Vault' }))).toBe('malformed')
    expect(await refusal(() => makeLeaf({ ...content, u: many(15_000, update) }))).toBe('limit_exceeded')
  })

  it('is refused in any other form', async () => {
    const good = { v: 3, t: 'vault.commit', d: [hash(1)], u: [update(1)], r: hash(7), at: 0 }
    const { u: _u, ...withoutUpdates } = good
    const { d: _d, ...withoutDocuments } = good
    expect(await refusal(() => parseLeaf(canonical(good)))).toBe('accepted')
    const bad: unknown[] = [
      null,
      [],
      withoutUpdates,
      withoutDocuments,
      { ...good, uh: hash(1) },
      { ...good, dh: hash(1) },
      { ...good, v: 2 },
      { ...good, more: 1 },
      { ...good, t: '' },
      { ...good, r: hash(7).slice(1) },
      { ...good, u: [update(2), update(1)] },
      { ...good, u: [update(1), update(1)] },
      { ...good, u: [update(1).slice(0, 2)] },
      { ...good, u: [[...update(1), '']] },
      { ...good, u: [['vault/x', hash(1), '']] },
      { ...good, u: [['vault//x', '', hash(1)]] },
      { ...good, u: [['vault/x y', '', hash(1)]] },
      { ...good, u: [[1, '', hash(1)]] },
      { ...good, u: ['vault/x'] },
      { ...good, u: many(129, update) },
      { ...good, d: [hash(1), hash(2)].sort().reverse() },
      { ...good, d: many(129, hash).sort() },
      { ...good, d: [''] },
    ]
    for (const candidate of bad)
      expect(await refusal(() => parseLeaf(canonical(candidate))), JSON.stringify(candidate)).toBe('malformed')
    expect(await refusal(() => parseLeaf(utf8(` ${decodeUtf8(canonical(good))}`)))).toBe('malformed')
    expect(await refusal(() => parseLeaf(canonical({ ...good, d: many(1500, hash).sort() })))).toBe('limit_exceeded')
  })
})

describe('the lists beside a leaf', () => {
  const made = makeLeaf({ ...content, d: many(129, hash), u: many(129, update) })
  const leaf = parseLeaf(made.bytes)

  it('are taken only if the leaf names them', async () => {
    expect(await refusal(() => updatesOf(leaf, made.updates))).toBe('accepted')
    expect(await refusal(() => updatesOf(leaf))).toBe('malformed')
    expect(await refusal(() => documentsOf(leaf))).toBe('malformed')
    expect(await refusal(() => updatesOf(leaf, canonical(many(130, update))))).toBe('bad_inclusion')
    expect(await refusal(() => documentsOf(leaf, canonical(many(130, hash).sort())))).toBe('bad_inclusion')
  })

  it('are refused unsorted, malformed, or so short that they belong into the leaf', async () => {
    const naming = (list: unknown) => {
      const served = canonical(list)
      const uh = hashText(served)
      const named = parseLeaf(canonical({ v: 3, t: 'x', d: [], uh, r: hash(7), at: 0 }))
      return () => updatesOf(named, served)
    }
    expect(await refusal(naming(many(129, update)))).toBe('accepted')
    expect(await refusal(naming(many(128, update)))).toBe('malformed')
    expect(await refusal(naming(many(129, update).reverse()))).toBe('malformed')
    expect(await refusal(naming(many(129, hash)))).toBe('malformed')
  })
})
