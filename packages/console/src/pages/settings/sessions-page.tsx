import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { installationId } from '../../session/device.ts'
import { signOut, useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { When } from '../../ui/when.tsx'
import { type PersonSession, sessionsQuery } from './queries.ts'
import { SETTINGS_TABS } from './settings-tabs.ts'

/** The part of a user agent that a person recognises. */
export function agentWords(userAgent: string): string {
  const browser = /(Firefox|Edg|Chrome|Version)\/([\d.]+)/.exec(userAgent)
  if (/^Mozilla\//.test(userAgent) && browser) {
    const [, product, version = ''] = browser
    const name = product === 'Version' ? 'Safari' : product === 'Edg' ? 'Edge' : product
    const system = /\(([^;)]+)/.exec(userAgent)?.[1]
    return `${name} ${version.split('.')[0]}${system === undefined ? '' : `, ${system}`}`
  }
  return userAgent || 'unknown'
}

function Device({ session }: { readonly session: PersonSession }) {
  if (session.current) return <Status tone="good">this page</Status>
  const isHere = session.deviceInstallationId === installationId()
  return isHere ? <Status tone="quiet">this browser</Status> : <Status tone="quiet">elsewhere</Status>
}

const columnsFor = (onEnd: (session: PersonSession) => void): readonly Column<PersonSession>[] => [
  { id: 'device', header: 'Where', cell: (session) => <Device session={session} /> },
  {
    id: 'agent',
    header: 'With',
    grows: true,
    cell: ({ userAgent }) => <span title={userAgent}>{agentWords(userAgent)}</span>,
  },
  {
    id: 'began',
    header: 'Began',
    sort: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <When at={createdAt} />,
  },
  {
    id: 'used',
    header: 'Last used',
    sort: ({ lastUsedAt }) => lastUsedAt,
    cell: ({ lastUsedAt }) => <When at={lastUsedAt} />,
  },
  { id: 'ends', header: 'Ends by itself', cell: ({ expiresAt }) => <When at={expiresAt} /> },
  {
    id: 'end',
    header: 'Change',
    cell: (session) => (
      <Button
        kind="quiet"
        className="-ml-3"
        aria-label={session.current ? 'Sign out here' : `End the session with ${agentWords(session.userAgent)}`}
        onClick={() => onEnd(session)}
      >
        {session.current ? 'Sign out' : 'End'}
      </Button>
    ),
  },
]

export function SessionsPage() {
  const { client } = useOpenSession()
  const queries = useQueryClient()
  const sessions = useQuery(sessionsQuery(client))
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (ended: readonly PersonSession[]) => {
      for (const { sessionId } of ended) await client.sessions.end({ params: { id: sessionId } })
      return ended.length
    },
    onSuccess: async (count) => {
      toast(count === 1 ? 'The session has ended' : `${count} sessions have ended`)
      await queries.invalidateQueries(sessionsQuery(client))
    },
  })
  const columns = useMemo(
    () => columnsFor((session) => (session.current ? void signOut() : mutate([session]))),
    [mutate],
  )
  const others = sessions.data?.filter(({ current }) => !current) ?? []
  return (
    <Page
      title="Settings"
      tabs={SETTINGS_TABS}
      actions={
        others.length > 0 && (
          <Button busy={isPending} onClick={() => mutate(others)}>
            End all others
          </Button>
        )
      }
    >
      {error && (
        <div className="max-w-2xl px-6 py-3">
          <ProblemNote error={error} />
        </div>
      )}
      <Answer of={sessions} what="your sessions">
        {(all) => (
          <Table
            label="Your sessions"
            rows={all}
            columns={columns}
            keyOf={({ sessionId }) => sessionId}
            sortedBy={{ id: 'used', desc: true }}
          />
        )}
      </Answer>
      <Section title="On the command line">
        <div className="max-w-xl">
          <CopyLine label="Ends the session of a machine, there" text="strongroom logout" />
        </div>
      </Section>
    </Page>
  )
}
