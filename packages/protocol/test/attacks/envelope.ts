import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { concat, u32be, utf8 } from '../../src/encoding/bytes.ts'
import { lp } from '../../src/encoding/lp.ts'
import { type Dek, itemKey } from '../../src/values/dek.ts'
import { envelopeHash, type FieldPlace, valueText } from '../../src/values/field.ts'
import { pad } from '../../src/values/padding.ts'
import { type BuiltCommit, buildCommit, termsOf } from '../../src/vault/commit.ts'
import type { DetailField } from '../../src/vault/documents.ts'
import { type ItemBase, signItem } from '../../src/vault/edit.ts'
import { item, ORG, type StoredVault, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { tamper, type WritableAnswer } from './powers.ts'

// Rows 1, 2, 18 and 29: ciphertexts in the wrong place. The server can only exchange them; a writer can also sign for it.

const ITEM = 'itm_database'
export const URL_FIELD = 'fld_itm_database_DATABASE_URL'
export const CA_FIELD = 'fld_itm_database_DATABASE_CA'
export const NOTE_FIELD = 'fld_itm_database_note'
export const STRIPE_FIELD = 'fld_itm_stripe_STRIPE_KEY'

const storedIn = (world: World, vaultId = world.prod): StoredVault => world.vaults.get(vaultId) as StoredVault
export const sealedOf = (world: World, fieldId: string, vaultId = world.prod): string =>
  storedIn(world, vaultId).values.get(fieldId) as string

/** The server exchanges a ciphertext on the wire. */
const serve = async ({ client }: Bench, change: (fields: WritableAnswer['fields']) => void) =>
  client.read(tamper(await client.ask(), (copy) => change(copy.fields)))

const fieldIn = (fields: WritableAnswer['fields'], fieldId: string) =>
  fields.find(({ row }) => row.fieldId === fieldId) as WritableAnswer['fields'][number]

const withValue =
  (make: (value: string) => string) =>
  async (_world: World, bench: Bench): Promise<unknown> =>
    serve(bench, (fields) => {
      const field = fieldIn(fields, URL_FIELD)
      field.value = make(field.value)
    })

const altered = (value: string, change: (bytes: Uint8Array) => Uint8Array): string =>
  `v3.${toBase64url(change(fromBase64url(value.slice(3))))}`

const flip = (at: number) => (value: string) =>
  altered(value, (bytes) => {
    const place = at < 0 ? bytes.length + at : at
    bytes[place] = (bytes[place] as number) ^ 1
    return bytes
  })

/** A dishonest writer: signs and commits one field of the database item as it pleases, with any ciphertext. */
export async function writeField(
  world: World,
  fieldId: string,
  change: Partial<DetailField>,
  envelope: string | ((dek: Dek, place: FieldPlace) => Promise<string>),
  take: (built: BuiltCommit) => Promise<void> = ({ commit }) => world.commit(world.prod, commit),
): Promise<void> {
  const stored = storedIn(world)
  const base = stored.items.get(ITEM) as ItemBase
  const old = base.detail.fields.find((field) => field.fieldId === fieldId) as DetailField
  const next = { ...old, ...change, rev: old.rev + 1 }
  const { label, env, rev } = next
  const value =
    typeof envelope === 'string' ? envelope : await envelope(stored.dek, { itemId: ITEM, fieldId, rev, label, env })
  const field: DetailField = { ...next, ct: envelopeHash(value), dekVersion: stored.dek.dekVersion }
  const { itemId, name, website, status, assets } = base.detail
  const fields = base.detail.fields.map((one) => (one.fieldId === fieldId ? field : one))
  const plan = { base, next: { itemId, name, website, status, assets, fields }, values: new Map([[fieldId, value]]) }
  const place = { org: ORG, vaultId: world.prod, at: world.now }
  const items = [await signItem(plan, place, world.actors.bob)]
  const head = await world.head(world.prod)
  const built = await buildCommit(
    { ...place, base: head, content: stored.content, terms: termsOf(head.payload), items },
    world.actors.bob,
  )
  await take(built)
}

/** Encrypts a plaintext that no honest client would write, correctly and into its place. */
export const sealing =
  (plaintext: Uint8Array) =>
  async (dek: Dek, place: FieldPlace): Promise<string> => {
    const hdr = concat(Uint8Array.of(3, 1), u32be(dek.dekVersion))
    const { itemId, fieldId, rev, label, env } = place
    const aad = lp('vault.v3/field', hdr, dek.org, dek.vaultId, itemId, fieldId, rev, label, env ? 1 : 0)
    const nonce = new Uint8Array(12)
    const sealed = await platform.aesGcmSeal(itemKey(dek, itemId).encryption, nonce, plaintext, aad)
    return `v3.${toBase64url(concat(hdr, nonce, sealed))}`
  }

export const ENVELOPE_HONEST: readonly Honest[] = [
  {
    id: 'envelope-honest-rename',
    theme: 'envelope',
    title: 'a field that was renamed and encrypted anew opens under its new name',
    run: async (world, { client }) => {
      await writeField(world, CA_FIELD, { label: 'CA' }, sealing(pad(1, utf8('pem2'))))
      const { fields } = await client.read(await client.ask())
      const ca = fields.find(({ row }) => row.label === 'CA')
      if (!ca || valueText(ca.value) !== 'pem2') throw new Error('not read')
    },
  },
]

export const ENVELOPE: readonly Attack[] = [
  {
    id: 'envelope-ciphertext-bit',
    row: 1,
    title: 'one bit of a ciphertext',
    code: 'field_swap',
    run: withValue(flip(30)),
  },
  { id: 'envelope-nonce-bit', row: 1, title: 'one bit of a nonce', code: 'field_swap', run: withValue(flip(8)) },
  { id: 'envelope-tag-bit', row: 1, title: 'one bit of a tag', code: 'field_swap', run: withValue(flip(-1)) },
  {
    id: 'envelope-fields-exchanged',
    row: 1,
    title: 'the values of two fields of one item exchanged',
    code: 'field_swap',
    run: (_world, bench) =>
      serve(bench, (fields) => {
        const [a, b] = [fieldIn(fields, URL_FIELD), fieldIn(fields, CA_FIELD)]
        ;[a.value, b.value] = [b.value, a.value]
      }),
  },
  {
    id: 'envelope-of-other-item',
    row: 2,
    title: 'the value of another item',
    code: 'field_swap',
    run: (world, bench) =>
      serve(bench, (fields) => {
        fieldIn(fields, URL_FIELD).value = sealedOf(world, STRIPE_FIELD)
      }),
  },
  {
    id: 'envelope-of-other-vault',
    row: 2,
    title: 'the value of the field of the same name in another vault',
    code: 'field_swap',
    run: (world, bench) =>
      serve(bench, (fields) => {
        fieldIn(fields, URL_FIELD).value = sealedOf(world, 'fld_itm_sdatabase_DATABASE_URL', world.staging)
      }),
  },
  {
    id: 'envelope-older-value',
    row: 6,
    title: 'an older value of the same field',
    code: 'field_swap',
    run: async (world, bench) => {
      const older = sealedOf(world, STRIPE_FIELD)
      await world.write(world.prod, [item('itm_stripe', 'Stripe', { STRIPE_KEY: 'sk_live_new' })], world.actors.bob)
      return serve(bench, (fields) => {
        fieldIn(fields, STRIPE_FIELD).value = older
      })
    },
  },
  {
    id: 'envelope-plaintext',
    row: 18,
    title: 'a plaintext where a ciphertext is due',
    code: 'alg_downgrade',
    run: withValue(() => 'postgres://u:p@attacker/prod'),
  },
  {
    id: 'envelope-older-format',
    row: 18,
    title: 'an envelope of an older version of the format',
    code: 'alg_downgrade',
    run: withValue((value) => `v2.${value.slice(3)}`),
  },
  {
    id: 'envelope-unknown-suite',
    row: 18,
    title: 'an envelope of an unknown suite',
    code: 'alg_downgrade',
    run: withValue((value) =>
      altered(value, (bytes) => {
        bytes[1] = 2
        return bytes
      }),
    ),
  },
  {
    id: 'envelope-too-short',
    row: 1,
    title: 'an envelope cut short',
    code: 'malformed',
    run: withValue((value) => altered(value, (bytes) => bytes.subarray(0, 1))),
  },
  {
    id: 'envelope-with-bytes-behind',
    row: 1,
    title: 'an envelope with bytes behind its end',
    code: 'malformed',
    run: withValue((value) => altered(value, (bytes) => concat(bytes, Uint8Array.of(0)))),
  },
  {
    id: 'envelope-two-spellings',
    row: 25,
    title: 'the same bytes in a second spelling',
    code: 'malformed',
    run: withValue((value) => `${value}=`),
  },
  {
    id: 'envelope-too-large',
    row: 1,
    title: 'an envelope larger than any value',
    code: 'limit_exceeded',
    run: withValue(() => `v3.${'A'.repeat(100_000)}`),
  },
]
