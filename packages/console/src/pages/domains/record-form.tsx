import { type DnsRecord, shellLine } from '@strongroom/contract'
import { useState } from 'react'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { type NewRecord, newRecordsOf, RECORD_TYPES, type RecordType, useSetRecords, type Zone } from './set-records.ts'

const CONTENTS: Record<RecordType, string> = {
  A: 'An IPv4 address, such as 192.0.2.10.',
  AAAA: 'An IPv6 address, such as 2001:db8::10.',
  CAA: 'Such as 0 issue "letsencrypt.org".',
  CNAME: 'The name of a host. It stands alone under its name.',
  MX: 'The name of a mail server.',
  NS: 'The name of a name server.',
  SRV: 'Weight, port and host, such as 5 5060 sip.example.com.',
  TXT: 'Text, as it is to be read.',
}

const SHORT = 240

/** All records go along; a long list is better kept in a file. */
function cliOf(domain: string, body: object): string {
  const put = shellLine`strongroom api PUT ${`/api/v1/platform/domain/${domain}/records`} --input`
  const text = JSON.stringify(body)
  return text.length > SHORT ? `${put} records.json` : `${shellLine`echo ${text}`} | ${put} -`
}

interface Members {
  readonly domain: string
  readonly zone: Zone
  /** The one to be changed; a new one if absent. */
  readonly record?: DnsRecord
  onClose(): void
}

export function RecordForm({ domain, zone, record, onClose }: Members) {
  const [name, setName] = useState(record?.name ?? domain)
  const [type, setType] = useState<RecordType>(RECORD_TYPES.find((one) => one === record?.type) ?? 'A')
  const [content, setContent] = useState(record?.content ?? '')
  const [ttl, setTtl] = useState(String(record?.ttl ?? 3600))
  const [priority, setPriority] = useState(String(record?.priority ?? 10))
  const takesPriority = type === 'MX' || type === 'SRV'
  const set = useSetRecords(domain)
  const wanted: NewRecord = {
    ...{ name: name.trim(), type, content: content.trim(), ttl: Number(ttl) },
    ...(takesPriority && { priority: Number(priority) }),
    ...(record?.comment != null && { comment: record.comment }),
  }
  const others = newRecordsOf(zone.records.filter(({ id }) => id !== record?.id))
  const body = { ifSerial: zone.serial, records: [...others, wanted] }
  return (
    <FormDialog
      title={record ? 'Change a record' : 'Add a record'}
      open
      onClose={onClose}
      action="Save"
      busy={set.isPending}
      problem={set.error}
      disabled={wanted.content === '' || !/^[0-9]+$/.test(ttl) || (takesPriority && !/^[0-9]+$/.test(priority))}
      cli={cliOf(domain, body)}
      onSubmit={() => set.mutate(body, { onSuccess: onClose })}
    >
      <TextField
        label="Name"
        hint={`${domain} itself, or a name in it.`}
        value={name}
        onChange={({ target }) => setName(target.value)}
        required
        spellCheck={false}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField label="Type" value={type} onChange={({ target }) => setType(target.value as RecordType)}>
          {RECORD_TYPES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </SelectField>
        <TextField
          label="TTL in seconds"
          inputMode="numeric"
          value={ttl}
          onChange={({ target }) => setTtl(target.value.trim())}
        />
        {takesPriority && (
          <TextField
            label="Priority"
            inputMode="numeric"
            value={priority}
            onChange={({ target }) => setPriority(target.value.trim())}
          />
        )}
      </div>
      <TextField
        label="Content"
        hint={CONTENTS[type]}
        value={content}
        onChange={({ target }) => setContent(target.value)}
        required
        spellCheck={false}
        className="font-mono text-code"
      />
    </FormDialog>
  )
}
