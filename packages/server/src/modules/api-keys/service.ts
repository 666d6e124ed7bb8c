import type { Principal, TxCtx } from '../../context.ts'
import { principalBehind } from '../../http/authenticate.ts'
import { makeApiKey } from '../../secrets/credentials.ts'
import * as store from './store.ts'

// Keys are made, replaced and ended here and nowhere else. They are part of the caller's transaction: a key that was shown
// exists, and a key that was ended is refused from the next request on, in every process.

export type KeyCtx = Pick<TxCtx, 'db' | 'pepper' | 'now' | 'newId'>

/** Whose key it is. A key of the operator belongs to nobody in the organisation. */
export type KeyOwner =
  | { readonly agentId: string }
  | { readonly userId: string; readonly permissions: readonly string[] }
  | { readonly globalAdmin: true }

export interface IssuedKey {
  readonly keyId: string
  readonly accessKey: string
  /** To be shown once and never kept. */
  readonly apiKey: string
}

/** A first key. An agent that has an active one needs `rotateKey`. */
export async function issueKey(ctx: KeyCtx, orgId: string, owner: KeyOwner): Promise<IssuedKey> {
  const { accessKey, apiKey, secretHmac } = makeApiKey(ctx.pepper)
  const keyId = ctx.newId('key')
  await store.insertKey(ctx.db, {
    orgId,
    keyId,
    accessKey,
    secretHmac,
    agentId: 'agentId' in owner ? owner.agentId : null,
    userId: 'userId' in owner ? owner.userId : null,
    globalAdmin: 'globalAdmin' in owner,
    permissions: 'permissions' in owner ? owner.permissions : [],
    at: ctx.now(),
  })
  return { keyId, accessKey, apiKey }
}

/** Ends the agent's key and issues another. The caller holds the lock on the agent, so that rotations follow one another. */
export async function rotateKey(ctx: KeyCtx, orgId: string, owner: { readonly agentId: string }): Promise<IssuedKey> {
  await store.endKeys(ctx.db, orgId, owner, 'rotated', ctx.now())
  return issueKey(ctx, orgId, owner)
}

/** Whoever calls with this key, as the gate knows them; without an active key it is refused as there. */
export async function callerOf({ db }: Pick<TxCtx, 'db'>, accessKey: string | null): Promise<() => Principal> {
  const row = accessKey === null ? null : await store.keyAtTheGate(db, accessKey)
  return () => principalBehind(accessKey ?? '', row)
}

/** Ends every active key of an agent, of a user, or of the operator in one organisation; answers how many. */
export async function revokeKeysOf(
  ctx: Pick<KeyCtx, 'db' | 'now'>,
  orgId: string,
  owner: store.KeysOf,
): Promise<number> {
  return (await store.endKeys(ctx.db, orgId, owner, 'revoked', ctx.now())).length
}
