import { shellLine } from '@strongroom/contract'
import type { AccessTarget } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'

interface Members {
  readonly target: AccessTarget & { readonly name: string; readonly kind: 'vault' | 'project' }
  readonly entry: { readonly principal: string; readonly name: string }
  onClose(): void
}

/** One entry less; everybody else stays. It can be given back, so no name is typed. */
export function RevokeAccessForm({ target, entry, onClose }: Members) {
  const { strongroom, person } = useOpenSession()
  const queries = useQueryClient()
  const [isDeferred, setDeferred] = useState(false)
  const [isSure, setSure] = useState(false)
  const isSelf = entry.principal === `user:${person.userId}`
  const isVault = target.kind === 'vault'
  const revoke = useMutation({
    mutationFn: () =>
      strongroom.permissions.revoke(target, entry.principal, {
        ...(isVault && { deferRotation: isDeferred }),
        ...(isSelf && { allowSelfRemoval: isSure }),
      }),
    onSuccess: () => {
      toast(`${entry.name} has no access to ${target.name} any more`)
      onClose()
    },
    onSettled: async () => {
      for (const key of [target.kind, 'agents', 'agent']) await queries.invalidateQueries({ queryKey: [key] })
    },
  })
  const flags = [...(isDeferred ? ['--defer'] : []), ...(isSelf ? ['--allow-self'] : [])]
  return (
    <FormDialog
      title={`Take ${target.name} back from ${entry.name}`}
      open
      onClose={onClose}
      action="Revoke"
      kind="danger"
      busy={revoke.isPending}
      problem={revoke.error}
      disabled={isSelf && !isSure}
      cli={shellLine`strongroom access revoke ${entry.name} --${target.kind} ${target.name} ${flags}`}
      onSubmit={() => revoke.mutate()}
    >
      {isVault ? (
        <>
          <p>
            {isDeferred
              ? 'They keep the key for now, openly: the log says that a rotation is due.'
              : 'The vault gets a new key, wrapped for everybody who stays: what is written from then on is closed to them.'}{' '}
            Whatever they have read, they know: change those values.
          </p>
          <CheckField
            label="Without a new key for now"
            hint="For when several leave: rotate once, afterwards."
            checked={isDeferred}
            onChange={(event) => setDeferred(event.target.checked)}
          />
        </>
      ) : (
        <p>They are not shown the project any more. Its vaults have their own lists, which stay as they are.</p>
      )}
      {isSelf && (
        <CheckField label="I lose my own access" checked={isSure} onChange={(event) => setSure(event.target.checked)} />
      )}
    </FormDialog>
  )
}
