import { type Budget, shellLine } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { decimalOf } from '../../ui/decimal.ts'
import { Section } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { toast } from '../../ui/toast.tsx'
import { When } from '../../ui/when.tsx'
import { BudgetForm } from '../billing/budget-form.tsx'
import { subject } from '../billing/budget-subjects.ts'
import { BudgetWindows } from '../billing/window-list.tsx'
import { AgentFrame } from './agent-frame.tsx'
import { agentBudgetsQuery, agentLicensesQuery } from './queries.ts'

function BudgetPart({ agent, budget }: { readonly agent: Agent; readonly budget: Budget }) {
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const [isEditing, setEditing] = useState(false)
  const setStatus = useMutation({
    mutationFn: (status: 'active' | 'archived') => strongroom.budgets.update(budget.budgetId, { status }),
    onSuccess: async (_, status) => {
      await queries.invalidateQueries(agentBudgetsQuery(strongroom))
      if (status === 'archived') toast('The budget is ended', () => setStatus.mutate('active'))
    },
  })
  return (
    <Section
      title={budget.name || 'Budget'}
      actions={
        agent.status === 'active' && (
          <span className="flex gap-2">
            <Button onClick={() => setEditing(true)}>Change</Button>
            <Button busy={setStatus.isPending} onClick={() => setStatus.mutate('archived')}>
              End
            </Button>
          </span>
        )
      }
    >
      <Status tone={budget.enforcement === 'hard' ? 'good' : 'warn'}>
        {budget.enforcement === 'hard' ? 'refuses what goes beyond it' : 'tells, and stops nothing'}
      </Status>
      <div className="grid max-w-4xl gap-3 py-3">
        <BudgetWindows budget={budget} subject={agent.name} />
      </div>
      {budget.perTransactionLimit && (
        <p>
          At most <Amount amount={decimalOf(budget.perTransactionLimit)} currency="USD" /> in one purchase.
        </p>
      )}
      {isEditing && <BudgetForm budget={budget} onClose={() => setEditing(false)} />}
    </Section>
  )
}

function Licenses({ agentId }: { readonly agentId: string }) {
  const licenses = useQuery(agentLicensesQuery(useStrongroom(), agentId))
  return (
    <Section title="Licences it bought">
      <Answer of={licenses} what="licences">
        {(all) =>
          all.length === 0 ? (
            <p className="text-ink-2">None.</p>
          ) : (
            <ul className="grid gap-1">
              {all.map(({ licenseInstanceId, name, status, price, createdAt }) => (
                <li key={licenseInstanceId} className="flex flex-wrap gap-x-4">
                  <span>{name}</span>
                  <Status tone={status === 'active' ? 'good' : 'quiet'}>{status}</Status>
                  <Amount amount={decimalOf(price)} currency={price.currency} />
                  <When at={createdAt} />
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Section>
  )
}

export function AgentBudgetPage() {
  const { agentId } = useParams({ from: '/agents/$agentId/budget' })
  const budgets = useQuery(agentBudgetsQuery(useStrongroom()))
  const [isNew, setNew] = useState(false)
  return (
    <AgentFrame agentId={agentId}>
      {(agent) => (
        <>
          <Answer of={budgets} what="budgets">
            {(all) => {
              const own = all.filter(({ subjectId }) => subjectId === agentId)
              return own.length === 0 ? (
                <Empty
                  title="It has no budget of its own"
                  cli={shellLine`strongroom budget create ${agent.name} --monthly 25`}
                >
                  <p>What it spends is limited by the budgets of its tenant and of the organisation alone.</p>
                  {agent.status === 'active' && (
                    <div>
                      <Button kind="primary" onClick={() => setNew(true)}>
                        Set a budget
                      </Button>
                    </div>
                  )}
                </Empty>
              ) : (
                own.map((budget) => <BudgetPart key={budget.budgetId} agent={agent} budget={budget} />)
              )
            }}
          </Answer>
          <Licenses agentId={agentId} />
          {isNew && <BudgetForm subject={subject('agent', agentId, agent.name)} onClose={() => setNew(false)} />}
        </>
      )}
    </AgentFrame>
  )
}
