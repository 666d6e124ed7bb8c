import { shellLine } from '@strongroom/contract'
import type { DnsRecords } from '@strongroom/sdk'
import { type Cli, confirm } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, flag, type Result } from '../../model/command.ts'
import { table } from '../../output/table.ts'

const shapes = () => import('../../schemas/money.ts')
export const SET_TYPES = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'] as const
const READ = [...SET_TYPES, 'SOA'] as const
type SetType = (typeof SET_TYPES)[number]
type DnsRecord = DnsRecords['records'][number]

const recordsOf = async (cli: Cli, domain: string, type?: (typeof READ)[number]): Promise<DnsRecords> =>
  (await cli.strongroom()).domains.records({ domain, ...(type !== undefined && { type }) }, { signal: cli.signal })

function shown(cli: Cli, data: DnsRecords): Result {
  const text = table(
    data.records,
    [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'TYPE', of: (record) => record.type },
      { title: 'TTL', of: ({ ttl }) => ttl, right: true },
      { title: 'CONTENT', of: ({ priority, content }) => (priority === null ? content : `${priority} ${content}`) },
    ],
    cli.style,
  )
  return { data, meta: { total: data.records.length }, text }
}

export const records = command({
  summary: 'the DNS records of a managed domain',
  args: { domain: arg.one('a domain, or a name in one') },
  flags: { type: flag.choice('only this type', READ) },
  examples: [{ run: 'strongroom domain records example.com --type MX', does: 'where mail goes' }],
  next: 'strongroom domain record set NAME TYPE CONTENT',
  output: async () => (await shapes()).recordsShape,
  run: async (cli, { args, flags }) => shown(cli, await recordsOf(cli, args.domain, flags.type)),
})

interface Wanted {
  readonly name: string
  readonly type: SetType
  readonly contents: readonly string[]
}

const isSettable = (type: string): type is SetType => (SET_TYPES as readonly string[]).includes(type)

function wantedOf(name: string | undefined, given: string | undefined, contents: readonly string[]): Wanted {
  const type = given ?? ''
  if (name === undefined || !isSettable(type))
    throw new CliError('usage', `say which records: their name, and one of ${SET_TYPES.join(', ')}`)
  return { name, type, contents }
}

/** The server takes all records of a domain at once: those that are not meant are sent as they are. */
async function replace(cli: Cli, before: DnsRecords, kept: readonly DnsRecord[], added: readonly NewRecord[]) {
  const [disabled] = before.records.filter((record) => record.disabled)
  if (disabled)
    throw new CliError('usage', `${disabled.name} ${disabled.type} is disabled, and that cannot be kept from here`, {
      fix: 'change this domain where it was disabled',
    })
  const others = kept.flatMap(({ name, type, content, ttl, priority, comment }) =>
    isSettable(type)
      ? [{ name, type, content, ttl, ...(priority !== null && { priority }), ...(comment !== null && { comment }) }]
      : [],
  )
  const { client } = await cli.person()
  const { domain, serial: ifSerial } = before
  await client.domains.setRecords({ params: { domain }, body: { ifSerial, records: [...others, ...added] } })
  return recordsOf(cli, domain)
}

interface NewRecord {
  readonly name: string
  readonly type: SetType
  readonly content: string
  readonly ttl?: number
  readonly priority?: number
}

/** Names in the DNS have no case and no dot at the end. */
const isOf = (record: DnsRecord, { name, type }: Wanted): boolean =>
  record.name === name.toLowerCase().replace(/\.$/, '') && record.type === type

async function set(cli: Cli, wanted: Wanted, more: Pick<NewRecord, 'ttl' | 'priority'>): Promise<Result> {
  const { name, type, contents } = wanted
  if (contents.length === 0) throw new CliError('usage', 'say what the record holds, such as an address')
  const before = await recordsOf(cli, name)
  const there = before.records.filter((record) => isOf(record, wanted))
  if (there.length > 0) await confirm(cli, `Replace ${there.length} ${type} records of ${name}?`)
  const kept = before.records.filter((record) => !isOf(record, wanted))
  const added = contents.map((content) => ({ name, type, content, ...more }))
  return shown(cli, await replace(cli, before, kept, added))
}

async function rm(cli: Cli, wanted: Wanted): Promise<Result> {
  const { name, type, contents } = wanted
  const before = await recordsOf(cli, name)
  const isMeant = (record: DnsRecord): boolean =>
    isOf(record, wanted) && (contents.length === 0 || contents.includes(record.content))
  const meant = before.records.filter(isMeant)
  if (meant.length === 0)
    throw new CliError('record_not_found', `there is no such ${type} record of ${name}`, {
      fix: shellLine`strongroom domain records ${before.domain}`,
    })
  await confirm(cli, `Remove ${meant.length} ${type} records of ${name}?`)
  const kept = before.records.filter((record) => !isMeant(record))
  return shown(cli, await replace(cli, before, kept, []))
}

const ACTIONS = ['set', 'rm', 'list'] as const

export const record = command({
  summary: 'records of a managed domain: set, rm, list',
  about:
    'set makes the records of a name and a type exactly what is given; rm removes them, or those with this content. Where somebody else changed the domain in between, nothing is changed, and you are asked to do it again.',
  args: {
    action: arg.one(ACTIONS.join(', '), { choices: ACTIONS }),
    name: arg.maybe('the name, such as www.example.com; with list a domain'),
    type: arg.maybe(SET_TYPES.join(', '), { choices: SET_TYPES }),
    content: arg.rest('what they hold'),
  },
  flags: {
    ttl: flag.count('seconds that others may keep it; an hour if not given'),
    priority: flag.count('of MX and SRV records'),
  },
  examples: [
    { run: 'strongroom domain record set www.example.com A 192.0.2.1 192.0.2.2', does: 'two addresses, no others' },
    { run: 'strongroom domain record rm www.example.com A 192.0.2.2 --yes', does: 'one of them' },
  ],
  next: 'strongroom domain records DOMAIN',
  output: async () => (await shapes()).recordsShape,
  run: async (cli, { args, flags }) => {
    const { ttl, priority } = flags
    if (args.action === 'list' && args.name !== undefined) return shown(cli, await recordsOf(cli, args.name))
    const wanted = wantedOf(args.name, args.type, args.content)
    const more = { ...(ttl !== undefined && { ttl }), ...(priority !== undefined && { priority }) }
    if (args.action === 'set') return set(cli, wanted, more)
    if (args.action === 'rm') return rm(cli, wanted)
    throw new CliError('usage', `say what to do: ${ACTIONS.join(', ')}`)
  },
})
