import { PROTOCOL_ERRORS, type ProtocolErrorCode } from '@strongroom/protocol'
import { useQuery } from '@tanstack/react-query'
import { useOpenSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyLine } from '../../ui/copy.tsx'
import { download } from '../../ui/download.ts'
import { Page } from '../../ui/page.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { EvidenceCheck } from './evidence-check.tsx'
import { alarmsQuery } from './queries.ts'
import { TRANSPARENCY_TABS } from './tabs.ts'

interface Alarm {
  readonly at: number
  readonly code: string
  readonly detail: string
}

const meaningOf = (code: string): string =>
  Object.hasOwn(PROTOCOL_ERRORS, code) ? PROTOCOL_ERRORS[code as ProtocolErrorCode][1] : ''

const COLUMNS: readonly Column<Alarm>[] = [
  { id: 'at', header: 'When', sort: ({ at }) => at, cell: ({ at }) => <When at={new Date(at)} /> },
  {
    id: 'code',
    header: 'Refused with',
    sort: ({ code }) => code,
    cell: ({ code }) => (
      <a href={`/docs/errors#${code}`}>
        <Status tone="bad">{code}</Status>
      </a>
    ),
  },
  { id: 'detail', header: 'Why', grows: true, cell: ({ code, detail }) => `${meaningOf(code)} ${detail}` },
]

export function EvidencePage() {
  const { strongroom } = useOpenSession()
  const alarms = useQuery(alarmsQuery({ strongroom }))
  const save = (all: readonly Alarm[]): void =>
    download('strongroom-alarms.json', JSON.stringify(all, null, 2), 'application/json')
  return (
    <Page title="Transparency" tabs={TRANSPARENCY_TABS}>
      <EvidenceCheck />
      <Answer of={alarms} what="alarms">
        {(all) => (
          <section aria-label="Alarms" className="py-5">
            <div className="mb-3 flex flex-wrap items-center justify-between gap-3 px-6">
              <h2 className="text-dialog">Alarms of this browser</h2>
              {all.length > 0 && <Button onClick={() => save(all)}>Save as JSON</Button>}
            </div>
            {all.length === 0 ? (
              <div className="grid max-w-xl gap-3 px-6">
                <p className="text-ink-2">
                  This browser has refused nothing so far. An answer that does not verify replaces the page with what
                  was wrong, and stands here from then on.
                </p>
                <CopyLine label="The same for your command line" text="strongroom trust alarms" />
              </div>
            ) : (
              <Table
                label="Alarms"
                rows={all}
                columns={COLUMNS}
                keyOf={({ at, code }) => `${at} ${code}`}
                sortedBy={{ id: 'at', desc: true }}
              />
            )}
          </section>
        )}
      </Answer>
    </Page>
  )
}
