// Catches: a change that is lost or applied twice when two people write at once, and a conflict that nobody is told of.
// Seen red: their side winning a collision silently; removals undone by a merge; a value sealed under the former vault key
// carried over; the base of a rebased plan left as it was.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '../../src/identity/private-keys.ts'
import { makeDek } from '../../src/values/dek.ts'
import { checkCommit } from '../../src/vault/check-commit.ts'
import { buildCommit, termsOf } from '../../src/vault/commit.ts'
import type { ItemRow } from '../../src/vault/documents.ts'
import {
  type FieldEdit,
  type ItemBase,
  type ItemEdit,
  type ItemPlan,
  planItem,
  signItem,
} from '../../src/vault/edit.ts'
import { rebaseItem } from '../../src/vault/rebase.ts'
import { refusal } from '../log/refusal.ts'
import { item, ORG, openWorld, type World } from '../world/world.ts'
import { before, storedOf, value } from './desk.ts'

const ITEM = 'itm_shared'
const FIELDS = ['A', 'B', 'C', 'D', 'E', 'F']
let world: World
let alice: Identity
let bob: Identity
let base: ItemBase
beforeAll(async () => {
  world = await openWorld()
  ;({ alice, bob } = world.actors)
  const start = { ...item(ITEM, 'Shared', Object.fromEntries(FIELDS.map((label) => [label, `${label} at first`]))) }
  await world.write(world.prod, [{ ...start, assets: ['ast_one', 'ast_two'] }], bob)
  base = storedOf(world).items.get(ITEM) as ItemBase
})
const fieldId = (label: string): string => `fld_${ITEM}_${label}`

/** An edit of the shared item: values for some fields, others dropped, the rest kept. */
interface Change {
  readonly set?: Readonly<Record<string, string>>
  readonly drop?: readonly string[]
  readonly name?: string
  readonly website?: string
  readonly status?: 'active' | 'archived'
  readonly assets?: readonly string[]
}
function editOf({ set = {}, drop = [], ...rest }: Change, from: ItemBase = base): ItemEdit {
  const kept = from.detail.fields.filter(({ label }) => !drop.includes(label) && set[label] === undefined)
  const fields: FieldEdit[] = [
    ...kept.map((field) => ({ fieldId: field.fieldId, label: field.label, env: field.env })),
    ...Object.entries(set).map(([label, text]) => ({ fieldId: fieldId(label), label, env: true, value: value(text) })),
  ]
  const { name, website, status, assets } = from.detail
  return { itemId: ITEM, name, website, status, assets, fields, ...rest }
}
const planOf = (change: Change): Promise<ItemPlan> => planItem(storedOf(world).dek, base, editOf(change))
const signed = async (plan: ItemPlan, by: Identity): Promise<ItemBase> =>
  signItem(plan, { org: ORG, vaultId: world.prod, at: world.now }, by)

/** Theirs is committed first, ours is carried over to it. */
async function rebased(ours: Change, theirs: Change): Promise<ItemPlan> {
  return rebaseItem(await planOf(ours), await signed(await planOf(theirs), alice), 1)
}
const collisionsOf = async (ours: Change, theirs: Change): Promise<unknown> => {
  try {
    await rebased(ours, theirs)
    return 'merged'
  } catch (error) {
    expect(error).toMatchObject({ code: 'rebase_conflict' })
    return (error as { details: { collisions: unknown } }).details.collisions
  }
}
const collision = (what: string) => ({ itemId: ITEM, what })

describe('a plan on an older version', () => {
  it('stays as it is if nobody wrote in between', async () => {
    const plan = await planOf({ set: { A: 'ours' } })
    expect(rebaseItem(plan, base, 1)).toBe(plan)
    const fresh = await planItem(storedOf(world).dek, undefined, item('itm_new1', 'New', {}))
    expect(rebaseItem(fresh, undefined, 1)).toBe(fresh)
  })

  it('takes over what others changed and keeps its own ciphertexts', async () => {
    const ours = await planOf({ set: { A: 'ours' }, name: 'Ours' })
    const theirs = await signed(
      await planOf({ set: { B: 'theirs' }, drop: ['C'], website: 'https://theirs.test' }),
      alice,
    )
    const merged = rebaseItem(ours, theirs, 1)
    expect(merged.base).toBe(theirs)
    expect(merged.values).toEqual(ours.values)
    expect(merged.next).toMatchObject({ name: 'Ours', website: 'https://theirs.test', status: 'active' })
    const field = (label: string) => merged.next.fields.find((one) => one.fieldId === fieldId(label))
    expect(field('A')).toEqual(ours.next.fields.find((one) => one.fieldId === fieldId('A')))
    expect(field('B')).toEqual(theirs.detail.fields.find((one) => one.fieldId === fieldId('B')))
    expect(field('C')).toBeUndefined()
    expect(field('D')).toEqual(base.detail.fields.find((one) => one.fieldId === fieldId('D')))
  })

  it('collides where both changed the same field, and names every such field', async () => {
    expect(await collisionsOf({ set: { A: 'ours' } }, { set: { A: 'theirs' } })).toEqual([collision(fieldId('A'))])
    expect(await collisionsOf({ set: { A: '1', B: '2' } }, { set: { B: '3', A: '4' } })).toEqual([
      collision(fieldId('A')),
      collision(fieldId('B')),
    ])
    // The same value twice is still two ciphertexts.
    expect(await collisionsOf({ set: { A: 'same' } }, { set: { A: 'same' } })).toEqual([collision(fieldId('A'))])
  })

  it('collides where one side changed what the other dropped, and agrees where both dropped it', async () => {
    expect(await collisionsOf({ set: { A: 'ours' } }, { drop: ['A'] })).toEqual([collision(fieldId('A'))])
    expect(await collisionsOf({ drop: ['A'] }, { set: { A: 'theirs' } })).toEqual([collision(fieldId('A'))])
    const { next } = await rebased({ drop: ['A'] }, { drop: ['A', 'B'] })
    expect(next.fields.map(({ label }) => label)).toEqual(['C', 'D', 'E', 'F'])
  })

  it.each(['name', 'website'] as const)('collides where both changed the %s to something else', async (what) => {
    expect(await collisionsOf({ [what]: 'ours' }, { [what]: 'theirs' })).toEqual([collision(what)])
    expect(await collisionsOf({ [what]: 'same' }, { [what]: 'same' })).toBe('merged')
    expect((await rebased({ [what]: 'ours' }, {})).next[what]).toBe('ours')
    expect((await rebased({}, { [what]: 'theirs' })).next[what]).toBe('theirs')
  })

  it('keeps an archive that either side asked for', async () => {
    expect((await rebased({ status: 'archived' }, { set: { A: 'x' } })).next.status).toBe('archived')
    expect((await rebased({ set: { A: 'x' } }, { status: 'archived' })).next.status).toBe('archived')
  })

  it('adds and removes attachments of both sides', async () => {
    const { next } = await rebased(
      { assets: ['ast_one', 'ast_two', 'ast_ours'] },
      { assets: ['ast_theirs', 'ast_two'] },
    )
    expect(next.assets).toEqual(['ast_ours', 'ast_theirs', 'ast_two'])
  })

  it('collides with an item that was made on both sides, or that has gone', async () => {
    const fresh = await planItem(storedOf(world).dek, undefined, editOf({ set: { Z: 'new' }, drop: FIELDS }))
    const whole = [{ itemId: ITEM, what: 'item' }]
    expect(() => rebaseItem(fresh, base, 1)).toThrow(
      expect.objectContaining({ code: 'rebase_conflict', details: { itemId: ITEM, collisions: whole } }),
    )
    const plan = await planOf({ set: { A: 'ours' } })
    expect(() => rebaseItem(plan, undefined, 1)).toThrow(expect.objectContaining({ code: 'rebase_conflict' }))
  })

  it('whose values are under the former vault key says which to seal again', async () => {
    const plan = await planOf({ set: { A: 'ours', B: 'ours' } })
    expect(() => rebaseItem(plan, base, 2)).toThrow(
      expect.objectContaining({
        code: 'rebase_conflict',
        details: { itemId: ITEM, reseal: [fieldId('A'), fieldId('B')] },
      }),
    )
    const renamed = await planOf({ name: 'Ours' })
    expect(rebaseItem(renamed, base, 2)).toBe(renamed)
    const newer = makeDek({ org: ORG, vaultId: world.prod, dekVersion: 2 })
    const sealedAgain = await planItem(newer, base, editOf({ set: { A: 'ours', B: 'ours' } }))
    expect(await refusal(() => rebaseItem(sealedAgain, base, 2))).toBe('accepted')
  })
})

describe('any two changes that do not touch', () => {
  type Side = 'ours' | 'theirs' | 'nobody'
  type Act = 'set' | 'drop'
  const owner = fc.constantFrom<Side>('ours', 'theirs', 'nobody')
  const act = fc.constantFrom<Act>('set', 'drop')
  const draws = fc.record({
    fields: fc.array(fc.tuple(owner, act), { minLength: FIELDS.length, maxLength: FIELDS.length }),
    added: fc.array(owner, { maxLength: 3 }),
    attributes: fc.tuple(owner, owner, owner),
    assets: fc.tuple(owner, owner, owner),
  })

  /** What one side does; the two sides never do anything to the same thing. */
  function changeOf(side: Side, draw: typeof draws extends fc.Arbitrary<infer T> ? T : never): Change {
    const set: Record<string, string> = {}
    const drop: string[] = []
    draw.fields.forEach(([who, how], i) => {
      const label = FIELDS[i] as string
      if (who !== side) return
      if (how === 'set') set[label] = `${label} by ${side}`
      else drop.push(label)
    })
    draw.added.forEach((who, i) => {
      if (who === side) set[`NEW_${i}`] = `new by ${side}`
    })
    const [name, website, status] = draw.attributes
    const [one, two, three] = draw.assets
    const assets = [
      ...(one === side ? [] : ['ast_one']),
      ...(two === side ? [] : ['ast_two']),
      ...(three === side ? [`ast_new_${side}`] : []),
    ]
    return {
      set,
      drop,
      assets,
      ...(name === side && { name: `By ${side}` }),
      ...(website === side && { website: `https://${side}.test` }),
      ...(status === side && { status: 'archived' as const }),
    }
  }

  /** First one, then the other carried over to it: the commit that results must be one the server takes. */
  async function inOrder(first: ItemPlan, second: ItemPlan) {
    const start = storedOf(world)
    const committed = await signItem(first, { org: ORG, vaultId: world.prod, at: world.now }, alice)
    const carried = rebaseItem(second, committed, 1)
    const last = await signItem(carried, { org: ORG, vaultId: world.prod, at: world.now }, bob)
    const head = await world.head(world.prod)
    const common = { org: ORG, vaultId: world.prod, terms: termsOf(head.payload), at: world.now }
    const one = await buildCommit({ ...common, base: head, content: start.content, items: [committed] }, alice)
    const checked = await checkCommit(before(world), one.commit)
    const two = await buildCommit(
      { ...common, base: { payload: checked.head, hash: head.hash }, content: checked.content, items: [last] },
      bob,
    )
    const after = before(world, world.prod, { content: checked.content, item: async () => committed })
    const { content } = await checkCommit(after, two.commit)
    const { fieldCount, name, website, status } = content.items.get(ITEM) as ItemRow
    const env = [...content.env.values()].sort((a, b) => (a.fieldId < b.fieldId ? -1 : 1))
    return { fieldCount, name, website, status, env, fields: last.detail.fields, assets: last.detail.assets }
  }

  it('end in the same content in either order, and the server takes both', { timeout: 30_000 }, async () => {
    let merged = 0
    await fc.assert(
      fc.asyncProperty(draws, async (draw) => {
        const ours = await planOf(changeOf('ours', draw))
        const theirs = await planOf(changeOf('theirs', draw))
        const [one, two] = [await inOrder(ours, theirs), await inOrder(theirs, ours)]
        expect(one).toEqual(two)
        if (ours.values.size > 0 && theirs.values.size > 0) merged++
      }),
      { numRuns: 60 },
    )
    expect(merged).toBeGreaterThan(5)
  })
})
