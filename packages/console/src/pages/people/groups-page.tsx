import type { Group, Tenant } from '@strongroom/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { GroupForm } from './group-form.tsx'
import { NewGroupForm } from './new-group-form.tsx'
import { PEOPLE_TABS } from './people-tabs.ts'
import { groupsQuery, tenantsQuery } from './queries.ts'
import { tenantName, tenantRoleWords } from './role-words.ts'
import { TenantForm } from './tenant-form.tsx'

const groupColumns = (
  tenants: readonly Tenant[] | undefined,
  onOpen: (group: Group) => void,
): readonly Column<Group>[] => [
  { id: 'name', header: 'Group', sort: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
  {
    id: 'roles',
    header: 'Roles of its members',
    grows: true,
    cell: ({ tenantRoles }) =>
      tenantRoles.map((one) => tenantRoleWords(one, tenants)).join(', ') || <span className="text-ink-3">none</span>,
  },
  {
    id: 'people',
    header: 'People',
    align: 'right',
    cell: ({ members }) => members.filter(({ type }) => type === 'user').length,
  },
  {
    id: 'agents',
    header: 'Agents',
    align: 'right',
    cell: ({ members }) => members.filter(({ type }) => type === 'agent').length,
  },
  { id: 'tenant', header: 'Tenant', cell: ({ tenantId }) => tenantName(tenantId, tenants) },
  {
    id: 'change',
    header: 'Change',
    cell: (group) => (
      <Button kind="quiet" className="-ml-3" aria-label={`Change ${group.name}`} onClick={() => onOpen(group)}>
        Change
      </Button>
    ),
  },
]

const tenantColumns = (tenants: readonly Tenant[], onOpen: (tenant: Tenant) => void): readonly Column<Tenant>[] => [
  { id: 'name', header: 'Tenant', grows: true, sort: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
  {
    id: 'parent',
    header: 'Below',
    cell: ({ parentId }) =>
      tenants.find(({ tenantId }) => tenantId === parentId)?.name ?? <span className="text-ink-3">nothing</span>,
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ status }) => <Status tone={status === 'active' ? 'good' : 'quiet'}>{status}</Status>,
  },
  { id: 'made', header: 'Made', cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    id: 'change',
    header: 'Change',
    cell: (tenant) =>
      tenant.status === 'active' && (
        <Button kind="quiet" className="-ml-3" aria-label={`Change ${tenant.name}`} onClick={() => onOpen(tenant)}>
          Change
        </Button>
      ),
  },
]

export function GroupsPage() {
  const { client } = useOpenSession()
  const groups = useQuery(groupsQuery(client))
  const tenants = useQuery(tenantsQuery(client))
  const [isNew, setNew] = useState<'group' | 'tenant'>()
  const [group, setGroup] = useState<Group>()
  const [tenant, setTenant] = useState<Tenant>()
  const all = useMemo(() => tenants.data ?? [], [tenants.data])
  const columns = useMemo(() => groupColumns(tenants.data, setGroup), [tenants.data])
  return (
    <Page title="People & groups" tabs={PEOPLE_TABS}>
      <Section title="Groups" actions={<Button onClick={() => setNew('group')}>New group</Button>}>
        <p className="text-ink-2">A group gives its members, people and agents, the same roles in tenants.</p>
      </Section>
      <Answer of={groups} what="groups">
        {(rows) =>
          rows.length === 0 ? (
            <p className="border-b border-rule px-6 py-4 text-ink-2">
              There is no group yet. Roles can be given to people one by one, too.
            </p>
          ) : (
            <Table
              label="Groups"
              rows={rows}
              columns={columns}
              keyOf={({ groupId }) => groupId}
              sortedBy={{ id: 'name' }}
            />
          )
        }
      </Answer>
      <Section title="Tenants" actions={<Button onClick={() => setNew('tenant')}>New tenant</Button>}>
        <p className="text-ink-2">
          A tenant is a part of the organisation with people, agents and budgets of its own. Vaults are shared across
          them.
        </p>
      </Section>
      <Answer of={tenants} what="tenants">
        {(rows) => (
          <Table
            label="Tenants"
            rows={rows}
            columns={tenantColumns(rows, setTenant)}
            keyOf={({ tenantId }) => tenantId}
            sortedBy={{ id: 'name' }}
          />
        )}
      </Answer>
      {isNew === 'group' && <NewGroupForm tenants={all} onClose={() => setNew(undefined)} />}
      {isNew === 'tenant' && <TenantForm tenants={all} onClose={() => setNew(undefined)} />}
      {group && <GroupForm group={group} tenants={all} onClose={() => setGroup(undefined)} />}
      {tenant && <TenantForm tenants={all} tenant={tenant} onClose={() => setTenant(undefined)} />}
    </Page>
  )
}
