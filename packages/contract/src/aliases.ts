import { items } from './items.ts'
import type { Routes } from './route.ts'
import { vaults } from './vaults.ts'

// Older names of four routes, kept for older clients. They take API keys only.

export const aliases = {
  list: { ...vaults.list, path: '/vaults', apiKeyOnly: true, summary: 'As GET /vault' },
  get: { ...vaults.get, path: '/vaults/:vaultId', apiKeyOnly: true, summary: 'As GET /vault/:vaultId' },
  items: { ...items.list, path: '/vaults/:vaultId/items', apiKeyOnly: true, summary: 'As GET /vault/:vaultId/items' },
  item: {
    ...items.get,
    path: '/vaults/:vaultId/items/:itemId',
    apiKeyOnly: true,
    summary: 'As GET /vault/:vaultId/items/:itemId',
  },
} as const satisfies Routes
