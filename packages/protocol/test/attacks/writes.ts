import { assetRowOf } from '../../src/attachments/checkpoint.ts'
import { toBase64 } from '../../src/encoding/base64.ts'
import { utf8 } from '../../src/encoding/bytes.ts'
import { peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type BuiltCommit, buildCommit, type Commit, termsOf } from '../../src/vault/commit.ts'
import type { VaultContent } from '../../src/vault/content.ts'
import { type ItemDetailPayload, itemDetail, type VaultHeadPayload, vaultHead } from '../../src/vault/documents.ts'
import { type ItemEdit, planItem, type SignedItem, signItem } from '../../src/vault/edit.ts'
import { ASSET_ITEM, type Attached, attach, changeVault, sealAsset } from '../world/acts.ts'
import { item, ORG, type StoredVault, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { forge } from './powers.ts'

// Rows 2, 4 to 6: dishonest writers against an honest server. It reads no value, and still takes nothing that is not
// exactly what the signed head says.

const STRIPE = item('itm_stripe', 'Stripe', { STRIPE_KEY: 'sk_live_new' })
/** The same item with another name, its value as it is. */
export const KEPT: ItemEdit = {
  ...STRIPE,
  name: 'Renamed',
  fields: STRIPE.fields.map(({ value: _value, ...kept }) => kept),
}
const storedIn = (world: World): StoredVault => world.vaults.get(world.prod) as StoredVault

export async function sign(world: World, edit: ItemEdit, by: Identity = world.actors.bob): Promise<SignedItem> {
  const { dek, items } = storedIn(world)
  const plan = await planItem(dek, items.get(edit.itemId), edit)
  return signItem(plan, { org: ORG, vaultId: world.prod, at: world.now }, by)
}

interface Draft {
  readonly items?: readonly SignedItem[]
  readonly assets?: readonly Attached[]
  readonly content?: (content: VaultContent) => VaultContent
  readonly head?: Partial<VaultHeadPayload>
}

export async function build(
  world: World,
  { items = [], assets = [], content, head: change }: Draft,
): Promise<BuiltCommit> {
  const head = await world.head(world.prod)
  const before = storedIn(world).content
  const rows = assets.map(({ envelope, place }) => ({
    envelope,
    row: assetRowOf(envelope, { place, itemId: ASSET_ITEM }),
  }))
  const built = await buildCommit(
    {
      org: ORG,
      vaultId: world.prod,
      base: head,
      content: content ? content(before) : before,
      terms: { ...termsOf(head.payload), ...change },
      items,
      assets: rows,
      at: world.now,
    },
    world.actors.bob,
  )
  if (!change) return built
  return {
    ...built,
    commit: { ...built.commit, head: await forge(vaultHead, built.commit.head, change, world.actors.bob) },
  }
}

/** A commit that is honest but for one thing. */
export const committing =
  (
    draft: (world: World) => Promise<Draft>,
    change: (commit: Commit, world: World) => Commit | Promise<Commit> = (one) => one,
  ) =>
  async (world: World, { server }: Bench): Promise<unknown> => {
    const { commit } = await build(world, await draft(world))
    return server.commit(world.prod, await change(commit, world))
  }

/** The same commit, its documents with one more signature: by a key that nobody knows yet, and no signature at all. */
export const withOneToCome = ({ docs, ...commit }: Commit, { actors }: World): Commit => {
  const toCome = { keyid: actors.mallory.kid, sig: toBase64(new Uint8Array(64)) }
  return { ...commit, docs: docs.map((envelope) => ({ ...envelope, signatures: [...envelope.signatures, toCome] })) }
}

/** A commit of one item whose detail the writer altered before he signed it and the head over it. */
const withDetail = (change: (detail: ItemDetailPayload, world: World) => Partial<ItemDetailPayload>) =>
  committing(async (world) => {
    const honest = await sign(world, STRIPE)
    const envelope = await forge(itemDetail, honest.envelope, change(honest.detail, world), world.actors.bob)
    const { payload, hash } = peekDocument(itemDetail, envelope)
    return { items: [{ ...honest, envelope, detail: payload, hash }] }
  })

const withField = (change: Partial<ItemDetailPayload['fields'][number]>) =>
  withDetail(({ fields }) => ({ fields: fields.map((field) => ({ ...field, ...change })) }))

export const WRITES_HONEST: readonly Honest[] = [
  {
    id: 'writes-honest-commit',
    theme: 'writes',
    title: 'items, an attachment and its next version are committed and read back',
    run: async (world, { client, server }) => {
      const { bob } = world.actors
      const first = await sealAsset(world, utf8('one'), bob)
      const { commit } = await build(world, { items: [await sign(world, STRIPE)], assets: [first] })
      await server.commit(world.prod, commit)
      await attach(world, [await sealAsset(world, utf8('two'), bob, { assetVersion: 2 })], bob)
      const { fields } = await client.read(await client.ask())
      if (fields.length !== 3) throw new Error('not everything was read')
    },
  },
]

export const WRITES: readonly Attack[] = [
  {
    id: 'write-of-other-vault',
    row: 2,
    title: 'a commit for one vault sent to another',
    code: 'vault_swap',
    run: async (world, { server }) => {
      const { commit } = await build(world, { items: [await sign(world, STRIPE)] })
      return server.commit(world.staging, commit)
    },
  },
  {
    id: 'write-expects-other-head',
    row: 6,
    title: 'a commit that expects another head than the one it follows',
    code: 'head_mismatch',
    run: committing(
      async () => ({}),
      (commit) => ({ ...commit, expect: { ...commit.expect, headVersion: 9 } }),
    ),
  },
  {
    id: 'write-hides-item',
    row: 3,
    title: 'a head that leaves out an item nobody deleted',
    code: 'head_mismatch',
    run: committing(async () => ({ content: (content) => ({ ...content, items: new Map() }) })),
  },
  {
    id: 'write-hides-change',
    row: 5,
    title: 'a head that does not list what it changes',
    code: 'head_mismatch',
    run: committing(async (world) => ({ items: [await sign(world, STRIPE)], head: { changes: [] } })),
  },
  {
    id: 'write-detail-of-other-writer',
    row: 4,
    title: 'an item that somebody else signed, in one’s own commit',
    code: 'detail_mismatch',
    run: committing(async (world) => ({ items: [await sign(world, STRIPE, world.actors.carol)] })),
  },
  {
    id: 'write-detail-signed-by-a-key-to-come',
    row: 4,
    title: 'an item with a bad signature by a key that comes into the directory later, and closes it then',
    code: 'unknown_signer',
    run: committing(async (world) => ({ items: [await sign(world, STRIPE)] }), withOneToCome),
  },
  {
    id: 'write-detail-of-other-vault',
    row: 2,
    title: 'an item signed for another vault',
    code: 'detail_mismatch',
    run: withDetail((_detail, world) => ({ vaultId: world.staging })),
  },
  {
    id: 'write-item-twice',
    row: 4,
    title: 'two versions of one item in one commit',
    code: 'detail_mismatch',
    run: committing(
      async (world) => ({ items: [await sign(world, KEPT)] }),
      async (commit, world) => ({ ...commit, docs: [...commit.docs, (await sign(world, KEPT)).envelope] }),
    ),
  },
  {
    id: 'write-item-not-following',
    row: 6,
    title: 'an item that overwrites a version its writer has not seen',
    code: 'head_conflict',
    run: withDetail(() => ({ itemVersion: 7 })),
  },
  {
    id: 'write-item-on-other-predecessor',
    row: 6,
    title: 'an item that follows another predecessor than the current one',
    code: 'head_conflict',
    run: withDetail(() => ({ prev: '' })),
  },
  {
    id: 'write-revision-jumps',
    row: 6,
    title: 'a field whose revision jumps ahead, so that a later one could go back',
    code: 'detail_mismatch',
    run: withField({ rev: 9 }),
  },
  {
    id: 'write-under-older-key',
    row: 11,
    title: 'a field written under a vault key that a removed reader knows',
    code: 'detail_mismatch',
    run: async (world, { server }) => {
      const older = await sign(world, STRIPE)
      await changeVault(world, { rotate: 'member-removed' }, world.actors.alice)
      return server.commit(world.prod, (await build(world, { items: [older] })).commit)
    },
  },
  {
    id: 'write-value-missing',
    row: 1,
    title: 'a changed field without its value',
    code: 'field_swap',
    run: committing(
      async (world) => ({ items: [await sign(world, STRIPE)] }),
      (commit) => ({ ...commit, values: {} }),
    ),
  },
  {
    id: 'write-value-of-other-field',
    row: 1,
    title: 'a value that is not the one the signed detail names',
    code: 'field_swap',
    run: committing(
      async (world) => ({ items: [await sign(world, STRIPE)] }),
      (commit, world) => ({
        ...commit,
        values: { fld_itm_stripe_STRIPE_KEY: storedIn(world).values.get('fld_itm_database_DATABASE_URL') as string },
      }),
    ),
  },
  {
    id: 'write-value-planted',
    row: 4,
    title: 'a value that no detail names',
    code: 'field_swap',
    run: committing(
      async (world) => ({ items: [await sign(world, STRIPE)] }),
      (commit, world) => ({
        ...commit,
        values: {
          ...commit.values,
          fld_planted: storedIn(world).values.get('fld_itm_database_DATABASE_URL') as string,
        },
      }),
    ),
  },
  {
    id: 'write-two-fields-of-one-name',
    row: 5,
    title: 'a second environment field under the name of another',
    code: 'duplicate_label',
    run: committing(async (world) => ({
      items: [await sign(world, item('itm_other', 'Other', { DATABASE_URL: 'evil' }))],
    })),
  },
  {
    id: 'write-takes-field-of-other-item',
    row: 2,
    title: 'a field of one item written under another',
    code: 'item_swap',
    run: committing(async (world) => {
      const taken = item('itm_other', 'Other', { OTHER: 'x' })
      const fields = taken.fields.map((field) => ({ ...field, fieldId: 'fld_itm_stripe_STRIPE_KEY' }))
      return { items: [await sign(world, { ...taken, fields })] }
    }),
  },
]
