import type { Budget } from '@strongroom/contract'
import type { AuditEvent } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { isNoAccess } from '../../queries.ts'
import { useLastVerified } from '../../session/alarm.ts'
import { useStrongroom } from '../../session/session.ts'
import { SelectField } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer, Skeleton } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import { ActivityPlot } from '../activity/activity-plot.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { auditQuery } from '../activity/queries.ts'
import { auditRow } from '../activity/rows.ts'
import { useSubjectNames } from '../activity/subjects.tsx'
import { agentsQuery } from '../agents/queries.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { BudgetBars } from './budget-bars.tsx'
import { Checklist } from './checklist.tsx'
import { NeedsYou } from './needs-you.tsx'
import { type Figure, Numbers } from './numbers.tsx'
import { budgetsQuery, headQuery } from './queries.ts'
import { say, spendOf } from './spend.ts'

const HOUR = 3_600_000
const SPANS = {
  hour: { label: 'last hour', hours: 1 },
  day: { label: 'last 24 hours', hours: 24 },
  week: { label: 'last 7 days', hours: 168 },
} as const
type Span = keyof typeof SPANS
const isSpan = (text: string | undefined): text is Span => text !== undefined && Object.hasOwn(SPANS, text)
const POLL_MS = 5000
const ROWS = 500

/** The moment it begins, to the minute: what is asked for must not change with every second. */
const sinceOf = (span: Span): Date => new Date(Math.floor(Date.now() / 60_000) * 60_000 - SPANS[span].hours * HOUR)

interface Counted {
  readonly since: Date
  readonly events: readonly AuditEvent[]
  /** Undefined where they are not the person's to see; so are budgets. */
  readonly agents: readonly { readonly agentId: string; readonly status: string }[] | undefined
  readonly budgets: readonly Budget[] | undefined
}

const NOT_YOURS = { value: '–', beside: 'not yours to see' }

function agentsFigure(agents: NonNullable<Counted['agents']>, events: Counted['events']) {
  const seen = new Set(events.map(({ actor }) => actor.id))
  const live = agents.filter(({ status }) => status === 'active')
  return {
    value: String(live.filter(({ agentId }) => seen.has(`agent:${agentId}`)).length),
    beside: `of ${live.length}`,
  }
}

function spendFigure(budgets: readonly Budget[]) {
  const spend = spendOf(budgets)
  return spend
    ? { value: say(spend.spent), beside: `of ${say(spend.limit)}`, tone: 'money' as const }
    : { value: '–', beside: 'no budget yet' }
}

function figuresOf({ since, events, agents, budgets }: Counted): readonly Figure[] {
  const refused = events.filter(({ outcome }) => outcome !== 'success').length
  const from = since.toISOString()
  return [
    {
      label: 'Audited requests',
      value: events.length.toLocaleString('en'),
      link: { to: '/activity', search: { lens: 'audit', from } },
    },
    {
      label: 'Refused',
      value: refused.toLocaleString('en'),
      beside: events.length === 0 ? undefined : `${((refused / events.length) * 100).toFixed(1)} %`,
      link: { to: '/activity', search: { lens: 'audit', from, filter: 'status:refused' } },
      tone: refused > 0 ? 'danger' : undefined,
    },
    { label: 'Agents active', ...(agents ? agentsFigure(agents, events) : NOT_YOURS), link: { to: '/agents' } },
    {
      label: 'Spent this window',
      ...(budgets ? spendFigure(budgets) : NOT_YOURS),
      link: { to: '/billing/budgets' },
    },
  ]
}

function LastVerified() {
  const strongroom = useStrongroom()
  const { data } = useQuery(headQuery(strongroom))
  if (!data) return <Skeleton rows={1} />
  const { head, at } = data
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 px-6 py-3">
      <Seal root={head.rootHash} says="Verified in this browser" />
      <span>
        Log verified in this browser <When at={at} />, {head.treeSize.toLocaleString('en')} entries.
      </span>
      <Link to="/transparency">Look at the log</Link>
    </p>
  )
}

/** What there is so far, for the checklist; asked again while it is in sight. */
function useProgress(audit: readonly AuditEvent[], isNew: boolean) {
  const strongroom = useStrongroom()
  // What was refused is not asked again and again: each time is an event of the audit.
  const refetchInterval = ({ state }: { readonly state: { readonly error: unknown } }) =>
    isNew && !isNoAccess(state.error) ? POLL_MS : (false as const)
  const vaults = useQuery({ ...vaultsQuery(strongroom), refetchInterval })
  const agents = useQuery({ ...agentsQuery(strongroom), refetchInterval })
  const budgets = useQuery({ ...budgetsQuery(strongroom), refetchInterval })
  const verified = useLastVerified()
  const ofAgents = isNoAccess(agents.error) ? undefined : (agents.data ?? [])
  const ofBudgets = isNoAccess(budgets.error) ? undefined : (budgets.data ?? [])
  const progress = {
    hasSecret: (vaults.data ?? []).some(({ itemCount }) => itemCount > 0),
    hasAgent: ofAgents && ofAgents.length > 0,
    hasRun: ofAgents && audit.some(({ actor }) => actor.type === 'agent'),
    hasVerified: verified !== undefined,
    hasBudget: ofBudgets && ofBudgets.length > 0,
  }
  const isKnown = !vaults.isPending && !agents.isPending && !budgets.isPending
  return { progress, isKnown, agents: ofAgents, budgets: ofBudgets }
}

function Budgets({ budgets, names }: Pick<Counted, 'budgets'> & { readonly names: Names }) {
  if (budgets === undefined) return <p className="text-ink-2">Your roles do not include what may be spent.</p>
  if (budgets.length > 0) return <BudgetBars budgets={budgets} names={names} />
  return (
    <p className="text-ink-2">
      No budget yet, so nothing can be bought. <Link to="/billing/budgets">Decide what may be spent.</Link>
    </p>
  )
}

export function OverviewPage() {
  const strongroom = useStrongroom()
  const names = useSubjectNames()
  const navigate = useNavigate()
  const { span: asked } = useSearch({ from: '/' })
  const span: Span = isSpan(asked) ? asked : 'day'
  const since = sinceOf(span)
  const audit = useQuery({ ...auditQuery(strongroom, { max: ROWS, from: sinceOf('week') }), refetchInterval: POLL_MS })
  const all = audit.data?.rows ?? []
  const hasRun = all.some(({ actor }) => actor.type === 'agent')
  const { progress, isKnown, agents, budgets } = useProgress(all, !hasRun)
  const isNew = isKnown && [progress.hasSecret, progress.hasAgent, progress.hasRun].includes(false)
  const events = all.filter(({ occurredAt }) => new Date(occurredAt) >= since)
  return (
    <Page
      title="Overview"
      actions={
        <div className="w-40 [&_label]:sr-only">
          <SelectField
            label="Time"
            value={span}
            onChange={({ target: { value } }) =>
              void navigate({ to: '/', search: value === 'day' ? {} : { span: value } })
            }
          >
            {Object.entries(SPANS).map(([value, { label }]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </SelectField>
        </div>
      }
    >
      {isNew && <Checklist progress={progress} />}
      <Answer of={audit} what="activity">
        {({ isAll }) => (
          <>
            <Numbers figures={figuresOf({ since, events, agents, budgets })} />
            <section aria-label="Requests over time" className="border-b border-rule px-6 py-4">
              <ActivityPlot
                lens="audit"
                rows={events.map(auditRow)}
                isAll={isAll}
                from={since}
                to={undefined}
                onRange={(from, to) =>
                  void navigate({
                    to: '/activity',
                    search: { lens: 'audit', from: from.toISOString(), to: to.toISOString() },
                  })
                }
              />
            </section>
          </>
        )}
      </Answer>
      <div className="grid grid-cols-2 border-b border-rule max-md:grid-cols-1">
        <section aria-label="Needs you" className="min-w-0 px-6 py-4 md:border-r md:border-rule">
          <div className="mb-2 flex items-baseline justify-between gap-3">
            <h2 className="text-dialog">Needs you</h2>
            <Link to="/approvals">Decide</Link>
          </div>
          <NeedsYou names={names} />
        </section>
        <section aria-label="Budgets this window" className="min-w-0 px-6 py-4 max-md:border-t max-md:border-rule">
          <div className="mb-2 flex items-baseline justify-between gap-3">
            <h2 className="text-dialog">Budgets this window</h2>
            {budgets !== undefined && budgets.length > 0 && <Link to="/billing/budgets">All budgets</Link>}
          </div>
          <Budgets budgets={budgets} names={names} />
        </section>
      </div>
      <LastVerified />
    </Page>
  )
}
