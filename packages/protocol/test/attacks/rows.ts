import type { Envelope } from '../../src/identity/document.ts'
import { encodeMapProof, mapValue, proveMap } from '../../src/log/map.ts'
import { buildCommit, termsOf } from '../../src/vault/commit.ts'
import type { VaultContent } from '../../src/vault/content.ts'
import type { EnvRow, ItemRow } from '../../src/vault/documents.ts'
import { itemName, verifyItem, verifyItemRow, verifyItems } from '../../src/vault/rows.ts'
import { changeVault } from '../world/acts.ts'
import { item, ORG, type StoredVault, type World } from '../world/world.ts'
import type { Attack, Bench, Client, Honest } from './attack.ts'
import { withKid } from './directory.ts'
import { takeUnchecked, tamper, type WritableAnswer } from './powers.ts'

// Rows 3 to 5: what is in the clear. Hiding, adding and renaming by the server, and rows that a writer signs against better
// knowledge.

export const storedIn = (world: World, vaultId = world.prod): StoredVault => world.vaults.get(vaultId) as StoredVault
export const itemRows = (world: World): ItemRow[] => [...storedIn(world).content.items.values()]
export const rowOf = (world: World, itemId: string): ItemRow => storedIn(world).content.items.get(itemId) as ItemRow
export const detailOf = (world: World, itemId: string, vaultId = world.prod): Envelope =>
  (storedIn(world, vaultId).items.get(itemId) as { envelope: Envelope }).envelope

const serve = async ({ client }: Bench, change: (fields: WritableAnswer['fields'], copy: WritableAnswer) => void) =>
  client.read(tamper(await client.ask(), (copy) => change(copy.fields, copy)))

/** Reads the list of items. */
export async function list(world: World, client: Client, rows: readonly unknown[]): Promise<void> {
  const head = await client.head(await world.vaultAnswer(world.prod))
  const shown = verifyItems(head, rows)
  client.remember({ directory: head.vault.directory, heads: [head] })
  for (const { name } of shown) client.release(name)
}

/** Reads one item: row, path, detail. */
export async function readItem(
  world: World,
  client: Client,
  { row, detail, rows = itemRows(world) }: { row: ItemRow; detail: Envelope; rows?: readonly ItemRow[] },
): Promise<void> {
  const head = await client.head(await withKid(world, world.actors.bob.kid))
  const entries = rows.map((one) => [itemName(one.itemId), mapValue(one)] as const)
  const proof = encodeMapProof(proveMap(entries, itemName(row.itemId)))
  const verified = await verifyItem(head, verifyItemRow(head, row, proof), detail)
  client.remember({ directory: head.vault.directory, heads: [head] })
  client.release(verified.document.payload.name)
}

/** A dishonest writer signs a head over any content, and the server takes it. */
export async function writeContent(world: World, change: (content: VaultContent) => VaultContent, oldestDek?: number) {
  const head = await world.head(world.prod)
  const terms = { ...termsOf(head.payload), ...(oldestDek && { oldestDek }) }
  const content = change(storedIn(world).content)
  const place = { org: ORG, vaultId: world.prod, at: world.now }
  await takeUnchecked(world, await buildCommit({ ...place, base: head, content, terms }, world.actors.bob))
}

const withEnv =
  (fieldId: string, change: Partial<EnvRow>) =>
  (content: VaultContent): VaultContent => ({
    ...content,
    env: new Map(content.env).set(fieldId, { ...(content.env.get(fieldId) as EnvRow), ...change }),
  })

export const ROWS_HONEST: readonly Honest[] = [
  {
    id: 'rows-honest-list',
    theme: 'rows',
    title: 'a complete list and a single item verify, an archived item among them',
    run: async (world, { client }) => {
      const archived = { ...item('itm_stripe', 'Stripe', {}), status: 'archived' as const }
      await world.write(world.prod, [archived], world.actors.bob)
      await list(world, client, itemRows(world))
      await readItem(world, client, { row: rowOf(world, 'itm_stripe'), detail: detailOf(world, 'itm_stripe') })
    },
  },
]

export const ROWS: readonly Attack[] = [
  {
    id: 'rows-field-dropped',
    row: 3,
    title: 'an environment field left out',
    code: 'env_mismatch',
    run: (_world, bench) => serve(bench, (fields) => fields.pop()),
  },
  {
    id: 'rows-field-added',
    row: 4,
    title: 'an environment field added, with the ciphertext of another',
    code: 'env_mismatch',
    run: (_world, bench) =>
      serve(bench, (fields) => {
        const [first] = structuredClone(fields) as [WritableAnswer['fields'][number]]
        fields.push({ ...first, row: { ...first.row, fieldId: 'fld_planted', label: 'NODE_OPTIONS' } })
      }),
  },
  {
    id: 'rows-field-repeated',
    row: 4,
    title: 'an environment field shown twice',
    code: 'env_mismatch',
    run: (_world, bench) =>
      serve(bench, (fields) => {
        fields.push(structuredClone(fields[0]) as WritableAnswer['fields'][number])
      }),
  },
  {
    id: 'rows-field-replaced',
    row: 3,
    title: 'an environment field shown twice in the place of another',
    code: 'duplicate_label',
    run: (_world, bench) =>
      serve(bench, (fields) => {
        fields[1] = structuredClone(fields[0]) as WritableAnswer['fields'][number]
      }),
  },
  {
    id: 'rows-field-renamed',
    row: 5,
    title: 'a label changed',
    code: 'env_mismatch',
    run: (_world, bench) =>
      serve(bench, ([first]) => {
        if (first) first.row.label = 'PATH'
      }),
  },
  {
    id: 'rows-field-of-other-item',
    row: 5,
    title: 'a field shown as one of another item',
    code: 'env_mismatch',
    run: (_world, bench) =>
      serve(bench, ([first]) => {
        if (first) first.row.itemId = 'itm_other'
      }),
  },
  {
    id: 'rows-revision-changed',
    row: 6,
    title: 'the revision of a field set back',
    code: 'env_mismatch',
    run: async (world, bench) => {
      await world.write(world.prod, [item('itm_stripe', 'Stripe', { STRIPE_KEY: 'sk_live_new' })], world.actors.bob)
      return serve(bench, (fields) => {
        for (const { row } of fields) row.rev = 1
      })
    },
  },
  {
    id: 'rows-unsigned-member',
    row: 5,
    title: 'a row with a member that nobody signed',
    code: 'malformed',
    run: (_world, bench) =>
      serve(bench, ([first]) => {
        if (first) Object.assign(first.row, { export: true })
      }),
  },
  {
    id: 'rows-two-fields-of-one-name',
    row: 5,
    title: 'a writer and a server that export two fields under one name',
    code: 'duplicate_label',
    run: async (world, bench) => {
      await writeContent(world, withEnv('fld_itm_stripe_STRIPE_KEY', { label: 'DATABASE_URL' }))
      return bench.client.read(await bench.client.ask())
    },
  },
  {
    id: 'rows-field-under-retired-key',
    row: 11,
    title: 'a writer who declares a vault key retired that a field still needs',
    code: 'env_mismatch',
    run: async (world, bench) => {
      await changeVault(world, { rotate: 'scheduled' }, world.actors.alice)
      await writeContent(world, (content) => content, 2)
      return bench.client.read(await bench.client.ask())
    },
  },
  {
    id: 'rows-key-of-older-version-withheld',
    row: 11,
    title: 'the wrapped key of an older version that fields still use, withheld',
    code: 'unwrapped_key_missing',
    behindKeys: true,
    run: async (world, bench) => {
      await changeVault(world, { rotate: 'scheduled' }, world.actors.alice)
      return serve(bench, (_fields, copy) => copy.wrappedKeys.shift())
    },
  },
]
