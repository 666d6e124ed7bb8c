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
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { isNoAccess } from '../../queries.ts'
import { auditQuery, type Newest } from '../activity/queries.ts'
import { type Invite, invitesQuery } from '../people/queries.ts'

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
async function stuckPurchases(strongroom: Strongroom, audit: readonly AuditEvent[], signal: AbortSignal) {
  const ids = audit
    .filter(({ action, outcome }) => action.startsWith('license.purchase') && outcome === 'success')
    .flatMap(({ targets }) => targets.filter(({ type }) => type === 'license_purchase').map(({ id }) => id))
  const found = await Promise.all(
    [...new Set(ids)].slice(0, LOOKED_AT).map(async (id) => {
      try {
        return [await strongroom.licenses.purchase(id, { signal })]
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

/** Agents that have not been seen for a quarter; only where the events that were read reach that far back. */
export function unusedAgents(agents: readonly Agent[], audit: Newest<AuditEvent>, now: Date): readonly Agent[] {
  const since = now.getTime() - UNUSED_MS
  const oldest = audit.rows.at(-1)
  if (!audit.isAll && (!oldest || new Date(oldest.occurredAt).getTime() > since)) return []
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

async function moneyNeeds(strongroom: Strongroom, audit: readonly AuditEvent[], signal: AbortSignal) {
  const [purchases, endpoints, budgets] = await Promise.all([
    visible(stuckPurchases(strongroom, audit, signal)),
    visible(strongroom.webhooks.list({}, { signal }).all()),
    visible(strongroom.budgets.list({}, { signal }).all()),
  ])
  return [
    ...purchases.map((purchase): Need => ({ kind: 'purchase', id: purchase.id, purchase })),
    ...usedUp(budgets).map((budget): Need => ({ kind: 'budget', id: budget.budgetId, budget })),
    ...endpoints.filter(isBroken).map((endpoint): Need => ({ kind: 'webhook', id: endpoint.webhookId, endpoint })),
  ]
}

async function keyNeeds(strongroom: Strongroom, client: Client, queries: QueryClient, signal: AbortSignal) {
  const [pending, invites, pinned, vaults] = await Promise.all([
    visible(strongroom.agents.pendingKeys({ signal })),
    visible(queries.fetchQuery(invitesQuery(client))),
    strongroom.transparency.trust.list(),
    visible(strongroom.vaults.list({ signal })),
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

const EVENTS_READ = 500
const LOOK_MS = 60_000
const NO_EVENTS: Newest<AuditEvent> = { rows: [], isAll: false }

export const needsQuery = (strongroom: Strongroom, client: Client) =>
  queryOptions({
    queryKey: ['needs'],
    refetchInterval: LOOK_MS,
    // The rail is on every page; what was asked for a moment ago is good enough there.
    staleTime: 10_000,
    queryFn: async ({ signal, client: queries }): Promise<readonly Need[]> => {
      const [audit, agents] = await Promise.all([
        queries.fetchQuery(auditQuery(strongroom, { max: EVENTS_READ })).catch((error: unknown) => {
          if (isNoAccess(error)) return NO_EVENTS
          throw error
        }),
        visible(strongroom.agents.list({}, { signal }).all()),
      ])
      const [money, keys] = await Promise.all([
        moneyNeeds(strongroom, audit.rows, signal),
        keyNeeds(strongroom, client, queries, signal),
      ])
      const unused = unusedAgents(agents, audit, new Date())
      return [...money, ...keys, ...unused.map((agent): Need => ({ kind: 'unused', id: agent.agentId, agent }))]
    },
  })
