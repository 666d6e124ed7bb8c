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

const EMPTY = { setupToken: '', orgName: '', userName: '', email: '' }

interface Made {
  readonly person: OpenedPerson
  readonly codes: Codes
}

/** The first person of a new server: an organisation, its keys and its log begin here. */
export function SetUpPage() {
  const [form, setForm] = useState(EMPTY)
  const [passphrase, setPassphrase] = useState({ first: '', again: '' })
  const make = useMutation({
    mutationFn: async (): Promise<Made> => {
      ensurePassphrase(passphrase)
      const { person, codes } = await askKeys({
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
      const made = { person: person as OpenedPerson, codes: codes as Codes }
      const { email, trustAnchor, kdf } = made.person
      await rememberDevice({ email, trustAnchor, lastKdf: kdf, deviceSecret: made.codes.deviceSecret })
      return made
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
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    make.mutate()
  }
  return (
    <SignInCard title="Set up this server">
      <p className="text-ink-2">
        You become the owner of its organisation. Your keys are made here, in a part of this page that is ended
        afterwards; the server gets them sealed.
      </p>
      <form onSubmit={submit} className="grid gap-4">
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
        <NewPassphrase value={passphrase} onChange={setPassphrase} />
        {make.error && <ProblemNote error={make.error} />}
        {make.isPending && (
          <p role="status" className="text-ink-2">
            Your computer is choosing large primes. Nothing is sent until they are sealed.
          </p>
        )}
        <Button kind="primary" type="submit" busy={make.isPending}>
          Make the organisation
        </Button>
      </form>
    </SignInCard>
  )
}
