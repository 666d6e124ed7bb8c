import { Link } from '@tanstack/react-router'
import { MonoId } from '../../ui/copy.tsx'
import type { Column } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import type { Names } from './filter-tokens.ts'
import { ResultWord } from './result-word.tsx'
import type { ActivityRow, Lens } from './rows.ts'
import { SubjectLink } from './subjects.tsx'

/** What one table shows of a row; by lens, what no row of it has is left out. */
export function columnsFor(lens: Lens, names: Names): readonly Column<ActivityRow>[] {
  const columns: Column<ActivityRow>[] = [
    {
      id: 'at',
      header: 'Time',
      sort: ({ at }) => at.getTime(),
      cell: ({ at }) => <When at={at} />,
    },
    { id: 'who', header: 'Who', sort: ({ who }) => names.person(who), cell: ({ who }) => names.person(who) },
    {
      id: 'what',
      header: 'What',
      grows: true,
      sort: ({ what }) => what,
      cell: ({ what, requestId }) => (
        <Link
          to="/activity"
          search={(before) => ({ ...before, row: requestId })}
          data-row
          className="justify-self-start font-mono text-code [overflow-wrap:anywhere]"
        >
          {what}
        </Link>
      ),
    },
    {
      id: 'where',
      header: 'Where',
      cell: ({ where: [first, second] }) =>
        first ? (
          <span className="inline-flex max-w-72 gap-2 max-sm:max-w-none max-sm:flex-wrap">
            <SubjectLink subject={first} name={names.subject(first)} />
            {second && <span className="truncate text-ink-3">{names.subject(second)}</span>}
          </span>
        ) : (
          <span className="text-ink-3">–</span>
        ),
    },
    {
      id: 'result',
      header: 'Result',
      sort: ({ result, status }) => `${result} ${status ?? ''}`,
      cell: ({ result, status, code }) => <ResultWord result={result} status={status} code={code} />,
    },
    {
      id: 'ms',
      header: 'ms',
      align: 'right',
      sort: ({ ms }) => ms ?? 0,
      cell: ({ ms }) => (ms === null ? '' : Math.round(ms)),
    },
    {
      id: 'request',
      header: 'Request',
      cell: ({ requestId }) => <MonoId id={requestId} keep={5} className="justify-self-start" />,
    },
  ]
  const left = lens === 'requests' ? [] : lens === 'audit' ? ['ms'] : ['ms', 'result']
  return columns.filter(({ id }) => !left.includes(id))
}
