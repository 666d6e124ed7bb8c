import { type Static, Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, Nullable, OneOf, Page, Time } from './shapes.ts'

// A copy of a secret for somebody without an account. It is sealed by the client under a key that stands in the fragment of the
// link and is never sent: the server keeps, counts and forgets. There is no member for words about it, where a secret could land.

const reading = { kind: 'permission', permission: 'machine.vault.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.vault.write' } as const satisfies Access

/** 256 KiB in base64url. */
const Sealed = Type.String({
  minLength: 4,
  maxLength: 349_526,
  pattern: '^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?$',
  description: 'base64url, at most 262144 bytes; the server cannot open it',
})
const Views = Type.Integer({ minimum: 1, maximum: 100 })
const byId = closed({ id: Id })

export const SharedItem = closed({
  sharedItemId: Id,
  /** The vault item it is a copy of, for its owner and the audit log only. */
  itemId: Nullable(Id),
  status: OneOf(['active', 'used', 'expired']),
  views: Type.Integer({ minimum: 0 }),
  maxViews: Views,
  expiresAt: Time,
  createdAt: Time,
})
export type SharedItem = Static<typeof SharedItem>

export const sharedItems = {
  create: {
    api: 'machine',
    method: 'POST',
    path: '/shared-item',
    summary:
      'Leave a sealed copy for whoever has the link; it ends at `expiresAt`, at most 30 days ahead, or by its last view',
    access: writing,
    body: closed({
      sealed: Sealed,
      expiresAt: Time,
      maxViews: Views,
      itemId: Type.Optional(Id),
    }),
    bodyLimit: 360_448,
    status: 201,
    response: SharedItem,
    errors: ['vault_item_not_found'],
  },
  view: {
    api: 'machine',
    method: 'GET',
    path: '/shared-item/:id',
    summary: 'Take one view of a shared item; the last one deletes it',
    access: { kind: 'public' },
    params: byId,
    response: closed({ sealed: Sealed, viewsLeft: Type.Integer({ minimum: 0 }), expiresAt: Time }),
    errors: ['shared_item_not_found', 'audit_unavailable'],
  },
  list: {
    api: 'machine',
    method: 'GET',
    path: '/shared-item',
    summary: 'What the caller has shared; it is forgotten when it expires',
    access: reading,
    query: closed(Page),
    response: listOf('data', SharedItem),
  },
  remove: {
    api: 'machine',
    method: 'DELETE',
    path: '/shared-item/:id',
    summary: 'Withdraw what the caller has shared',
    access: writing,
    params: byId,
    response: closed({ sharedItemId: Id }),
    errors: ['shared_item_not_found'],
  },
} as const satisfies Routes
