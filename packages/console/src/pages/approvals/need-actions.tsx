import { principalOf } from '@strongroom/protocol'
import type { Purchase, WebhookEndpoint } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useOpenSession, useStrongroom } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { type Invite, useRevokeInvite } from '../people/queries.ts'
import type { Need } from './queries.ts'

// What can be decided right where it waits.

interface Members {
  readonly need: Need
  readonly names: Names
  /** Opens its form: over the page, so that it stays when what was decided no longer waits. */
  onAsk(need: Need): void
}

interface AskMembers {
  readonly action: string
  /** For who hears the page: which of them. */
  readonly label: string
  onAsk(): void
}

/** `a` for whoever uses the keyboard. */
function Ask({ action, label, onAsk }: AskMembers) {
  return (
    <Button data-accept aria-label={label} onClick={onAsk}>
      {action}
    </Button>
  )
}

function InviteActions({ invite, names, onAsk }: { readonly invite: Invite; readonly names: Names; onAsk(): void }) {
  const { person } = useOpenSession()
  const revoke = useRevokeInvite()
  return (
    <>
      {invite.createdBy === `user:${person.userId}` ? (
        <Ask action="Compare and sign" label={`Compare and sign for ${invite.email}`} onAsk={onAsk} />
      ) : (
        <span className="text-ink-2">{names.person(invite.createdBy)} signs</span>
      )}
      <Button
        kind="quiet"
        data-decline
        busy={revoke.isPending}
        aria-label={`Take back the invite of ${invite.email}`}
        onClick={() => revoke.mutate(invite)}
      >
        Take back
      </Button>
      {revoke.error && <ProblemNote error={revoke.error} />}
    </>
  )
}

function PurchaseActions({ purchase }: { readonly purchase: Purchase }) {
  const queries = useQueryClient()
  const resume = useMutation({
    mutationFn: async () => {
      await purchase.resume()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['purchase', purchase.id] }),
  })
  if (purchase.state === 'failed' && purchase.failure?.resumable)
    return (
      <>
        <Button
          data-accept
          busy={resume.isPending}
          onClick={() => resume.mutate()}
          aria-label={`Resume ${purchase.name}`}
        >
          Resume
        </Button>
        {resume.error && <ProblemNote error={resume.error} />}
      </>
    )
  const words = purchase.state === 'awaiting_handoff' ? 'Put into its vault' : 'Look at it'
  return (
    <Link
      data-accept
      to="/licenses/purchases/$purchaseId"
      params={{ purchaseId: purchase.id }}
      className={buttonClasses()}
      aria-label={`${words}: ${purchase.name}`}
    >
      {words}
    </Link>
  )
}

function WebhookActions({ endpoint: { webhookId, url, status } }: { readonly endpoint: WebhookEndpoint }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const enable = useMutation({
    mutationFn: () => strongroom.webhooks.update(webhookId, { status: 'active' }),
    onSuccess: async () => {
      toast(`${url} is told again of what happens`)
      await queries.invalidateQueries({ queryKey: ['webhook', webhookId] })
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
    },
  })
  if (status === 'active')
    return (
      <Link
        data-accept
        to="/webhooks/$webhookId"
        params={{ webhookId }}
        className={buttonClasses()}
        aria-label={`See deliveries to ${url}`}
      >
        See deliveries
      </Link>
    )
  return (
    <>
      <Button data-accept busy={enable.isPending} onClick={() => enable.mutate()} aria-label={`Enable ${url}`}>
        Enable
      </Button>
      {enable.error && <ProblemNote error={enable.error} />}
    </>
  )
}

export function NeedActions({ need, names, onAsk }: Members) {
  const ask = (): void => onAsk(need)
  switch (need.kind) {
    case 'invite':
      return <InviteActions invite={need.invite} names={names} onAsk={ask} />
    case 'agent key': {
      const name = names.person(`agent:${need.pending.agentId}`)
      return <Ask action="Compare and sign" label={`Compare and sign for the key of ${name}`} onAsk={ask} />
    }
    case 'signer':
      return <Ask action="Compare" label={`Compare the key of ${names.person(principalOf(need.id))}`} onAsk={ask} />
    case 'vault key':
      if (need.vault.role !== 'ADMIN') return <span className="text-ink-2">An admin of it rotates it</span>
      return <Ask action="Rotate the key" label={`Rotate the key of ${need.vault.name}`} onAsk={ask} />
    case 'budget':
      return <Ask action="Raise" label={`Raise the budget ${need.budget.name}`} onAsk={ask} />
    case 'unused':
      return <Ask action="Archive" label={`Archive ${need.agent.name}`} onAsk={ask} />
    case 'purchase':
      return <PurchaseActions purchase={need.purchase} />
    case 'webhook':
      return <WebhookActions endpoint={need.endpoint} />
  }
}
