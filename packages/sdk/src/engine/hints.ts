import { type ItemRow, ProtocolError, type VerifiedHead, verifyItems } from '@strongroom/protocol'
import type { Actor } from './actor.ts'

// What was seen to lead where, kept in the cache so that the next process need not ask. A hint proves nothing: what is found by it
// is verified like anything else, and a hint that is wrong costs a request.

const vaultKey = ({ org }: Actor, name: string): string => `vault-name/${org}/${name}`
const itemsKey = ({ org }: Actor, vaultId: string): string => `item-rows/${org}/${vaultId}`

async function get(actor: Actor, key: string): Promise<unknown> {
  const bytes = await actor.cache?.get(key).catch(() => undefined)
  if (!bytes) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

/** A cache that fails costs a later process a request, never this one its answer. */
async function put(actor: Actor, key: string, hint: unknown): Promise<void> {
  await actor.cache?.set(key, new TextEncoder().encode(JSON.stringify(hint))).catch(() => undefined)
}

const VAULT_ID = /^v[a-z2-7]{32}$/

/** Where this name of a vault led to last. */
export async function vaultHint(actor: Actor, name: string): Promise<string | undefined> {
  const hint = await get(actor, vaultKey(actor, name))
  return typeof hint === 'string' && VAULT_ID.test(hint) ? hint : undefined
}

export async function keepVaultHint(actor: Actor, name: string, vaultId: string): Promise<void> {
  if ((await vaultHint(actor, name)) !== vaultId) await put(actor, vaultKey(actor, name), vaultId)
}

export async function dropVaultHint(actor: Actor, name: string): Promise<void> {
  await actor.cache?.delete(vaultKey(actor, name)).catch(() => undefined)
}

export interface HintedItems {
  /** The items of this head, if the hint is still all of them. */
  under(head: VerifiedHead): readonly ItemRow[] | undefined
}

/** The items of a vault as they were listed last. */
export async function itemsHint(actor: Actor, vaultId: string): Promise<HintedItems | undefined> {
  const rows = await get(actor, itemsKey(actor, vaultId))
  if (!Array.isArray(rows)) return undefined
  return {
    under: (head) => {
      try {
        return verifyItems(head, rows)
      } catch (error) {
        if (error instanceof ProtocolError) return undefined
        throw error
      }
    },
  }
}

export const keepItemsHint = (actor: Actor, vaultId: string, items: readonly ItemRow[]): Promise<void> =>
  put(actor, itemsKey(actor, vaultId), items)
