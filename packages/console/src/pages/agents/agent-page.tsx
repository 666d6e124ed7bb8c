import type { Agent, ExposedVault, Exposure } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { formatAmount } from '../../ui/amount.tsx'
import { MonoId } from '../../ui/copy.tsx'
import { decimalOf } from '../../ui/decimal.ts'
import { Facts, Section } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { AgentFrame } from './agent-frame.tsx'
import { counted } from './blast-radius.ts'
import { FirstContact } from './first-contact.tsx'
import { agentBudgetsQuery, agentLicensesQuery, exposureQuery } from './queries.ts'

const fieldsOf = ({ items }: ExposedVault): number =>
  (items ?? []).reduce((sum, { fields }) => sum + fields.filter(({ isExposed }) => isExposed).length, 0)
const isLive = ({ grants }: ExposedVault): boolean => grants.some(({ until }) => until === null)

const COLUMNS: readonly Column<ExposedVault>[] = [
  {
    id: 'vault',
    header: 'Vault',
    grows: true,
    sort: ({ name }) => name ?? '',
    cell: ({ vaultId, name }) =>
      name === null ? (
        <MonoId id={vaultId} />
      ) : (
        <Link to="/vaults/$vaultId" params={{ vaultId }}>
          {name}
        </Link>
      ),
  },
  {
    id: 'items',
    header: 'Items',
    align: 'right',
    cell: ({ items }) => items?.length ?? <span className="text-ink-3">you cannot read it</span>,
  },
  { id: 'fields', header: 'Fields it opens', align: 'right', sort: fieldsOf, cell: fieldsOf },
  { id: 'since', header: 'Has its key since', cell: ({ grants }) => <When at={grants[0]?.from.at} /> },
  {
    id: 'state',
    header: 'State',
    cell: (vault) =>
      isLive(vault) ? <Status tone="good">has access</Status> : <Status tone="quiet">had access</Status>,
  },
]

function Figure({ value, label, note }: { readonly value: ReactNode; readonly label: string; readonly note: string }) {
  return (
    <div className="grid gap-0.5">
      <span className="text-figure">{value}</span>
      <span>{label}</span>
      <span className="text-label text-ink-3">{note}</span>
    </div>
  )
}

function Figures({ agentId, exposure }: { readonly agentId: string; readonly exposure: Exposure }) {
  const strongroom = useStrongroom()
  const licenses = useQuery(agentLicensesQuery(strongroom, agentId))
  const budgets = useQuery(agentBudgetsQuery(strongroom))
  const live = exposure.vaults.filter(isLive)
  const fields = live.reduce((sum, vault) => sum + fieldsOf(vault), 0)
  const window = budgets.data?.find(({ subjectId }) => subjectId === agentId)?.activeWindows[0]
  const active = licenses.data?.filter(({ status }) => status === 'active').length
  return (
    <div className="grid max-w-4xl gap-x-10 gap-y-4 sm:grid-cols-3">
      <Figure
        value={fields}
        label={fields === 1 ? 'field it can decrypt' : 'fields it can decrypt'}
        note={`in ${counted(live.length, 'vault')}`}
      />
      <Figure
        value={active ?? '–'}
        label={active === 1 ? 'licence it bought' : 'licences it bought'}
        note={licenses.error ? 'your roles do not show them' : 'active now'}
      />
      <Figure
        value={window ? <span className="text-money">{formatAmount(decimalOf(window.remaining), 'USD')}</span> : '–'}
        label="left to spend"
        note={
          window ? `of ${formatAmount(decimalOf(window.limit), 'USD')}, ${window.kind}` : 'it has no budget of its own'
        }
      />
    </div>
  )
}

function Radius({ agentId }: { readonly agentId: string }) {
  const exposure = useQuery(exposureQuery(useStrongroom(), agentId))
  const head = exposure.data?.head
  return (
    <>
      <Section
        title="Blast radius"
        actions={
          head && (
            <span className="inline-flex items-center gap-2 text-label text-seal">
              <Seal root={head.rootHash} says={`Computed here from the whole log of ${head.treeSize} entries`} />
              computed here from all {head.treeSize} entries of the log
            </span>
          )
        }
      >
        <Answer of={exposure} what="what it can decrypt">
          {(data) => <Figures agentId={agentId} exposure={data} />}
        </Answer>
      </Section>
      {exposure.data && exposure.data.vaults.length > 0 && (
        <Table
          label="Vaults it has or had the key of"
          rows={exposure.data.vaults}
          columns={COLUMNS}
          keyOf={({ vaultId }) => vaultId}
        />
      )}
    </>
  )
}

const factsOf = (agent: Agent): readonly (readonly [string, ReactNode])[] => [
  ['Description', agent.description || <span className="text-ink-3">none</span>],
  ['Id', <MonoId key="id" id={`agent:${agent.agentId}`} keep={12} />],
  ['Made', <When key="made" at={agent.createdAt} />],
  ['Permissions', counted(agent.permissions.length, 'permission')],
  ['Expires', <When key="expires" at={agent.expiresAt} />],
  ['Networks', agent.networks.join(', ') || <span className="text-ink-3">every one</span>],
  ['Groups', agent.securityGroups.map(({ name }) => name).join(', ') || <span className="text-ink-3">none</span>],
]

export function AgentPage() {
  const { agentId } = useParams({ from: '/agents/$agentId' })
  return (
    <AgentFrame agentId={agentId}>
      {(agent) => (
        <>
          <Radius agentId={agentId} />
          {agent.status === 'active' && (
            <Section title="Contact">
              <FirstContact agentId={agentId} name={agent.name} />
            </Section>
          )}
          <Section title="About it">
            <Facts of={factsOf(agent)} />
          </Section>
        </>
      )}
    </AgentFrame>
  )
}
