import {
  type EnvRow,
  envField,
  type FieldValue,
  type OpenedEnvironment,
  openVerifiedField,
  ProtocolError,
  type VerifiedHead,
  verifyEnvironment,
} from '@strongroom/protocol'
import { ApiError, TransportError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { membersOf, refuseUnless } from './answers.ts'
import { cacheKey, putAnswer } from './cache.ts'
import { NotCachedError } from './engine-errors.ts'
import { inOneForm, openAnswer } from './environment-answer.ts'
import { listItems, readSealedItem, type SealedItem } from './items.ts'
import { readCached } from './offline.ts'
import { mapLimited } from './queue.ts'
import { type Receipt, receiptOf } from './receipt.ts'
import { keysFor } from './vaults.ts'
import { alarming, pinsOf, readVerified, roundOf } from './verified.ts'

/** One variable. Label and flag are bound into the ciphertext: it opened under this name and no other. */
export interface Variable extends Pick<EnvRow, 'label' | 'fieldId' | 'itemId' | 'rev'> {
  readonly value: FieldValue
}

export interface EnvironmentRead {
  readonly variables: readonly Variable[]
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

export interface EnvironmentOptions extends CallerOptions {
  /**
   * `never`, the default: only the network. `unreachable`: the cache where the server cannot be reached. `only`: nothing but the
   * cache.
   */
  readonly cached?: 'never' | 'unreachable' | 'only'
  /** The oldest cached answer that is still taken; no bound but that of the policy if absent. */
  readonly maxAgeMs?: number
}

/** Every environment field of a vault, in one request: verified as a whole, opened as a whole, or refused as a whole. */
export async function readEnvironment(
  actor: Actor,
  vaultId: string,
  { cached = 'never', maxAgeMs, ...options }: EnvironmentOptions = {},
): Promise<EnvironmentRead> {
  const fromCache = (cause?: unknown): Promise<EnvironmentRead> =>
    readOffline(actor, vaultId, maxAgeMs ?? actor.policy.maxStaleMs, cause)
  if (cached === 'only') return fromCache()
  try {
    return await readOnline(actor, vaultId, options)
  } catch (error) {
    if (isRouteMissing(error)) return readByItems(actor, vaultId, options)
    const isUnreachable = error instanceof TransportError && !options.signal?.aborted
    if (cached === 'unreachable' && isUnreachable) return fromCache(error)
    throw error
  }
}

const isRouteMissing = (error: unknown): boolean => error instanceof ApiError && error.code === 'route_not_found'

async function readOnline(actor: Actor, vaultId: string, options: CallerOptions): Promise<EnvironmentRead> {
  const { opened, answer, receipt } = await readVerified(
    actor,
    {
      vaultId,
      ask: async (call) => {
        const query = { include: 'wrapped-key,signers' }
        return inOneForm(await actor.client.vaults.environmentFields({ params: { vaultId }, query }, call))
      },
      check: async (answer, pins) => {
        const opened = await openAnswer(actor, vaultId, answer, pins.vault(vaultId))
        const receipt = receiptOf(opened.head, membersOf(answer, 'answer').transparency, {
          source: 'network',
          fetchedAt: actor.now(),
        })
        return { rounds: [roundOf(opened.head)], result: { opened, answer, receipt } }
      },
    },
    options,
  )
  actor.memory.keepKeys(vaultId, opened.keys)
  const key = cacheKey(actor.org, vaultId, actor.identity.kid)
  await putAnswer(actor.cache, key, { fetchedAt: receipt.fetchedAt, answer })
  return environmentRead(opened, receipt)
}

const environmentRead = ({ head, fields }: OpenedEnvironment, receipt: Receipt): EnvironmentRead => ({
  variables: fields.map(({ row: { label, fieldId, itemId, rev }, value }) => ({ label, fieldId, itemId, rev, value })),
  head,
  receipt,
})

async function readOffline(actor: Actor, vaultId: string, maxAgeMs: number, cause: unknown): Promise<EnvironmentRead> {
  const cached = await readCached(actor, vaultId, maxAgeMs)
  if (!cached) throw new NotCachedError(vaultId, { cause })
  return environmentRead(cached.opened, cached.receipt)
}

const MAX_TRIES = 4
const AT_ONCE = 8

/**
 * For a server without the route: the item list and the details of the items, filtered here. The rows must recompute to the same
 * root, so a server that only claims not to have the route gains nothing.
 */
async function readByItems(actor: Actor, vaultId: string, options: CallerOptions): Promise<EnvironmentRead> {
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
    if (items?.every((item) => item.head.hash === head.hash))
      return { variables: await openItems(actor, head, items, options), head, receipt }
  }
  throw new ProtocolError('head_conflict', 'the vault changed every time it was read', { vaultId })
}

async function openItems(
  actor: Actor,
  head: VerifiedHead,
  items: readonly SealedItem[],
  options: CallerOptions,
): Promise<readonly Variable[]> {
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
  for (const row of verified) {
    const { label, fieldId, itemId, rev } = row
    const envelope = values.get(fieldId)
    refuseUnless(envelope !== undefined, 'field_swap', 'a value is missing', { fieldId })
    variables.push({ label, fieldId, itemId, rev, value: await openVerifiedField(keys, envField(row), envelope) })
  }
  return variables
}
