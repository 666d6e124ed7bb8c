import { toBase64url } from '../../src/encoding/base64.ts'
import { documentHash } from '../../src/identity/document.ts'
import { mapValue } from '../../src/log/map.ts'
import type { Commit } from '../../src/vault/commit.ts'
import { buildCommit, termsOf } from '../../src/vault/commit.ts'
import { type VaultContent, verifyContent } from '../../src/vault/content.ts'
import { type ItemRow, itemDetail } from '../../src/vault/documents.ts'
import { revokeKey } from '../world/acts.ts'
import { item, ORG } from '../world/world.ts'
import type { Attack } from './attack.ts'
import { forge, logHead } from './powers.ts'

import { detailOf, itemRows, list, readItem, rowOf, storedIn, writeContent } from './rows.ts'

// Rows 2, 3, 5, 6 and 16: the list of items, and single items with their details.

export const withItem =
  (itemId: string, change: Partial<ItemRow>) =>
  (content: VaultContent): VaultContent => ({
    ...content,
    items: new Map(content.items).set(itemId, { ...(content.items.get(itemId) as ItemRow), ...change }),
  })

export const ITEMS: readonly Attack[] = [
  {
    id: 'rows-item-dropped',
    row: 3,
    title: 'an item left out of the list',
    code: 'items_mismatch',
    run: (world, { client }) => list(world, client, itemRows(world).slice(1)),
  },
  {
    id: 'rows-count-is-a-lie',
    row: 3,
    title: 'a writer who signs another number of items than there are',
    code: 'items_mismatch',
    run: async (world, { client }) => {
      const { items } = (await world.head(world.prod)).payload
      await logHead(world, { items: { ...items, count: items.count + 1 } }, world.actors.bob)
      await list(world, client, itemRows(world))
    },
  },
  {
    id: 'rows-item-hidden',
    row: 3,
    title: 'an item of which only the hash is shown, as if it were archived',
    code: 'malformed',
    run: (world, { client }) => {
      const [first, ...rest] = itemRows(world) as [ItemRow, ...ItemRow[]]
      return list(world, client, [{ itemId: first.itemId, valueHash: toBase64url(mapValue(first)) }, ...rest])
    },
  },
  {
    id: 'rows-item-hidden-from-writer',
    row: 3,
    title: 'a writer who is led to sign the removal of an item he was not shown',
    code: 'malformed',
    run: async (world, { client }) => {
      const [first, ...rest] = itemRows(world) as [ItemRow, ...ItemRow[]]
      const head = await client.head(await world.vaultAnswer(world.prod))
      const env = [...storedIn(world).content.env.values()]
      const items = [{ itemId: first.itemId, valueHash: toBase64url(mapValue(first)) }, ...rest]
      const content = verifyContent(head, { items, env, assets: [] })
      const place = { org: ORG, vaultId: world.prod, at: world.now }
      const { commit } = await buildCommit(
        { ...place, base: head, content, terms: termsOf(head.payload) },
        world.actors.bob,
      )
      return commit satisfies Commit
    },
  },
  {
    id: 'rows-item-added',
    row: 4,
    title: 'an item planted into the list',
    code: 'items_mismatch',
    run: (world, { client }) =>
      list(world, client, [...itemRows(world), { ...rowOf(world, 'itm_stripe'), itemId: 'itm_planted' }]),
  },
  {
    id: 'rows-item-renamed',
    row: 5,
    title: 'the name of an item changed',
    code: 'items_mismatch',
    run: (world, { client }) =>
      list(
        world,
        client,
        itemRows(world).map((row) => ({ ...row, name: 'Other' })),
      ),
  },
  {
    id: 'rows-website-changed',
    row: 5,
    title: 'the website of an item changed in the path of a single read',
    code: 'items_mismatch',
    run: (world, { client }) =>
      readItem(world, client, {
        row: { ...rowOf(world, 'itm_stripe'), website: 'https://attacker.test' },
        detail: detailOf(world, 'itm_stripe'),
      }),
  },
  {
    id: 'rows-archived-shown-as-live',
    row: 5,
    title: 'an archived item shown as a live one',
    code: 'items_mismatch',
    run: async (world, { client }) => {
      const archived = { ...item('itm_stripe', 'Stripe', {}), status: 'archived' as const }
      await world.write(world.prod, [archived], world.actors.bob)
      await list(
        world,
        client,
        itemRows(world).map((row) => ({ ...row, status: 'active' })),
      )
    },
  },
  {
    id: 'rows-detail-of-other-item',
    row: 2,
    title: 'the detail of another item',
    code: 'detail_mismatch',
    run: (world, { client }) =>
      readItem(world, client, { row: rowOf(world, 'itm_stripe'), detail: detailOf(world, 'itm_database') }),
  },
  {
    id: 'rows-detail-older',
    row: 6,
    title: 'an older detail of the same item',
    code: 'detail_mismatch',
    run: async (world, { client }) => {
      const detail = detailOf(world, 'itm_stripe')
      await world.write(world.prod, [item('itm_stripe', 'Stripe 2', { STRIPE_KEY: 'x' })], world.actors.bob)
      await readItem(world, client, { row: rowOf(world, 'itm_stripe'), detail })
    },
  },
  {
    id: 'rows-detail-unsigned',
    row: 5,
    title: 'a detail without its signature',
    code: 'missing_signature',
    run: (world, { client }) =>
      readItem(world, client, {
        row: rowOf(world, 'itm_stripe'),
        detail: { ...detailOf(world, 'itm_stripe'), signatures: [] },
      }),
  },
  {
    id: 'rows-writer-swaps-items',
    row: 2,
    title: 'a writer whose row of one item commits to the detail of another',
    code: 'item_swap',
    run: async (world, { client }) => {
      const detail = detailOf(world, 'itm_database')
      await writeContent(world, withItem('itm_stripe', { detailHash: documentHash(detail) }))
      await readItem(world, client, { row: rowOf(world, 'itm_stripe'), detail })
    },
  },
  {
    id: 'rows-writer-swaps-vaults',
    row: 2,
    title: 'a writer whose row commits to a detail of another vault',
    code: 'vault_swap',
    run: async (world, { client }) => {
      const detail = await forge(
        itemDetail,
        detailOf(world, 'itm_stripe'),
        { vaultId: world.staging },
        world.actors.bob,
      )
      await writeContent(world, withItem('itm_stripe', { detailHash: documentHash(detail) }))
      await readItem(world, client, { row: rowOf(world, 'itm_stripe'), detail })
    },
  },
  {
    id: 'rows-writer-renames-in-list',
    row: 5,
    title: 'a writer whose list shows another name than the item has',
    code: 'detail_mismatch',
    run: async (world, { client }) => {
      await writeContent(world, withItem('itm_stripe', { name: 'Harmless' }))
      await readItem(world, client, { row: rowOf(world, 'itm_stripe'), detail: detailOf(world, 'itm_stripe') })
    },
  },
  {
    id: 'rows-compromised-author',
    row: 16,
    title: 'an item last written with a key that is known to be compromised',
    code: 'signer_compromised',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      await world.write(world.prod, [], alice)
      await revokeKey(world, bob.kid, 'compromised', alice)
      await readItem(world, client, { row: rowOf(world, 'itm_stripe'), detail: detailOf(world, 'itm_stripe') })
    },
  },
]
