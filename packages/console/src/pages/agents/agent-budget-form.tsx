import { type Budget, money } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { shellWord } from '../../ui/shell-word.ts'
import { decimalOf } from './money.ts'
import { amountProblem, type BudgetWindow, microUnits, WINDOWS } from './plan.ts'
import { agentBudgetsQuery } from './queries.ts'

const LABELS: Record<BudgetWindow, string> = { daily: 'a day', weekly: 'a week', monthly: 'a month', total: 'in all' }

const typed = (amount: Budget['perTransactionLimit']): string => (amount ? decimalOf(amount).replace(/\.?0+$/, '') : '')

interface FormMembers {
  readonly agent: Agent
  /** The one to be changed; a new one if absent. */
  readonly budget?: Budget
  onClose(): void
}

export function AgentBudgetForm({ agent, budget, onClose }: FormMembers) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const first = budget?.activeWindows[0]
  const [limit, setLimit] = useState(first ? typed(first.limit) : '')
  const [kind, setKind] = useState<BudgetWindow>(WINDOWS.find((one) => one === first?.kind) ?? 'monthly')
  const [atOnce, setAtOnce] = useState(budget ? typed(budget.perTransactionLimit) : '')
  const [isSoft, setSoft] = useState(budget?.enforcement === 'notify')
  const save = useMutation({
    mutationFn: () => {
      const windows = [{ kind, limit: money(microUnits(limit)) }]
      const enforcement = isSoft ? ('notify' as const) : ('hard' as const)
      const once = atOnce === '' ? null : money(microUnits(atOnce))
      if (budget)
        return strongroom.budgets.update(budget.budgetId, {
          version: budget.version,
          windows,
          enforcement,
          perTransactionLimit: once,
        })
      return strongroom.budgets.create({
        subjectType: 'agent',
        subjectId: agent.agentId,
        windows,
        enforcement,
        ...(once && { perTransactionLimit: once }),
      })
    },
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries(agentBudgetsQuery(strongroom))
    },
  })
  const flags = [
    `--${kind} ${limit || 'USD'}`,
    ...(atOnce === '' ? [] : [`--at-once ${atOnce}`]),
    ...(isSoft ? ['--notify'] : []),
  ]
  const verb = budget ? `update ${budget.budgetId}` : `create ${shellWord(agent.name)}`
  return (
    <FormDialog
      title={budget ? `Change the budget of ${agent.name}` : `A budget for ${agent.name}`}
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={limit === '' || amountProblem(limit) !== undefined || amountProblem(atOnce) !== undefined}
      cli={`strongroom budget ${verb} ${flags.join(' ')}`}
      onSubmit={() => save.mutate()}
    >
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label="Limit in US dollars"
          inputMode="decimal"
          error={amountProblem(limit)}
          value={limit}
          onChange={({ target }) => setLimit(target.value.trim())}
          required
        />
        <SelectField label="For" value={kind} onChange={({ target }) => setKind(target.value as BudgetWindow)}>
          {WINDOWS.map((one) => (
            <option key={one} value={one}>
              {LABELS[one]}
            </option>
          ))}
        </SelectField>
      </div>
      <TextField
        label="At most in one purchase"
        hint="Leave it empty for no such limit."
        inputMode="decimal"
        error={amountProblem(atOnce)}
        value={atOnce}
        onChange={({ target }) => setAtOnce(target.value.trim())}
      />
      <CheckField label="Tell, and stop nothing" checked={isSoft} onChange={({ target }) => setSoft(target.checked)} />
    </FormDialog>
  )
}
