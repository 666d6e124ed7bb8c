import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { rememberDevice } from '../../session/device.ts'
import { askKeys, type OpenedPerson } from '../../session/key-questions.ts'
import { replaceSession, useOpenSession } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.tsx'
import { ensurePassphrase, NewPassphrase } from '../sign-in/new-passphrase.tsx'
import { ownSecrets, thisDevice, thisServer } from './own-secrets.ts'

export function ChangePassphraseForm({ onClose }: { onClose(): void }) {
  const { person } = useOpenSession()
  const [passphrase, setPassphrase] = useState('')
  const [next, setNext] = useState({ first: '', again: '' })
  const change = useMutation({
    mutationFn: async () => {
      ensurePassphrase(next)
      const own = await ownSecrets(person.email, passphrase)
      // Every session ends, and this one goes on in a new one.
      await replaceSession(async () => {
        const asked = { person, server: thisServer(), own, newPassphrase: next.first }
        const answer = await askKeys({ kind: 'change-passphrase', ...asked })
        const changed = answer.person as OpenedPerson
        await rememberDevice({ ...(await thisDevice(person.email)), lastKdf: changed.kdf })
        return changed
      })
    },
    onSuccess: () => {
      toast('Your passphrase is changed; every other session has ended')
      onClose()
    },
  })
  return (
    <FormDialog
      title="Change passphrase"
      open
      onClose={onClose}
      action="Change"
      busy={change.isPending}
      problem={change.error}
      disabled={passphrase === '' || next.first === ''}
      onSubmit={() => change.mutate()}
    >
      <TextField
        label="Passphrase of now"
        type="password"
        autoComplete="current-password"
        value={passphrase}
        onChange={({ target }) => setPassphrase(target.value)}
        required
      />
      <NewPassphrase value={next} onChange={setNext} />
      <p className="text-ink-2">
        Your device secret and your recovery code stay as they are. On the command line, sign in again afterwards:{' '}
        <code>strongroom login</code>
      </p>
    </FormDialog>
  )
}
