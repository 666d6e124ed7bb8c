import { createHash } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import type { DnsRecord, domains, Input } from '@strongroom/contract'
import { ApiError } from '../../errors.ts'
import { inDns, isInside } from './names.ts'

// Records as they are shown, and what is refused of those that somebody sets.

export interface ZoneRecord {
  readonly name: string
  readonly type: string
  readonly content: string
  readonly ttl: number
  readonly priority: number | null
  readonly disabled: boolean
  readonly comment: string | null
}

export interface Zone {
  readonly serial: number
  readonly records: readonly ZoneRecord[]
}

/** The same record has the same id wherever it is kept. */
const idOf = ({ name, type, content }: ZoneRecord): string =>
  createHash('sha256').update(`${name}|${type}|${content}`).digest('hex').slice(0, 32)

export const show = (record: ZoneRecord): DnsRecord => ({ id: idOf(record), ...record })

type Asked = Input<typeof domains.setRecords>['body']['records'][number]

const DEFAULT_TTL = 3600

const refused = (index: number, member: string, why: string): ApiError =>
  new ApiError('invalid_record', { details: { record: index, member, why } })

function contentOf({ type, content }: Asked, index: number): string {
  const text = content.trim()
  if (type === 'A' && !isIPv4(text)) throw refused(index, 'content', 'is not an IPv4 address')
  if (type === 'AAAA' && !isIPv6(text)) throw refused(index, 'content', 'is not an IPv6 address')
  if (type === 'CNAME' || type === 'NS' || type === 'MX') {
    const name = inDns(text)
    if (name === undefined) throw refused(index, 'content', 'is not the name of a host')
    return name
  }
  if (text === '') throw refused(index, 'content', 'is empty')
  return text
}

/** A record of this domain, in the form in which it is kept. */
export function readRecord(domain: string, record: Asked, index: number): ZoneRecord {
  const name = inDns(record.name)
  if (name === undefined || !isInside(name, domain)) throw refused(index, 'name', `does not lie in ${domain}`)
  const takesPriority = record.type === 'MX' || record.type === 'SRV'
  if ((record.priority !== undefined) !== takesPriority)
    throw refused(index, 'priority', takesPriority ? 'is missing' : `is not for ${record.type}`)
  return {
    name,
    type: record.type,
    content: contentOf(record, index),
    ttl: record.ttl ?? DEFAULT_TTL,
    priority: record.priority ?? null,
    disabled: false,
    comment: record.comment ?? null,
  }
}

export function readRecords(domain: string, records: readonly Asked[]): ZoneRecord[] {
  const read = records.map((record, index) => readRecord(domain, record, index))
  const keys = read.map((record) => `${record.name}|${record.type}|${record.content}`)
  const twice = keys.findIndex((key, i) => keys.indexOf(key) !== i)
  if (twice >= 0) throw refused(twice, 'content', 'is there twice')
  const alias = read.findIndex(
    ({ name, type }) => type === 'CNAME' && read.filter((one) => one.name === name).length > 1,
  )
  if (alias >= 0) throw refused(alias, 'type', 'a CNAME stands alone under its name')
  return read
}
