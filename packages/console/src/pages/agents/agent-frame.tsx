import type { Agent } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { When } from '../../ui/when.tsx'
import { ArchiveAgentForm } from './archive-agent-form.tsx'
import { EditAgentForm } from './edit-agent-form.tsx'
import { isExpired } from './limits.ts'
import { agentQuery } from './queries.ts'
import { SimulateCallForm } from './simulate-call-form.tsx'
import { isUnsaved } from './unsaved-keys.ts'

const tabsOf = (agentId: string): readonly { readonly label: string; readonly link: LinkProps }[] => {
  const params = { agentId }
  return [
    { label: 'Overview', link: { to: '/agents/$agentId', params } },
    { label: 'Access', link: { to: '/agents/$agentId/access', params } },
    { label: 'Keys', link: { to: '/agents/$agentId/keys', params } },
    { label: 'Budget', link: { to: '/agents/$agentId/budget', params } },
    { label: 'Activity', link: { to: '/agents/$agentId/activity', params } },
    { label: 'Connect', link: { to: '/agents/$agentId/connect', params } },
  ]
}

interface FrameMembers {
  readonly agentId: string
  readonly children: (agent: Agent) => ReactNode
}

/** What the pages of one agent have in common. */
export function AgentFrame({ agentId, children }: FrameMembers) {
  const agent = useQuery(agentQuery(useStrongroom(), agentId))
  const [form, setForm] = useState<'edit' | 'archive' | 'simulate'>()
  const { data } = agent
  const isActive = data?.status === 'active'
  const hasExpired = isActive && isExpired(data)
  return (
    <Page
      title={data?.name ?? 'Agent'}
      beside={
        data && (
          <Status tone={hasExpired ? 'warn' : isActive ? 'good' : 'quiet'}>
            {hasExpired ? 'expired' : data.status}
          </Status>
        )
      }
      actions={
        isActive && (
          <>
            <Button onClick={() => setForm('simulate')}>Simulate a call</Button>
            <Button onClick={() => setForm('edit')}>Edit</Button>
            <Button onClick={() => setForm('archive')}>Archive</Button>
          </>
        )
      }
      tabs={tabsOf(agentId)}
    >
      {hasExpired && (
        <p role="status" className="border-b border-rule px-6 py-3 text-warn">
          It expired <When at={data.expiresAt} />: its keys are refused. Edit it to give it more time, or archive it.
        </p>
      )}
      {isActive && isUnsaved(agentId) && (
        <p role="status" className="border-b border-rule px-6 py-3 text-warn">
          Key not confirmed: it was made in this browser and not stored. If you have it nowhere, archive the agent.
        </p>
      )}
      <Answer of={agent} what="this agent">
        {children}
      </Answer>
      {data && form === 'edit' && <EditAgentForm agent={data} onClose={() => setForm(undefined)} />}
      {data && form === 'simulate' && (
        <SimulateCallForm agent={data} onClose={() => setForm(undefined)} onEdit={() => setForm('edit')} />
      )}
      {data && form === 'archive' && <ArchiveAgentForm agent={data} onClose={() => setForm(undefined)} />}
    </Page>
  )
}
