import type { items } from '@strongroom/contract'
import { itemDetail, peekDocument } from '@strongroom/protocol'
import { openVault } from '../../access/vaults.ts'
import { transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { formerDetails, valuesNamed } from '../vaults/former-store.ts'
import { item } from '../vaults/store.ts'
import { atOneMoment, proofOf, recordRead } from './service.ts'

// What an item was. Each detail names the one before it by its hash, so from the current one, which the head proves, the way back is proven.

export const versions: Handler<typeof items.versions> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const { detail } = found(await item(ctx.db, vault, params.itemId), 'vault_item_not_found')
      const former = await formerDetails(ctx.db, vault, params.itemId)
      await recordRead(ctx, 'item.versions.read', vault, params.itemId)
      return { ...(await proofOf(ctx, vault, params.itemId, former)), detail, former }
    },
    atOneMoment,
  )

export const version: Handler<typeof items.version> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const { itemId, itemVersion } = params
      const vault = await openVault(ctx, params.vaultId)
      const { detail } = found(await item(ctx.db, vault, itemId), 'vault_item_not_found')
      const former = await formerDetails(ctx.db, vault, itemId, itemVersion)
      const asked = peekDocument(itemDetail, former.at(-1) ?? detail).payload
      if (asked.itemVersion !== itemVersion) throw new ApiError('item_version_not_found')
      const values = await valuesNamed(ctx.db, vault, itemId, asked.fields)
      await recordRead(ctx, 'item.version.read', vault, itemId, { itemVersion })
      return { ...(await proofOf(ctx, vault, itemId, former)), detail, former, values }
    },
    atOneMoment,
  )
