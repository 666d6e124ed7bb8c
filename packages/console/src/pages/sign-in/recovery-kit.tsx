import type { Codes } from '@strongroom/sdk'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { CopyByHand } from '../../ui/copy-by-hand.tsx'
import { download } from '../../ui/download.ts'
import { CheckField } from '../../ui/field.tsx'
import { SignInCard } from './card.tsx'

export const kitText = (email: string, { deviceSecret, recoveryCode }: Codes): string =>
  `Strongroom recovery kit
Server          ${location.origin}
Email           ${email}
Device secret   ${deviceSecret}
Recovery code   ${recoveryCode}

The device secret is asked for on a new device, beside the passphrase.
The recovery code opens your keys without the passphrase. Keep this on paper or in another safe place.
`

interface KitMembers {
  readonly email: string
  readonly codes: Codes
  onDone(): void
}

/** Shown once. Nobody else has these codes, so nobody can bring them back. */
export function RecoveryKit({ email, codes, onDone }: KitMembers) {
  const [isSaved, setSaved] = useState(false)
  const save = (): void => {
    download(`strongroom-recovery-kit-${email}.txt`, kitText(email, codes))
    setSaved(true)
  }
  return (
    <SignInCard title="Your recovery kit">
      <p className="text-ink-2">
        Two codes, shown this once. Without passphrase and recovery code your keys are lost, and nobody can bring them
        back.
      </p>
      <CopyLine label="Device secret" text={codes.deviceSecret} />
      <CopyLine label="Recovery code" text={codes.recoveryCode} />
      <Button kind="primary" onClick={save}>
        Download the kit
      </Button>
      <CheckField
        label="I stored it another way"
        checked={isSaved}
        onChange={(event) => setSaved(event.target.checked)}
      />
      <Button disabled={!isSaved} onClick={onDone}>
        Go on
      </Button>
      <CopyByHand />
    </SignInCard>
  )
}
