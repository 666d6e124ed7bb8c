import type { Agent, Exposure } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useOpenSession, useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Section } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { tenantsQuery } from '../people/queries.ts'
import { tenantRoleWords } from '../people/role-words.ts'
import { RevokeAccessForm } from '../vaults/revoke-access-form.tsx'
import { AgentFrame } from './agent-frame.tsx'
import { GiveVaultForm } from './give-vault-form.tsx'
import { permissionWords } from './permission-words.ts'
import { PermissionsForm } from './permissions-form.tsx'
import { isMaster } from './plan.ts'
import { exposureQuery, type HeldVault, heldVaultsQuery } from './queries.ts'

interface Row {
  readonly vaultId: string
  readonly name: string
  /** On the access list, as the server says. */
  readonly role: string | undefined
  /** Since when it holds the key in use, by the log. */
  readonly keySince: Date | undefined
}

/** The access list joined to the log: a role without a key opens nothing, and a key without a role is to be looked at. */
function rowsOf(held: readonly HeldVault[], exposure: Exposure | undefined): readonly Row[] {
  const rows = new Map<string, Row>(held.map((vault) => [vault.vaultId, { ...vault, keySince: undefined }]))
  for (const { vaultId, name, grants } of exposure?.vaults ?? []) {
    const live = grants.find(({ until }) => until === null)
    if (!live) continue
    const known = rows.get(vaultId)
    rows.set(vaultId, { vaultId, name: known?.name ?? name ?? vaultId, role: known?.role, keySince: live.from.at })
  }
  return [...rows.values()]
}

function StateOf({ row: { role, keySince } }: { readonly row: Row }) {
  if (role !== undefined && keySince) return <Status tone="good">role and key</Status>
  return role === undefined ? (
    <Status tone="warn">has key, no role</Status>
  ) : (
    <Status tone="warn">has role, no key</Status>
  )
}

const columnsFor = (onTake: ((row: Row) => void) | undefined): readonly Column<Row>[] => [
  {
    id: 'vault',
    header: 'Vault',
    grows: true,
    sort: ({ name }) => name,
    cell: ({ vaultId, name }) => (
      <Link to="/vaults/$vaultId" params={{ vaultId }}>
        {name}
      </Link>
    ),
  },
  { id: 'role', header: 'Role', cell: ({ role }) => role ?? <span className="text-ink-3">none</span> },
  { id: 'key', header: 'Has its key since', cell: ({ keySince }) => <When at={keySince} /> },
  { id: 'state', header: 'State', cell: (row) => <StateOf row={row} /> },
  ...(onTake
    ? [
        {
          id: 'take',
          header: 'Change',
          cell: (row: Row) => (
            <Button kind="quiet" className="-ml-3" aria-label={`Take back ${row.name}`} onClick={() => onTake(row)}>
              Take back
            </Button>
          ),
        },
      ]
    : []),
]

function Vaults({ agent }: { readonly agent: Agent }) {
  const { strongroom, client } = useOpenSession()
  const held = useQuery(heldVaultsQuery(strongroom, client))
  const exposure = useQuery(exposureQuery(strongroom, agent.agentId))
  const [isGiving, setGiving] = useState(false)
  const [taken, setTaken] = useState<Row>()
  const isActive = agent.status === 'active'
  const head = exposure.data?.head
  return (
    <>
      <Section
        title="Vaults"
        actions={
          <span className="flex items-center gap-3">
            {head && (
              <Seal root={head.rootHash} says={`Keys read here from the whole log of ${head.treeSize} entries`} />
            )}
            {isActive && <Button onClick={() => setGiving(true)}>Give a vault</Button>}
          </span>
        }
      >
        <p className="text-ink-2">
          The role is what it may ask for; the key is what opens the values. It needs both. Keys are read from the log.
        </p>
      </Section>
      <Answer of={held} what="its vaults">
        {(all) => {
          const rows = rowsOf(all.get(`agent:${agent.agentId}`) ?? [], exposure.data)
          return rows.length === 0 ? (
            <p className="border-b border-rule px-6 py-4 text-ink-2">It has no vault, so it opens nothing.</p>
          ) : (
            <Table
              label="Vaults of the agent"
              rows={rows}
              columns={columnsFor(isActive ? setTaken : undefined)}
              keyOf={({ vaultId }) => vaultId}
            />
          )
        }}
      </Answer>
      {isGiving && <GiveVaultForm agent={agent} onClose={() => setGiving(false)} />}
      {taken && (
        <RevokeAccessForm
          target={{ vault: taken.vaultId, name: taken.name, kind: 'vault' }}
          entry={{ principal: `agent:${agent.agentId}`, name: agent.name }}
          onClose={() => setTaken(undefined)}
        />
      )}
    </>
  )
}

function PermissionList({ agent }: { readonly agent: Agent }) {
  const [isChanging, setChanging] = useState(false)
  return (
    <Section
      title="Permissions"
      actions={agent.status === 'active' && <Button onClick={() => setChanging(true)}>Change</Button>}
    >
      {isMaster(agent.permissions) && (
        <p className="mb-3 border-l-2 border-warn pl-3 text-warn">
          A master agent: it can make agents and give them access.
        </p>
      )}
      <ul className="grid gap-x-10 gap-y-1.5 md:grid-cols-2">
        {agent.permissions.map((permission) => (
          <li key={permission}>
            {permissionWords(permission)}
            <code className="block text-ink-3">{permission}</code>
          </li>
        ))}
      </ul>
      {isChanging && <PermissionsForm agent={agent} onClose={() => setChanging(false)} />}
    </Section>
  )
}

function Roles({ agentId }: { readonly agentId: string }) {
  const strongroom = useStrongroom()
  const roles = useQuery({
    queryKey: ['agent', agentId, 'roles'],
    queryFn: ({ signal }) => strongroom.agents.roles(agentId, { signal }),
  })
  const { data: tenants } = useQuery(tenantsQuery(useOpenSession().client))
  return (
    <Section title="Roles in tenants">
      <Answer of={roles} what="its roles">
        {({ direct, inherited }) =>
          direct.length + inherited.length === 0 ? (
            <p className="text-ink-2">None. Groups and tenants give agents roles; see People &amp; groups.</p>
          ) : (
            <ul className="grid gap-1">
              {direct.map((one) => (
                <li key={`${one.tenantId} ${one.role}`}>{tenantRoleWords(one, tenants)}</li>
              ))}
              {inherited.map((one) => (
                <li key={`group ${one.tenantId} ${one.role}`}>{tenantRoleWords(one, tenants)}, through a group</li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Section>
  )
}

export function AgentAccessPage() {
  const { agentId } = useParams({ from: '/agents/$agentId/access' })
  return (
    <AgentFrame agentId={agentId}>
      {(agent) => (
        <>
          <Vaults agent={agent} />
          <PermissionList agent={agent} />
          <Roles agentId={agentId} />
        </>
      )}
    </AgentFrame>
  )
}
