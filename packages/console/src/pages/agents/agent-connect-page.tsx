import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useOpenSession } from '../../session/session.ts'
import { Facts, Section } from '../../ui/page.tsx'
import { itemsQuery } from '../vaults/queries.ts'
import { AgentFrame } from './agent-frame.tsx'
import { ConnectSnippets } from './connect-snippets.tsx'
import { FirstContact } from './first-contact.tsx'
import { heldVaultsQuery } from './queries.ts'

function Snippets({ agentId, name }: { readonly agentId: string; readonly name: string }) {
  const { strongroom, client } = useOpenSession()
  const { data: held } = useQuery(heldVaultsQuery(strongroom, client))
  const [vault] = held?.get(`agent:${agentId}`) ?? []
  const { data: items } = useQuery({
    ...itemsQuery(strongroom, vault?.vaultId ?? ''),
    enabled: vault !== undefined,
  })
  const item = items?.find(({ labels }) => labels.length > 0)
  return (
    <ConnectSnippets
      place={{
        name,
        vault: vault?.name ?? 'VAULT',
        item: item?.name ?? 'ITEM',
        variable: item?.labels[0] ?? 'NAME',
      }}
    />
  )
}

export function AgentConnectPage() {
  const { agentId } = useParams({ from: '/agents/$agentId/connect' })
  return (
    <AgentFrame agentId={agentId}>
      {({ name }) => (
        <>
          <Section title="Where it runs">
            <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-3">
              <p className="text-ink-2">
                It needs its bundle, in <code>STRONGROOM_BUNDLE</code> or in a file that{' '}
                <code>STRONGROOM_BUNDLE_FILE</code> names. Whoever has the bundle is the agent; it is in none of these.
              </p>
              <Snippets agentId={agentId} name={name} />
            </div>
          </Section>
          <Section title="Contact">
            <FirstContact agentId={agentId} name={name} />
          </Section>
          <Section title="If you cannot use the bundle">
            <Facts
              of={[
                ['Server', <code key="server">{location.origin}</code>],
                ['API', <code key="api">{location.origin}/api/v1/machine</code>],
                ['Agent', <code key="agent">{agentId}</code>],
              ]}
            />
          </Section>
        </>
      )}
    </AgentFrame>
  )
}
