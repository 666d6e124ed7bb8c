import type { CheckedSet, DnsRecord, Domain } from '@strongroom/contract'
import type { DnsCheck } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useStrongroom } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Answer, ProblemNote } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { CheckButton, CheckResult, useCheck, Verdict } from './check-result.tsx'
import { recordsQuery } from './queries.ts'
import { RecordForm } from './record-form.tsx'
import { RemoveDomainForm } from './remove-domain-form.tsx'
import { newRecordOf, newRecordsOf, useSetRecords, type Zone } from './set-records.ts'

/** What a zone file has of it. */
const contentOf = ({ priority, content }: DnsRecord): string => (priority === null ? content : `${priority} ${content}`)

interface Choices {
  onEdit(record: DnsRecord): void
  onRemove(record: DnsRecord): void
}

const columnsOf = ({ onEdit, onRemove }: Choices): readonly Column<DnsRecord>[] => [
  { id: 'name', header: 'Name', sort: ({ name }) => name, cell: ({ name }) => name },
  { id: 'type', header: 'Type', sort: ({ type }) => type, cell: ({ type }) => <code>{type}</code> },
  {
    id: 'content',
    header: 'Content',
    grows: true,
    cell: (record) => (
      <span className="flex min-w-0 items-center gap-1">
        <code className="truncate max-sm:break-all max-sm:whitespace-normal">{contentOf(record)}</code>
        <CopyButton text={contentOf(record)} label={`Copy the content of ${record.name} ${record.type}`} />
        {record.comment !== null && <span className="text-label text-ink-3">{record.comment}</span>}
      </span>
    ),
  },
  { id: 'ttl', header: 'TTL', align: 'right', sort: ({ ttl }) => ttl, cell: ({ ttl }) => `${ttl} s` },
  {
    id: 'change',
    header: 'Change',
    cell: (record) =>
      newRecordOf(record) ? (
        <Menu
          trigger={
            <button
              type="button"
              aria-label={`Change ${record.name} ${record.type}`}
              className="min-h-6 cursor-pointer rounded-control px-2 hover:bg-raised"
            >
              <span aria-hidden="true">▾</span>
            </button>
          }
          choices={[
            { label: 'Change', onChoose: () => onEdit(record) },
            { label: 'Remove', isDanger: true, onChoose: () => onRemove(record) },
          ]}
        />
      ) : null,
  },
]

type Checked = ReadonlyMap<string, CheckedSet>
const setKey = ({ name, type }: { readonly name: string; readonly type: string }): string => `${name} ${type}`

/** Of records that were changed since then, it says nothing any more. */
const checkedOf = ({ serial }: Zone, check: DnsCheck | undefined): Checked =>
  new Map(check?.serial === serial ? check.sets.map((set) => [setKey(set), set]) : [])

const verdictColumn = (checked: Checked): Column<DnsRecord> => ({
  id: 'resolver',
  header: 'Resolver',
  sort: (record) => checked.get(setKey(record))?.verdict ?? '',
  cell: (record) => {
    const set = record.disabled ? undefined : checked.get(setKey(record))
    return set ? <Verdict set={set} /> : <span className="text-ink-3">not checked</span>
  },
})

interface RecordsMembers {
  readonly domain: string
  readonly zone: Zone
  readonly check: DnsCheck | undefined
}

function Records({ domain, zone, check }: RecordsMembers) {
  const { records, serial: ifSerial } = zone
  const set = useSetRecords(domain)
  const [editing, setEditing] = useState<DnsRecord>()
  const { mutate } = set
  const checked = useMemo(() => checkedOf(zone, check), [zone, check])
  const own = useMemo(
    () =>
      columnsOf({
        onEdit: setEditing,
        onRemove: (record) =>
          mutate(
            { ifSerial, records: newRecordsOf(records.filter(({ id }) => id !== record.id)) },
            {
              onSuccess: ({ serial }) =>
                toast(`Removed ${record.name} ${record.type}`, () =>
                  mutate({ ifSerial: serial, records: newRecordsOf(records) }),
                ),
            },
          ),
      }),
    [records, ifSerial, mutate],
  )
  const columns = useMemo(
    () => (checked.size === 0 ? own : [...own.slice(0, -1), verdictColumn(checked), ...own.slice(-1)]),
    [own, checked],
  )
  return (
    <>
      {set.error && (
        <div className="px-6 pb-3">
          <ProblemNote error={set.error} />
        </div>
      )}
      {records.length === 0 ? (
        <p className="px-6 pb-4 text-ink-2">It has no records yet.</p>
      ) : (
        <Table
          label={`Records of ${domain}`}
          rows={records}
          columns={columns}
          keyOf={({ id }) => id}
          sortedBy={{ id: 'name' }}
        />
      )}
      {editing && <RecordForm domain={domain} zone={zone} record={editing} onClose={() => setEditing(undefined)} />}
    </>
  )
}

type Open = 'add' | 'remove'

/** The records of one domain, and what its runners can do about them. */
export function RecordsPart({ domain: { domain, managed } }: { readonly domain: Domain }) {
  const records = useQuery(recordsQuery(useStrongroom(), managed ? domain : undefined))
  const check = useCheck(domain)
  const [open, setOpen] = useState<Open>()
  const close = (): void => setOpen(undefined)
  return (
    <section aria-label={`Records of ${domain}`}>
      <div className="flex flex-wrap items-center justify-between gap-3 px-6 pt-5 pb-3">
        <h2 className="text-dialog">Records of {domain}</h2>
        <div className="flex flex-wrap items-center gap-2">
          {records.data && <span className="text-label text-ink-3">serial {records.data.serial}</span>}
          <Button onClick={() => setOpen('remove')}>Remove the domain</Button>
          {managed && <CheckButton check={check} />}
          {managed && <Button onClick={() => setOpen('add')}>Add a record</Button>}
        </div>
      </div>
      <CheckResult domain={domain} serial={records.data?.serial} check={check} />
      {managed ? (
        <Answer of={records} what="its records">
          {(zone) => <Records domain={domain} zone={zone} check={check.data} />}
        </Answer>
      ) : (
        <p className="px-6 text-ink-2">It belongs to the organisation; its records are kept elsewhere.</p>
      )}
      {open === 'add' && records.data && <RecordForm domain={domain} zone={records.data} onClose={close} />}
      {open === 'remove' && <RemoveDomainForm domain={domain} onClose={close} />}
    </section>
  )
}
