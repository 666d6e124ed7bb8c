import type { Budget } from '@strongroom/contract'
import type { Agent, AuditEvent } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { inputClasses } from '../../ui/field.tsx'
import { byName } from '../../ui/name-order.ts'
import { Page } from '../../ui/page.tsx'
import { SavedViews } from '../../ui/saved-views.tsx'
import { Answer, Empty, NotKnown } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { auditQuery } from '../activity/queries.ts'
import { BudgetBar } from '../billing/budget-bar.tsx'
import { spendWords } from '../billing/budget-windows.ts'
import { selectColumn, useSelection } from '../vaults/selection.tsx'
import { isExpired } from './limits.ts'
import { PendingKeys } from './pending-keys.tsx'
import { agentBudgetsQuery, agentsQuery, EVENTS_LOOKED_AT, type HeldVault, heldVaultsQuery } from './queries.ts'
import { RotateApiKeysForm } from './rotate-api-keys-form.tsx'
import { isUnsaved } from './unsaved-keys.ts'

/** What has not been answered is undefined, which is not the same as nothing. */
interface Row extends Agent {
  readonly lastSeen: string | null | undefined
  readonly vaults: readonly HeldVault[] | undefined
  readonly budget: Budget | null | undefined
}

function StateOf({ row }: { readonly row: Row }) {
  const { agentId, status } = row
  if (status === 'archived') return <Status tone="quiet">archived</Status>
  if (isExpired(row)) return <Status tone="warn">expired</Status>
  if (isUnsaved(agentId)) return <Status tone="warn">key not confirmed</Status>
  return <Status tone="good">active</Status>
}

interface ChosenMembers {
  readonly agents: readonly Agent[]
  onRotate(agents: readonly Agent[]): void
  onClear(): void
}

/** Several that are ticked get new keys together; two can be looked at side by side. */
function Chosen({ agents, onRotate, onClear }: ChosenMembers) {
  const [a, b] = agents
  if (a === undefined) return null
  const active = agents.filter(({ status }) => status === 'active')
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-rule bg-raised px-6 py-2">
      <span role="status">
        {agents.length} selected{active.length < agents.length && ', archived ones have no keys to rotate'}
      </span>
      <Button disabled={active.length === 0} onClick={() => onRotate(active)}>
        Rotate API keys
      </Button>
      {b !== undefined && agents.length === 2 ? (
        <Link to="/agents/compare" search={{ a: a.agentId, b: b.agentId }} className={buttonClasses()}>
          Compare
        </Link>
      ) : (
        <span className="text-ink-2">Choose two to compare them.</span>
      )}
      <Button kind="quiet" onClick={onClear}>
        Select none
      </Button>
    </div>
  )
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Agent',
    sort: ({ name }) => name,
    cell: ({ agentId, name }) => (
      <Link to="/agents/$agentId" params={{ agentId }}>
        {name}
      </Link>
    ),
  },
  { id: 'for', header: 'What it is for', grows: true, cell: ({ description }) => description },
  { id: 'state', header: 'State', cell: (row) => <StateOf row={row} /> },
  {
    id: 'seen',
    header: 'Last seen',
    sort: ({ lastSeen }) => lastSeen ?? '',
    cell: ({ lastSeen }) => (lastSeen === undefined ? <NotKnown /> : <When at={lastSeen} />),
  },
  {
    id: 'vaults',
    header: 'Vaults',
    sort: ({ vaults = [] }) => vaults.length,
    cell: ({ vaults }) =>
      vaults === undefined ? (
        <NotKnown />
      ) : vaults.length === 0 ? (
        <span className="text-ink-3">none</span>
      ) : vaults.length > 2 ? (
        `${vaults.length} vaults`
      ) : (
        vaults.map(({ name }) => name).join(', ')
      ),
  },
  {
    id: 'spend',
    header: 'Spent',
    cell: ({ budget }) => {
      if (budget === undefined) return <NotKnown />
      const window = budget?.activeWindows[0]
      if (!window) return <span className="text-ink-3">no budget</span>
      return (
        <div className="inline-flex items-center gap-2 align-top">
          <div className="w-20 shrink-0">
            <BudgetBar window={window} />
          </div>
          {spendWords(window)}
        </div>
      )
    },
  },
  {
    id: 'made',
    header: 'Made',
    sort: ({ createdAt }) => createdAt.getTime(),
    cell: ({ createdAt }) => <When at={createdAt} />,
  },
]

/** When each principal was last heard of, in the newest audit events. */
export function lastSeenOf(events: readonly AuditEvent[]): ReadonlyMap<string, string> {
  const seen = new Map<string, string>()
  for (const { actor, occurredAt } of events) if (!seen.has(actor.id)) seen.set(actor.id, occurredAt)
  return seen
}

function useRows(agents: readonly Agent[] | undefined): readonly Row[] {
  const { strongroom, client } = useOpenSession()
  // Requests are shown by the server to whoever made them, so what an agent did is read from the audit.
  const { data: events } = useQuery(auditQuery(strongroom, { max: EVENTS_LOOKED_AT }))
  const { data: held } = useQuery(heldVaultsQuery(strongroom, client))
  const { data: budgets } = useQuery(agentBudgetsQuery(strongroom))
  return useMemo(() => {
    const seen = events && lastSeenOf(events.rows)
    return (agents ?? []).map((agent) => ({
      ...agent,
      lastSeen: seen && (seen.get(`agent:${agent.agentId}`) ?? null),
      vaults: held && (held.get(`agent:${agent.agentId}`) ?? []),
      budget: budgets && (budgets.find(({ subjectId }) => subjectId === agent.agentId) ?? null),
    }))
  }, [agents, events, held, budgets])
}

interface FilterMembers {
  readonly filter: string
  readonly isAll: boolean
}

function Filters({ filter, isAll }: FilterMembers) {
  const navigate = useNavigate()
  const show = (next: FilterMembers): void =>
    void navigate({
      to: '/agents',
      search: { ...(next.filter !== '' && { filter: next.filter }), ...(next.isAll && { state: 'all' }) },
      replace: true,
    })
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2 border-b border-rule px-6 py-2">
      <input
        data-filter
        type="search"
        aria-label="Filter agents"
        placeholder="Filter agents"
        value={filter}
        onChange={({ target }) => show({ filter: target.value, isAll })}
        className={`${inputClasses} max-w-96`}
      />
      <label className="flex min-h-8 cursor-pointer items-center gap-2">
        <input
          type="checkbox"
          checked={isAll}
          onChange={({ target }) => show({ filter, isAll: target.checked })}
          className="size-4 accent-ink"
        />
        Archived too
      </label>
    </div>
  )
}

export function AgentsPage() {
  const { strongroom } = useOpenSession()
  const agents = useQuery(agentsQuery(strongroom))
  const { filter = '', state } = useSearch({ from: '/agents' })
  const navigate = useNavigate()
  const rows = useRows(agents.data)
  const selection = useSelection()
  const [rotating, setRotating] = useState<readonly Agent[]>()
  const { ids, toggle } = selection
  const columns = useMemo(
    () => [selectColumn<Row>({ ids, toggle }, ({ agentId, name }) => ({ id: agentId, name })), ...COLUMNS],
    [ids, toggle],
  )
  const isAll = state === 'all'
  const shown = rows.filter(
    ({ name, description, status }) =>
      (isAll || status === 'active') && `${name} ${description}`.toLowerCase().includes(filter.toLowerCase()),
  )
  return (
    <Page
      title="Agents"
      actions={
        <>
          <SavedViews
            place="agents"
            search={{ filter, state }}
            onOpen={(view) => void navigate({ to: '/agents', search: view })}
          />
          <Link to="/agents/new" className={buttonClasses('primary')}>
            New agent
          </Link>
        </>
      }
    >
      <PendingKeys />
      <Answer of={agents} what="agents">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Give something that is not a person its own key" cli="strongroom agent create">
              <p>An agent reads the vaults you choose, and nothing else. What it does is seen under its name.</p>
              <div>
                <Link to="/agents/new" className={buttonClasses('primary')}>
                  New agent
                </Link>
              </div>
            </Empty>
          ) : (
            <>
              <Filters filter={filter} isAll={isAll} />
              <Chosen
                agents={all.filter(({ agentId }) => ids.has(agentId)).sort(byName)}
                onRotate={setRotating}
                onClear={selection.clear}
              />
              <Table
                label="Agents"
                rows={shown}
                columns={columns}
                keyOf={({ agentId }) => agentId}
                sortedBy={{ id: 'name' }}
              />
            </>
          )
        }
      </Answer>
      {rotating && <RotateApiKeysForm agents={rotating} onClose={() => setRotating(undefined)} />}
    </Page>
  )
}
