import type { AuditEvent } from '@strongroom/sdk'
import { keyWords } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useOpenSession } from '../../session/session.ts'
import { Status, type Tone } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import type { Newest } from '../activity/queries.ts'
import { agentsQuery, pendingKeysQuery } from '../agents/queries.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { acceptedInvitesQuery, endpointsQuery, pinnedQuery, purchasesQuery } from './queries.ts'

interface Need {
  readonly id: string
  readonly tone: Tone
  readonly kind: string
  readonly words: string
  readonly link: LinkProps
  readonly since?: Date | string | null
}

const UNUSED_MS = 90 * 86_400_000
const STUCK: ReadonlySet<string> = new Set(['failed', 'awaiting_handoff', 'in_review'])
const hostOf = (url: string): string => URL.parse(url)?.host ?? url

/** Agents that have not been seen for a quarter; only where the events that were read reach that far back. */
function unusedAgents(
  agents: readonly { agentId: string; name: string; status: string; createdAt: Date }[],
  audit: Newest<AuditEvent>,
): readonly { agentId: string; name: string }[] {
  const since = Date.now() - UNUSED_MS
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

/** What waits for a person. What the caller may not know of is not asked about again. */
export function useNeeds(audit: Newest<AuditEvent> | undefined, names: Names): readonly Need[] {
  const { strongroom, client } = useOpenSession()
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const { data: agents = [] } = useQuery(agentsQuery(strongroom))
  const { data: pending = [] } = useQuery(pendingKeysQuery(strongroom))
  const { data: invites = [] } = useQuery(acceptedInvitesQuery(client))
  const { data: endpoints = [] } = useQuery(endpointsQuery(strongroom))
  const { data: pinned = [] } = useQuery(pinnedQuery(strongroom))
  const { data: purchases = [] } = useQuery({ ...purchasesQuery(strongroom, audit?.rows ?? []), enabled: !!audit })
  return [
    ...purchases
      .filter(({ state }) => STUCK.has(state))
      .map(({ id, name, state, history }): Need => {
        const words =
          state === 'failed' ? 'failed' : state === 'in_review' ? 'is in review' : 'waits to be put into a vault'
        return {
          id,
          tone: state === 'failed' ? 'bad' : 'money',
          kind: 'purchase',
          words: `${name} ${words}`,
          link: { to: '/licenses/purchases/$purchaseId', params: { purchaseId: id } },
          since: history.at(-1)?.at ?? null,
        }
      }),
    ...endpoints
      .filter(({ failingSince, disabledReason }) => failingSince !== null || (disabledReason ?? 'manual') !== 'manual')
      .map(
        ({ webhookId, url, status, failingSince, disabledAt }): Need => ({
          id: webhookId,
          tone: 'bad',
          kind: 'webhook',
          words: `${hostOf(url)} ${status === 'disabled' ? 'was switched off, nothing reaches it' : 'is failing'}`,
          link: { to: '/webhooks/$webhookId', params: { webhookId } },
          since: failingSince ?? disabledAt,
        }),
      ),
    ...pending.map(
      ({ keyId, agentId, requestedAt }): Need => ({
        id: keyId,
        tone: 'warn',
        kind: 'new signer',
        words: `${names.person(`agent:${agentId}`)} asks you to endorse its key`,
        link: { to: '/agents/$agentId/keys', params: { agentId } },
        since: requestedAt,
      }),
    ),
    ...invites.map(
      ({ inviteId, name, email, createdAt }): Need => ({
        id: inviteId,
        tone: 'warn',
        kind: 'new signer',
        words: `${name || email} accepted an invite and waits for a signature`,
        link: { to: '/people/invites' },
        since: createdAt,
      }),
    ),
    ...pinned
      .filter(({ status, via, verified }) => status === 'active' && via === 'key.recover' && verified !== 'oob')
      .map(
        ({ keyId }): Need => ({
          id: keyId,
          tone: 'warn',
          kind: 'signer changed',
          words: `${names.person(keyId.slice(0, keyId.lastIndexOf(':')))} recovered with a new key: ${keyWords(keyId)}`,
          link: { to: '/transparency/signers' },
        }),
      ),
    ...vaults
      .filter(({ rotationDue, status }) => rotationDue !== null && status === 'active')
      .map(
        ({ vaultId, name, rotationDue }): Need => ({
          id: vaultId,
          tone: 'warn',
          kind: 'vault key',
          words: `${name}: a former reader still holds its key`,
          link: { to: '/vaults/$vaultId/keys', params: { vaultId } },
          since: rotationDue,
        }),
      ),
    ...(audit ? unusedAgents(agents, audit) : []).map(
      ({ agentId, name }): Need => ({
        id: agentId,
        tone: 'quiet',
        kind: 'unused',
        words: `${name} has done nothing for 90 days`,
        link: { to: '/agents/$agentId', params: { agentId } },
      }),
    ),
  ]
}

export function NeedsYou({ needs }: { readonly needs: readonly Need[] }) {
  if (needs.length === 0)
    return <p className="text-ink-2">Nothing waits for you. What fails, changes hands or runs out stands here.</p>
  return (
    <ul className="border-t border-rule">
      {needs.map(({ id, tone, kind, words, link, since }) => (
        <li
          key={id}
          className="grid min-h-8 grid-cols-[124px_1fr_auto] items-center gap-x-3 border-b border-rule max-sm:grid-cols-[1fr_auto] max-sm:py-1"
        >
          <Status tone={tone}>{kind}</Status>
          <Link {...link} className="min-w-0 sm:truncate max-sm:order-1 max-sm:col-span-2">
            {words}
          </Link>
          <span className="text-label text-ink-3">
            {since === undefined || since === null ? '' : <When at={since} />}
          </span>
        </li>
      ))}
    </ul>
  )
}
