import { useState } from 'react'
import { amountProblem } from '../../ui/decimal.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { ExpiryField, NetworksField } from './limit-fields.tsx'
import { limitsProblem } from './limits.ts'
import { type BudgetWindow, WINDOWS } from './plan.ts'
import { StepForm, type StepMembers } from './step-form.tsx'

const LABELS: Record<BudgetWindow, string> = { daily: 'a day', weekly: 'a week', monthly: 'a month', total: 'in all' }

function BudgetFields({ plan, change }: Pick<StepMembers, 'plan' | 'change'>) {
  const [budget, setBudget] = useState(plan.budget)
  const [atOnce, setAtOnce] = useState(plan.atOnce)
  const problem = amountProblem(budget)
  const hasBudget = budget !== '' && problem === undefined
  return (
    <>
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
        hint="A dearer one is refused, whatever is left. The budgets of its tenant and of the organisation hold too."
        inputMode="decimal"
        disabled={!hasBudget}
        error={amountProblem(atOnce)}
        value={atOnce}
        onChange={({ target }) => {
          setAtOnce(target.value.trim())
          change({ once: target.value.trim() || undefined })
        }}
      />
    </>
  )
}

export function LimitsStep({ plan, change, onContinue, onBack }: StepMembers) {
  const { budget, atOnce, limits } = plan
  const problem = amountProblem(budget) ?? amountProblem(atOnce) ?? limitsProblem(limits)
  return (
    <StepForm
      title="Limits"
      says="What it may spend on licences, and when and from where it may be used. Without a budget of its own it gets no permission to buy."
      disabled={problem !== undefined}
      onContinue={onContinue}
      onBack={onBack}
    >
      <BudgetFields plan={plan} change={change} />
      <ExpiryField expires={limits.expires} onChange={(expires) => change({ expires: expires || undefined })} />
      <NetworksField
        networks={limits.networks}
        onChange={(networks) => change({ networks: networks.join(',') || undefined })}
      />
      <p className="text-ink-2">
        Both hold for every key it gets. You end it on its page at any time, and that counts from the next request on.
      </p>
    </StepForm>
  )
}
