// Catches: a server that takes a commit whose head, details, values and attachments do not belong together.
// Seen red: each `ensure` of check-commit.ts removed in turn.
import { beforeEach, describe, expect, it } from 'vitest'
import { assetRowOf, makeAssetCheckpoint } from '../../src/attachments/checkpoint.ts'
import { documentHash, type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { sealField } from '../../src/values/field.ts'
import { type Commit, commitShape } from '../../src/vault/commit.ts'
import { type ItemDetailPayload, itemDetail, MAX_CHANGES, vaultHead } from '../../src/vault/documents.ts'
import type { ItemEdit, SignedItem } from '../../src/vault/edit.ts'
import { sealAttachment } from '../attachments/world.ts'
import { refusal } from '../log/refusal.ts'
import { commit as commitAccess } from '../transition/desk.ts'
import { item, ORG, openWorld, type World } from '../world/world.ts'
import { build, check, codeOf, signEdits, storedOf, value } from './desk.ts'

let world: World
let bob: Identity
let alice: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice, bob } = world.actors)
})
const NEW = item('itm_new1', 'New', { NEW_KEY: 'one' }, { note: 'two' })
const commitOf = async (edits: readonly ItemEdit[], by = bob): Promise<Commit> =>
  (await build(world, { items: await signEdits(world, edits, by) }, by)).commit

/** The same item signed again with other content, and a head over it that is right. */
async function forged(edit: ItemEdit, change: Partial<ItemDetailPayload>, by = bob): Promise<Commit> {
  const [signed] = (await signEdits(world, [edit], by)) as [SignedItem]
  const { v: _v, t: _t, by: _by, ...members } = signed.detail
  const envelope = await makeDocument(itemDetail, { ...members, ...change }, [by])
  const { payload, hash } = peekDocument(itemDetail, envelope)
  return (await build(world, { items: [{ detail: payload, hash, envelope, values: signed.values }] }, by)).commit
}

/** The head of a commit signed again with other members. */
async function withHead(commit: Commit, change: object, by = bob): Promise<Commit> {
  const { v: _v, t: _t, by: _by, ...members } = peekDocument(vaultHead, commit.head).payload
  return { ...commit, head: await makeDocument(vaultHead, { ...members, ...change }, [by]) }
}

describe('an honest commit', () => {
  it('is checked to the content it brings, its new details, and the acts for the log', async () => {
    const commit = await commitOf([NEW])
    const checked = await check(world, commitShape(JSON.parse(JSON.stringify(commit)), 'commit'))
    expect(checked.items.map(({ detail }) => [detail.itemId, detail.itemVersion])).toEqual([['itm_new1', 1]])
    expect(checked.content.items.size).toBe(storedOf(world).content.items.size + 1)
    expect([...checked.content.env.values()].map(({ label }) => label)).toContain('NEW_KEY')
    expect(checked.acts).toEqual([commit.head])
    expect(storedOf(world).content.items.has('itm_new1')).toBe(false)
  })

  it('has a form of its own, and comes in no other', async () => {
    const commit = JSON.parse(JSON.stringify(await commitOf([NEW])))
    const code = (change: object) => refusal(() => commitShape({ ...commit, ...change }, 'commit'))
    expect(await code({})).toBe('accepted')
    for (const values of [null, [], 'v3', { fld_one: 7 }, { fld_one: 'x'.repeat(131_073) }])
      expect(await code({ values })).toBe('malformed')
    expect(await code({ more: 1 })).toBe('malformed')
    expect(await code({ docs: {} })).toBe('malformed')
  })

  it('changes up to 500 items and attachments at once, and no more', { timeout: 30_000 }, async () => {
    const edits = Array.from({ length: MAX_CHANGES }, (_, i) =>
      item(`itm_bulk${i}`, `Item ${i}`, { [`BULK_${i}`]: 'x' }),
    )
    const items = await signEdits(world, edits, bob)
    const { commit } = await build(world, { items }, bob)
    await world.commit(world.prod, commit)
    expect((await world.head(world.prod)).payload).toMatchObject({
      items: { count: MAX_CHANGES + 2 },
      env: { count: MAX_CHANGES + 3 },
    })
    const [one] = (await signEdits(world, [NEW], bob)) as [SignedItem]
    expect(await refusal(() => build(world, { items: [...items, one] }, bob))).toBe('limit_exceeded')
    expect(await refusal(() => build(world, { items, moved: ['itm_stripe'] }, bob))).toBe('limit_exceeded')
  })
})

describe('a head', () => {
  it('is of this vault and follows the one that the writer expected', async () => {
    const commit = await commitOf([NEW])
    expect(await codeOf(world, await withHead(commit, { vaultId: world.staging }))).toBe('vault_swap')
    const { expect: at } = commit
    const late = { ...commit, expect: { ...at, headVersion: at.headVersion - 1 } }
    expect(await codeOf(world, late)).toBe('head_mismatch')
    expect(await codeOf(world, { ...commit, expect: { ...at, headHash: documentHash(world.genesis) } })).toBe(
      'head_mismatch',
    )
  })

  it.each(['items', 'env', 'assets'] as const)('commits to exactly the %s that result', async (tree) => {
    const commit = await commitOf([NEW])
    const { [tree]: right } = peekDocument(vaultHead, commit.head).payload
    const other = { ...right, root: documentHash(world.genesis) }
    expect(await codeOf(world, await withHead(commit, { [tree]: other }))).toBe('head_mismatch')
    expect(await codeOf(world, await withHead(commit, { [tree]: { ...right, count: right.count + 1 } }))).toBe(
      'head_mismatch',
    )
  })

  it('lists exactly the changes the commit brings', async () => {
    const commit = await commitOf([NEW])
    const put = { op: 'put' as const, id: 'itm_new1', version: 1 }
    for (const changes of [
      [],
      [{ ...put, version: 2 }],
      [{ ...put, id: 'itm_other' }],
      [{ ...put, op: 'asset' as const }],
      [put, { ...put, id: 'itm_other' }],
    ])
      expect(await codeOf(world, await withHead(commit, { changes }))).toBe('head_mismatch')
  })

  it('retires a vault key only when nothing is under it: no field, hidden, archived or exported, and no attachment', {
    timeout: 30_000,
  }, async () => {
    await world.write(world.prod, [{ ...item('itm_old1', 'Old', { OLD_KEY: 'x' }), status: 'archived' }], bob)
    await commitAccess(world, { rotate: 'scheduled' })
    const retire = async (items: readonly SignedItem[]) =>
      codeOf(world, (await build(world, { items, terms: { oldestDek: 2 } }, bob)).commit)
    expect(await retire([])).toBe('head_mismatch')
    const database = item('itm_database', 'Database', { DATABASE_URL: 'u', DATABASE_CA: 'c' })
    const stripe = item('itm_stripe', 'Stripe', { STRIPE_KEY: 's' })
    const old = { ...item('itm_old1', 'Old', { OLD_KEY: 'x' }), status: 'archived' as const }
    const hidden = { fieldId: 'fld_itm_database_note', label: 'note', env: false }
    // Exported fields alone are under the new key; the hidden note and the archived item are not.
    const kept = { ...database, fields: [...database.fields, hidden] }
    expect(await retire(await signEdits(world, [kept, stripe], bob))).toBe('head_mismatch')
    expect(await retire(await signEdits(world, [kept, stripe, old], bob))).toBe('head_mismatch')
    expect(await retire(await signEdits(world, [database, stripe], bob))).toBe('head_mismatch')
    expect(await retire(await signEdits(world, [database, stripe, old], bob))).toBe('accepted')
  })
})

describe('an item detail', () => {
  it('is by the writer of the head, of this vault and organisation', async () => {
    const items = await signEdits(world, [NEW], alice)
    expect(await codeOf(world, (await build(world, { items }, bob)).commit)).toBe('detail_mismatch')
    expect(await codeOf(world, await forged(NEW, { vaultId: world.staging }))).toBe('detail_mismatch')
    expect(await codeOf(world, await forged(NEW, { org: 'org_other' }))).toBe('genesis_mismatch')
    const { mallory } = world.actors
    const foreign = await signEdits(world, [NEW], mallory)
    expect(await codeOf(world, (await build(world, { items: foreign }, bob)).commit)).toBe('unknown_signer')
  })

  it('follows the current version of its item', async () => {
    const edit = { ...item('itm_stripe', 'Stripe', { STRIPE_KEY: 'other' }) }
    const prev = storedOf(world).items.get('itm_stripe')?.hash as string
    expect(await codeOf(world, await forged(edit, { itemVersion: 3 }))).toBe('head_conflict')
    expect(await codeOf(world, await forged(edit, { itemVersion: 1 }))).toBe('head_conflict')
    expect(await codeOf(world, await forged(edit, { prev: documentHash(world.genesis) }))).toBe('head_conflict')
    expect(await codeOf(world, await forged(NEW, { itemVersion: 2 }))).toBe('head_conflict')
    expect(await codeOf(world, await forged(NEW, { prev }))).toBe('head_conflict')
  })

  it('comes once for each item', async () => {
    const [one] = (await signEdits(world, [NEW], bob)) as [SignedItem]
    const [two] = (await signEdits(world, [{ ...NEW, name: 'Again' }], bob)) as [SignedItem]
    const { commit } = await build(world, { items: [one] }, bob)
    const twice = { ...commit, docs: [...commit.docs, two.envelope], values: Object.fromEntries(two.values) }
    expect(['detail_mismatch', 'field_swap']).toContain(await codeOf(world, twice))
    const empty = { ...NEW, fields: [] }
    const [three] = (await signEdits(world, [empty], bob)) as [SignedItem]
    const [four] = (await signEdits(world, [{ ...empty, name: 'Again' }], bob)) as [SignedItem]
    const plain = await build(world, { items: [three] }, bob)
    expect(await codeOf(world, { ...plain.commit, docs: [...plain.commit.docs, four.envelope] })).toBe(
      'detail_mismatch',
    )
  })

  it('counts the revision of a changed field by one, under the current vault key', async () => {
    const [signed] = (await signEdits(world, [NEW], bob)) as [SignedItem]
    const fields = (change: object) => ({ fields: signed.detail.fields.map((field) => ({ ...field, ...change })) })
    expect(await codeOf(world, await forged(NEW, fields({ rev: 2 })))).toBe('detail_mismatch')
    expect(await codeOf(world, await forged(NEW, fields({ dekVersion: 2 })))).toBe('detail_mismatch')
    const kept = storedOf(world).items.get('itm_stripe')?.detail as ItemDetailPayload
    const edit = {
      ...item('itm_stripe', 'Stripe', {}),
      fields: kept.fields.map(({ fieldId, label, env }) => ({ fieldId, label, env })),
    }
    const relabelled = { fields: kept.fields.map((field) => ({ ...field, label: 'OTHER' })) }
    expect(await codeOf(world, await forged(edit, relabelled))).toBe('detail_mismatch')
    expect(
      await codeOf(world, await forged(edit, { fields: kept.fields.map((field) => ({ ...field, type: 2 })) })),
    ).toBe('detail_mismatch')
  })

  it('brings for each changed field exactly the value it names', async () => {
    const commit = await commitOf([NEW])
    const [fieldId, other] = Object.keys(commit.values) as [string, string]
    const { [fieldId]: _gone, ...fewer } = commit.values
    expect(await codeOf(world, { ...commit, values: fewer })).toBe('field_swap')
    const swapped = { ...commit.values, [fieldId]: commit.values[other] as string }
    expect(await codeOf(world, { ...commit, values: swapped })).toBe('field_swap')
    const stray = { ...commit.values, fld_stray: commit.values[fieldId] as string }
    expect(await codeOf(world, { ...commit, values: stray })).toBe('field_swap')
    expect(await codeOf(world, { ...commit, values: { ...commit.values, [fieldId]: 'v2.abc' } })).toBe('alg_downgrade')
  })

  it('names a value whose envelope is under the version it says', async () => {
    const { dek } = storedOf(world)
    await commitAccess(world, { rotate: 'scheduled' })
    // Sealed under version 1, and its detail says version 2.
    const place = { itemId: 'itm_new1', fieldId: 'fld_new_one', rev: 1, label: 'NEW_KEY', env: true }
    const sealed = await sealField(dek, place, value('one'))
    const field = {
      ct: sealed.ct,
      dekVersion: 2,
      env: true,
      fieldId: place.fieldId,
      label: 'NEW_KEY',
      rev: 1,
      type: 1 as const,
    }
    const edit = { ...NEW, fields: [] }
    const [signed] = (await signEdits(world, [edit], bob)) as [SignedItem]
    const { v: _v, t: _t, by: _by, ...members } = signed.detail
    const envelope = await makeDocument(itemDetail, { ...members, fields: [field] }, [bob])
    const { payload, hash } = peekDocument(itemDetail, envelope)
    const values = new Map([[place.fieldId, sealed.envelope]])
    const { commit } = await build(world, { items: [{ detail: payload, hash, envelope, values }] }, bob)
    expect(await codeOf(world, commit)).toBe('field_swap')
  })
  it('uses no field of another item, whether in the vault or in the same commit', async () => {
    const taken = { fieldId: 'fld_itm_stripe_STRIPE_KEY', label: 'TAKEN', env: true, value: value('x') }
    expect(await codeOf(world, await commitOf([{ ...NEW, fields: [taken] }]))).toBe('item_swap')
    const shared = { fieldId: 'fld_shared', label: 'shared', env: false, value: value('x') }
    const both = await commitOf([
      { ...NEW, fields: [shared] },
      { ...item('itm_new2', 'New', {}), fields: [shared] },
    ])
    expect(['item_swap', 'field_swap']).toContain(await codeOf(world, both))
  })

  it('uses no label twice in the environment of a vault', async () => {
    expect(await codeOf(world, await commitOf([item('itm_new1', 'New', { STRIPE_KEY: 'other' })]))).toBe(
      'duplicate_label',
    )
    expect(await codeOf(world, await commitOf([item('itm_new1', 'New', {}, { STRIPE_KEY: 'hidden' })]))).toBe(
      'accepted',
    )
  })
})

describe('an attachment', () => {
  const attachment = async (
    change: { itemId?: string; assetVersion?: number; by?: Identity; vaultId?: string } = {},
  ) => {
    const { itemId = 'itm_database', assetVersion = 1, by = bob, vaultId = world.prod } = change
    const place = { org: ORG, vaultId, assetId: 'ast_cert', assetVersion }
    const dek = storedOf(world, vaultId).dek
    const { content } = await sealAttachment(dek, new Uint8Array(10), place)
    const envelope = await makeAssetCheckpoint({ place, itemId, content, at: world.now }, by)
    return { envelope, row: assetRowOf(envelope, { place, itemId }) }
  }
  const code = async (asset: Awaited<ReturnType<typeof attachment>>) =>
    codeOf(world, (await build(world, { assets: [asset] }, bob)).commit)
  const attach = async (asset: Awaited<ReturnType<typeof attachment>>) =>
    world.commit(world.prod, (await build(world, { assets: [asset] }, bob)).commit)

  it('becomes a row of the head', async () => {
    const asset = await attachment()
    await attach(asset)
    expect([...storedOf(world).content.assets.values()]).toEqual([asset.row])
    expect((await world.head(world.prod)).payload.assets.count).toBe(1)
    expect((await world.head(world.prod)).payload.changes).toEqual([{ op: 'asset', id: 'ast_cert', version: 1 }])
  })

  it('is by the writer of the head, of this vault, and of an item that is there', async () => {
    expect(await code(await attachment({ by: alice }))).toBe('assets_mismatch')
    expect(await code(await attachment({ vaultId: world.staging }))).toBe('assets_mismatch')
    expect(await code(await attachment({ itemId: 'itm_nowhere' }))).toBe('assets_mismatch')
  })

  it('begins at version 1, goes on by one or is wrapped again, and stays with its item', async () => {
    expect(await code(await attachment({ assetVersion: 2 }))).toBe('assets_mismatch')
    await attach(await attachment())
    expect(await code(await attachment({ assetVersion: 1 }))).toBe('accepted')
    expect(await code(await attachment({ assetVersion: 2 }))).toBe('accepted')
    expect(await code(await attachment({ assetVersion: 3 }))).toBe('assets_mismatch')
    expect(await code(await attachment({ assetVersion: 2, itemId: 'itm_stripe' }))).toBe('item_swap')
  })

  it('is under the current vault key, and holds the old one in use until it is wrapped again', async () => {
    const asset = await attachment()
    await attach(asset)
    const old = await attachment({ assetVersion: 2 })
    await commitAccess(world, { rotate: 'scheduled' })
    expect(await code(old)).toBe('assets_mismatch')
    const items = await signEdits(
      world,
      [
        item('itm_database', 'Database', { DATABASE_URL: 'u', DATABASE_CA: 'c' }),
        item('itm_stripe', 'Stripe', { STRIPE_KEY: 's' }),
      ],
      bob,
    )
    const retire = { items, terms: { oldestDek: 2 } }
    expect(await codeOf(world, (await build(world, retire, bob)).commit)).toBe('head_mismatch')
    const assets = [await attachment({ assetVersion: 1 })]
    expect(await codeOf(world, (await build(world, { ...retire, assets }, bob)).commit)).toBe('accepted')
  })

  it('is an honest document', async () => {
    const asset = await attachment()
    const envelope: Envelope = { ...asset.envelope, signatures: [] }
    expect(await code({ ...asset, envelope })).toBe('missing_signature')
  })
})
