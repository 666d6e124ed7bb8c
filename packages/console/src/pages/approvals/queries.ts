import type { Budget } from '@strongroom/contract'
import {
  type Agent,
  type AuditEvent,
  type Client,
  NotFoundError,
  type PendingKey,
  type Purchase,
  type Strongroom,
  type Vault,
  type WebhookEndpoint,
} from '@strongroom/sdk'
import { type FetchQueryOptions, type QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query'
import { isNoAccess } from '../../queries.ts'
import { auditQuery, type Newest } from '../activity/queries.ts'
import { agentsQuery, EVENTS_LOOKED_AT, pendingKeysQuery } from '../agents/queries.ts'
import { budgetsQuery } from '../billing/queries.ts'
import { purchaseQuery } from '../licenses/queries.ts'
import { type Invite, invitesQuery } from '../people/queries.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { webhooksQuery } from '../webhooks/queries.ts'

// What waits for a person, asked for in one place: the page of approvals, the overview and the count in the rail show the same.

export type Need =
  | { readonly kind: 'purchase'; readonly id: string; readonly purchase: Purchase }
  | { readonly kind: 'webhook'; readonly id: string; readonly endpoint: WebhookEndpoint }
  | { readonly kind: 'agent key'; readonly id: string; readonly pending: PendingKey }
  | { readonly kind: 'invite'; readonly id: string; readonly invite: Invite }
  /** A key that came in by recovery and that nobody here has compared. */
  | { readonly kind: 'signer'; readonly id: string }
  | { readonly kind: 'vault key'; readonly id: string; readonly vault: Vault }
  | { readonly kind: 'budget'; readonly id: string; readonly budget: Budget }
  | { readonly kind: 'unused'; readonly id: string; readonly agent: Agent }

interface Asking {
  readonly strongroom: Strongroom
  readonly client: Client
  /** What another page asked for a moment ago is not asked again. */
  known<T, K extends QueryKey>(query: FetchQueryOptions<T, Error, T, K>): Promise<T>
}

/** What the caller may not know of does not wait for the caller. */
async function visible<T>(asked: PromiseLike<readonly T[]>): Promise<readonly T[]> {
  try {
    return await asked
  } catch (error) {
    if (isNoAccess(error)) return []
    throw error
  }
}

const LOOKED_AT = 10
const STUCK: ReadonlySet<string> = new Set(['failed', 'awaiting_handoff', 'in_review'])

/** There is no list of purchases, so the newest that the audit names are asked for one by one. */
async function stuckPurchases({ strongroom, known }: Asking, audit: readonly AuditEvent[]) {
  const ids = audit
    .filter(({ action, outcome }) => action.startsWith('license.purchase') && outcome === 'success')
    .flatMap(({ targets }) => targets.filter(({ type }) => type === 'license_purchase').map(({ id }) => id))
  const found = await Promise.all(
    [...new Set(ids)].slice(0, LOOKED_AT).map(async (id) => {
      try {
        return [await known(purchaseQuery(strongroom, id))]
      } catch (error) {
        // Another's purchase does not exist for the caller.
        if (error instanceof NotFoundError) return []
        throw error
      }
    }),
  )
  return found.flat().filter(({ state }) => STUCK.has(state))
}

const UNUSED_MS = 90 * 86_400_000

/** Whether the events that were read say anything about who was not seen for a quarter. */
export function reachesFar({ rows, isAll }: Newest<AuditEvent>, now: Date): boolean {
  const oldest = rows.at(-1)
  return isAll || (oldest !== undefined && new Date(oldest.occurredAt).getTime() <= now.getTime() - UNUSED_MS)
}

/** Agents that have not been seen for a quarter; only where the events that were read reach that far back. */
export function unusedAgents(agents: readonly Agent[], audit: Newest<AuditEvent>, now: Date): readonly Agent[] {
  const since = now.getTime() - UNUSED_MS
  if (!reachesFar(audit, now)) return []
  const seen = new Set(
    audit.rows.filter(({ occurredAt }) => new Date(occurredAt).getTime() >= since).map(({ actor }) => actor.id),
  )
  return agents.filter(
    ({ agentId, status, createdAt }) =>
      status === 'active' && createdAt.getTime() < since && !seen.has(`agent:${agentId}`),
  )
}

/** Those that refuse every purchase by now. */
export const usedUp = (budgets: readonly Budget[]): readonly Budget[] =>
  budgets.filter(
    ({ status, enforcement, activeWindows }) =>
      status === 'active' &&
      enforcement === 'hard' &&
      activeWindows.some(({ remaining, limit }) => BigInt(limit.amount) > 0n && BigInt(remaining.amount) <= 0n),
  )

/** One that somebody switched off waits for nobody. */
const isBroken = ({ status, failingSince, disabledReason }: WebhookEndpoint): boolean =>
  status === 'active' ? failingSince !== null : (disabledReason ?? 'manual') !== 'manual'

async function moneyNeeds(asking: Asking, audit: readonly AuditEvent[]) {
  const { strongroom, known } = asking
  const [purchases, endpoints, budgets] = await Promise.all([
    visible(stuckPurchases(asking, audit)),
    visible(known(webhooksQuery(strongroom))),
    visible(known(budgetsQuery(strongroom))),
  ])
  return [
    ...purchases.map((purchase): Need => ({ kind: 'purchase', id: purchase.id, purchase })),
    ...usedUp(budgets).map((budget): Need => ({ kind: 'budget', id: budget.budgetId, budget })),
    ...endpoints.filter(isBroken).map((endpoint): Need => ({ kind: 'webhook', id: endpoint.webhookId, endpoint })),
  ]
}

async function keyNeeds({ strongroom, client, known }: Asking) {
  const [pending, invites, pinned, vaults] = await Promise.all([
    visible(known(pendingKeysQuery(strongroom))),
    visible(known(invitesQuery(client))),
    strongroom.transparency.trust.list(),
    visible(known(vaultsQuery(strongroom))),
  ])
  return [
    ...pending.map((one): Need => ({ kind: 'agent key', id: one.keyId, pending: one })),
    ...invites
      .filter(({ status }) => status === 'accepted')
      .map((invite): Need => ({ kind: 'invite', id: invite.inviteId, invite })),
    ...pinned
      .filter(({ status, via, verified }) => status === 'active' && via === 'key.recover' && verified !== 'oob')
      .map(({ keyId }): Need => ({ kind: 'signer', id: keyId })),
    ...vaults
      .filter(({ rotationDue, status }) => rotationDue !== null && status === 'active')
      .map((vault): Need => ({ kind: 'vault key', id: vault.vaultId, vault })),
  ]
}

const NO_EVENTS: Newest<AuditEvent> = { rows: [], isAll: false }

/** The newest events. Kept for as long as somebody is signed in: asked again, only what came since is read. */
async function newestEvents({ strongroom, known }: Asking): Promise<Newest<AuditEvent>> {
  const query = auditQuery(strongroom, { max: EVENTS_LOOKED_AT })
  try {
    return await known({ ...query, gcTime: Number.POSITIVE_INFINITY })
  } catch (error) {
    if (isNoAccess(error)) return NO_EVENTS
    throw error
  }
}

const NEEDS = ['needs'] as const
const LOOK_MS = 300_000
const FRESH_MS = 60_000

function knownBy(queries: QueryClient): Asking['known'] {
  const isAfterChange = queries.getQueryState(NEEDS)?.isInvalidated ?? false
  return async (query) => {
    // An answer that is on its way may be from before the change.
    if (isAfterChange && queries.isFetching({ queryKey: query.queryKey, exact: true }) > 0)
      await queries.fetchQuery(query).catch(() => undefined)
    return queries.fetchQuery({ ...query, staleTime: isAfterChange ? 0 : FRESH_MS })
  }
}

/** The rail is on every page, so this asks seldom and reads what other pages know; after a change made here it asks anew. */
export const needsQuery = (strongroom: Strongroom, client: Client) =>
  queryOptions({
    queryKey: NEEDS,
    refetchInterval: LOOK_MS,
    staleTime: FRESH_MS,
    queryFn: async ({ client: queries }): Promise<readonly Need[]> => {
      const asking: Asking = { strongroom, client, known: knownBy(queries) }
      const { known } = asking
      const audit = await newestEvents(asking)
      const now = new Date()
      const [money, keys, agents] = await Promise.all([
        moneyNeeds(asking, audit.rows),
        keyNeeds(asking),
        reachesFar(audit, now) ? visible(known(agentsQuery(strongroom))) : [],
      ])
      const unused = unusedAgents(agents, audit, now)
      return [...money, ...keys, ...unused.map((agent): Need => ({ kind: 'unused', id: agent.agentId, agent }))]
    },
  })
