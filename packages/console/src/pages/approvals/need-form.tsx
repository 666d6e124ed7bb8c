import { principalOf } from '@strongroom/protocol'
import type { Vault } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useOpenSession } from '../../session/session.ts'
import type { Names } from '../activity/filter-tokens.ts'
import { ArchiveAgentForm } from '../agents/archive-agent-form.tsx'
import { EndorseKeyForm } from '../agents/pending-keys.tsx'
import { BudgetForm } from '../billing/budget-form.tsx'
import { EndorsePersonForm } from '../people/endorse-person-form.tsx'
import { ConfirmKeyForm } from '../transparency/confirm-key-form.tsx'
import { holderCountQuery } from '../vaults/queries.ts'
import { RotateKeyForm } from '../vaults/rotate-key-form.tsx'
import type { Need } from './queries.ts'

function RotateForm({ vault, onClose }: { readonly vault: Vault; onClose(): void }) {
  const holders = useQuery(holderCountQuery(useOpenSession().client, vault.vaultId))
  return holders.data === undefined ? null : <RotateKeyForm vault={vault} holders={holders.data} onClose={onClose} />
}

interface Members {
  readonly need: Need
  readonly names: Names
  onClose(): void
}

/** The form of its own page, with its own command; undefined for what is decided by one press. */
export function NeedForm({ need, names, onClose }: Members) {
  switch (need.kind) {
    case 'invite':
      return <EndorsePersonForm invite={need.invite} onClose={onClose} />
    case 'agent key':
      return (
        <EndorseKeyForm pending={need.pending} name={names.person(`agent:${need.pending.agentId}`)} onClose={onClose} />
      )
    case 'signer':
      return <ConfirmKeyForm keyId={need.id} owner={names.person(principalOf(need.id))} onClose={onClose} />
    case 'vault key':
      return <RotateForm vault={need.vault} onClose={onClose} />
    case 'budget':
      return <BudgetForm budget={need.budget} onClose={onClose} />
    case 'unused':
      return <ArchiveAgentForm agent={need.agent} onClose={onClose} />
    default:
      return null
  }
}
