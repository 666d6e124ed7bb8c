import { expect, it } from 'vitest'
import { applyChange, EMPTY_CONTENT, treesOf, type VaultContent } from '../../src/vault/content.ts'
import type { ItemDetailPayload } from '../../src/vault/documents.ts'

// Trees that are made from the trees before them (section 6.1). Catches: a root of a changed list that differs from the root of the same
// rows hashed anew. Seen red: a changed row left out of the older tree; a row that is gone kept in it; a row taken for unchanged by its id.

const hash = (n: number): string => `${String(n).padStart(42, 'x')}A`

/** Only what the content of a vault is made of. */
const detail = (itemId: string, version: number, labels: readonly string[], rev: number): ItemDetailPayload =>
  ({
    itemId,
    itemVersion: version,
    name: itemId,
    website: '',
    status: 'active',
    fields: labels.map((label, i) => ({
      ct: hash(i === 0 ? rev : i),
      dekVersion: 1,
      env: true,
      fieldId: `fld_${itemId}_${label}`,
      label: `${itemId}_${label}`,
      rev: i === 0 ? rev : 1,
      type: 'text',
    })),
  }) as unknown as ItemDetailPayload

/** The same rows in lists that nothing is known of. */
const afresh = ({ items, env, assets }: VaultContent): VaultContent => ({
  items: new Map([...items].map(([id, row]) => [id, { ...row }])),
  env: new Map([...env].map(([id, row]) => [id, { ...row }])),
  assets: new Map([...assets].map(([id, row]) => [id, { ...row }])),
})

it('gives the roots that hashing everything anew gives, through changes, additions, removals and moves', () => {
  let content = EMPTY_CONTENT
  for (let i = 0; i < 60; i++) {
    const itemId = `itm_${(i * 7) % 12}`
    const labels = i % 9 === 8 ? ['A', 'C'] : i % 5 === 4 ? ['A', 'B', 'C', 'D'] : ['A', 'B', 'C']
    const gone = i % 17 === 16 ? [`itm_${(i * 5) % 12}`] : []
    const change = { details: [{ detail: detail(itemId, i + 1, labels, i + 1), hash: hash(1000 + i) }], moved: gone }
    const asset = { assetId: `ast_${i % 3}`, assetVersion: i + 1, docHash: hash(i), itemId, status: 'active' as const }
    const next = applyChange(content, { ...change, assets: i % 4 === 3 ? [asset] : [] })
    const own = [...next.env.values()].filter((row) => row.itemId === itemId && !gone.includes(itemId))
    expect(own.map(({ ct }) => ct)).toEqual(change.details.flatMap((one) => one.detail.fields.map(({ ct }) => ct)))
    const before = treesOf(afresh(content))
    expect(treesOf(next)).toEqual(treesOf(afresh(next)))
    // The older list is still what it was.
    expect(treesOf(content)).toEqual(before)
    content = next
  }
  expect(content.env.size).toBeGreaterThan(20)
})
