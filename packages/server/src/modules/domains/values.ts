import type { RecordType } from '@strongroom/contract'
import type { ZoneRecord } from './records.ts'

// One value of a set of records, in the form in which two of them are compared: names without case and without the dot at the end,
// addresses as they are shortest, text in bytes, priorities in front.

export interface Value {
  /** Equal where the DNS has the same. */
  readonly key: string
  readonly text: string
}

const same = (key: string): Value => ({ key, text: key })

export const hostOf = (name: string): string => name.toLowerCase().replace(/\.$/, '')

export const address = (text: string): Value => {
  const host = text.includes(':') ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) : undefined
  return same(host ?? text.toLowerCase())
}

export const host = (name: string): Value => same(hostOf(name))

export const mail = (priority: number, exchange: string): Value => same(`${priority} ${hostOf(exchange)}`)

export const service = (priority: number, weight: number, port: number, target: string): Value =>
  same(`${priority} ${weight} ${port} ${hostOf(target)}`)

export const authority = (flags: number, tag: string, value: string): Value =>
  same(`${flags} ${tag.toLowerCase()} "${value}"`)

/** Each character is a byte. What is no UTF-8 is shown byte by byte. */
export function bytes(key: string): Value {
  try {
    return { key, text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(key, 'latin1')) }
  } catch {
    return { key, text: key }
  }
}

function serviceOf(priority: number, content: string): Value {
  const [, weight, port, target] = /^(\d+)\s+(\d+)\s+(\S+)$/.exec(content.trim()) ?? []
  if (target === undefined) return same(`${priority} ${hostOf(content)}`)
  return service(priority, Number(weight), Number(port), target)
}

function authorityOf(content: string): Value {
  const [, flags, tag = '', quoted, bare] = /^(\d+)\s+(\w+)\s+(?:"(.*)"|(\S*))$/.exec(content.trim()) ?? []
  return flags === undefined ? same(content) : authority(Number(flags), tag, quoted ?? bare ?? '')
}

/** What a record says, as it is kept here. */
export function expectedOf(type: RecordType, { content, priority }: ZoneRecord): Value {
  switch (type) {
    case 'A':
    case 'AAAA':
      return address(content)
    case 'CNAME':
    case 'NS':
      return host(content)
    case 'MX':
      return mail(priority ?? 0, content)
    case 'SRV':
      return serviceOf(priority ?? 0, content)
    case 'CAA':
      return authorityOf(content)
    case 'TXT':
      return bytes(Buffer.from(content).toString('latin1'))
  }
}
