import { openVault } from '../../access/vaults.ts'
import type { TxCtx } from '../../context.ts'
import { found } from '../../errors.ts'
import { item } from '../vaults/store.ts'

/** Refuses an item that the caller does not see in this vault, whatever the reason, with one answer. */
export async function ensureVisibleItem(ctx: TxCtx, vaultId: string, itemId: string): Promise<void> {
  const vault = await openVault(ctx, vaultId, 'vault_item_not_found')
  found(await item(ctx.db, vault, itemId), 'vault_item_not_found')
}
