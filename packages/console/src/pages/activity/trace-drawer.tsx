import type { ActivityEvent, AuditEvent, RequestEvent } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { CopyLine, MonoId } from '../../ui/copy.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import type { Names } from './filter-tokens.ts'
import { auditQuery, feedQuery, requestsQuery, type Wanted } from './queries.ts'
import { asCli, asCurl } from './replay.ts'
import { ResultWord } from './result-word.tsx'
import { auditRow, feedRow, requestRow, type Subject, shortRoute } from './rows.ts'
import { SubjectLink, useSubjectNames } from './subjects.tsx'

const bytes = (count: number): string => `${count.toLocaleString('en')} bytes`

function Subjects({ of, names }: { readonly of: readonly Subject[]; readonly names: Names }) {
  if (of.length === 0) return <span className="text-ink-3">nothing by name</span>
  return (
    <span className="flex flex-wrap gap-x-3">
      {of.map((subject) => (
        <SubjectLink key={`${subject.type} ${subject.id}`} subject={subject} name={names.subject(subject)} />
      ))}
    </span>
  )
}

function RequestPart({ request, subjects, names }: RequestMembers) {
  const cli = asCli(request, subjects)
  const { result } = requestRow(request)
  return (
    <Section title="Request">
      <div className="grid gap-4">
        <Facts
          of={[
            ['Route', <code key="r">{`${request.method} ${shortRoute(request.routeTemplate)}`}</code>],
            ['Answer', <ResultWord key="a" result={result} status={request.status} code={request.errorCode} />],
            ['Took', `${Math.round(request.durationMs)} ms`],
            ['By', names.person(request.principal.id)],
            ['When', <When key="w" at={request.occurredAt} />],
            ['Sent, received', `${bytes(request.bytesIn)}, ${bytes(request.bytesOut)}`],
            ['From', `${request.ipTruncated}, ${request.userAgent || 'no name'}`],
            ...(request.traceId ? [['Trace', <MonoId key="t" id={request.traceId} />] as const] : []),
          ]}
        />
        <CopyLine label="Replay as curl" text={asCurl(request, subjects, location.origin)} />
        {cli !== undefined && <CopyLine label="Replay as CLI" text={cli} />}
      </div>
    </Section>
  )
}

interface RequestMembers {
  readonly request: RequestEvent
  readonly subjects: readonly Subject[]
  readonly names: Names
}

function AuditPart({ events, names }: { readonly events: readonly AuditEvent[]; readonly names: Names }) {
  return (
    <Section title="Audit">
      {events.length === 0 && <p className="text-ink-2">Nothing about it is among the events that were read.</p>}
      <ul className="grid gap-4">
        {events.map((event) => (
          <li key={event.id}>
            <Facts of={auditFacts(event, names)} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function auditFacts(event: AuditEvent, names: Names): readonly (readonly [string, ReactNode])[] {
  const { index } = event.metadata
  return [
    ['Action', <code key="a">{event.action}</code>],
    ['Outcome', <ResultWord key="o" result={auditRow(event).result} status={null} code={event.errorCode} />],
    ['By', names.person(event.actor.id)],
    ['About', <Subjects key="s" of={event.targets} names={names} />],
    ['In the chain', event.position === null ? 'not sealed yet' : `position ${event.position}`],
    ...(event.hash ? [['Its hash', <MonoId key="h" id={event.hash} />] as const] : []),
    ...(typeof index === 'number'
      ? [
          [
            'In the log',
            <Link key="l" to="/transparency" search={{ entry: String(index) }}>
              entry {index}
            </Link>,
          ] as const,
        ]
      : []),
  ]
}

function FeedPart({ events, names }: { readonly events: readonly ActivityEvent[]; readonly names: Names }) {
  if (events.length === 0) return null
  return (
    <Section title="In the vault">
      <ul className="grid gap-1">
        {events.map((event) => (
          <li key={event.id} className="flex flex-wrap gap-x-3">
            <code>{event.action}</code>
            <Subjects of={feedRow(event).where} names={names} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Everything that has one request id: the request, what the audit says of it, and what changed in vaults. */
export function TraceDrawer({ requestId, wanted, onClose }: TraceMembers) {
  const strongroom = useStrongroom()
  const requests = useQuery(requestsQuery(strongroom, wanted))
  const audit = useQuery(auditQuery(strongroom, wanted))
  const feed = useQuery(feedQuery(strongroom))
  const request = requests.data?.rows.find((row) => row.requestId === requestId)
  const events = (audit.data?.rows ?? []).filter(({ context }) => context.requestId === requestId)
  const changes = (feed.data?.rows ?? []).filter((row) => row.requestId === requestId)
  const names = useSubjectNames(events.flatMap(({ targets }) => targets))
  const isWaiting = requests.isPending || audit.isPending
  return (
    <Drawer title="Trace" open onClose={onClose}>
      <div className="flex items-center gap-2 px-6 py-3">
        <span className="text-ink-3">Request id</span>
        <MonoId id={requestId} keep={10} />
      </div>
      {isWaiting ? (
        <Skeleton rows={4} />
      ) : (
        <>
          {request ? (
            <RequestPart request={request} subjects={events.flatMap(({ targets }) => targets)} names={names} />
          ) : (
            <Section title="Request">
              <p className="text-ink-2">
                The server shows requests to whoever made them. This one is of somebody else, or older than what was
                read.
              </p>
            </Section>
          )}
          <AuditPart events={events} names={names} />
          <FeedPart events={changes} names={names} />
        </>
      )}
    </Drawer>
  )
}

interface TraceMembers {
  readonly requestId: string
  readonly wanted: Wanted
  onClose(): void
}
