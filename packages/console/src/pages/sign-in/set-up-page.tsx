import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { installationId } from '../../session/device.ts'
import { openSession } from '../../session/session.ts'
import { TextField } from '../../ui/field.tsx'
import { NewKeysForm } from './new-keys-form.tsx'
import { ensurePassphrase, type Twice } from './new-passphrase.tsx'
import { newPerson } from './new-person.ts'
import { RecoveryKit } from './recovery-kit.tsx'

const EMPTY = { setupToken: '', orgName: '', userName: '', email: '' }

/** The first person of a new server: an organisation, its keys and its log begin here. */
export function SetUpPage() {
  const [form, setForm] = useState(EMPTY)
  const make = useMutation({
    mutationFn: (passphrase: Twice) => {
      ensurePassphrase(passphrase)
      return newPerson({
        kind: 'set-up',
        options: {
          baseUrl: location.origin,
          deviceInstallationId: installationId(),
          ...form,
          setupToken: form.setupToken.trim(),
          passphrase: passphrase.first,
          tenantName: 'Main',
        },
      })
    },
  })
  if (make.data) {
    const { person, codes } = make.data
    return <RecoveryKit email={person.email} codes={codes} onDone={() => openSession(person)} />
  }
  const field = (name: keyof typeof EMPTY) => ({
    value: form[name],
    onChange: (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value }),
    required: true,
  })
  return (
    <NewKeysForm
      title="Set up this server"
      says={
        <p className="text-ink-2">
          You become the owner of its organisation. Your keys are made here, in a part of this page that is ended
          afterwards; the server gets them sealed.
        </p>
      }
      action="Make the organisation"
      busy={make.isPending}
      problem={make.error}
      progress="Your computer is choosing large primes. Nothing is sent until they are sealed."
      onSubmit={make.mutate}
    >
      <TextField
        label="Setup token"
        hint={
          <>
            The server printed it when it started. Lost it? <code>strongroom admin setup-token</code> makes another.
          </>
        }
        {...field('setupToken')}
      />
      <TextField label="Organisation" {...field('orgName')} />
      <TextField label="Your name" autoComplete="name" {...field('userName')} />
      <TextField label="Your email" type="email" {...field('email')} autoComplete="username" />
    </NewKeysForm>
  )
}
