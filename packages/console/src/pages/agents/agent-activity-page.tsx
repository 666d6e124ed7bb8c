import { shellLine } from '@strongroom/contract'
import type { AuditEvent } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Section } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { auditQuery } from '../activity/queries.ts'
import { SubjectLink, useSubjectNames } from '../activity/subjects.tsx'
import { AgentFrame } from './agent-frame.tsx'
import { actionWords } from './first-contact.tsx'
import { EVENTS_LOOKED_AT } from './queries.ts'

const columnsFor = (me: string, names: Names): readonly Column<AuditEvent>[] => [
  {
    id: 'time',
    header: 'Time',
    sort: ({ occurredAt }) => occurredAt,
    cell: ({ occurredAt }) => <When at={occurredAt} />,
  },
  {
    id: 'who',
    header: 'Who',
    cell: ({ actor }) => (actor.id === me ? 'the agent' : names.person(actor.id)),
  },
  { id: 'what', header: 'What', sort: ({ action }) => action, cell: ({ action }) => actionWords(action) },
  {
    id: 'where',
    header: 'Where',
    grows: true,
    cell: ({ targets }) => {
      const about = targets.find(({ type }) => type === 'vault') ?? targets[0]
      if (!about) return null
      if (about.id.startsWith(me) || `agent:${about.id}` === me) return 'the agent'
      return <SubjectLink subject={about} name={names.subject(about)} />
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
  const strongroom = useStrongroom()
  const events = useQuery(auditQuery(strongroom, { max: EVENTS_LOOKED_AT }))
  const me = `agent:${agentId}`
  const concerns = ({ actor, targets }: AuditEvent): boolean =>
    actor.id === me || targets.some(({ id }) => id === agentId || id.startsWith(me))
  const own = (events.data?.rows ?? []).filter(concerns)
  const names = useSubjectNames(own.flatMap(({ targets }) => targets))
  const columns = useMemo(() => columnsFor(me, names), [me, names])
  return (
    <AgentFrame agentId={agentId}>
      {({ name }) => (
        <>
          <Answer of={events} what="audit events">
            {() =>
              own.length === 0 ? (
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
            }
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
