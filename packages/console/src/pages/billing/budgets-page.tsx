import type { Budget } from '@strongroom/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { Legend, Textures } from '../../plot/marks.tsx'
import { PlotFrame } from '../../plot/plot-frame.tsx'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { decimalOf } from '../../ui/decimal.ts'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty, ProblemNote } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { BILLING_TABS } from './billing-tabs.ts'
import { BUDGET_PARTS } from './budget-bar.tsx'
import { BudgetForm } from './budget-form.tsx'
import { SUBJECT_TITLES, type Subject, type SubjectType, useSubjects } from './budget-subjects.ts'
import { windowSentence } from './budget-windows.ts'
import { MoneyAmount } from './money.tsx'
import { budgetsQuery } from './queries.ts'
import { BudgetWindows } from './window-list.tsx'

const TREE: readonly SubjectType[] = ['org', 'tenant', 'user', 'agent']

interface RowMembers {
  readonly budget: Budget
  readonly subject: Subject
}

function SubjectName({ subject: { subjectType, subjectId, name } }: { readonly subject: Subject }) {
  if (subjectType !== 'agent') return <strong>{name}</strong>
  return (
    <Link to="/agents/$agentId/budget" params={{ agentId: subjectId }} className="font-[550]">
      {name}
    </Link>
  )
}

function BudgetRow({ budget, subject }: RowMembers) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [isChanging, setChanging] = useState(false)
  const setStatus = useMutation({
    mutationFn: (status: Budget['status']) => strongroom.budgets.update(budget.budgetId, { status }),
    onSuccess: async (_, status) => {
      await queries.invalidateQueries({ queryKey: ['billing'] })
      await queries.invalidateQueries({ queryKey: ['agents', 'budgets'] })
      if (status === 'archived')
        toast(`The budget of ${subject.name} is ended: it limits nothing`, () => setStatus.mutate('active'))
    },
  })
  return (
    <li className="grid gap-2 border-t border-rule py-3 first:border-t-0">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <span className="flex min-w-0 flex-wrap items-baseline gap-x-3">
          <SubjectName subject={subject} />
          {budget.name !== '' && <span className="text-ink-2">{budget.name}</span>}
          <span className="text-label text-ink-3">
            {budget.enforcement === 'hard' ? 'refuses what goes beyond it' : 'tells, and stops nothing'}
            {budget.perTransactionLimit && (
              <>
                {' '}
                · at most <MoneyAmount of={budget.perTransactionLimit} /> at once
              </>
            )}
          </span>
        </span>
        <span className="flex gap-1 max-sm:-ml-3">
          <Button kind="quiet" onClick={() => setChanging(true)} aria-label={`Change the budget of ${subject.name}`}>
            Change
          </Button>
          <Button
            kind="quiet"
            busy={setStatus.isPending}
            onClick={() => setStatus.mutate('archived')}
            aria-label={`End the budget of ${subject.name}`}
          >
            End
          </Button>
        </span>
      </div>
      <BudgetWindows budget={budget} subject={subject.name} />
      {setStatus.error && <ProblemNote error={setStatus.error} />}
      {isChanging && <BudgetForm budget={budget} onClose={() => setChanging(false)} />}
    </li>
  )
}

const sum = (budgets: readonly Budget[], isFull: boolean): number =>
  budgets.filter(({ activeWindows }) => activeWindows.some(({ remaining }) => Number(remaining.amount) <= 0) === isFull)
    .length

function Tree({ budgets }: { readonly budgets: readonly Budget[] }) {
  const scope = useId()
  const { subjectOf } = useSubjects()
  const now = new Date()
  const full = sum(budgets, true)
  const twin = {
    columns: ['Budget', 'Window', 'Limit', 'Spent', 'Reserved', 'Left', 'In words'],
    rows: budgets.flatMap((budget) =>
      budget.activeWindows.map((window) => [
        subjectOf(budget).label,
        window.kind,
        decimalOf(window.limit),
        decimalOf(window.spent),
        decimalOf(window.reserved),
        decimalOf(window.remaining),
        windowSentence(window, now),
      ]),
    ),
  }
  const many = budgets.length === 1 ? 'One budget is' : `${budgets.length} budgets are`
  return (
    <div className="px-6 py-5">
      <PlotFrame
        name="Budgets"
        summary={`${many} in force${full === 0 ? ', and each has something left.' : `; of ${full} nothing is left.`}`}
        twin={twin}
        legend={
          <div className="flex flex-wrap items-center gap-x-4">
            <Legend scope={scope} of={BUDGET_PARTS} />
            <span className="text-label text-ink-2">| how much of the time is over</span>
          </div>
        }
      >
        <svg aria-hidden="true" width="0" height="0" className="absolute">
          <Textures scope={scope} marks={BUDGET_PARTS.map(({ mark }) => mark)} />
        </svg>
        {TREE.map((type) => {
          const own = budgets.filter(({ subjectType }) => subjectType === type)
          return own.length === 0 ? null : (
            <section key={type} aria-label={SUBJECT_TITLES[type]} className="mt-3 border-t border-rule pt-3">
              <h2 className="text-dialog">{SUBJECT_TITLES[type]}</h2>
              <ul className="max-w-4xl">
                {own.map((budget) => (
                  <BudgetRow key={budget.budgetId} budget={budget} subject={subjectOf(budget)} />
                ))}
              </ul>
            </section>
          )
        })}
      </PlotFrame>
    </div>
  )
}

export function BudgetsPage() {
  const budgets = useQuery(budgetsQuery(useStrongroom()))
  const [isNew, setNew] = useState(false)
  return (
    <Page
      title="Budgets &amp; billing"
      tabs={BILLING_TABS}
      actions={
        <Button kind="primary" onClick={() => setNew(true)}>
          New budget
        </Button>
      }
    >
      <Answer of={budgets} what="budgets">
        {(all) => {
          const active = all.filter(({ status }) => status === 'active')
          return active.length === 0 ? (
            <Empty title="Nothing limits what is spent" cli="strongroom budget create AGENT --monthly 25">
              <p>
                A budget decides before money is spent. Every one that applies must have room: of the agent or person,
                of the tenant, and of the organisation.
              </p>
            </Empty>
          ) : (
            <Tree budgets={active} />
          )
        }}
      </Answer>
      {isNew && <BudgetForm onClose={() => setNew(false)} />}
    </Page>
  )
}
