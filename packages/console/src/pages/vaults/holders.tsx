import { principalOf } from '@strongroom/protocol'
import type { KeyHolder } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemNote } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { KeyName } from './key-name.tsx'
import { useNames } from './principals.ts'
import { type Reads, readsQuery } from './reads.ts'
import { type Wrap, wrapsOf } from './wraps.ts'

const COLUMNS: readonly Column<KeyHolder>[] = [
  { id: 'name', header: 'Holder', sort: ({ name }) => name, cell: ({ name, principal }) => name || principal },
  { id: 'kind', header: 'Kind', cell: ({ kind }) => (kind === 'user' ? 'person' : 'agent') },
  { id: 'role', header: 'Role', sort: ({ role }) => role, cell: ({ role }) => role.toLowerCase() },
  {
    id: 'keys',
    header: 'Keys',
    grows: true,
    cell: ({ keyIds }) =>
      keyIds.length === 0 ? (
        <Status tone="warn">no key yet</Status>
      ) : (
        <span className="grid">
          {keyIds.map((id) => (
            <KeyName key={id} id={id} />
          ))}
        </span>
      ),
  },
]

const readColumn = ({ byReader }: Reads): Column<KeyHolder> => ({
  id: 'read',
  header: 'Last read',
  sort: ({ principal }) => byReader.get(principal) ?? '',
  cell: ({ principal }) => {
    const at = byReader.get(principal)
    return at === undefined ? <span className="text-ink-3">none you can see</span> : <When at={at} />
  },
})

function wrapColumns(wraps: ReadonlyMap<string, Wrap>, nameOf: (id: string) => string): readonly Column<KeyHolder>[] {
  const of = ({ keyIds }: KeyHolder): readonly Wrap[] => keyIds.flatMap((id) => wraps.get(id) ?? [])
  return [
    {
      id: 'by',
      header: 'Wrapped by',
      cell: (holder) => {
        const makers = new Set(of(holder).flatMap(({ by }) => (by === undefined ? [] : [nameOf(principalOf(by))])))
        return makers.size === 0 ? <span className="text-ink-3">not shown to you</span> : [...makers].join(', ')
      },
    },
    {
      id: 'since',
      header: 'Since',
      cell: (holder) => {
        const times = of(holder).flatMap(({ since }) => (since ? [since.getTime()] : []))
        return <When at={times.length === 0 ? undefined : new Date(Math.min(...times))} />
      },
    },
  ]
}

/** Who can open the vault: from the signed list; how they came to it from the log, what they read from the audit. */
export function Holders({ vaultId, holders }: { readonly vaultId: string; readonly holders: readonly KeyHolder[] }) {
  const { strongroom, client, person } = useOpenSession()
  const nameOf = useNames()
  const [isAsked, setAsked] = useState(false)
  const wraps = useQuery({
    queryKey: ['vault', vaultId, 'wraps'],
    enabled: isAsked,
    queryFn: ({ signal }) => wrapsOf({ strongroom, client, person }, vaultId, signal),
  })
  const { data: reads } = useQuery(readsQuery(strongroom, vaultId))
  const columns = useMemo(
    () => [
      ...COLUMNS,
      ...(wraps.data ? wrapColumns(wraps.data, nameOf) : []),
      ...(reads === undefined ? [] : [readColumn(reads)]),
    ],
    [wraps.data, reads, nameOf],
  )
  return (
    <section aria-label="Holders" className="pb-2">
      <div className="flex flex-wrap items-center justify-between gap-3 px-6 pt-5 pb-2">
        <div>
          <h2 className="text-dialog">Holders</h2>
          <p className="text-ink-2">
            {holders.length === 1 ? 'Only you can open this vault.' : `${holders.length} can open this vault.`}{' '}
            <Link to="/vaults/$vaultId/access" params={{ vaultId }} className="underline">
              {holders.length === 1 ? 'Share it' : 'Change who'}
            </Link>
          </p>
        </div>
        {!wraps.data && (
          <Button busy={wraps.isFetching} onClick={() => setAsked(true)}>
            Since when and by whom, from the log
          </Button>
        )}
      </div>
      {wraps.error && (
        <div className="px-6 pb-2">
          <ProblemNote error={wraps.error} onRetry={() => void wraps.refetch()} />
        </div>
      )}
      <Table
        label="Holders"
        rows={holders}
        columns={columns}
        keyOf={({ principal }) => principal}
        sortedBy={{ id: 'name' }}
      />
    </section>
  )
}
