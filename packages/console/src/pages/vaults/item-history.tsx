import { principalOf } from '@strongroom/protocol'
import { keyWords } from '@strongroom/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Seal } from '../../ui/seal.tsx'
import { Answer, ProblemNote, Skeleton } from '../../ui/states.tsx'
import { When } from '../../ui/when.tsx'
import { keptVersionsQuery } from './item-version.ts'
import { type ItemVersion, itemHistoryQuery } from './item-versions.ts'
import { useNames } from './principals.ts'
import type { ShownItem } from './queries.ts'
import { readsQuery } from './reads.ts'
import { type Restored, RestoredVersion } from './restored-version.tsx'
import { VersionView } from './version-view.tsx'

/** What one version was, as far as the signed versions of the vault say it. */
function wordsOf({ version, others, hasFile }: ItemVersion): string {
  const what = version === 1 ? 'brought it in' : 'changed it'
  const beside = [
    ...(hasFile ? ['a file'] : []),
    ...(others > 0 ? [others === 1 ? 'another item' : `${others} other items`] : []),
  ]
  return beside.length === 0 ? what : `${what}, together with ${beside.join(' and ')}`
}

interface Members {
  readonly vaultName: string
  readonly item: ShownItem
  readonly canWrite: boolean
}

interface VersionsMembers extends Members {
  onRestored(restored: Restored): void
}

/** The way to what a version held, or why there is none. */
function VersionDoor({ version, ...members }: VersionsMembers & { readonly version: number }) {
  const { item } = members
  const { strongroom } = useOpenSession()
  const { data: kept } = useQuery(keptVersionsQuery(strongroom, item))
  const [isOpen, setOpen] = useState(false)
  if (version === item.version || !kept) return null
  if (!kept.get(version))
    return (
      <span className="block text-label text-ink-3">
        {kept.has(version) ? 'not opened: its key is compromised' : 'its values are no longer kept'}
      </span>
    )
  return (
    <>
      <Button
        kind="quiet"
        className="-ml-3"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Close' : 'Open'} version ${version}`}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Close' : 'Open'}
      </Button>
      {isOpen && <VersionView {...members} version={version} />}
    </>
  )
}

function Versions(members: VersionsMembers) {
  const { item } = members
  const { client, person } = useOpenSession()
  const nameOf = useNames()
  const history = useInfiniteQuery(itemHistoryQuery({ client, person }, item.receipt, item.itemId))
  return (
    <Answer
      of={history.isFetchNextPageError ? { ...history, error: null } : history}
      what="the history of this item"
      loading={<Skeleton rows={Math.min(item.version, 6)} />}
    >
      {({ pages }) => (
        <>
          <ol reversed aria-label="Versions, newest first" className="border-t border-rule">
            {pages.map((page) => (
              <Fragment key={page.next ?? 'first'}>
                {page.versions.map((one) => (
                  <li
                    key={one.version}
                    className="grid min-h-8 grid-cols-[72px_1fr_auto] items-start gap-x-3 border-b border-rule px-6 py-1 max-sm:grid-cols-[1fr_auto]"
                  >
                    <span>version {one.version}</span>
                    <span className="min-w-0 max-sm:order-1 max-sm:col-span-2">
                      {nameOf(principalOf(one.by))} <span className="text-ink-2">{wordsOf(one)}</span>
                      <span className="block text-label text-ink-3">
                        names the key {keyWords(one.by)} · version {one.headVersion} of the vault
                      </span>
                      <VersionDoor {...members} version={one.version} />
                    </span>
                    <span className="text-label text-ink-2">
                      <When at={one.at} />
                    </span>
                  </li>
                ))}
              </Fragment>
            ))}
          </ol>
          {history.isFetchNextPageError && <ProblemNote error={history.error} />}
          {history.hasNextPage && (
            <div className="px-6 pt-3">
              <Button busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
                Read further back
              </Button>
            </div>
          )}
        </>
      )}
    </Answer>
  )
}

/** Who has read it lately. Whoever may not see the audit is told nothing. */
function Readers({ item }: { readonly item: ShownItem }) {
  const { strongroom } = useOpenSession()
  const nameOf = useNames()
  const { data: reads } = useQuery(readsQuery(strongroom, item.vaultId))
  const isExported = item.fields.some(({ isEnvironmentVariable }) => isEnvironmentVariable)
  const readers = reads?.ofItem(item.itemId, isExported) ?? []
  if (readers.length === 0) return null
  return (
    <p className="px-6 pb-2 text-ink-2">
      Last read, as the server tells:{' '}
      {readers.map(({ who, at }, index) => (
        <Fragment key={who}>
          {index > 0 && ', '}
          {nameOf(who)} <When at={at} />
        </Fragment>
      ))}
      .
    </p>
  )
}

/** Who wrote which version, proven back from the version that was verified; read when it is asked for. */
export function ItemHistory(members: Members) {
  const { item } = members
  const [isOpen, setOpen] = useState(false)
  const [restored, setRestored] = useState<Restored>()
  return (
    <section aria-label="History" className="border-b border-rule pb-4">
      <div className="flex items-center justify-between px-6 pt-4 pb-2">
        <h3 className="flex items-center gap-2 text-dialog">
          {isOpen && (
            <Seal
              root={item.receipt.checkpoint.rootHash}
              says="Each version is named by the next one, up to the one that was verified here"
            />
          )}
          History
        </h3>
        {!isOpen && <Button onClick={() => setOpen(true)}>Show the versions</Button>}
      </div>
      <Readers item={item} />
      {restored && <RestoredVersion item={item} restored={restored} onUndone={() => setRestored(undefined)} />}
      {isOpen && <Versions {...members} onRestored={setRestored} />}
    </section>
  )
}
