// Catches: fields that lose or repeat a revision, values kept under a name they were not sealed for, content that does not
// follow from its details.
// Seen red: a renamed field kept without its value; `rev` not counted; archived items left in the environment; the base of an
// edit not compared with the item.
import { beforeEach, describe, expect, it } from 'vitest'
import { makeId } from '../../src/identity/identifiers.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { valueText } from '../../src/values/field.ts'
import { openEnvironment } from '../../src/vault/answer.ts'
import type { DetailField } from '../../src/vault/documents.ts'
import { type ItemBase, planItem } from '../../src/vault/edit.ts'
import { openVerifiedField } from '../../src/vault/rows.ts'
import { refusal } from '../log/refusal.ts'
import { item, openWorld, type World } from '../world/world.ts'
import { headWithSigners, keysOf, readAll, readItem, storedOf, value } from './desk.ts'

let world: World
let bob: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ bob } = world.actors)
})
const stripe = (): ItemBase => storedOf(world).items.get('itm_stripe') as ItemBase
const EDIT = { ...item('itm_stripe', 'Stripe', {}), fields: [] }
const KEPT = { fieldId: 'fld_itm_stripe_STRIPE_KEY', label: 'STRIPE_KEY', env: true }
const plan = (fields: readonly object[]) =>
  planItem(storedOf(world).dek, stripe(), { ...EDIT, fields: fields as never })

describe('an edit', () => {
  it('keeps a field that it names without a value, with its ciphertext and revision', async () => {
    const { next, values } = await plan([KEPT])
    expect(next.fields).toEqual(stripe().detail.fields)
    expect(values.size).toBe(0)
  })

  it('seals a value anew under the next revision', async () => {
    const [old] = stripe().detail.fields as [DetailField]
    const { next, values } = await plan([{ ...KEPT, value: value('sk_live_new') }])
    const [field] = next.fields as [DetailField]
    expect(field).toMatchObject({ fieldId: KEPT.fieldId, rev: old.rev + 1, dekVersion: 1, type: 1 })
    expect(field.ct).not.toBe(old.ct)
    expect([...values.keys()]).toEqual([KEPT.fieldId])
  })

  it('counts revisions field by field over several versions', async () => {
    for (const n of [1, 2, 3])
      await world.write(
        world.prod,
        [
          {
            ...EDIT,
            fields: [
              { ...KEPT, value: value(`v${n}`) },
              n === 1
                ? { fieldId: 'fld_second', label: 'SECOND', env: true, value: value('once') }
                : { fieldId: 'fld_second', label: 'SECOND', env: true },
            ],
          },
        ],
        bob,
      )
    const { detail } = stripe()
    expect(detail.itemVersion).toBe(4)
    expect(detail.fields.map(({ fieldId, rev }) => [fieldId, rev])).toEqual([
      [KEPT.fieldId, 4],
      ['fld_second', 1],
    ])
    expect(await readAll(world, bob)).toMatchObject({ [KEPT.fieldId]: 'v3', fld_second: 'once' })
  })

  it('renames or re-flags a field only together with its value, which is sealed for the new name', async () => {
    expect(await refusal(() => plan([{ ...KEPT, label: 'OTHER' }]))).toBe('malformed')
    expect(await refusal(() => plan([{ ...KEPT, env: false }]))).toBe('malformed')
    const renamed = { ...KEPT, label: 'OTHER', value: value('sk_live_51H') }
    await world.write(world.prod, [{ ...EDIT, fields: [renamed] }], bob)
    const [row] = [...storedOf(world).content.env.values()].filter(({ itemId }) => itemId === 'itm_stripe')
    expect(row).toMatchObject({ label: 'OTHER', rev: 2 })
    expect(await readAll(world, bob)).toMatchObject({ [KEPT.fieldId]: 'sk_live_51H' })
  })

  it('makes no field without a value', async () => {
    expect(await refusal(() => plan([{ fieldId: 'fld_new1', label: 'NEW', env: true }]))).toBe('malformed')
  })

  it('starts from the item it is of', async () => {
    const other = storedOf(world).items.get('itm_database')
    expect(await refusal(() => planItem(storedOf(world).dek, other, { ...EDIT, fields: [] }))).toBe('item_swap')
  })

  it('takes out of the environment what it drops, hides or archives, and puts it back', async () => {
    const labels = async (): Promise<string[]> => {
      const answer = await world.answer(world.prod, bob)
      const { fields } = await openEnvironment(answer, world.prod, world.trust(world.fresh()), bob)
      return fields.map(({ row }) => row.label).sort()
    }
    expect(await labels()).toEqual(['DATABASE_CA', 'DATABASE_URL', 'STRIPE_KEY'])
    await world.write(world.prod, [{ ...EDIT, fields: [KEPT], status: 'archived' }], bob)
    expect(await labels()).toEqual(['DATABASE_CA', 'DATABASE_URL'])
    expect(storedOf(world).content.items.get('itm_stripe')).toMatchObject({ status: 'archived', fieldCount: 1 })
    await world.write(world.prod, [{ ...EDIT, fields: [KEPT] }], bob)
    expect(await labels()).toEqual(['DATABASE_CA', 'DATABASE_URL', 'STRIPE_KEY'])
    await world.write(world.prod, [{ ...EDIT, fields: [{ ...KEPT, env: false, value: value('hidden') }] }], bob)
    expect(await labels()).toEqual(['DATABASE_CA', 'DATABASE_URL'])
    expect(await readAll(world, bob)).toMatchObject({ [KEPT.fieldId]: 'hidden' })
    await world.write(world.prod, [{ ...EDIT, fields: [] }], bob)
    expect(storedOf(world).content.items.get('itm_stripe')).toMatchObject({ fieldCount: 0 })
  })

  it('signs each version on top of the one before', async () => {
    const first = stripe()
    await world.write(world.prod, [{ ...EDIT, fields: [KEPT], name: 'Stripe live' }], bob)
    const { document } = await readItem(world, await headWithSigners(world), 'itm_stripe')
    expect(document.payload).toMatchObject({
      itemVersion: first.detail.itemVersion + 1,
      prev: first.hash,
      name: 'Stripe live',
      by: bob.kid,
      vaultId: world.prod,
    })
  })

  it('is of a value that opens to exactly what was written, whatever its type', async () => {
    const bytes = new Uint8Array([0, 255, 128, 0])
    const fields = [
      { fieldId: makeId('fld'), label: 'BYTES', env: true, value: { type: 0, value: bytes } },
      { fieldId: makeId('fld'), label: 'JSON', env: true, value: { type: 2, value: value('{"a":1}').value } },
      { fieldId: makeId('fld'), label: 'EMPTY', env: true, value: value('') },
    ] as const
    await world.write(world.prod, [{ ...item('itm_types', 'Types', {}), fields }], bob)
    const keys = await keysOf(world, bob)
    const { fields: found } = await readItem(world, await headWithSigners(world), 'itm_types')
    for (const field of found) {
      const written = fields.find(({ fieldId }) => fieldId === field.fieldId)
      const opened = await openVerifiedField(keys, field, storedOf(world).values.get(field.fieldId) as string)
      expect(opened).toEqual(written?.value)
      expect(opened.type === 0 ? '' : valueText(opened)).toBe(
        opened.type === 0 ? '' : valueText(written?.value as never),
      )
    }
  })
})
