import type { WebhookEndpoint } from '@strongroom/sdk'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Sparkline } from '../../plot/sparkline.tsx'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { NewWebhookForm } from './new-webhook-form.tsx'
import { deliveriesQuery, webhooksQuery } from './queries.ts'
import { EndpointStatus, type Health, healthOf } from './webhook-words.tsx'

interface Row extends WebhookEndpoint {
  readonly health: Health | undefined
}

function Success({ health }: { readonly health: Health | undefined }) {
  if (!health || health.settled === 0) return <span className="text-ink-3">nothing sent</span>
  const percent = Math.floor((health.taken / health.settled) * 100)
  const words = `${health.taken} of ${health.settled} taken`
  return (
    <span className="inline-flex items-center gap-2">
      {health.shares.length > 1 && (
        <Sparkline
          name={`${words}, oldest first`}
          values={health.shares}
          max={1}
          mark={{ colour: percent === 100 ? 'chart-1' : 'chart-4', texture: 'solid' }}
        />
      )}
      <span title={words}>{percent} %</span>
    </span>
  )
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'url',
    header: 'Endpoint',
    grows: true,
    sort: ({ url }) => url,
    cell: ({ webhookId, url, description }) => (
      <span>
        <Link to="/webhooks/$webhookId" params={{ webhookId }} className="break-all">
          {url}
        </Link>
        {description !== '' && <span className="text-ink-3"> {description}</span>}
      </span>
    ),
  },
  {
    id: 'events',
    header: 'Events',
    cell: ({ eventTypes }) => (
      <code title={eventTypes.join(', ')}>
        {eventTypes.slice(0, 2).join(', ')}
        {eventTypes.length > 2 && ` and ${eventTypes.length - 2} more`}
      </code>
    ),
  },
  { id: 'state', header: 'State', sort: ({ status }) => status, cell: (row) => <EndpointStatus of={row} /> },
  { id: 'success', header: 'Taken', cell: ({ health }) => <Success health={health} /> },
  {
    id: 'p95',
    header: 'p95',
    align: 'right',
    sort: ({ health }) => health?.p95 ?? -1,
    cell: ({ health }) => (health?.p95 === undefined ? <span className="text-ink-3">–</span> : `${health.p95} ms`),
  },
  { id: 'made', header: 'Made', sort: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <When at={createdAt} /> },
]

/** One request for each: beyond this many it is left to the endpoint's own page. */
const COUNTED = 20

function useRows(endpoints: readonly WebhookEndpoint[] | undefined): readonly Row[] {
  const strongroom = useStrongroom()
  const counted = (endpoints ?? []).slice(0, COUNTED)
  const lists = useQueries({
    queries: counted.map(({ webhookId }) => ({
      ...deliveriesQuery(strongroom, webhookId),
      refetchInterval: false as const,
    })),
  })
  return (endpoints ?? []).map((endpoint, at) => {
    const sent = lists[at]?.data
    return { ...endpoint, health: sent && healthOf(sent) }
  })
}

export function WebhooksPage() {
  const webhooks = useQuery(webhooksQuery(useStrongroom()))
  const rows = useRows(webhooks.data)
  const [isNew, setNew] = useState(false)
  return (
    <Page
      title="Webhooks"
      actions={
        <Button kind="primary" onClick={() => setNew(true)}>
          New endpoint
        </Button>
      }
    >
      <Answer of={webhooks} what="webhooks">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Be told what happens" cli="strongroom webhook listen --forward-to localhost:3000/hooks">
              <p>
                An endpoint is an address of yours that is sent each event, signed as Standard Webhooks say it. It hears
                exactly what you can read.
              </p>
              <p>
                While you write the receiver no address has to be public: the command below forwards events to your
                machine.
              </p>
            </Empty>
          ) : (
            <Table
              label="Endpoints"
              rows={rows}
              columns={COLUMNS}
              keyOf={({ webhookId }) => webhookId}
              sortedBy={{ id: 'url' }}
            />
          )
        }
      </Answer>
      {isNew && <NewWebhookForm onClose={() => setNew(false)} />}
    </Page>
  )
}
