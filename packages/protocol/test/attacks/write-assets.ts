import { assetContent } from '../../src/attachments/checkpoint.ts'
import { utf8 } from '../../src/encoding/bytes.ts'
import { type PayloadOf, peekDocument } from '../../src/identity/document.ts'
import { attach, changeVault, sealAsset } from '../world/acts.ts'
import { item } from '../world/world.ts'
import type { Attack } from './attack.ts'
import { forge } from './powers.ts'

import { build, committing, KEPT, sign, withOneToCome } from './writes.ts'

// Rows 2, 4, 6 and 11: attachments and retired vault keys, by dishonest writers against an honest server.

const withAsset = (change: Partial<PayloadOf<typeof assetContent>>, by?: 'alice') =>
  committing(async (world) => {
    const made = await sealAsset(world, utf8('certificate'), world.actors.bob)
    const signer = by ? world.actors[by] : world.actors.bob
    const envelope = await forge(assetContent, made.envelope, change, signer)
    const { assetId, assetVersion } = peekDocument(assetContent, envelope).payload
    return { assets: [{ ...made, envelope, place: { ...made.place, assetId, assetVersion } }] }
  })

export const WRITE_ASSETS: readonly Attack[] = [
  {
    id: 'write-retires-key-in-use',
    row: 11,
    title: 'a head that retires a vault key under which fields still are',
    code: 'head_mismatch',
    run: async (world, { server }) => {
      await changeVault(world, { rotate: 'scheduled' }, world.actors.alice)
      return server.commit(world.prod, (await build(world, { head: { oldestDek: 2 } })).commit)
    },
  },
  {
    id: 'write-retires-key-of-kept-field',
    row: 11,
    title: 'a head that retires the vault key of a field its own commit keeps',
    code: 'head_mismatch',
    run: async (world, { server }) => {
      await changeVault(world, { rotate: 'scheduled' }, world.actors.alice)
      const renewed = item('itm_database', 'Database', { DATABASE_URL: 'x', DATABASE_CA: 'y' })
      await world.write(world.prod, [renewed], world.actors.bob)
      const items = [await sign(world, KEPT)]
      return server.commit(world.prod, (await build(world, { items, head: { oldestDek: 2 } })).commit)
    },
  },
  {
    id: 'write-attachment-of-other-writer',
    row: 4,
    title: 'an attachment that somebody else signed',
    code: 'assets_mismatch',
    run: withAsset({}, 'alice'),
  },
  {
    id: 'write-attachment-signed-by-a-key-to-come',
    row: 4,
    title: 'an attachment with a bad signature by a key that comes into the directory later, and closes it then',
    code: 'unknown_signer',
    run: committing(
      async (world) => ({ assets: [await sealAsset(world, utf8('certificate'), world.actors.bob)] }),
      withOneToCome,
    ),
  },
  {
    id: 'write-attachment-under-other-key',
    row: 11,
    title: 'an attachment under another version of the vault key',
    code: 'assets_mismatch',
    run: withAsset({ dekVersion: 2 }),
  },
  {
    id: 'write-attachment-version-jumps',
    row: 6,
    title: 'an attachment whose version jumps ahead',
    code: 'assets_mismatch',
    run: withAsset({ assetVersion: 5 }),
  },
  {
    id: 'write-attachment-of-no-item',
    row: 2,
    title: 'an attachment of an item that does not exist',
    code: 'assets_mismatch',
    run: withAsset({ itemId: 'itm_nowhere' }),
  },
  {
    id: 'write-attachment-changes-item',
    row: 2,
    title: 'an attachment that moves to another item in its next version',
    code: 'item_swap',
    run: async (world, bench) => {
      await attach(world, [await sealAsset(world, utf8('one'), world.actors.bob)], world.actors.bob)
      return withAsset({ assetVersion: 2, itemId: 'itm_stripe' })(world, bench)
    },
  },
]
