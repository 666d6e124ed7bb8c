import type { Budget } from '@strongroom/contract'
import type { Agent, Exposure } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useOpenSession, useStrongroom } from '../../session/session.ts'
import { buttonClasses } from '../../ui/button.tsx'
import { CheckField, SelectField } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { counted } from './blast-radius.ts'
import { type Compared, type ComparedRow, comparison } from './comparison.ts'
import {
  agentBudgetsQuery,
  agentQuery,
  agentsQuery,
  exposureQuery,
  type HeldVault,
  heldVaultsQuery,
} from './queries.ts'

const columnsFor = (names: readonly [string, string]): readonly Column<ComparedRow>[] => [
  { id: 'kind', header: 'Kind', cell: ({ kind }) => <span className="text-ink-3">{kind}</span> },
  {
    id: 'what',
    header: 'What',
    grows: true,
    cell: ({ what, code }) => (
      <span title={code}>
        {what}
        {code !== '' && <code className="ml-2 text-ink-3 max-lg:hidden">{code}</code>}
      </span>
    ),
  },
  ...names.map(
    (name, at): Column<ComparedRow> => ({
      id: `of ${at}`,
      header: name,
      cell: ({ of }) => (of[at] === 'no' ? <span className="text-ink-3">no</span> : of[at]),
    }),
  ),
  {
    id: 'same',
    header: 'Compared',
    cell: ({ isSame }) => (isSame ? <Status tone="quiet">same</Status> : <Status tone="warn">differs</Status>),
  },
]

/** Everything that is asked about one of the two. */
function useCompared(agentId: string | undefined) {
  const { strongroom, client } = useOpenSession()
  const id = agentId ?? ''
  const agent = useQuery({ ...agentQuery(strongroom, id), enabled: id !== '' })
  const exposure = useQuery({ ...exposureQuery(strongroom, id), enabled: id !== '' })
  const held = useQuery(heldVaultsQuery(strongroom, client))
  const budgets = useQuery(agentBudgetsQuery(strongroom))
  const all = [agent, exposure, held, budgets]
  return {
    data:
      agent.data &&
      exposure.data &&
      held.data &&
      budgets.data &&
      comparedOf(agent.data, exposure.data, held.data, budgets.data),
    error: all.find(({ error }) => error !== null)?.error ?? null,
    isPending: all.some(({ isPending }) => isPending),
    refetch: () => Promise.all(all.map(({ refetch }) => refetch())),
  }
}

const comparedOf = (
  agent: Agent,
  exposure: Exposure,
  held: ReadonlyMap<string, readonly HeldVault[]>,
  budgets: readonly Budget[],
): Compared => ({
  agent,
  exposure,
  held: held.get(`agent:${agent.agentId}`) ?? [],
  budgets: budgets.filter(({ subjectId }) => subjectId === agent.agentId),
})

function Differences({
  one,
  other,
  isAll,
}: {
  readonly one: Compared
  readonly other: Compared
  readonly isAll: boolean
}) {
  const rows = comparison(one, other)
  const different = rows.filter(({ isSame }) => !isSame)
  const [a, b] = [one.agent.name, other.agent.name]
  const columns = useMemo(() => columnsFor([a, b]), [a, b])
  const { head } = other.exposure
  return (
    <>
      <p role="status" className="flex items-center gap-2 px-6 py-3">
        <Seal root={head.rootHash} says={`Keys read here from the whole log of ${head.treeSize} entries`} />
        {different.length === 0
          ? 'Their vaults, permissions, groups and budgets are the same.'
          : `They differ in ${counted(different.length, 'thing')} of ${rows.length}.`}
      </p>
      <Table label="Two agents" rows={isAll ? rows : different} columns={columns} keyOf={({ id }) => id} />
    </>
  )
}

type Chosen = Readonly<Record<'a' | 'b' | 'show', string | undefined>>

interface PickMembers {
  readonly label: string
  readonly agents: readonly Agent[]
  readonly value: string | undefined
  onChange(agentId: string): void
}

function Pick({ label, agents, value, onChange }: PickMembers) {
  return (
    <SelectField label={label} value={value ?? ''} onChange={({ target }) => onChange(target.value)}>
      <option value="">Choose</option>
      {agents.map(({ agentId, name, status }) => (
        <option key={agentId} value={agentId}>
          {name}
          {status === 'archived' ? ' (archived)' : ''}
        </option>
      ))}
    </SelectField>
  )
}

/** Who of two may do what. Which two is in the address, so that it can be shown to somebody. */
export function CompareAgentsPage() {
  const search = useSearch({ from: '/agents/compare' })
  const navigate = useNavigate()
  const agents = useQuery(agentsQuery(useStrongroom()))
  const [one, other] = [useCompared(search.a), useCompared(search.b)]
  const go = (change: Partial<Chosen>): void =>
    void navigate({
      to: '/agents/compare',
      search: (before) => Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, text]) => text)),
      replace: true,
    })
  return (
    <Page
      title="Compare two agents"
      actions={
        <Link to="/agents" className={buttonClasses()}>
          All agents
        </Link>
      }
    >
      <Answer of={agents} what="agents">
        {(all) => (
          <>
            <div className="grid items-end gap-x-6 gap-y-3 border-b border-rule px-6 py-4 sm:grid-cols-[minmax(0,280px)_minmax(0,280px)_auto] sm:justify-start">
              <Pick label="One" agents={all} value={search.a} onChange={(a) => go({ a })} />
              <Pick label="The other" agents={all} value={search.b} onChange={(b) => go({ b })} />
              <CheckField
                label="What is the same too"
                checked={search.show === 'all'}
                onChange={({ target }) => go({ show: target.checked ? 'all' : undefined })}
              />
            </div>
            {search.a === undefined || search.b === undefined ? (
              <Empty title="Choose two agents">
                <p>
                  Vaults with their keys, permissions, groups and budgets stand side by side; what differs is marked.
                </p>
              </Empty>
            ) : (
              <Answer of={one} what="the first agent">
                {(first) => (
                  <Answer of={other} what="the other agent">
                    {(second) => <Differences one={first} other={second} isAll={search.show === 'all'} />}
                  </Answer>
                )}
              </Answer>
            )}
          </>
        )}
      </Answer>
    </Page>
  )
}
