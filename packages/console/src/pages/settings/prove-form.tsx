import { type ReactNode, useState } from 'react'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'

interface Members {
  readonly title: string
  readonly action: string
  readonly busy: boolean
  readonly problem: unknown
  readonly cli?: string
  onClose(): void
  onProve(passphrase: string): void
  /** What it is asked for. */
  readonly children: ReactNode
  /** While it is under way. */
  readonly progress?: ReactNode
}

/** Whoever is signed in proves the passphrase once more, for what changes their own keys. */
export function ProveForm({ onProve, children, progress, ...members }: Members) {
  const [passphrase, setPassphrase] = useState('')
  return (
    <FormDialog {...members} open disabled={passphrase === ''} onSubmit={() => onProve(passphrase)}>
      {children}
      <TextField
        label="Passphrase"
        type="password"
        autoComplete="current-password"
        value={passphrase}
        onChange={({ target }) => setPassphrase(target.value)}
        required
      />
      {members.busy && progress}
    </FormDialog>
  )
}
