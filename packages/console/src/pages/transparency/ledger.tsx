import type { LogEntry } from '@strongroom/sdk'
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { MonoId } from '../../ui/copy.tsx'
import { Seal } from '../../ui/seal.tsx'
import { When } from '../../ui/when.tsx'
import type { Names } from '../activity/filter-tokens.ts'
import { SubjectLink } from '../activity/subjects.tsx'
import type { Ledger as LedgerData } from './queries.ts'
import { ENTRY_WORDS, nameOfState } from './state-names.ts'

const GRID =
  'grid grid-cols-[56px_96px_minmax(150px,1fr)_minmax(160px,2fr)_128px] items-center gap-x-3 px-6 max-sm:grid-cols-[44px_1fr] max-sm:py-1.5'

/** A line across the ledger: everything below it is under this root. */
function RuleLine({ children, isStrong = false }: { readonly children: ReactNode; readonly isStrong?: boolean }) {
  return (
    <li
      className={`flex min-h-9 flex-wrap items-center gap-x-3 gap-y-0.5 border-b bg-raised px-6 py-1.5 ${isStrong ? 'border-seal' : 'border-edge'}`}
    >
      {children}
    </li>
  )
}

function Subjects({ entry, names }: { readonly entry: LogEntry; readonly names: Names }) {
  // A grant says which vault; the vault that stands beside it says nothing more.
  const hasGrant = entry.subjects.some((state) => state.startsWith('grant/'))
  const shown = entry.subjects.filter((state) => !(hasGrant && state.startsWith('vault/')))
  return (
    <span className="flex min-w-0 flex-wrap gap-x-3 sm:flex-nowrap sm:truncate">
      {shown.slice(0, 3).map((state) => {
        const { subject, words } = nameOfState(state, names)
        return <SubjectLink key={state} subject={subject} name={words} />
      })}
      {shown.length > 3 && <span className="text-ink-3">and {shown.length - 3} more</span>}
    </span>
  )
}

function Row({
  entry,
  names,
  isCurrent,
}: {
  readonly entry: LogEntry
  readonly names: Names
  readonly isCurrent: boolean
}) {
  const { index, type, at, leafHash } = entry
  return (
    <li
      aria-current={isCurrent ? 'true' : undefined}
      className={`${GRID} min-h-8 border-b border-rule hover:bg-raised aria-[current=true]:bg-raised`}
    >
      <Link
        to="/transparency"
        search={{ entry: String(index) }}
        className="inline-flex min-h-6 items-center font-mono text-code"
        aria-label={`Prove entry ${index}`}
      >
        {index}
      </Link>
      <span className="text-ink-2 max-sm:order-1 max-sm:col-start-2 max-sm:text-label">
        <When at={at} />
      </span>
      <span title={type}>{ENTRY_WORDS[type] ?? type}</span>
      <span className="min-w-0 max-sm:col-start-2">
        <Subjects entry={entry} names={names} />
      </span>
      <span className="text-right max-sm:hidden">
        <MonoId id={leafHash} keep={6} />
      </span>
    </li>
  )
}

interface LedgerMembers {
  readonly ledger: LedgerData
  readonly names: Names
  readonly current: number | undefined
}

/** The log from its newest entry down. Lines stand where this browser has verified it: now, and before. */
export function Ledger({ ledger: { head, verifiedAt, before, entries }, names, current }: LedgerMembers) {
  const wasBehind = before !== undefined && before.size < head.treeSize
  return (
    <div>
      <div aria-hidden="true" className={`${GRID} h-8 border-b border-rule text-label text-ink-3 max-sm:hidden`}>
        <span>Index</span>
        <span>Time</span>
        <span>What</span>
        <span>About</span>
        <span className="text-right">Leaf hash</span>
      </div>
      <ol aria-label="Entries of the log, newest first" reversed>
        <RuleLine isStrong>
          <Seal root={head.rootHash} says={`Verified in this browser: ${head.treeSize} entries`} />
          <strong>Your position</strong>
          <span>
            checkpoint of {head.treeSize.toLocaleString('en')} entries, verified here <When at={verifiedAt} />
          </span>
          <span className="flex items-center gap-1.5 text-ink-2">
            root <MonoId id={head.rootHash} keep={8} />
          </span>
        </RuleLine>
        {[...entries].reverse().map((entry) => (
          <Fragment key={entry.index}>
            {wasBehind && entry.index === before.size - 1 && (
              <RuleLine>
                <Seal root={before.root} says={`Verified in this browser before: ${before.size} entries`} />
                <span>
                  where this browser stood <When at={before.at} />: {before.size.toLocaleString('en')} entries
                </span>
                <span className="flex items-center gap-1.5 text-ink-2">
                  root <MonoId id={before.root} keep={8} />
                </span>
              </RuleLine>
            )}
            <Row entry={entry} names={names} isCurrent={entry.index === current} />
          </Fragment>
        ))}
      </ol>
    </div>
  )
}
