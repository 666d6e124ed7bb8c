import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import { Button } from '../../ui/button.tsx'
import type { Plan, PlanSearch } from './plan.ts'

export interface StepMembers {
  readonly plan: Plan
  change(next: { readonly [K in keyof PlanSearch]?: PlanSearch[K] | undefined }): void
  onContinue(): void
  readonly onBack?: () => void
}

interface FormMembers {
  readonly title: string
  readonly says: ReactNode
  readonly action?: string
  readonly disabled?: boolean
  onContinue(): void
  readonly onBack?: (() => void) | undefined
  readonly children: ReactNode
}

/** The heading of a step, which takes the focus when the step begins: whoever cannot see it hears where they are. */
export function StepHeading({ title, says }: { readonly title: string; readonly says: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <div className="grid gap-1">
      <h2 ref={heading} tabIndex={-1} className="text-dialog outline-none">
        {title}
      </h2>
      <p className="text-ink-2">{says}</p>
    </div>
  )
}

/** A step that is filled in: Enter goes on. */
export function StepForm({ title, says, action = 'Continue', disabled = false, ...members }: FormMembers) {
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!disabled) members.onContinue()
  }
  return (
    <form onSubmit={submit} className="grid content-start gap-5">
      <StepHeading title={title} says={says} />
      {members.children}
      <div className="flex gap-2">
        {members.onBack && <Button onClick={members.onBack}>Back</Button>}
        <Button kind="primary" type="submit" disabled={disabled}>
          {action}
        </Button>
      </div>
    </form>
  )
}
