import { shellLine } from '@strongroom/contract'
import type { PendingKey } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/field.tsx'
import { Section } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { When } from '../../ui/when.tsx'
import { vaultsQuery } from '../vaults/queries.ts'
import { VaultPicker } from './access-step.tsx'
import { KeyPrint } from './key-words.tsx'
import type { GivenVault } from './plan.ts'
import { agentsQuery, pendingKeysQuery } from './queries.ts'

/** Keys that agents made where they run, and that wait for the signature of whoever is here. */
export function PendingKeys({ of }: { readonly of?: string }) {
  const strongroom = useStrongroom()
  const { data: all = [] } = useQuery({ ...pendingKeysQuery(strongroom), refetchInterval: 15_000 })
  const { data: agents = [] } = useQuery(agentsQuery(strongroom))
  const [open, setOpen] = useState<PendingKey>()
  const nameOf = (id: string): string => agents.find(({ agentId }) => agentId === id)?.name ?? id
  const pending = of === undefined ? all : all.filter(({ agentId }) => agentId === of)
  if (pending.length === 0) return null
  return (
    <Section
      title={pending.length === 1 ? 'A key waits for your signature' : `${pending.length} keys wait for your signature`}
    >
      <ul className="divide-y divide-rule border-y border-rule">
        {pending.map((key) => (
          <li key={key.keyId} className="flex flex-wrap items-center justify-between gap-3 py-2">
            <div className="grid gap-1">
              <span>
                <strong>{nameOf(key.agentId)}</strong>, asked <When at={key.requestedAt} />
              </span>
              <KeyPrint keyId={key.keyId} />
            </div>
            <Button onClick={() => setOpen(key)}>Compare and sign</Button>
          </li>
        ))}
      </ul>
      {open && <EndorseKeyForm pending={open} name={nameOf(open.agentId)} onClose={() => setOpen(undefined)} />}
    </Section>
  )
}

interface FormMembers {
  readonly pending: PendingKey
  readonly name: string
  onClose(): void
}

export function EndorseKeyForm({ pending, name, onClose }: FormMembers) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const [given, setGiven] = useState<readonly GivenVault[]>([])
  const [isSame, setSame] = useState(false)
  const sign = useMutation({
    mutationFn: () =>
      strongroom.agents.endorse(pending.keyId, {
        vaults: given.map(({ vaultId, role }) => ({ vault: vaultId, role })),
      }),
    onSuccess: async () => {
      toast(`You signed for the key of ${name}`)
      onClose()
      await queries.invalidateQueries({ queryKey: ['agents'] })
    },
  })
  const flags = given.flatMap(({ vaultId, role }) => [
    '--vault',
    `${vaults.find((one) => one.vaultId === vaultId)?.name ?? vaultId}:${role}`,
  ])
  return (
    <FormDialog
      title={`Sign for the key of ${name}`}
      open
      onClose={onClose}
      action="Sign"
      busy={sign.isPending}
      problem={sign.error}
      disabled={!isSame}
      cli={shellLine`strongroom agent endorse ${pending.fingerprint} ${flags}`}
      onSubmit={() => sign.mutate()}
    >
      <KeyPrint keyId={pending.keyId} />
      <CheckField
        label="The machine shows the same fingerprint"
        hint="Compared over a channel that this server does not control: on its screen, or by somebody who sees it."
        checked={isSame}
        onChange={({ target }) => setSame(target.checked)}
      />
      <VaultPicker vaults={vaults} given={given} onChange={setGiven} />
    </FormDialog>
  )
}
