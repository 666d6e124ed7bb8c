import { envField, openVerifiedField, ProtocolError, type VerifiedHead, verifyEnvironment } from '@strongroom/protocol'
import { ApiError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { refuseUnless } from './answers.ts'
import { cacheComposed, type SealedVariable } from './cache-composed.ts'
import type { EnvironmentRead, Variable } from './environment.ts'
import { listItems, readSealedItem, type SealedItem } from './items.ts'
import { mapLimited } from './queue.ts'
import { keysFor } from './vaults.ts'
import { alarming, pinsOf } from './verified.ts'

const MAX_TRIES = 4
const AT_ONCE = 8

/**
 * For a server without the route: the item list and the details of the items, filtered here. The rows must recompute to the same
 * root, so a server that only claims not to have the route gains nothing.
 */
export async function readByItems(actor: Actor, vaultId: string, options: CallerOptions): Promise<EnvironmentRead> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const { head, environment, receipt } = await listItems(actor, vaultId, options)
    const itemIds = [...new Set(environment.map(({ itemId }) => itemId))]
    const read = (itemId: string): Promise<SealedItem> => readSealedItem(actor, vaultId, itemId, options)
    const items = await mapLimited(itemIds, AT_ONCE, read).catch((error: unknown) => {
      // Moved to another vault since it was listed.
      if (error instanceof ApiError && error.code === 'vault_item_not_found') return undefined
      throw error
    })
    // Somebody has written in between: rows of one head and details of another prove nothing.
    if (items?.every((item) => item.head.hash === head.hash)) {
      const { variables, sealed } = await openItems(actor, head, items, options)
      await cacheComposed(actor, head, sealed, options)
      return { variables, head, receipt }
    }
  }
  throw new ProtocolError('head_conflict', 'the vault changed every time it was read', { vaultId })
}

async function openItems(
  actor: Actor,
  head: VerifiedHead,
  items: readonly SealedItem[],
  options: CallerOptions,
): Promise<{ readonly variables: readonly Variable[]; readonly sealed: readonly SealedVariable[] }> {
  const { vaultId } = head.vault
  const fields = items.flatMap(({ item }) => item.fields.filter((field) => field.env))
  const rows = fields.map(({ ct, dekVersion, fieldId, itemId, label, rev }) => ({
    ct,
    dekVersion,
    fieldId,
    itemId,
    label,
    rev,
  }))
  const { org } = pinsOf(actor, await actor.trust.read())
  const verified = await alarming(actor, { vaultId, answer: { rows }, org }, async () => verifyEnvironment(head, rows))
  const values = new Map(items.flatMap((item) => [...item.values]))
  const keys = await keysFor(actor, head, options)
  const variables: Variable[] = []
  const sealed: SealedVariable[] = []
  for (const row of verified) {
    const { label, fieldId, itemId, rev } = row
    const envelope = values.get(fieldId)
    refuseUnless(envelope !== undefined, 'field_swap', 'a value is missing', { fieldId })
    variables.push({ label, fieldId, itemId, rev, value: await openVerifiedField(keys, envField(row), envelope) })
    sealed.push({ row, value: envelope })
  }
  return { variables, sealed }
}
