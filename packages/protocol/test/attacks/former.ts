import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { encodeMapProof, mapValue, proveMap } from '../../src/log/map.ts'
import { itemDetail } from '../../src/vault/documents.ts'
import { verifyFormer, verifyWayBack } from '../../src/vault/former.ts'
import { itemName, verifyItem, verifyItemRow } from '../../src/vault/rows.ts'
import { revokeKey } from '../world/acts.ts'
import { item, type World } from '../world/world.ts'
import type { Attack, Client, Honest } from './attack.ts'
import { withKid } from './directory.ts'
import { withItem } from './items.ts'
import { forge } from './powers.ts'
import { detailOf, itemRows, rowOf, writeContent } from './rows.ts'

// Rows 2, 5, 6 and 16: what an item was. The way back begins at the current version, which the head proves.

const ITEM = 'itm_stripe'

/** Reads the last of these versions of the item. */
async function readBack(
  world: World,
  client: Client,
  former: readonly Envelope[],
  current = detailOf(world, ITEM),
): Promise<void> {
  const head = await client.head(await withKid(world, world.actors.bob.kid))
  const entries = itemRows(world).map((one) => [itemName(one.itemId), mapValue(one)] as const)
  const proof = encodeMapProof(proveMap(entries, itemName(ITEM)))
  const verified = await verifyItem(head, verifyItemRow(head, rowOf(world, ITEM), proof), current)
  const [last] = verifyWayBack(verified, former).slice(-1)
  if (!last) throw new Error('nothing was shown')
  const { document } = await verifyFormer(head, last)
  client.remember({ directory: head.vault.directory, heads: [head] })
  client.release(document.payload.name)
}

/** Writes the item anew and gives what it was. */
async function rewrite(world: World, name: string, by = world.actors.bob): Promise<Envelope> {
  const before = detailOf(world, ITEM)
  await world.write(world.prod, [item(ITEM, name, { STRIPE_KEY: name })], by)
  return before
}

/** A writer whose detail of the item names any other as the one before it. */
async function writeFollowing(world: World, before: Envelope): Promise<Envelope> {
  const detail = await forge(itemDetail, detailOf(world, ITEM), { prev: documentHash(before) }, world.actors.bob)
  await writeContent(world, withItem(ITEM, { detailHash: documentHash(detail) }))
  return detail
}

export const FORMER_HONEST: readonly Honest[] = [
  {
    id: 'former-honest',
    theme: 'rows',
    title: 'an earlier version verifies, also where a compromised key wrote a later one',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      await rewrite(world, 'Second', alice)
      const second = await rewrite(world, 'Third')
      const third = await rewrite(world, 'Fourth', alice)
      await revokeKey(world, bob.kid, 'compromised', alice)
      await readBack(world, client, [third, second])
    },
  },
]

export const FORMER: readonly Attack[] = [
  {
    id: 'former-of-other-item',
    row: 2,
    title: 'a version of another item shown as an earlier one of this',
    code: 'detail_mismatch',
    run: async (world, { client }) => {
      await rewrite(world, 'Second')
      await readBack(world, client, [detailOf(world, 'itm_database')])
    },
  },
  {
    id: 'former-older-than-said',
    row: 6,
    title: 'a version left out, so that an older one stands in its place',
    code: 'detail_mismatch',
    run: async (world, { client }) => {
      const first = await rewrite(world, 'Second')
      await rewrite(world, 'Third')
      await readBack(world, client, [first])
    },
  },
  {
    id: 'former-unsigned',
    row: 5,
    title: 'an earlier version without its signature',
    code: 'missing_signature',
    run: async (world, { client }) => {
      const first = await rewrite(world, 'Second')
      await readBack(world, client, [{ ...first, signatures: [] }])
    },
  },
  {
    id: 'former-writer-swaps-items',
    row: 2,
    title: 'a writer who names a version of another item as the one before',
    code: 'item_swap',
    run: async (world, { client }) => {
      const other = detailOf(world, 'itm_database')
      await readBack(world, client, [other], await writeFollowing(world, other))
    },
  },
  {
    id: 'former-writer-swaps-vaults',
    row: 2,
    title: 'a writer who names a version of another vault as the one before',
    code: 'vault_swap',
    run: async (world, { client }) => {
      const other = detailOf(world, 'itm_sdatabase', world.staging)
      await readBack(world, client, [other], await writeFollowing(world, other))
    },
  },
  {
    id: 'former-writer-counts-otherwise',
    row: 6,
    title: 'a writer who names as the one before a version that is not',
    code: 'detail_mismatch',
    run: async (world, { client }) => {
      const same = detailOf(world, ITEM)
      await readBack(world, client, [same], await writeFollowing(world, same))
    },
  },
  {
    id: 'former-compromised-author',
    row: 16,
    title: 'an earlier version written with a key that is known to be compromised',
    code: 'signer_compromised',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      const first = await rewrite(world, 'Second', alice)
      await revokeKey(world, bob.kid, 'compromised', alice)
      await readBack(world, client, [first])
    },
  },
]
