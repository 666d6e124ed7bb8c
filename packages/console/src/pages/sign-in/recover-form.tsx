import type { Codes } from '@strongroom/sdk'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { installationId, rememberDevice } from '../../session/device.ts'
import { askKeys, type OpenedPerson } from '../../session/key-questions.ts'
import { openSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { SignInCard } from './card.tsx'
import { ensurePassphrase, NewPassphrase } from './new-passphrase.tsx'
import { RecoveryKit } from './recovery-kit.tsx'

/** Back in with the recovery code: the same keys under a new passphrase, with a new kit. */
export function RecoverForm({ onBack }: { onBack(): void }) {
  const [email, setEmail] = useState('')
  const [recoveryCode, setRecoveryCode] = useState('')
  const [passphrase, setPassphrase] = useState({ first: '', again: '' })
  const recover = useMutation({
    mutationFn: async () => {
      ensurePassphrase(passphrase)
      const { person, codes } = await askKeys({
        kind: 'recover',
        options: {
          baseUrl: location.origin,
          deviceInstallationId: installationId(),
          email: email.trim(),
          recoveryCode: recoveryCode.trim(),
          newPassphrase: passphrase.first,
        },
      })
      const made = { person: person as OpenedPerson, codes: codes as Codes }
      const { trustAnchor, kdf } = made.person
      await rememberDevice({ email, trustAnchor, lastKdf: kdf, deviceSecret: made.codes.deviceSecret })
      return made
    },
  })
  if (recover.data) {
    const { person, codes } = recover.data
    return <RecoveryKit email={person.email} codes={codes} onDone={() => openSession(person)} />
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    recover.mutate()
  }
  return (
    <SignInCard title="Recover your keys">
      <form onSubmit={submit} className="grid gap-4">
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
        <NewPassphrase value={passphrase} onChange={setPassphrase} />
        {recover.error && <ProblemNote error={recover.error} />}
        <Button kind="primary" type="submit" busy={recover.isPending}>
          Recover
        </Button>
        <Button kind="quiet" onClick={onBack}>
          Back to sign in
        </Button>
      </form>
    </SignInCard>
  )
}
