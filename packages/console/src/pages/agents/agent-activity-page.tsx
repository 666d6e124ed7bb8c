import type { AuditEvent } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Section } from '../../ui/page.tsx'
import { shellLine } from '../../ui/shell-line.ts'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { auditQuery } from '../activity/queries.ts'
import { usersQuery } from '../people/queries.ts'
import { vaultsQuery } from '../vaults/queries.ts'
import { AgentFrame } from './agent-frame.tsx'
import { actionWords } from './first-contact.tsx'
import { EVENTS_LOOKED_AT } from './queries.ts'

type NameOf = (id: string) => string | undefined

const columnsFor = (me: string, nameOf: NameOf, personOf: NameOf): readonly Column<AuditEvent>[] => [
  {
    id: 'time',
    header: 'Time',
    sort: ({ occurredAt }) => occurredAt,
    cell: ({ occurredAt }) => <When at={occurredAt} />,
  },
  {
    id: 'who',
    header: 'Who',
    cell: ({ actor }) => (actor.id === me ? 'the agent' : (personOf(actor.id) ?? <MonoId id={actor.id} />)),
  },
  { id: 'what', header: 'What', sort: ({ action }) => action, cell: ({ action }) => actionWords(action) },
  {
    id: 'where',
    header: 'Where',
    grows: true,
    cell: ({ targets }) => {
      const vault = targets.find(({ type }) => type === 'vault')
      const name = vault && nameOf(vault.id)
      if (vault && name !== undefined)
        return (
          <Link to="/vaults/$vaultId" params={{ vaultId: vault.id }}>
            {name}
          </Link>
        )
      const [first] = targets
      if (first && (first.type === 'agent' || first.id.startsWith(me))) return 'the agent'
      return first ? <MonoId id={first.id} /> : null
    },
  },
  {
    id: 'result',
    header: 'Result',
    cell: ({ outcome, errorCode }) =>
      outcome === 'success' ? <Status tone="good">done</Status> : <Status tone="bad">{errorCode ?? 'refused'}</Status>,
  },
  { id: 'from', header: 'From', cell: ({ context }) => <code>{context.ip}</code> },
  {
    id: 'request',
    header: 'Request',
    cell: ({ context }) => (context.requestId === '' ? null : <MonoId id={context.requestId} keep={5} />),
  },
]

export function AgentActivityPage() {
  const { agentId } = useParams({ from: '/agents/$agentId/activity' })
  const { strongroom, client } = useOpenSession()
  const events = useQuery(auditQuery(strongroom, { max: EVENTS_LOOKED_AT }))
  const { data: vaults } = useQuery(vaultsQuery(strongroom))
  const { data: users } = useQuery(usersQuery(client))
  const me = `agent:${agentId}`
  const columns = useMemo(
    () =>
      columnsFor(
        me,
        (id) => vaults?.find(({ vaultId }) => vaultId === id)?.name,
        (id) => users?.find(({ userId }) => `user:${userId}` === id)?.name,
      ),
    [me, vaults, users],
  )
  const concerns = ({ actor, targets }: AuditEvent): boolean =>
    actor.id === me || targets.some(({ id }) => id === agentId || id.startsWith(me))
  return (
    <AgentFrame agentId={agentId}>
      {({ name }) => (
        <>
          <Answer of={events} what="audit events">
            {({ rows }) => {
              const own = rows.filter(concerns)
              return own.length === 0 ? (
                <Empty
                  title="Nothing of it in the newest audit events"
                  cli={shellLine`strongroom run --profile ${name} -- env`}
                >
                  <p>What it reads and changes, and what is done to it, appears here.</p>
                </Empty>
              ) : (
                <Table
                  label="Audit events of the agent"
                  rows={own}
                  columns={columns}
                  keyOf={({ id }) => id}
                  sortedBy={{ id: 'time', desc: true }}
                />
              )
            }}
          </Answer>
          <Section title="Its single requests">
            <p className="mb-2 text-ink-2">
              The server shows requests to whoever made them. Where the agent has its profile:
            </p>
            <div className="max-w-xl">
              <CopyLine label="In a terminal" text={shellLine`strongroom logs --profile ${name} --since 1h`} />
            </div>
          </Section>
        </>
      )}
    </AgentFrame>
  )
}
