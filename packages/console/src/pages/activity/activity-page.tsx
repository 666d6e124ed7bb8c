import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { download } from '../../ui/download.ts'
import { sortedNames } from '../../ui/name-order.ts'
import { Page } from '../../ui/page.tsx'
import { useRowKeys } from '../../ui/row-keys.ts'
import { SavedViews } from '../../ui/saved-views.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { ActivityPlot } from './activity-plot.tsx'
import { columnsFor } from './columns.tsx'
import { FilterBar } from './filter-bar.tsx'
import { matches, type Names, parseFilter } from './filter-tokens.ts'
import { LatencyPlot } from './latency-plot.tsx'
import { isOwnRead, useLensRows } from './lens-rows.ts'
import { LiveTail, useHeld } from './live-tail.tsx'
import { RangeBar } from './range-bar.tsx'
import { type ActivityRow, LENSES, type Lens, RESULTS } from './rows.ts'
import { useSubjectNames } from './subjects.tsx'
import { TraceDrawer } from './trace-drawer.tsx'

const STEP = 300
const LENS_WORDS: Record<Lens, string> = { feed: 'Feed', requests: 'Requests', audit: 'Audit' }
const LENS_HINTS: Record<Lens, string> = {
  feed: 'What changed in the vaults you can see.',
  requests: 'Your own requests, kept for 30 days. Reads of this page are left out; action:monitoring shows them.',
  audit: 'Every act, as the chain of the organisation keeps it: of everybody for owners and admins, else your own.',
}

const dateOf = (text: string | undefined): Date | undefined => {
  const date = new Date(text ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? undefined : date
}

const isLens = (text: string | undefined): text is Lens => (LENSES as readonly (string | undefined)[]).includes(text)

interface Narrowing {
  readonly filter: string
  readonly from: Date | undefined
  readonly to: Date | undefined
  readonly names: Names
}

function narrowed(rows: readonly ActivityRow[], { filter, from, to, names }: Narrowing): readonly ActivityRow[] {
  const parsed = parseFilter(filter)
  const showsOwn = /monitoring/i.test(filter)
  return rows.filter(
    (row) =>
      (showsOwn || !isOwnRead(row)) && (!from || row.at >= from) && (!to || row.at < to) && matches(row, parsed, names),
  )
}

/** What tokens can be completed with: what is in the rows. */
function knownIn(rows: readonly ActivityRow[], names: Names) {
  const all = (values: readonly string[]): readonly string[] => sortedNames(new Set(values)).slice(0, 100)
  const vaults = rows.flatMap(({ where }) => where.filter(({ type }) => type === 'vault'))
  return {
    who: all(rows.map(({ who }) => names.person(who))),
    status: all([...RESULTS.map((result) => result.replace(' ', '-')), '4xx', '5xx']),
    vault: all(vaults.map(names.subject)),
    action: all(rows.map(({ what }) => what)).filter((what) => !what.includes(' ')),
  }
}

const save = (lens: Lens, rows: readonly ActivityRow[]): void =>
  download(
    `strongroom-${lens}.ndjson`,
    rows.map(({ event }) => `${JSON.stringify(event)}\n`).join(''),
    'application/x-ndjson',
  )

function Lenses({ lens, onLens }: { readonly lens: Lens; onLens(lens: Lens): void }) {
  return (
    <fieldset className="flex">
      <legend className="sr-only">Lens</legend>
      {LENSES.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === lens}
          onClick={() => onLens(one)}
          className="-ml-px min-h-8 cursor-pointer border border-edge bg-surface px-3 [&:first-of-type]:ml-0 [&:first-of-type]:rounded-l-control last:rounded-r-control hover:bg-raised aria-pressed:bg-ink aria-pressed:text-surface"
        >
          {LENS_WORDS[one]}
        </button>
      ))}
    </fieldset>
  )
}

export function ActivityPage() {
  const search = useSearch({ from: '/activity' })
  const navigate = useNavigate()
  const [max, setMax] = useState(STEP)
  const { filter = '', row } = search
  const lens: Lens = isLens(search.lens) ? search.lens : 'feed'
  const [from, to] = [dateOf(search.from), dateOf(search.to)]
  const wanted = { max, from }
  const answer = useLensRows(lens, wanted)
  const held = useHeld(answer.data?.rows ?? [])
  const names = useSubjectNames(held.shown.flatMap(({ where }) => where))
  useRowKeys({ p: held.toggle })
  const shown = narrowed(held.shown, { filter, from, to, names })
  const columns = useMemo(() => columnsFor(lens, names), [lens, names])
  const go = (change: Partial<Record<keyof typeof search, string | undefined>>, replace = false): void =>
    void navigate({
      to: '/activity',
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, ...change }).filter(([, text]) => text !== undefined && text !== ''),
        ),
      replace,
    })
  return (
    <Page
      title="Activity"
      actions={
        <>
          <SavedViews
            place="activity"
            search={{ lens: search.lens, filter: search.filter, from: search.from, to: search.to }}
            onOpen={(view) => void navigate({ to: '/activity', search: view })}
          />
          <LiveTail held={held} />
          <Button onClick={() => save(lens, shown)} disabled={shown.length === 0}>
            Export NDJSON
          </Button>
        </>
      }
    >
      <div className="flex flex-wrap items-start gap-2 border-b border-rule px-6 py-2">
        <Lenses lens={lens} onLens={(one) => go({ lens: one })} />
        <RangeBar from={from} to={to} onRange={(range) => go({ from: range.from, to: range.to })} />
        <FilterBar value={filter} onChange={(text) => go({ filter: text }, true)} known={knownIn(held.shown, names)} />
      </div>
      <Answer of={answer} what="activity">
        {({ rows, isAll }) =>
          rows.length === 0 ? (
            <Empty title="Nothing has happened yet" cli="strongroom whoami">
              <p>The first act of anybody is the first row here, whoever makes it and from where.</p>
            </Empty>
          ) : (
            <>
              <div className="grid gap-3 border-b border-rule px-6 py-3">
                <ActivityPlot
                  lens={lens}
                  rows={shown}
                  isAll={isAll}
                  from={from}
                  to={to}
                  height={120}
                  onRange={(begin, end) => go({ from: begin.toISOString(), to: end.toISOString() })}
                />
                {lens === 'requests' && shown.length > 0 && <LatencyPlot rows={shown} from={from} to={to} />}
              </div>
              <p className="px-6 pt-2 text-label text-ink-3">{LENS_HINTS[lens]}</p>
              <div aria-live="off">
                <Table
                  label={`Activity: ${LENS_WORDS[lens].toLowerCase()}`}
                  rows={shown}
                  columns={columns}
                  keyOf={({ id }) => id}
                  sortedBy={{ id: 'at', desc: true }}
                />
              </div>
              {shown.length === 0 && (
                <p className="px-6 py-4 text-ink-2">Nothing that was read matches. Take a filter away, or read more.</p>
              )}
              {!isAll && (
                <div className="px-6 py-3">
                  <Button onClick={() => setMax(max + STEP)}>Read {STEP} older ones</Button>
                </div>
              )}
            </>
          )
        }
      </Answer>
      {row !== undefined && <TraceDrawer requestId={row} wanted={wanted} onClose={() => go({ row: undefined })} />}
    </Page>
  )
}
