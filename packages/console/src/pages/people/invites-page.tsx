import { keyWords } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty, ProblemNote } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { useNames } from '../vaults/principals.ts'
import { EndorsePersonForm } from './endorse-person-form.tsx'
import { InvitePersonForm } from './invite-person-form.tsx'
import { PEOPLE_TABS } from './people-tabs.ts'
import { acceptedKey, type Invite, invitesQuery, isOpen, useRevokeInvite } from './queries.ts'

function StateOf({ invite: { status } }: { readonly invite: Invite }) {
  switch (status) {
    case 'open':
      return <Status tone="quiet">not accepted yet</Status>
    case 'accepted':
      return <Status tone="warn">waits for a signature</Status>
    case 'endorsed':
      return <Status tone="good">signed</Status>
    case 'revoked':
      return <Status tone="quiet">taken back</Status>
    case 'expired':
      return <Status tone="quiet">expired</Status>
  }
}

interface Acts {
  readonly me: string
  nameOf(principal: string): string
  onEndorse(invite: Invite): void
  onRevoke(invite: Invite): void
}

function Change({ invite, acts }: { readonly invite: Invite; readonly acts: Acts }) {
  if (!isOpen(invite)) return null
  const isMine = invite.createdBy === acts.me
  return (
    <span className="inline-flex items-center gap-1 max-sm:flex-wrap">
      {invite.status === 'accepted' &&
        (isMine ? (
          <Button aria-label={`Compare and sign for ${invite.email}`} onClick={() => acts.onEndorse(invite)}>
            Compare and sign
          </Button>
        ) : (
          <span className="text-ink-2">{acts.nameOf(invite.createdBy)} signs</span>
        ))}
      <Button
        kind="quiet"
        className="first:-ml-3"
        aria-label={`Take back the invite of ${invite.email}`}
        onClick={() => acts.onRevoke(invite)}
      >
        Take back
      </Button>
    </span>
  )
}

const columnsFor = (acts: Acts): readonly Column<Invite>[] => [
  { id: 'email', header: 'Email', sort: ({ email }) => email, cell: ({ email }) => <strong>{email}</strong> },
  { id: 'name', header: 'Name', grows: true, cell: ({ name }) => name },
  { id: 'state', header: 'State', sort: ({ status }) => status, cell: (invite) => <StateOf invite={invite} /> },
  {
    id: 'key',
    header: 'Their key',
    cell: (invite) => {
      const kid = acceptedKey(invite)
      return kid === undefined ? <span className="text-ink-3">–</span> : keyWords(kid)
    },
  },
  { id: 'by', header: 'Invited by', cell: ({ createdBy }) => acts.nameOf(createdBy) },
  {
    id: 'at',
    header: 'Invited',
    sort: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <When at={createdAt} />,
  },
  { id: 'until', header: 'Good until', cell: ({ expiresAt }) => <When at={expiresAt} /> },
  { id: 'change', header: 'Change', cell: (invite) => <Change invite={invite} acts={acts} /> },
]

export function InvitesPage() {
  const { client, person } = useOpenSession()
  const invites = useQuery(invitesQuery(client))
  const nameOf = useNames()
  const [isInviting, setInviting] = useState(false)
  const [endorsed, setEndorsed] = useState<Invite>()
  const { mutate: revoke, error } = useRevokeInvite()
  const columns = useMemo(
    () => columnsFor({ me: `user:${person.userId}`, nameOf, onEndorse: setEndorsed, onRevoke: revoke }),
    [person.userId, nameOf, revoke],
  )
  return (
    <Page
      title="People & groups"
      tabs={PEOPLE_TABS}
      actions={
        <Button kind="primary" onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      {error && (
        <div className="max-w-2xl px-6 py-3">
          <ProblemNote error={error} />
        </div>
      )}
      <Answer of={invites} what="invites">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nobody is invited" cli="strongroom user invite bob@example.com">
              <p>An invite is a link that this server never sees. You give it to the person yourself.</p>
            </Empty>
          ) : (
            <Table
              label="Invites"
              rows={all}
              columns={columns}
              keyOf={({ inviteId }) => inviteId}
              sortedBy={{ id: 'at', desc: true }}
            />
          )
        }
      </Answer>
      {isInviting && <InvitePersonForm onClose={() => setInviting(false)} />}
      {endorsed && <EndorsePersonForm invite={endorsed} onClose={() => setEndorsed(undefined)} />}
    </Page>
  )
}
