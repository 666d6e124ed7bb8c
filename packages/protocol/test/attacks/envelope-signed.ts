import { concat, utf8 } from '../../src/encoding/bytes.ts'
import type { Dek } from '../../src/values/dek.ts'
import type { FieldPlace } from '../../src/values/field.ts'
import { pad } from '../../src/values/padding.ts'
import type { DetailField } from '../../src/vault/documents.ts'
import { changeVault } from '../world/acts.ts'
import type { World } from '../world/world.ts'
import type { Attack, Bench } from './attack.ts'
import { CA_FIELD, NOTE_FIELD, STRIPE_FIELD, sealedOf, sealing, URL_FIELD, writeField } from './envelope.ts'
import { takeUnchecked } from './powers.ts'

// Rows 1, 2, 6, 18 and 29: ciphertexts that a dishonest writer signs for.

const written =
  (
    fieldId: string,
    change: Partial<DetailField>,
    envelope: (world: World) => string | ((dek: Dek, place: FieldPlace) => Promise<string>),
  ) =>
  async (world: World, { client }: Bench): Promise<unknown> => {
    await writeField(world, fieldId, change, envelope(world))
    return client.read(await client.ask())
  }

export const SIGNED_ENVELOPES: readonly Attack[] = [
  {
    id: 'envelope-writer-pastes-other-item',
    row: 2,
    title: 'a writer who signs for the ciphertext of another item as the database URL',
    code: 'aead',
    behindKeys: true,
    run: written(URL_FIELD, {}, (world) => sealedOf(world, STRIPE_FIELD)),
  },
  {
    id: 'envelope-writer-pastes-other-field',
    row: 1,
    title: 'a writer who signs for the ciphertext of another field of the item',
    code: 'aead',
    behindKeys: true,
    run: written(URL_FIELD, {}, (world) => sealedOf(world, CA_FIELD)),
  },
  {
    id: 'envelope-writer-pastes-other-vault',
    row: 2,
    title: 'a writer of two vaults who pastes from one into the other',
    code: 'aead',
    behindKeys: true,
    run: written(URL_FIELD, {}, (world) => sealedOf(world, 'fld_itm_sdatabase_DATABASE_URL', world.staging)),
  },
  {
    id: 'envelope-writer-renames',
    row: 1,
    title: 'a writer who makes a secret appear under another name',
    code: 'aead',
    behindKeys: true,
    run: written(URL_FIELD, { label: 'PUBLIC_URL' }, (world) => sealedOf(world, URL_FIELD)),
  },
  {
    id: 'envelope-writer-exports',
    row: 1,
    title: 'a writer who exports a hidden note into the environment',
    code: 'aead',
    behindKeys: true,
    run: written(NOTE_FIELD, { env: true }, (world) => sealedOf(world, NOTE_FIELD)),
  },
  {
    id: 'envelope-writer-brings-back-older-value',
    row: 6,
    title: 'a writer without the vault key who signs an old ciphertext as a new revision',
    code: 'aead',
    behindKeys: true,
    run: written(URL_FIELD, {}, (world) => sealedOf(world, URL_FIELD)),
  },
  {
    id: 'envelope-writer-without-padding',
    row: 29,
    title: 'a writer whose value ends without a padding marker',
    code: 'padding',
    behindKeys: true,
    run: written(URL_FIELD, {}, () => sealing(new Uint8Array(64))),
  },
  {
    id: 'envelope-writer-pads-more',
    row: 29,
    title: 'a writer who pads to another bucket than the value has',
    code: 'padding',
    behindKeys: true,
    run: written(URL_FIELD, {}, () => sealing(concat(pad(1, utf8('short')), new Uint8Array(64)))),
  },
  {
    id: 'envelope-writer-unknown-type',
    row: 29,
    title: 'a writer who writes a value of an unknown type',
    code: 'padding',
    behindKeys: true,
    run: written(URL_FIELD, {}, () => sealing(pad(3 as 2, utf8('short')))),
  },
  {
    id: 'envelope-other-key-version',
    row: 18,
    title: 'a ciphertext of an older vault key under a row that names the current one',
    code: 'field_swap',
    behindKeys: true,
    run: async (world, { client }) => {
      const older = sealedOf(world, URL_FIELD)
      await changeVault(world, { rotate: 'scheduled' }, world.actors.alice)
      await writeField(world, URL_FIELD, {}, older, (built) => takeUnchecked(world, built))
      return client.read(await client.ask())
    },
  },
]
