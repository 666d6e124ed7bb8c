import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { installationId } from '../../session/device.ts'
import { openSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { NewKeysForm } from './new-keys-form.tsx'
import { ensurePassphrase, type Twice } from './new-passphrase.tsx'
import { newPerson } from './new-person.ts'
import { RecoveryKit } from './recovery-kit.tsx'

/** Back in with the recovery code: the same keys under a new passphrase, with a new kit. */
export function RecoverForm({ onBack }: { onBack(): void }) {
  const [email, setEmail] = useState('')
  const [recoveryCode, setRecoveryCode] = useState('')
  const recover = useMutation({
    mutationFn: (passphrase: Twice) => {
      ensurePassphrase(passphrase)
      return newPerson({
        kind: 'recover',
        options: {
          baseUrl: location.origin,
          deviceInstallationId: installationId(),
          email: email.trim(),
          recoveryCode: recoveryCode.trim(),
          newPassphrase: passphrase.first,
        },
      })
    },
  })
  if (recover.data) {
    const { person, codes } = recover.data
    return <RecoveryKit email={person.email} codes={codes} onDone={() => openSession(person)} />
  }
  return (
    <NewKeysForm
      title="Recover your keys"
      action="Recover"
      busy={recover.isPending}
      problem={recover.error}
      onSubmit={recover.mutate}
      after={
        <Button kind="quiet" onClick={onBack}>
          Back to sign in
        </Button>
      }
    >
      <TextField
        label="Email"
        type="email"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        autoComplete="username"
        required
      />
      <TextField
        label="Recovery code"
        hint="SRR1-…, in your recovery kit. It is used up by this, and you get a new one."
        value={recoveryCode}
        onChange={(event) => setRecoveryCode(event.target.value)}
        required
      />
    </NewKeysForm>
  )
}
