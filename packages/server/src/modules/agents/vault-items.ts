import type { TxCtx } from '../../context.ts'

/** What agents need to know of vault items. */
export interface VaultItems {
  /** Whether the caller sees this item in this vault. */
  visible(ctx: TxCtx, vaultId: string, itemId: string): Promise<boolean>
}

/** Nothing is visible while there are no items. */
export const items: VaultItems = { visible: async () => false }
