import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { PowerDnsConfig } from '../../config.ts'
import { ApiError } from '../../errors.ts'
import { parseNetwork } from '../../outside/addresses.ts'
import { type Answered, type EgressPolicy, sendOut } from '../../outside/egress.ts'
import type { Zone, ZoneRecord } from './records.ts'

// The records of a zone in PowerDNS, through its HTTP API. Its answers are JSON where it is content and plain text where it is not, and
// whoever stands before it may answer anything.

const RrSet = Type.Object({
  name: Type.String(),
  type: Type.String(),
  ttl: Type.Integer(),
  records: Type.Array(Type.Object({ content: Type.String(), disabled: Type.Boolean() })),
  comments: Type.Optional(Type.Array(Type.Object({ content: Type.String() }))),
})
type RrSet = Static<typeof RrSet>

const PowerDnsZone = Type.Object({
  serial: Type.Integer(),
  account: Type.Optional(Type.String()),
  rrsets: Type.Array(RrSet),
})
type PowerDnsZone = Static<typeof PowerDnsZone>
const readsZone = Compile(PowerDnsZone)
const readsRefusal = Compile(Type.Object({ error: Type.String() }))

/** The operator has named this server, and it is mostly inside. */
const EVERYWHERE: EgressPolicy = {
  allowed: ['0.0.0.0/0', '::/0'].flatMap((text) => {
    const network = parseNetwork(text)
    return network ? [network] : []
  }),
  ownHosts: [],
  nameServers: [],
}
const TIMEOUT_MS = 5000
const MAX_BYTES = 16_777_216

const withoutDot = (name: string): string => name.replace(/\.$/, '')
const withDot = (name: string): string => `${name}.`

/** `"one" "two"` is one text, and `\195\188` in it is a letter. */
function unquoted(content: string): string {
  const parts = [
    ...Buffer.from(content)
      .toString('latin1')
      .matchAll(/"((?:[^"\\]|\\.)*)"/g),
  ]
  const bare = (part: string): string =>
    part.replace(/\\(?:(\d{3})|(.))/g, (_, byte, one) => one ?? String.fromCharCode(Number(byte)))
  return Buffer.from(parts.map(([, part = '']) => bare(part)).join(''), 'latin1').toString()
}

/** In pieces of at most 255 bytes, as a TXT record has them. */
function quoted(content: string): string {
  const bytes = Buffer.from(content)
  const pieces = Array.from({ length: Math.max(1, Math.ceil(bytes.length / 255)) }, (_, i) =>
    bytes.subarray(i * 255, (i + 1) * 255).toString('latin1'),
  )
  const escaped = (piece: string): string =>
    piece.replace(/[\\"]/g, '\\$&').replace(/[^\x20-\x7e]/g, (c) => `\\${String(c.charCodeAt(0)).padStart(3, '0')}`)
  return pieces.map((piece) => `"${escaped(piece)}"`).join(' ')
}

const NAMES: ReadonlySet<string> = new Set(['CNAME', 'NS', 'MX'])
const WITH_PRIORITY: ReadonlySet<string> = new Set(['MX', 'SRV'])

function recordOf({ name, type, ttl, comments }: RrSet, content: string, disabled: boolean): ZoneRecord {
  const [, priority, rest] = WITH_PRIORITY.has(type) ? (/^(\d+) (.*)$/.exec(content) ?? []) : []
  const bare = rest ?? content
  return {
    name: withoutDot(name),
    type,
    content: type === 'TXT' ? unquoted(bare) : NAMES.has(type) || type === 'SRV' ? withoutDot(bare) : bare,
    ttl,
    priority: priority === undefined ? null : Number(priority),
    disabled,
    comment: comments?.[0]?.content ?? null,
  }
}

function contentFor({ type, content, priority }: ZoneRecord): string {
  if (type === 'TXT') return quoted(content)
  const target = NAMES.has(type) || type === 'SRV' ? withDot(content) : content
  return priority === null ? target : `${priority} ${target}`
}

const unavailable = (): ApiError => new ApiError('dns_unavailable', { headers: { 'retry-after': '5' } })

/** What its operator and its history say of a zone. */
export interface ZoneFacts {
  readonly serial: number
  /** Whose it is; empty where nobody has said so. */
  readonly account: string
}

export interface PowerDns {
  /** Undefined if there is no such zone. */
  zone(domain: string): Promise<(Zone & ZoneFacts) | undefined>
  /**
   * Makes every set of records what it is here, and removes the others, but for those that make the zone. `check` sees the zone
   * right before, and whether all is as it should be already, when nothing is written; PowerDNS itself knows no condition, so whoever
   * changes the zone in that moment is not seen.
   */
  replace(
    domain: string,
    records: readonly ZoneRecord[],
    check: (zone: ZoneFacts, isThere: boolean) => void,
  ): Promise<number>
}

const factsOf = ({ serial, account = '' }: PowerDnsZone): ZoneFacts => ({ serial, account })

const isKept = ({ name, type }: { name: string; type: string }, domain: string): boolean =>
  type === 'SOA' || (type === 'NS' && withoutDot(name) === domain)

export function makePowerDns({ url, key }: PowerDnsConfig): PowerDns {
  const ask = async (method: 'GET' | 'PATCH', domain: string, body?: object): Promise<Answered> => {
    const headers = { 'x-api-key': key, accept: 'application/json', 'content-type': 'application/json' }
    const address = `${url}/api/v1/servers/localhost/zones/${encodeURIComponent(withDot(domain))}`
    const outgoing = { url: address, method, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }
    const answer = await sendOut(body ? { ...outgoing, body: JSON.stringify(body) } : outgoing, EVERYWHERE).catch(
      () => {
        throw unavailable()
      },
    )
    if (answer.isCut || (answer.status >= 500 && answer.status !== 422) || answer.status === 401) throw unavailable()
    return answer
  }
  const read = async (domain: string): Promise<PowerDnsZone | undefined> => {
    const { status, body } = await ask('GET', domain)
    if (status === 404) return undefined
    if (status !== 200) throw unavailable()
    const zone = parsed(body)
    if (!readsZone.Check(zone)) throw unavailable()
    return zone
  }
  return {
    zone: async (domain) => {
      const zone = await read(domain)
      if (!zone) return undefined
      const records = zone.rrsets.flatMap((set) =>
        set.records.map(({ content, disabled }) => recordOf(set, content, disabled)),
      )
      return { ...factsOf(zone), records }
    },
    replace: async (domain, records, check) => {
      const zone = await read(domain)
      if (!zone) throw new ApiError('domain_not_managed')
      const rrsets = changesOf(zone, domain, records)
      const isThere = areMade(rrsets, zone)
      check(factsOf(zone), isThere)
      if (isThere) return zone.serial
      const { status, body } = await ask('PATCH', domain, { rrsets })
      if (status === 422) throw new ApiError('invalid_record', { details: { why: reasonIn(body) } })
      if (status !== 204) throw unavailable()
      return (await read(domain))?.serial ?? zone.serial
    },
  }
}

/** Undefined if it is no JSON. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function reasonIn(body: Buffer): string {
  const read = parsed(body)
  const said = readsRefusal.Check(read) ? read.error : read === undefined ? body.toString('utf8').trim() : ''
  return said.slice(0, 200) || 'refused by the name server'
}

type Change =
  | (RrSet & { readonly changetype: 'REPLACE' })
  | (Pick<RrSet, 'name' | 'type'> & { readonly changetype: 'DELETE' })

/** In whatever order the records are. */
const textOfSet = ({ name, type, ttl, records, comments = [] }: RrSet): string =>
  JSON.stringify([
    [name, type, ttl],
    records.map(({ content, disabled }) => `${disabled} ${content}`).sort(),
    comments.map(({ content }) => content),
  ])

function areMade(changes: readonly Change[], { rrsets }: PowerDnsZone): boolean {
  const there = new Set(rrsets.map(textOfSet))
  return changes.every((change) => change.changetype === 'REPLACE' && there.has(textOfSet(change)))
}

/** Several records of one name and type are one set, which is replaced as a whole. */
function changesOf(zone: PowerDnsZone, domain: string, records: readonly ZoneRecord[]): Change[] {
  const sets = new Map<string, ZoneRecord[]>()
  for (const record of records) {
    const key = `${record.name} ${record.type}`
    sets.set(key, [...(sets.get(key) ?? []), record])
  }
  const replaced: Change[] = [...sets.values()].flatMap(([first, ...more]) =>
    first
      ? {
          name: withDot(first.name),
          type: first.type,
          ttl: first.ttl,
          changetype: 'REPLACE',
          records: [first, ...more].map((record) => ({ content: contentFor(record), disabled: record.disabled })),
          comments: first.comment === null ? [] : [{ content: first.comment, account: '' }],
        }
      : [],
  )
  const gone: Change[] = zone.rrsets
    .filter((set) => !isKept(set, domain) && !sets.has(`${withoutDot(set.name)} ${set.type}`))
    .map(({ name, type }) => ({ name, type, changetype: 'DELETE' }))
  return [...gone, ...replaced]
}
