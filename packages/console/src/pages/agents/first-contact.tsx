import { shellLine } from '@strongroom/contract'
import type { AuditEvent } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useStrongroom } from '../../session/session.ts'
import { CopyLine } from '../../ui/copy.tsx'
import { Status } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'
import { contactQuery } from './queries.ts'

const ACTIONS: Readonly<Record<string, string>> = {
  'vault.wrapped-key.read': 'fetched the key of a vault',
  'vault.environment.read': 'read the variables of a vault',
  'vault.sync': 'took along a vault',
  'project.environment.read': 'read the variables of a project',
  'key.request': 'asked for a signature under its key',
  'agent.create': 'made the agent',
  'agent.update': 'changed the agent',
  'agent.archive': 'archived the agent',
  'agent.regenerate-api-key': 'gave it another API key',
  'agent.simulate': 'asked what a call of the agent would be answered',
  'directory.key.add': 'signed for its key',
  'directory.key.revoke': 'ended a key of it',
  'directory.key.rotate': 'went on to a new key',
}

/** What it did, as a sentence. */
export const actionWords = (action: string): string => ACTIONS[action] ?? action

/** The same of a deed that may have been refused, or that has no sentence of its own. */
function deedWords({ action, outcome }: AuditEvent): string {
  if (outcome === 'refused') return `was refused ${action}`
  return ACTIONS[action] ?? `did ${action}`
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

function Contact({ event, last }: { readonly event: AuditEvent; readonly last: AuditEvent }) {
  const { context, occurredAt, outcome } = event
  return (
    <div role="status" className="grid gap-1 border-l-2 border-seal pl-3">
      <Status tone={outcome === 'success' ? 'good' : 'warn'}>
        {outcome === 'success' ? 'First contact' : 'First contact, refused'}
      </Status>
      <p>
        At {clock.format(new Date(occurredAt))} (<When at={occurredAt} />) from <code>{context.ip}</code> it{' '}
        {deedWords(event)}.
      </p>
      {context.userAgent !== '' && <p className="text-label text-ink-3">{context.userAgent}</p>}
      {last.id !== event.id && (
        <p>
          Last seen <When at={last.occurredAt} />: it {deedWords(last)}.
        </p>
      )}
    </div>
  )
}

interface ContactMembers {
  readonly agentId: string
  readonly name: string
}

/** Waits for the first thing an agent does, and then shows it. What it asks for without reading anything is not in the audit log. */
export function FirstContact({ agentId, name }: ContactMembers) {
  const strongroom = useStrongroom()
  const { data = [] } = useQuery({
    ...contactQuery(strongroom, agentId),
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 0 ? false : 3000),
  })
  const [last] = data
  const first = data.at(-1)
  if (first && last) return <Contact event={first} last={last} />
  return (
    <div className="grid gap-3">
      <p role="status" className="flex items-center gap-2">
        <span aria-hidden="true" className="size-2 animate-pulse rounded-round bg-link" />
        Waiting for {name} …
      </p>
      <CopyLine
        label="For example, where its bundle is"
        text={shellLine`STRONGROOM_BUNDLE_FILE=${`${name}.bundle`} strongroom run -- env`}
      />
    </div>
  )
}
