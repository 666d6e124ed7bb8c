import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { type Device, forgetDevice, installationId, knownDevice, rememberDevice } from '../../session/device.ts'
import { askKeys, KeyError, type OpenedPerson } from '../../session/key-questions.ts'
import { leaveOthers, openSession, type Session } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { SignInCard } from './card.tsx'
import { RecoverForm } from './recover-form.tsx'

const BECAUSE = {
  idle: 'Nobody was here for a while, so this page forgot your keys.',
  ended: 'Your session has ended.',
  locked: 'Locked. Your keys are gone from this page.',
} as const

/** Who has joined and is not confirmed yet is refused like one whose passphrase is wrong: the server tells nobody which it is. */
function explainWait(error: unknown, device: Device | null | undefined): never {
  const isWaiting = device?.lastKdf === '' && error instanceof KeyError && error.code === 'login_failed'
  if (!isWaiting) throw error
  const read = device.words === undefined ? '' : ` Read them the words of your key over the phone: ${device.words}.`
  throw new KeyError({
    code: 'not_confirmed',
    message: 'Your key may not be confirmed yet, or the passphrase is not right.',
    hint: `Ask whoever invited you: they confirm it in their console, under People & groups, Invites.${read} Then sign in here.`,
  })
}

/** Undefined until this browser has looked, null where it knows nobody. */
function useDevice(): readonly [Device | null | undefined, () => void] {
  const [device, setDevice] = useState<Device | null>()
  useEffect(() => {
    const settle = (known: Device | undefined): void => setDevice(known ?? null)
    void knownDevice().then(settle, () => settle(undefined))
  }, [])
  const forget = (): void => {
    leaveOthers()
    void forgetDevice().then(() => setDevice(null))
  }
  return [device, forget]
}

export function SignInPage({ session }: { readonly session: Session & { readonly state: 'signed-out' } }) {
  const [device, forget] = useDevice()
  const [isRecovering, setRecovering] = useState(false)
  const [form, setForm] = useState({ email: '', passphrase: '', deviceSecret: '' })
  const enter = useMutation({
    mutationFn: async (): Promise<void> => {
      const { trustAnchor, lastKdf } = device ?? {}
      const email = device?.email ?? form.email.trim()
      const deviceSecret = device?.deviceSecret ?? form.deviceSecret.trim()
      const { person } = await askKeys({
        kind: 'log-in',
        options: {
          baseUrl: location.origin,
          deviceInstallationId: installationId(),
          email,
          deviceSecret,
          passphrase: form.passphrase,
          trustAnchor,
          // Whoever has just joined has not stretched anything here yet.
          lastKdf: lastKdf || undefined,
        },
      }).catch((error: unknown) => explainWait(error, device))
      const opened = person as OpenedPerson
      await rememberDevice({ email, deviceSecret, trustAnchor: opened.trustAnchor, lastKdf: opened.kdf })
      await openSession(opened)
    },
  })
  // Not a field that is gone again when the browser has remembered.
  if (device === undefined) return null
  if (isRecovering) return <RecoverForm onBack={() => setRecovering(false)} />
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    enter.mutate()
  }
  const beginRecovery = (): void => {
    // The new codes are shown once: no other tab may take this page away meanwhile.
    leaveOthers()
    setRecovering(true)
  }
  const field = (name: keyof typeof form) => ({
    value: form[name],
    onChange: (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value }),
    required: true,
  })
  return (
    <SignInCard title="Sign in">
      {session.because && <p role="status">{BECAUSE[session.because]}</p>}
      <form onSubmit={submit} className="grid gap-4">
        {device ? (
          <p className="flex items-center justify-between gap-3">
            <span>
              As <strong>{device.email}</strong>
            </span>
            <Button kind="quiet" onClick={forget}>
              Somebody else
            </Button>
          </p>
        ) : (
          <>
            <TextField label="Email" type="email" {...field('email')} autoComplete="username" />
            <TextField
              label="Device secret"
              hint="SRD1-…, in your recovery kit; asked for once on each device."
              {...field('deviceSecret')}
            />
          </>
        )}
        <TextField
          label="Passphrase"
          type="password"
          {...field('passphrase')}
          autoComplete="current-password"
          autoFocus={Boolean(device)}
        />
        {enter.error && <ProblemNote error={enter.error} />}
        <Button kind="primary" type="submit" busy={enter.isPending}>
          Sign in
        </Button>
        {enter.isPending && (
          <p role="status" className="text-label text-ink-2">
            Your passphrase is stretched in this browser, and your keys are fetched and verified: a few seconds.
          </p>
        )}
      </form>
      <Button kind="quiet" onClick={beginRecovery}>
        I lost my passphrase or my device secret
      </Button>
    </SignInCard>
  )
}
