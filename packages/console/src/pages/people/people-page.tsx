import type { Tenant, User } from '@strongroom/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { FilterField } from '../../ui/filter.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, NotKnown } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { CapsForm } from './caps-form.tsx'
import { InvitePersonForm } from './invite-person-form.tsx'
import { PEOPLE_TABS } from './people-tabs.ts'
import { type Invite, invitesQuery, isOpen, tenantsQuery, usersQuery } from './queries.ts'
import { RemovePersonForm } from './remove-person-form.tsx'
import { ORG_ROLE_WORDS, tenantRoleWords } from './role-words.ts'
import { RolesForm } from './roles-form.tsx'

interface Row extends User {
  readonly invite: Invite | undefined
}

const rolesOf = ({ orgRoles, tenantRoles }: User, tenants: readonly Tenant[] | undefined): string =>
  [
    ...orgRoles.map((role) => ORG_ROLE_WORDS[role].name),
    ...tenantRoles.map((one) => tenantRoleWords(one, tenants)),
  ].join(', ')

function StateOf({ row: { status, invite } }: { readonly row: Row }) {
  if (status === 'active') return <Status tone="good">active</Status>
  if (status === 'removed') return <Status tone="quiet">removed</Status>
  return invite?.status === 'accepted' ? (
    <Status tone="warn">waits for a signature</Status>
  ) : (
    <Status tone="quiet">invited</Status>
  )
}

interface Acts {
  onRoles(user: User): void
  onCaps(user: User): void
  onRemove(user: User): void
}

const columnsFor = (
  tenants: readonly Tenant[] | undefined,
  { onRoles, onCaps, onRemove }: Acts,
): readonly Column<Row>[] => [
  { id: 'name', header: 'Name', sort: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
  { id: 'email', header: 'Email', sort: ({ email }) => email, cell: ({ email }) => email },
  { id: 'state', header: 'State', sort: ({ status }) => status, cell: (row) => <StateOf row={row} /> },
  {
    id: 'roles',
    header: 'Roles',
    grows: true,
    cell: (user) => rolesOf(user, tenants) || <span className="text-ink-3">none</span>,
  },
  {
    id: 'tenant',
    header: 'Tenant',
    cell: ({ tenantId }) => tenants?.find((one) => one.tenantId === tenantId)?.name ?? <NotKnown />,
  },
  {
    id: 'since',
    header: 'Since',
    sort: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <When at={createdAt} />,
  },
  {
    id: 'change',
    header: 'Change',
    cell: (user) =>
      user.status === 'active' ? (
        <Menu
          trigger={
            <button type="button" aria-label={`Change ${user.name}`} className={`${buttonClasses('quiet')} -ml-3`}>
              Change
            </button>
          }
          choices={[
            { label: 'Roles', onChoose: () => onRoles(user) },
            { label: 'What they may sign', onChoose: () => onCaps(user) },
            { label: 'Remove', onChoose: () => onRemove(user), isDanger: true },
          ]}
        />
      ) : user.status === 'invited' ? (
        <Link to="/people/invites">See invite</Link>
      ) : null,
  },
]

export function PeoplePage() {
  const { client } = useOpenSession()
  const users = useQuery(usersQuery(client))
  const { data: invites } = useQuery(invitesQuery(client))
  const { data: tenants } = useQuery(tenantsQuery(client))
  const { filter = '' } = useSearch({ from: '/people' })
  const navigate = useNavigate()
  const [isInviting, setInviting] = useState(false)
  const [roles, setRoles] = useState<User>()
  const [caps, setCaps] = useState<User>()
  const [removed, setRemoved] = useState<User>()
  const columns = useMemo(
    () => columnsFor(tenants, { onRoles: setRoles, onCaps: setCaps, onRemove: setRemoved }),
    [tenants],
  )
  const rowsOf = (all: readonly User[]): readonly Row[] =>
    all
      .filter(({ name, email }) => `${name} ${email}`.toLowerCase().includes(filter.toLowerCase()))
      .map((user) => ({ ...user, invite: invites?.find((one) => one.userId === user.userId && isOpen(one)) }))
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
      <Answer of={users} what="the people of the organisation">
        {(all) => (
          <>
            <FilterField
              label="Filter people"
              value={filter}
              onChange={(text) =>
                void navigate({ to: '/people', search: text === '' ? {} : { filter: text }, replace: true })
              }
            />
            <Table
              label="People"
              rows={rowsOf(all)}
              columns={columns}
              keyOf={({ userId }) => userId}
              sortedBy={{ id: 'name' }}
            />
          </>
        )}
      </Answer>
      {isInviting && <InvitePersonForm onClose={() => setInviting(false)} />}
      {roles && <RolesForm user={roles} onClose={() => setRoles(undefined)} />}
      {caps && <CapsForm user={caps} onClose={() => setCaps(undefined)} />}
      {removed && <RemovePersonForm user={removed} onClose={() => setRemoved(undefined)} />}
    </Page>
  )
}
