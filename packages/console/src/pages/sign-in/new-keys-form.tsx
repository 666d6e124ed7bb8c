import { type FormEvent, type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { SignInCard } from './card.tsx'
import { NewPassphrase, type Twice } from './new-passphrase.tsx'

interface Members {
  readonly title: string
  readonly says?: ReactNode
  readonly action: string
  readonly busy: boolean
  readonly problem: unknown
  onSubmit(passphrase: Twice): void
  /** What is asked for before the passphrase. */
  readonly children: ReactNode
  /** While it is under way. */
  readonly progress?: string
  readonly after?: ReactNode
}

/** Whoever begins here, comes in by an invite or comes back: keys are sealed under a new passphrase, typed twice. */
export function NewKeysForm({ title, says, action, busy, problem, onSubmit, children, progress, after }: Members) {
  const [passphrase, setPassphrase] = useState<Twice>({ first: '', again: '' })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onSubmit(passphrase)
  }
  return (
    <SignInCard title={title}>
      {says}
      <form onSubmit={submit} className="grid gap-4">
        {children}
        <NewPassphrase value={passphrase} onChange={setPassphrase} />
        {problem !== null && <ProblemNote error={problem} />}
        {busy && progress !== undefined && (
          <p role="status" className="text-ink-2">
            {progress}
          </p>
        )}
        <Button kind="primary" type="submit" busy={busy}>
          {action}
        </Button>
        {after}
      </form>
    </SignInCard>
  )
}
