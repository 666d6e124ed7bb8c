import type { Agent, ExposedKey } from '@strongroom/sdk'
import { keyWords } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useOpenSession, useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { MonoId } from '../../ui/copy.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { AgentFrame } from './agent-frame.tsx'
import { EndKeyForm } from './end-key-form.tsx'
import { PendingKeys } from './pending-keys.tsx'
import { fingerprintOf } from './public-key.ts'
import { exposureQuery } from './queries.ts'
import { RotateApiKeyForm } from './rotate-api-key-form.tsx'
import { RotateRuntimeKeyForm } from './rotate-runtime-key-form.tsx'

const TONES: Record<ExposedKey['status'], Tone> = {
  active: 'good',
  superseded: 'quiet',
  removed: 'quiet',
  compromised: 'bad',
}

const columnsFor = (onEnd: (key: ExposedKey) => void): readonly Column<ExposedKey>[] => [
  { id: 'words', header: 'Words', grows: true, cell: ({ keyId }) => <strong>{keyWords(keyId)}</strong> },
  { id: 'print', header: 'Fingerprint', cell: ({ keyId }) => <MonoId id={fingerprintOf(keyId)} keep={8} /> },
  { id: 'state', header: 'State', cell: ({ status }) => <Status tone={TONES[status]}>{status}</Status> },
  { id: 'since', header: 'Since', cell: ({ added }) => <When at={added.at} /> },
  {
    id: 'until',
    header: 'Ended',
    cell: ({ ended }) => (ended ? <When at={ended.at} /> : <span className="text-ink-3">–</span>),
  },
  {
    id: 'end',
    header: 'Change',
    cell: (key) =>
      key.status === 'active' && (
        <Button kind="quiet" className="-ml-3" aria-label={`End ${keyWords(key.keyId)}`} onClick={() => onEnd(key)}>
          End
        </Button>
      ),
  },
]

function RuntimeKeys({ agent }: { readonly agent: Agent }) {
  const exposure = useQuery(exposureQuery(useStrongroom(), agent.agentId))
  const [form, setForm] = useState<'rotate'>()
  const [ending, setEnding] = useState<ExposedKey>()
  const head = exposure.data?.head
  const hasActive = exposure.data?.keys.some(({ status }) => status === 'active') ?? false
  return (
    <>
      <Section
        title="Private key"
        actions={
          <span className="flex items-center gap-3">
            {head && <Seal root={head.rootHash} says={`Read here from the whole log of ${head.treeSize} entries`} />}
            {hasActive && agent.status === 'active' && <Button onClick={() => setForm('rotate')}>Rotate</Button>}
          </span>
        }
      >
        <p className="text-ink-2">
          It opens values and signs. The server never has it; all keys this agent ever had are in the log.
        </p>
      </Section>
      <Answer of={exposure} what="its keys">
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty title="No key in the log yet" cli="strongroom agent pending">
              <p>The machine it runs on asks for a signature under its key; you then compare and sign.</p>
            </Empty>
          ) : (
            <Table label="Keys" rows={keys} columns={columnsFor(setEnding)} keyOf={({ keyId }) => keyId} />
          )
        }
      </Answer>
      {form === 'rotate' && <RotateRuntimeKeyForm agent={agent} onClose={() => setForm(undefined)} />}
      {ending && <EndKeyForm agent={agent} keyId={ending.keyId} onClose={() => setEnding(undefined)} />}
    </>
  )
}

function ApiKey({ agent }: { readonly agent: Agent }) {
  const { client } = useOpenSession()
  const [isOpen, setOpen] = useState(false)
  const answer = useQuery({
    queryKey: ['agent', agent.agentId, 'api-key'],
    queryFn: async ({ signal }) => (await client.agents.get({ params: { id: agent.agentId } }, { signal })).agent,
  })
  return (
    <Section
      title="API key"
      actions={agent.status === 'active' && <Button onClick={() => setOpen(true)}>Rotate API key</Button>}
    >
      <p className="mb-3 text-ink-2">
        It says who asks, and decrypts nothing. The server knows a hash of its secret half.
      </p>
      <Answer of={answer} what="its API key">
        {({ accessKey }) => <Facts of={[['Public half', <MonoId key="id" id={accessKey ?? 'none'} keep={12} />]]} />}
      </Answer>
      {isOpen && <RotateApiKeyForm agent={agent} onClose={() => setOpen(false)} />}
    </Section>
  )
}

export function AgentKeysPage() {
  const { agentId } = useParams({ from: '/agents/$agentId/keys' })
  return (
    <AgentFrame agentId={agentId}>
      {(agent) => (
        <>
          <PendingKeys of={agentId} />
          <RuntimeKeys agent={agent} />
          <ApiKey agent={agent} />
        </>
      )}
    </AgentFrame>
  )
}
