import { useBlocker, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { amountProblem } from '../../ui/decimal.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Page } from '../../ui/page.tsx'
import { AccessStep } from './access-step.tsx'
import { FinishStep } from './finish-step.tsx'
import { KeysStep } from './keys-step.tsx'
import { limitsProblem } from './limits.ts'
import { LimitsStep } from './limits-step.tsx'
import type { EnrolledHere, MadeAgent } from './made-agent.ts'
import { MeansPanel } from './means-panel.tsx'
import { type Plan, type PlanSearch, planOf, STEPS, type Step } from './plan.ts'
import { PurposeStep } from './purpose-step.tsx'
import { noteSaved, noteUnsaved } from './unsaved-keys.ts'

const TITLES: Record<Step, string> = {
  purpose: 'Purpose',
  access: 'Access',
  limits: 'Limits',
  keys: 'Keys',
  finish: 'Wrap and finish',
}

/** The step the address names, as far as what comes before it is filled in. */
function stepOf({ step, agent }: PlanSearch, { name, budget, atOnce, limits }: Plan): Step {
  const asked = STEPS.find((one) => one === step) ?? 'purpose'
  if (agent !== undefined) return asked === 'finish' ? 'finish' : 'keys'
  if (name === '') return 'purpose'
  const problem = amountProblem(budget) ?? amountProblem(atOnce) ?? limitsProblem(limits)
  if (asked !== 'purpose' && asked !== 'access' && problem !== undefined) return 'limits'
  return asked === 'finish' ? 'keys' : asked
}

interface ProgressMembers {
  readonly step: Step
  /** Once the agent is made, what it is made of stands. */
  readonly isMade: boolean
  onGo(step: Step): void
}

function Progress({ step, isMade, onGo }: ProgressMembers) {
  const at = STEPS.indexOf(step)
  return (
    <nav aria-label="Steps">
      <ol className="flex flex-wrap gap-x-4 gap-y-1 lg:grid lg:gap-0.5">
        {STEPS.map((one, index) => (
          <li key={one}>
            <button
              type="button"
              aria-current={one === step ? 'step' : undefined}
              disabled={index >= at || isMade}
              onClick={() => onGo(one)}
              className="flex min-h-8 items-center gap-2 rounded-control px-2 text-left text-ink-2 enabled:cursor-pointer enabled:hover:bg-raised aria-[current=step]:font-[550] aria-[current=step]:text-ink"
            >
              <span aria-hidden="true" className={`w-4 text-right ${index < at ? 'text-seal' : ''}`}>
                {index < at ? '✓' : index + 1}
              </span>
              {TITLES[one]}
              {index < at && <span className="sr-only">, done</span>}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** The key is nowhere else: whoever leaves now leaves it behind. */
function LeaveGuard({ name, isAtRisk }: { readonly name: string; readonly isAtRisk: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => isAtRisk && next.pathname !== '/agents/new',
    enableBeforeUnload: () => isAtRisk,
    withResolver: true,
  })
  const isOpen = blocker.status === 'blocked'
  return (
    <Dialog title="Its key is not stored" open={isOpen} onClose={() => blocker.reset?.()}>
      <div className="grid gap-4 p-5">
        <p>
          The key of <strong>{name}</strong> is only in this page. If you leave, it is gone, and the agent is of no use.
        </p>
        <div className="flex justify-end gap-2">
          <Button kind="danger" onClick={() => blocker.proceed?.()}>
            Leave and lose it
          </Button>
          <Button kind="primary" onClick={() => blocker.reset?.()}>
            Stay
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

export function NewAgentPage() {
  const search: PlanSearch = useSearch({ from: '/agents/new' })
  const navigate = useNavigate()
  const [made, setMade] = useState<MadeAgent>()
  const [enrolled, setEnrolled] = useState<EnrolledHere>()
  const [isSaved, setSaved] = useState(false)
  const plan = planOf(search)
  const step = stepOf(search, plan)
  const write = (next: Readonly<Record<string, string | undefined>>, replace: boolean): void =>
    void navigate({
      to: '/agents/new',
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, ...next }).filter(([, value]) => value !== undefined && value !== ''),
        ),
      replace,
    })
  const go = (to: Step): void => write({ step: to }, false)
  const next = (): void => go(STEPS[STEPS.indexOf(step) + 1] ?? 'finish')
  const back = (): void => go(STEPS[STEPS.indexOf(step) - 1] ?? 'purpose')
  const common = { plan, change: (part: PlanSearch) => write({ ...part }, true), onContinue: next, onBack: back }
  const save = (saved: boolean): void => {
    setSaved(saved)
    if (made) (saved ? noteSaved : noteUnsaved)(made.agentId)
  }
  const finish = (): void => {
    // Stored by now: this page has no further use for it.
    setMade(undefined)
    next()
  }
  return (
    <Page title="New agent">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6 px-6 py-5 lg:grid-cols-[180px_minmax(0,560px)_minmax(240px,360px)] lg:gap-8">
        <Progress step={step} isMade={search.agent !== undefined} onGo={go} />
        {step === 'purpose' && <PurposeStep {...common} />}
        {step === 'access' && <AccessStep {...common} />}
        {step === 'limits' && <LimitsStep {...common} />}
        {step === 'keys' && (
          <KeysStep
            {...common}
            onContinue={finish}
            agentId={search.agent}
            made={made}
            enrolled={enrolled}
            onMade={(one) => {
              setMade(one)
              write({ agent: one.agentId, step: 'keys' }, true)
            }}
            onEnrolled={(one) => {
              setEnrolled(one)
              write({ agent: one.agentId, step: 'keys' }, true)
            }}
            isSaved={isSaved}
            onSaved={save}
          />
        )}
        {step === 'finish' && search.agent !== undefined && <FinishStep plan={plan} agentId={search.agent} />}
        <MeansPanel plan={plan} />
      </div>
      <LeaveGuard name={plan.name} isAtRisk={made !== undefined && !isSaved} />
    </Page>
  )
}
