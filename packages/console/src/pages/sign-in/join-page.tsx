import { type Codes, keyWords } from '@strongroom/sdk'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { rememberDevice } from '../../session/device.ts'
import { askKeys, type KeyAnswer } from '../../session/key-questions.ts'
import { buttonClasses } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { SignInCard } from './card.tsx'
import { NewKeysForm } from './new-keys-form.tsx'
import { ensurePassphrase, type Twice } from './new-passphrase.tsx'
import { RecoveryKit } from './recovery-kit.tsx'

interface Joined {
  readonly joined: NonNullable<KeyAnswer['joined']>
  readonly codes: Codes
}

/** The invite stands after the # of the address: browsers do not send that part, so the server never sees it. */
const linkInAddress = (): string => /vin1\.[A-Za-z0-9_-]+/.exec(location.hash)?.[0] ?? ''

export function JoinPage() {
  const [link, setLink] = useState(linkInAddress)
  const [isKept, setKept] = useState(false)
  const join = useMutation({
    mutationFn: async (passphrase: Twice): Promise<Joined> => {
      ensurePassphrase(passphrase)
      const options = { baseUrl: location.origin, link: link.trim(), passphrase: passphrase.first }
      const answer = await askKeys({ kind: 'join', options })
      const made = { joined: answer.joined, codes: answer.codes } as Joined
      const { email, trustAnchor, kid } = made.joined
      const { deviceSecret } = made.codes
      await rememberDevice({ email, trustAnchor, lastKdf: '', deviceSecret, words: keyWords(kid) })
      history.replaceState(null, '', '/join')
      return made
    },
  })
  if (join.data && !isKept)
    return <RecoveryKit email={join.data.joined.email} codes={join.data.codes} onDone={() => setKept(true)} />
  if (join.data) return <Waiting kid={join.data.joined.kid} />
  return (
    <NewKeysForm
      title="Join an organisation"
      action="Make my keys and join"
      busy={join.isPending}
      problem={join.error}
      onSubmit={join.mutate}
    >
      <TextField
        label="Invite"
        hint="The text that ends in vin1.…"
        value={link}
        onChange={(event) => setLink(event.target.value)}
        required
      />
    </NewKeysForm>
  )
}

function Waiting({ kid }: { readonly kid: string }) {
  return (
    <SignInCard title="Waiting for an administrator">
      <p>
        Your keys are made. Somebody who invited you confirms them; read these words to them over the phone:{' '}
        <strong>{keyWords(kid)}</strong>
      </p>
      <a href="/" className={buttonClasses('primary')}>
        Sign in
      </a>
    </SignInCard>
  )
}
