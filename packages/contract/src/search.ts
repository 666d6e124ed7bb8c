import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed, Id, Name, Nullable, OneOf } from './shapes.ts'
import { VaultId } from './vault-shapes.ts'

export const SEARCH_KINDS = ['vault', 'item', 'field', 'license'] as const

const Hit = closed({
  kind: OneOf(SEARCH_KINDS),
  id: Type.String(),
  name: Type.String({ description: 'What was found: a name, a website or a label' }),
  vaultId: Nullable(VaultId),
  vaultName: Nullable(Type.String()),
  itemId: Nullable(Id),
  itemName: Nullable(Type.String()),
  score: Type.Number({ minimum: 0, maximum: 1 }),
})

export const search = {
  query: {
    api: 'machine',
    method: 'POST',
    path: '/search',
    summary:
      'Vaults, items, websites and field labels by name, also misspelt, best first, among what the caller can see, and licences that the caller could buy. Values are never searched: the server cannot read them',
    access: { kind: 'permission', permission: 'machine.search.read' },
    body: closed({
      query: Name,
      kinds: Type.Optional(Type.Array(OneOf(SEARCH_KINDS), { minItems: 1, maxItems: 4, uniqueItems: true })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    }),
    response: closed({ data: Type.Array(Hit) }),
  },
} as const satisfies Routes
