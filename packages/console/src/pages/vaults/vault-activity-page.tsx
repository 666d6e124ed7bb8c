import type { ActivityEvent, Strongroom } from '@strongroom/sdk'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { MonoId } from '../../ui/copy.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { useNames } from './principals.ts'
import { itemsQuery } from './queries.ts'
import { VaultFrame } from './vault-frame.tsx'

const ACTIONS: Readonly<Record<string, string>> = {
  'vault.create': 'created the vault',
  'vault.update': 'renamed or classified it',
  'vault.archive': 'archived it',
  'vault.restore': 'restored it',
  'vault.commit': 'changed it',
  'vault.grant': 'wrapped its key for somebody',
  'vault.set-permissions': 'changed who has access',
  'vault.rotate-key': 'gave it a new key',
  'vault.admins': 'changed its admins',
  'vault.move': 'moved items',
  'item.create': 'added an item',
  'item.update': 'changed an item',
  'item.import': 'imported items',
  'item.move': 'moved an item',
  'item.archive': 'archived an item',
  'item.attach': 'attached a file',
  'item.set-permissions': 'changed who is shown an item',
}

const MOST = 5000

/** Goes on behind the last event that is known: the feed is told oldest first. */
const activityQuery = (strongroom: Strongroom, vaultId: string, known: () => readonly ActivityEvent[] | undefined) =>
  queryOptions({
    queryKey: ['vault activity', vaultId],
    refetchInterval: 5000,
    queryFn: async ({ signal }): Promise<readonly ActivityEvent[]> => {
      const before = known() ?? []
      const after = before.at(-1)?.seq ?? 0
      const more = await strongroom.monitoring.activity({ vault: vaultId, after }, { signal }).all({ max: MOST })
      return more.length === 0 ? before : [...before, ...more]
    },
  })

export function VaultActivityPage() {
  const { vaultId } = useParams({ from: '/vaults/$vaultId/activity' })
  const strongroom = useStrongroom()
  const queries = useQueryClient()
  const nameOf = useNames()
  const events = useQuery(
    activityQuery(strongroom, vaultId, () =>
      queries.getQueryData<readonly ActivityEvent[]>(['vault activity', vaultId]),
    ),
  )
  const { data: items } = useQuery(itemsQuery(strongroom, vaultId))
  const columns = useMemo((): readonly Column<ActivityEvent>[] => {
    const names = new Map((items ?? []).map(({ itemId, name }) => [itemId, name]))
    return [
      {
        id: 'when',
        header: 'When',
        sort: ({ seq }) => seq,
        cell: ({ occurredAt }) => <When at={occurredAt} />,
      },
      { id: 'who', header: 'Who', sort: ({ actor }) => nameOf(actor), cell: ({ actor }) => nameOf(actor) },
      { id: 'what', header: 'What', sort: ({ action }) => action, cell: ({ action }) => ACTIONS[action] ?? action },
      {
        id: 'subject',
        header: 'Of',
        grows: true,
        cell: ({ subject }) => {
          const name = names.get(subject)
          if (name !== undefined)
            return (
              <Link to="/vaults/$vaultId" params={{ vaultId }} search={{ item: subject }}>
                {name}
              </Link>
            )
          return subject === '' || subject === vaultId ? (
            ''
          ) : (
            <MonoId id={subject} className="justify-self-start text-ink-3" />
          )
        },
      },
      {
        id: 'request',
        header: 'Request',
        cell: ({ requestId }) => <MonoId id={requestId} keep={4} className="justify-self-start text-ink-3" />,
      },
    ]
  }, [items, nameOf, vaultId])
  return (
    <VaultFrame vaultId={vaultId}>
      <p className="border-b border-rule px-6 py-2 text-ink-2">
        Changes, as the server tells them, kept up to date. Who read what is in the audit trail under{' '}
        <Link to="/activity" className="underline">
          Activity
        </Link>
        ; what was changed is proven under{' '}
        <Link to="/transparency" className="underline">
          Transparency
        </Link>
        .
      </p>
      <Answer of={events} what="the activity of this vault">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing happened yet">
              <p>The next change appears here.</p>
            </Empty>
          ) : (
            <Table
              label="Activity"
              rows={all}
              columns={columns}
              keyOf={({ id }) => id}
              sortedBy={{ id: 'when', desc: true }}
            />
          )
        }
      </Answer>
    </VaultFrame>
  )
}
