import { useMutation, useQueryClient } from '@tanstack/react-query'
import { askKeys } from '../../session/key-questions.ts'
import { useOpenSession } from '../../session/session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { KitToKeep } from './kit-to-keep.tsx'
import { ownSecrets, thisServer } from './own-secrets.ts'
import { ProveForm } from './prove-form.tsx'

export function RecoveryCodeForm({ onClose }: { onClose(): void }) {
  const { person } = useOpenSession()
  const queries = useQueryClient()
  const renew = useMutation({
    mutationFn: async (passphrase: string) => {
      const own = await ownSecrets(person.email, passphrase)
      const answer = await askKeys({ kind: 'renew-recovery-code', person, server: thisServer(), own })
      return { deviceSecret: own.deviceSecret, recoveryCode: answer.recoveryCode ?? '' }
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['settings', 'sealed-keys'] }),
  })
  if (renew.data)
    return (
      <Dialog title="Your new recovery kit" open onClose={onClose} closesBy="buttons">
        <KitToKeep
          email={person.email}
          codes={renew.data}
          says="The kit you had before is worth nothing any more."
          action="Done"
          onDone={onClose}
        />
      </Dialog>
    )
  return (
    <ProveForm
      title="New recovery code"
      onClose={onClose}
      action="Make a new code"
      busy={renew.isPending}
      problem={renew.error}
      onProve={renew.mutate}
    >
      <p>
        The code you have now stops working. The new one opens your keys if you lose your passphrase or your device.
      </p>
    </ProveForm>
  )
}
