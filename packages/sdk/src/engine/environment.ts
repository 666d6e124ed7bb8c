import type { EnvRow, FieldValue, OpenedEnvironment, VerifiedHead } from '@strongroom/protocol'
import { ApiError, TransportError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { membersOf } from './answers.ts'
import { cacheKey, putAnswer } from './cache.ts'
import { NotCachedError } from './engine-errors.ts'
import { inOneForm, openAnswer } from './environment-answer.ts'
import { readCached } from './offline.ts'
import { type Receipt, receiptOf } from './receipt.ts'
import { readVerified, roundOf } from './verified.ts'

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
    if (isRouteMissing(error)) return (await import('./environment-by-items.ts')).readByItems(actor, vaultId, options)
    const isUnreachable = error instanceof TransportError && !isRefusal(error) && !options.signal?.aborted
    if (cached === 'unreachable' && isUnreachable) return fromCache(error)
    throw error
  }
}

/** Somebody answered, and the answer was refused: that is no reason to be content with an older one. */
const REFUSED = new Set(['redirect_refused', 'limit_exceeded'])
const isRefusal = ({ code }: TransportError): boolean => REFUSED.has(code)

const isRouteMissing = (error: unknown): boolean => error instanceof ApiError && error.code === 'route_not_found'

async function readOnline(actor: Actor, vaultId: string, options: CallerOptions): Promise<EnvironmentRead> {
  const { opened, answer, receipt } = await readVerified(
    actor,
    {
      vaultId,
      form: 'environment',
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
  const cached = await readCached(actor, vaultId, maxAgeMs).catch((error: Error) => {
    // Why there is nothing newer.
    error.cause ??= cause
    throw error
  })
  if (!cached) throw new NotCachedError(vaultId, { cause })
  return environmentRead(cached.opened, cached.receipt)
}
