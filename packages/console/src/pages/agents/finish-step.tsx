import { money } from '@strongroom/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useStrongroom } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { microUnits } from '../../ui/decimal.ts'
import { itemsQuery, vaultsQuery } from '../vaults/queries.ts'
import { counted } from './blast-radius.ts'
import { ConnectSnippets } from './connect-snippets.tsx'
import { FirstContact } from './first-contact.tsx'
import { budgetWords } from './means-panel.tsx'
import type { Plan } from './plan.ts'
import { StepHeading } from './step-form.tsx'
import { type Task, TaskList, useRunner } from './task-list.tsx'

function useTasks(plan: Plan, agentId: string): readonly Task[] {
  const strongroom = useStrongroom()
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const principal = `agent:${agentId}`
  const wraps = plan.vaults.map(({ vaultId, role }) => ({
    id: vaultId,
    label: `${vaults.find((one) => one.vaultId === vaultId)?.name ?? vaultId}, ${role}`,
    run: () =>
      strongroom.permissions.grant(
        { vault: vaultId },
        { principal, role: role.toUpperCase() as 'READ' | 'WRITE' | 'ADMIN' },
      ),
  }))
  if (plan.budget === '') return wraps
  const { budget, window, atOnce } = plan
  const limit = {
    id: 'budget',
    label: `Budget: ${budgetWords(plan)}`,
    run: async () => {
      const all = await strongroom.budgets.list().all()
      // Made before, and the page was loaded anew since.
      if (all.some(({ subjectId, status }) => subjectId === agentId && status === 'active')) return
      await strongroom.budgets.create({
        subjectType: 'agent',
        subjectId: agentId,
        windows: [{ kind: window, limit: money(microUnits(budget)) }],
        ...(atOnce !== '' && { perTransactionLimit: money(microUnits(atOnce)) }),
      })
    },
  }
  return [...wraps, limit]
}

interface FinishMembers {
  readonly plan: Plan
  readonly agentId: string
}

export function FinishStep({ plan, agentId }: FinishMembers) {
  const tasks = useTasks(plan, agentId)
  const runner = useRunner(tasks)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] content-start gap-5">
      <StepHeading
        title="Wrap and finish"
        says="The key of each vault is opened with yours and wrapped for the agent, here in this page."
      />
      <TaskList tasks={tasks} stateOf={runner.stateOf} />
      {!runner.isDone && (
        <div className="grid gap-2">
          {runner.hasFailed && !runner.isWorking && <p>What is done stays done. Resume goes on with the rest.</p>}
          <div>
            <Button kind="primary" busy={runner.isWorking} onClick={runner.run}>
              {runner.hasFailed ? 'Resume' : `Wrap ${counted(plan.vaults.length, 'vault key')}`}
            </Button>
          </div>
        </div>
      )}
      {runner.isDone && <Ready plan={plan} agentId={agentId} />}
    </div>
  )
}

function Ready({ plan, agentId }: FinishMembers) {
  const strongroom = useStrongroom()
  const { data: vaults = [] } = useQuery(vaultsQuery(strongroom))
  const vaultId = plan.vaults[0]?.vaultId ?? ''
  const { data: items = [] } = useQuery({ ...itemsQuery(strongroom, vaultId), enabled: vaultId !== '' })
  const item = items.find(({ labels }) => labels.length > 0)
  const place = {
    name: plan.name,
    vault: vaults.find((one) => one.vaultId === vaultId)?.name ?? 'VAULT',
    item: item?.name ?? 'ITEM',
    variable: item?.labels[0] ?? 'NAME',
  }
  return (
    <>
      <FirstContact agentId={agentId} name={plan.name} />
      <section aria-label="Connect" className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <h3 className="font-[550]">Connect</h3>
        <ConnectSnippets place={place} />
      </section>
      <div>
        <Link to="/agents/$agentId" params={{ agentId }} className={buttonClasses('secondary')}>
          Go to {plan.name}
        </Link>
      </div>
    </>
  )
}
