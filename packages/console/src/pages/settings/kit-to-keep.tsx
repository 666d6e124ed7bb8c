import type { Codes } from '@strongroom/sdk'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { download } from '../../ui/download.ts'
import { CheckField } from '../../ui/field.tsx'
import { kitText } from '../sign-in/recovery-kit.tsx'

interface KitMembers {
  readonly email: string
  readonly codes: Codes
  readonly action: string
  /** What this kit means for the one before. */
  readonly says: string
  readonly busy?: boolean
  onDone(): void
}

/** Two codes, shown once, in a dialog. */
export function KitToKeep({ email, codes, action, says, busy = false, onDone }: KitMembers) {
  const [isSaved, setSaved] = useState(false)
  return (
    <div className="grid gap-4 p-5">
      <p>{says} It is shown this once: keep it offline.</p>
      <CopyLine label="Device secret" text={codes.deviceSecret} />
      <CopyLine label="Recovery code" text={codes.recoveryCode} />
      <div>
        <Button
          kind="primary"
          onClick={() => {
            download(`strongroom-recovery-kit-${email}.txt`, kitText(email, codes))
            setSaved(true)
          }}
        >
          Download the kit
        </Button>
      </div>
      <CheckField
        label="I stored it another way"
        checked={isSaved}
        onChange={({ target }) => setSaved(target.checked)}
      />
      <div className="flex justify-end">
        <Button disabled={!isSaved} busy={busy} onClick={onDone}>
          {action}
        </Button>
      </div>
    </div>
  )
}
