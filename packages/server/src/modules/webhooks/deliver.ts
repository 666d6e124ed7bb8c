import { matchesEventType } from '@strongroom/contract'
import { type Deps, inOrg } from '../../context.ts'
import type { Database, Db } from '../../db/database.ts'
import { listenersOf, listingKey, listings, mayHear, ownerKey } from '../../outbox/listeners.ts'
import type { RootKey } from '../../secrets/root-key.ts'
import * as deliveryStore from './delivery-store.ts'
import { disableByItself } from './disable.ts'
import { finish } from './finish.ts'
import { attempt, TIMEOUT_MS } from './send.ts'
import { sealerOf } from './signing.ts'

// Sends what is due. A delivery is claimed for half a minute and sent outside of any transaction; if this process dies, that time
// ends and somebody claims it again. No endpoint can hold up another: each has a few places, one that fails has one, and those that fail have
// half of all together, as those of one organisation have: however many it has and however slow they are, there is room for others.

const LEASE_MS = 30_000
const PLACES = 128
const PER_ENDPOINT = { healthy: 8, failing: 1 } as const

export interface Sender {
  /** Claims what there is room for and begins to send it; how many. Does not wait for answers. */
  turn(): Promise<number>
  /** When nothing is under way any more. */
  idle(): Promise<void>
  /** Claims nothing more, and cuts off what is under way after a while: it is sent again later. */
  stop(): Promise<void>
}

type Claimed = deliveryStore.Claimed

/** What may be sent; the rest is discarded, and whose key has ended is disabled. Asked right before it is sent. */
async function permitted(deps: Deps, db: Db, orgId: string, claimed: readonly Claimed[]): Promise<readonly Claimed[]> {
  const listeners = await listenersOf(db, orgId, claimed, deps.now())
  const listed = await listings(
    db,
    orgId,
    claimed.map(({ principal }) => principal),
    claimed.map(({ vaultId }) => vaultId),
  )
  const isPermitted = (one: Claimed): boolean => {
    const listener = listeners.get(ownerKey(one))
    if (!listener || one.body === null) return false
    const isWanted = matchesEventType(one.eventTypes, one.type)
    return (
      one.synthetic || (isWanted && mayHear(listener, { ...one, principal: one.audience }, listed.has(listingKey(one))))
    )
  }
  const orphaned = claimed.filter((one) => !listeners.has(ownerKey(one)))
  for (const endpointId of new Set(orphaned.map((one) => one.endpointId)))
    await disableByItself(deps, db, orgId, endpointId, 'key_ended')
  const refused = claimed.filter((one) => !isPermitted(one))
  await deliveryStore.discard(
    db,
    orgId,
    refused.map(({ deliveryId }) => deliveryId),
    deps.now(),
  )
  return claimed.filter(isPermitted)
}

const claimIn = (
  deps: Deps,
  worker: Database,
  orgId: string,
  endpointIds: readonly string[],
  free: number,
): Promise<readonly Claimed[]> =>
  inOrg({ database: worker }, orgId, async (db) => {
    const at = deps.now()
    const lease = { at, until: new Date(at.getTime() + LEASE_MS) }
    const claimed = await deliveryStore.claim(db, orgId, endpointIds, lease, { ...PER_ENDPOINT, free })
    const sending = await permitted(deps, db, orgId, claimed)
    await deliveryStore.startAttempts(db, orgId, sending, at)
    return sending
  })

const shuffled = <T>(values: readonly T[]): T[] =>
  values
    .map((value) => ({ value, by: Math.random() }))
    .sort((a, b) => a.by - b.by)
    .map(({ value }) => value)

/** Those of one organisation together, organisations in no order: nobody is always last. */
function byOrg(endpoints: readonly deliveryStore.WaitingEndpoint[]): readonly (readonly [string, string[]])[] {
  const orgs = new Map<string, string[]>()
  for (const { orgId, endpointId } of shuffled(endpoints)) orgs.set(orgId, [...(orgs.get(orgId) ?? []), endpointId])
  return [...orgs]
}

const STOP_AFTER_MS = 3_000

export interface SenderOptions {
  /** There is room for more. */
  readonly onRoom?: () => void
  readonly timeoutMs?: number
}

export function makeSender(
  deps: Deps,
  worker: Database,
  { onRoom = () => undefined, timeoutMs = TIMEOUT_MS }: SenderOptions = {},
): Sender {
  const underWay = new Map<Promise<void>, { readonly isFailing: boolean; readonly orgId: string }>()
  const cut = new AbortController()
  let isStopped = false
  const free = (isFailing: boolean, orgId?: string): number => {
    const all = [...underWay.values()]
    const failing = all.filter((one) => one.isFailing).length
    const own = all.filter((one) => one.orgId === orgId).length
    return Math.min(PLACES - all.length, PLACES / 2 - own, isFailing ? PLACES / 2 - failing : PLACES)
  }
  const send = (sealer: RootKey, claimed: Claimed, isFailing: boolean): void => {
    const sending = sendOne(deps, worker, sealer, claimed, { signal: cut.signal, timeoutMs }).finally(() => {
      underWay.delete(sending)
      onRoom()
    })
    underWay.set(sending, { isFailing, orgId: claimed.orgId })
  }
  const claimAll = async (endpoints: readonly deliveryStore.WaitingEndpoint[], isFailing: boolean): Promise<number> => {
    let count = 0
    for (const [orgId, endpointIds] of byOrg(endpoints.filter(({ failing }) => failing === isFailing))) {
      if (free(isFailing) <= 0 || isStopped) break
      const room = free(isFailing, orgId)
      if (room <= 0) continue
      const sealer = await sealerOf(deps)
      const claimed = await claimIn(deps, worker, orgId, endpointIds, room)
      for (const one of claimed) send(sealer, one, isFailing)
      count += claimed.length
    }
    return count
  }
  const idle = async (): Promise<void> => {
    while (underWay.size > 0) await Promise.all(underWay.keys())
  }
  return {
    turn: async () => {
      if (isStopped || free(false) <= 0) return 0
      const endpoints = await deliveryStore.endpointsWaiting(worker, deps.now())
      return (await claimAll(endpoints, false)) + (await claimAll(endpoints, true))
    },
    idle,
    stop: async () => {
      isStopped = true
      const alarm = setTimeout(() => cut.abort(), STOP_AFTER_MS)
      await idle()
      clearTimeout(alarm)
    },
  }
}

async function sendOne(
  deps: Deps,
  worker: Database,
  sealer: RootKey,
  claimed: Claimed,
  limits: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const { orgId, url, eventId, body } = claimed
  const message = { orgId, url, eventId, body: body ?? '', signer: claimed }
  try {
    await finish(deps, worker, claimed, await attempt(deps, sealer, message, limits))
  } catch (error) {
    // Its lease ends by itself, and it is sent again.
    deps.log.warn({ event: 'webhook_attempt_not_recorded', code: (error as { code?: string }).code })
  }
}
