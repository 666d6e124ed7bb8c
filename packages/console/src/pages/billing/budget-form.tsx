import { type Budget, money, shellLine } from '@strongroom/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { amountProblem, microUnits } from '../../ui/decimal.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { type BudgetWindow, WINDOWS } from '../agents/plan.ts'
import { licensesQuery } from '../licenses/queries.ts'
import { type Subject, useSubjects } from './budget-subjects.ts'
import { type ActiveWindow, KIND_WORDS, purchasesOf, refusedBy, windowWords } from './budget-windows.ts'
import { moneyText, typedMoney } from './money.tsx'

const cliSubject = ({ subjectType, subjectId, name }: Subject): string => {
  if (subjectType === 'org') return 'org'
  return subjectType === 'agent' ? name : `${subjectType}:${subjectId}`
}

interface Limits {
  readonly kind: BudgetWindow
  readonly limit: string
  readonly atOnce: string
  readonly isSoft: boolean
}

/** What the limit would have meant for the last 30 days. */
function Preview({ subject, limits }: { readonly subject: Subject; readonly limits: Limits }) {
  const { strongroom } = useOpenSession()
  const { data: licenses } = useQuery(licensesQuery(strongroom))
  const { kind, limit, atOnce, isSoft } = limits
  if (!licenses || limit === '' || amountProblem(limit) || amountProblem(atOnce)) return null
  const purchases = purchasesOf(licenses, subject, new Date())
  const refused = refusedBy(purchases, {
    kind,
    limit: BigInt(microUnits(limit)),
    atOnce: atOnce === '' ? undefined : BigInt(microUnits(atOnce)),
  })
  if (purchases.length === 0)
    return <p className="text-ink-2">Nothing was bought in the last 30 days that it would have bound.</p>
  const those = purchases.length === 1 ? 'the one purchase' : `the ${purchases.length} purchases`
  return (
    <p role="status" className="text-ink-2">
      Of {those} of the last 30 days it would have {isSoft ? 'told of' : 'refused'} {refused === 0 ? 'none' : refused}.
    </p>
  )
}

interface FormMembers {
  /** The one to be changed; a new one if absent. */
  readonly budget?: Budget
  /** Whom a new one is for; chosen in the form if absent. */
  readonly subject?: Subject
  onClose(): void
}

/** The only window of a budget, if it is one that this form can say: others keep theirs, which it cannot. */
const onlyWindow = ({ activeWindows }: Budget): ActiveWindow | undefined =>
  activeWindows.length === 1 && WINDOWS.some((one) => one === activeWindows[0]?.kind) ? activeWindows[0] : undefined

export function BudgetForm({ budget, subject: given, onClose }: FormMembers) {
  const { strongroom } = useOpenSession()
  const queries = useQueryClient()
  const { subjects, subjectOf } = useSubjects()
  const first = budget && onlyWindow(budget)
  const keepsWindows = budget !== undefined && first === undefined
  const [key, setKey] = useState('')
  const [limit, setLimit] = useState(first ? typedMoney(first.limit) : '')
  const [kind, setKind] = useState<BudgetWindow>(WINDOWS.find((one) => one === first?.kind) ?? 'monthly')
  const [atOnce, setAtOnce] = useState(budget?.perTransactionLimit ? typedMoney(budget.perTransactionLimit) : '')
  const [isSoft, setSoft] = useState(budget?.enforcement === 'notify')
  const chosen = subjects.find((one) => one.key === key) ?? subjects[0]
  const subject = budget ? subjectOf(budget) : (given ?? chosen)
  const save = useMutation({
    mutationFn: async () => {
      const isChanged = !first || first.kind !== kind || typedMoney(first.limit) !== limit
      // What is not sent stays: where a window begins is not shown here, and would be lost.
      const rule = { kind, limit: money(microUnits(limit)), ...(first && { timezone: first.timezone }) }
      const windows = keepsWindows || !isChanged ? undefined : [rule]
      const enforcement = isSoft ? ('notify' as const) : ('hard' as const)
      const once = atOnce === '' ? null : money(microUnits(atOnce))
      if (budget)
        return strongroom.budgets.update(budget.budgetId, {
          version: budget.version,
          ...(windows && { windows }),
          enforcement,
          perTransactionLimit: once,
        })
      if (!subject || !windows) return undefined
      const { subjectType, subjectId } = subject
      return strongroom.budgets.create({
        subjectType,
        subjectId,
        windows,
        enforcement,
        ...(once && { perTransactionLimit: once }),
      })
    },
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries({ queryKey: ['billing'] })
      await queries.invalidateQueries({ queryKey: ['agents', 'budgets'] })
    },
  })
  const flags = [
    ...(keepsWindows ? [] : [`--${kind}`, limit || 'USD']),
    ...(atOnce === '' ? [] : ['--at-once', atOnce]),
    ...(isSoft ? ['--notify'] : []),
  ]
  const isComplete = keepsWindows || (limit !== '' && amountProblem(limit) === undefined)
  const verb = budget ? ['update', budget.budgetId] : ['create', subject ? cliSubject(subject) : 'AGENT']
  return (
    <FormDialog
      title={budget ? `Change the budget of ${subject?.name}` : given ? `A budget for ${given.name}` : 'New budget'}
      open
      onClose={onClose}
      action="Save"
      busy={save.isPending}
      problem={save.error}
      disabled={!subject || !isComplete || amountProblem(atOnce) !== undefined}
      cli={shellLine`strongroom budget ${verb} ${flags}`}
      onSubmit={() => save.mutate()}
    >
      {!budget && !given && (
        <SelectField label="For" value={subject?.key} onChange={({ target }) => setKey(target.value)}>
          {subjects.map(({ key: value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
      )}
      {keepsWindows ? (
        <p className="text-ink-2">
          Its windows stay as they are:{' '}
          {budget.activeWindows.map((one) => `${moneyText(one.limit)} ${windowWords(one, new Date())}`).join(', ')}.
          They are changed on the command line.
        </p>
      ) : (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Limit in US dollars"
            inputMode="decimal"
            error={amountProblem(limit)}
            value={limit}
            onChange={({ target }) => setLimit(target.value.trim())}
            required
          />
          <SelectField label="Window" value={kind} onChange={({ target }) => setKind(target.value as BudgetWindow)}>
            {WINDOWS.map((one) => (
              <option key={one} value={one}>
                {KIND_WORDS[one]}
              </option>
            ))}
          </SelectField>
        </div>
      )}
      <TextField
        label="At most in one purchase"
        hint="Leave it empty for no such limit."
        inputMode="decimal"
        error={amountProblem(atOnce)}
        value={atOnce}
        onChange={({ target }) => setAtOnce(target.value.trim())}
      />
      <CheckField label="Tell, and stop nothing" checked={isSoft} onChange={({ target }) => setSoft(target.checked)} />
      {subject && !keepsWindows && <Preview subject={subject} limits={{ kind, limit, atOnce, isSoft }} />}
    </FormDialog>
  )
}
