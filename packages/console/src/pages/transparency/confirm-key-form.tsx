import { shellLine } from '@strongroom/contract'
import { keyWords } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { MonoId } from '../../ui/copy.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { toast } from '../../ui/toast.tsx'

interface ConfirmMembers {
  readonly keyId: string
  readonly owner: string
  onClose(): void
}

/** A key that a person has compared with its owner: this browser remembers that. */
export function ConfirmKeyForm({ keyId, owner, onClose }: ConfirmMembers) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const change = async (work: () => Promise<void>, text: string, undo?: () => void): Promise<void> => {
    await work()
    await queries.invalidateQueries({ queryKey: ['transparency', 'signers'] })
    toast(text, undo)
  }
  const { pin, unpin } = strongroom.transparency.trust
  const confirm = useMutation({
    mutationFn: () =>
      change(
        () => pin(keyId),
        `The key of ${owner} counts as compared`,
        () => void change(() => unpin(keyId), 'Taken back'),
      ),
    onSuccess: onClose,
  })
  return (
    <FormDialog
      title={`Confirm the key of ${owner}`}
      open
      onClose={onClose}
      action="They are the same"
      busy={confirm.isPending}
      problem={confirm.error}
      cli={shellLine`strongroom trust pin ${keyId}`}
      onSubmit={() => confirm.mutate()}
    >
      <p className="text-ink-2">
        Ask {owner} to read these words to you, over a way that the server does not control. The command line shows the
        same ones.
      </p>
      <p className="text-title">{keyWords(keyId)}</p>
      <MonoId id={keyId} keep={14} className="justify-self-start" />
    </FormDialog>
  )
}
