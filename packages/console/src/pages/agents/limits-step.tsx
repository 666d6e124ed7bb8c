import { useState } from 'react'
import { amountProblem } from '../../ui/decimal.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { type BudgetWindow, WINDOWS } from './plan.ts'
import { StepForm, type StepMembers } from './step-form.tsx'

const LABELS: Record<BudgetWindow, string> = { daily: 'a day', weekly: 'a week', monthly: 'a month', total: 'in all' }

export function LimitsStep({ plan, change, onContinue, onBack }: StepMembers) {
  const [budget, setBudget] = useState(plan.budget)
  const [atOnce, setAtOnce] = useState(plan.atOnce)
  const problem = amountProblem(budget)
  const onceProblem = amountProblem(atOnce)
  const hasBudget = budget !== '' && problem === undefined
  return (
    <StepForm
      title="Limits"
      says="What it may spend on licences. Without a budget of its own it gets no permission to buy."
      disabled={problem !== undefined || onceProblem !== undefined}
      onContinue={onContinue}
      onBack={onBack}
    >
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label="Budget in US dollars"
          hint="Leave it empty for none."
          inputMode="decimal"
          error={problem}
          value={budget}
          onChange={({ target }) => {
            setBudget(target.value.trim())
            change({ budget: target.value.trim() || undefined, permissions: undefined })
          }}
        />
        <SelectField
          label="For"
          value={plan.window}
          disabled={!hasBudget}
          onChange={({ target }) => change({ window: target.value })}
        >
          {WINDOWS.map((window) => (
            <option key={window} value={window}>
              {LABELS[window]}
            </option>
          ))}
        </SelectField>
      </div>
      <TextField
        label="At most in one purchase"
        hint="A dearer one is refused, whatever is left."
        inputMode="decimal"
        disabled={!hasBudget}
        error={onceProblem}
        value={atOnce}
        onChange={({ target }) => {
          setAtOnce(target.value.trim())
          change({ once: target.value.trim() || undefined })
        }}
      />
      <p className="text-ink-2">
        The budgets of its tenant and of the organisation hold too: the tightest one decides. Its key has no date on
        which it ends and works from every network; you end it on its page, and that counts from the next request on.
      </p>
    </StepForm>
  )
}
