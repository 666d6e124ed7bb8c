import type { attachments } from '@strongroom/contract'
import {
  type Envelope,
  itemDetail,
  peekDocument,
  proveAssetRow,
  proveItemRow,
  type VaultContent,
} from '@strongroom/protocol'
import { openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { objectStorage } from '../../outside/object-storage-choice.ts'
import { signedVault } from '../vaults/answer.ts'
import * as vaultStore from '../vaults/store.ts'
import { targetsOf } from './service.ts'
import * as store from './store.ts'

// What readers are shown of attachments: signed checkpoints, proven to be current, and where the bytes are.

const TICKET_MS = 5 * 60_000

const pathOf = ({ siblings, terminal }: ReturnType<typeof proveAssetRow>) => ({
  siblings: [...siblings],
  terminal: terminal && [...terminal],
})

/** The row of one attachment with its path to the root that the head signs. */
const proven = (content: VaultContent, assetId: string) => ({
  row: found(content.assets.get(assetId), 'attachment_not_found'),
  proof: pathOf(proveAssetRow(content, assetId)),
})

const signersOf = (envelopes: readonly Envelope[]): string[] => [
  ...new Set(envelopes.flatMap(({ signatures }) => signatures.map(({ keyid }) => keyid))),
]

export const ticket: Handler<typeof attachments.ticket> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId, 'attachment_not_found')
      const { assetId } = params
      const { key, checkpoint, detail } = found(
        await store.downloadable(ctx.db, vault, assetId),
        'attachment_not_found',
      )
      // What an item no longer lists is archived with its former version.
      const { itemId, assets } = peekDocument(itemDetail, detail).payload
      if (!assets.includes(assetId)) throw new ApiError('attachment_not_found')
      const content = vaultStore.contentOf(await vaultStore.contentRows(ctx.db, vault))
      const { row, proof } = proven(content, assetId)
      const { signed } = await signedVault(ctx, vault, { kids: signersOf([checkpoint]) })
      const targets = targetsOf(vault.vaultId, { item: itemId, attachment: assetId })
      await record(ctx, { action: 'attachment.download', targets })
      const expiresAt = new Date(ctx.now().getTime() + TICKET_MS)
      const url = objectStorage(ctx).presignDownload(key, expiresAt)
      return { url, expiresAt: expiresAt.toISOString(), row, proof, checkpoint, signed }
    },
    { atOneMoment: true },
  )

/** All of it of one moment. Those that the item no longer lists belong to it all the same: who moves it or changes the vault key signs them anew too. */
export const list: Handler<typeof attachments.list> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const { itemId } = params
      const { detail } = found(await vaultStore.item(ctx.db, vault, itemId), 'vault_item_not_found')
      const stored = await store.checkpointsOf(ctx.db, vault, itemId)
      const content = vaultStore.contentOf(await vaultStore.contentRows(ctx.db, vault))
      const kids = signersOf([detail, ...stored.map(({ checkpoint }) => checkpoint)])
      const { signed } = await signedVault(ctx, vault, { kids })
      await record(ctx, { action: 'attachment.list', targets: targetsOf(vault.vaultId, { item: itemId }) })
      const row = found(content.items.get(itemId), 'vault_item_not_found')
      return {
        data: stored.map(({ assetId, checkpoint }) => ({ ...proven(content, assetId), checkpoint })),
        item: { row, proof: pathOf(proveItemRow(content, itemId)), detail },
        signed,
      }
    },
    { atOneMoment: true },
  )
