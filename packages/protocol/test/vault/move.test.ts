// Catches: an item that is in both vaults or in none after a move, or that cannot be read where it went.
// Seen red: moved rows left in the environment or among the attachments of the source; an attachment that arrives above
// version 1 refused; the target’s values still under the key of the source.
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type AssetRow,
  assetContent,
  assetRowOf,
  makeAssetCheckpoint,
  openAssetName,
  rewrapAsset,
  verifyAsset,
} from '../../src/attachments/checkpoint.ts'
import { type Envelope, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { valueText } from '../../src/values/field.ts'
import { checkCommit } from '../../src/vault/check-commit.ts'
import type { BuiltCommit } from '../../src/vault/commit.ts'
import { planItem, signItem } from '../../src/vault/edit.ts'
import type { VaultKeys } from '../../src/vault/grants.ts'
import { openVerifiedField, verifyAssets } from '../../src/vault/rows.ts'
import { NAME, sealAttachment } from '../attachments/world.ts'
import { refusal } from '../log/refusal.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { before, build, headWithSigners, keysOf, readItem, rewrite, storedOf } from './desk.ts'

const ITEM = 'itm_database'
const ASSET = 'ast_cert'
let world: World
let bob: Identity
let keys: VaultKeys
beforeEach(async () => {
  world = await openWorld()
  ;({ bob } = world.actors)
  await clearStagingLabel()
  for (const assetVersion of [1, 2]) await attach(assetVersion)
  keys = await keysOf(world, bob)
})

/** Staging has an item of the same label; a move into it would be refused for that alone. */
async function clearStagingLabel(): Promise<void> {
  const edit = await rewrite(world, 'itm_sdatabase', bob, world.staging)
  await world.write(world.staging, [{ ...edit, status: 'archived' }], bob)
}

async function attach(assetVersion: number): Promise<void> {
  const place = { org: ORG, vaultId: world.prod, assetId: ASSET, assetVersion }
  const { content } = await sealAttachment(storedOf(world).dek, new Uint8Array([assetVersion]), place)
  const envelope = await makeAssetCheckpoint({ place, itemId: ITEM, content, at: world.now }, bob)
  const row = assetRowOf(envelope, { place, itemId: ITEM })
  await world.commit(world.prod, (await build(world, { assets: [{ row, envelope }] }, bob)).commit)
}

/** The attachment as it is in a vault, verified. */
const assetIn = async (vaultId: string) => {
  const { content, documents } = storedOf(world, vaultId)
  const row = content.assets.get(ASSET) as AssetRow
  const head = await headWithSigners(world, vaultId)
  const [verified] = verifyAssets(head, [...content.assets.values()])
  return verifyAsset({
    row: verified as AssetRow,
    envelope: documents.get(row.docHash),
    keyOf: head.vault.directory.keyOf,
    authorise: () => true,
    org: ORG,
    vaultId,
  })
}

interface Move {
  readonly from: BuiltCommit
  readonly to: BuiltCommit
}

/** Both halves of a move: the item leaves one vault, and arrives in the other with every value sealed for it. */
async function move(): Promise<Move> {
  const target = storedOf(world, world.staging)
  const plan = await planItem(target.dek, undefined, { ...(await rewrite(world, ITEM, bob)), assets: [ASSET] })
  const signed = await signItem(plan, { org: ORG, vaultId: world.staging, at: world.now }, bob)
  const asset = await assetIn(world.prod)
  const content = await rewrapAsset(asset, storedOf(world).dek, target.dek)
  const place = { ...asset.place, vaultId: world.staging }
  const envelope = await makeAssetCheckpoint({ place, itemId: ITEM, content, at: world.now }, bob)
  const assets = [{ envelope, row: assetRowOf(envelope, { place, itemId: ITEM }) }]
  return {
    from: await build(world, { moved: [ITEM] }, bob),
    to: await build(world, { vaultId: world.staging, items: [signed], assets }, bob),
  }
}

const ARRIVING = new Map([[ASSET, 2]])
/** What a server does with a move: check both halves, append one leaf, store both. */
async function submit({ from, to }: Move): Promise<void> {
  const source = await checkCommit(before(world, world.prod, { moved: [ITEM] }), from.commit)
  const target = await checkCommit(before(world, world.staging, { arriving: ARRIVING }), to.commit)
  await world.host.append([...source.acts, ...target.acts], world.now)
  storedOf(world).content = source.content
  storedOf(world).items.delete(ITEM)
  const stored = storedOf(world, world.staging)
  stored.content = target.content
  for (const envelope of to.commit.docs) stored.documents.set(peekHash(envelope), envelope)
  for (const { detail, hash } of target.items) stored.items.set(ITEM, { detail, hash, envelope: envelopeOf(to, hash) })
  for (const [fieldId, sealed] of Object.entries(to.commit.values)) stored.values.set(fieldId, sealed)
}
const peekHash = (envelope: Envelope): string =>
  envelope.payloadType.includes('asset-content') ? peekDocument(assetContent, envelope).hash : ''
const envelopeOf = ({ commit }: BuiltCommit, _hash: string): Envelope =>
  commit.docs.find(({ payloadType }) => payloadType.includes('item-detail')) as Envelope

describe('a move', () => {
  it('takes the item out of one vault and into the other in one leaf', async () => {
    const leaves = world.host.leaves.length
    await submit(await move())
    expect(world.host.leaves).toHaveLength(leaves + 1)
    const { payload: source } = await world.head(world.prod)
    const { payload: target } = await world.head(world.staging)
    expect([source.items.count, source.env.count, source.assets.count]).toEqual([1, 1, 0])
    expect([target.items.count, target.env.count, target.assets.count]).toEqual([2, 2, 1])
    expect(storedOf(world).content.items.has(ITEM)).toBe(false)
  })

  it('seals every value for the vault it goes to, and the key of the old one opens none of them', async () => {
    await submit(await move())
    const stored = storedOf(world, world.staging)
    const { fields } = await readItem(world, await headWithSigners(world, world.staging), ITEM)
    const there = await keysOf(world, bob, world.staging)
    const opened: Record<string, string> = {}
    for (const field of fields) {
      const sealed = stored.values.get(field.fieldId) as string
      opened[field.label] = valueText(await openVerifiedField(there, field, sealed))
      expect(await refusal(() => openVerifiedField(keys, field, sealed))).toBe('aead')
    }
    expect(opened).toEqual({ DATABASE_URL: 'postgres://u:p@db/prod', DATABASE_CA: 'pem', note: 'rotate in june' })
    expect(fields.every(({ rev }) => rev === 1)).toBe(true)
  })

  it('takes attachments along in the version they have, wrapped for the other vault', async () => {
    await submit(await move())
    const asset = await assetIn(world.staging)
    expect(asset.place).toMatchObject({ vaultId: world.staging, assetVersion: 2 })
    const there = storedOf(world, world.staging).dek
    expect(await openAssetName(there, asset)).toEqual(NAME)
  })

  it('lets an attachment arrive in no other version than the one it left with', async () => {
    const { to } = await move()
    const code = (arriving?: Map<string, number>) =>
      refusal(() => checkCommit(before(world, world.staging, arriving ? { arriving } : {}), to.commit))
    expect(await code()).toBe('assets_mismatch')
    expect(await code(new Map([[ASSET, 1]]))).toBe('assets_mismatch')
    expect(await code(ARRIVING)).toBe('accepted')
  })

  it('is refused by the source if the head keeps the item, and by the target if it does not have it', async () => {
    const { from, to } = await move()
    expect(await refusal(() => checkCommit(before(world), from.commit))).toBe('head_mismatch')
    const empty = await build(world, {}, bob)
    const moved = before(world, world.prod, { moved: [ITEM] })
    expect(await refusal(() => checkCommit(moved, empty.commit))).toBe('head_mismatch')
    const without = { ...to.commit, docs: [] }
    expect(await refusal(() => checkCommit(before(world, world.staging), without))).toBe('field_swap')
  })
})
