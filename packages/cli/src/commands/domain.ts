import { arg, command, flag, type Group } from '../model/command.ts'
import { table } from '../output/table.ts'

const shapes = () => import('../schemas/money.ts')
const TYPES = ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'SRV', 'TXT', 'SOA'] as const

const records = command({
  summary: 'the DNS records of a managed domain',
  args: { domain: arg.one('a domain, or a name in one') },
  flags: { type: flag.choice('only this type', TYPES) },
  examples: [{ run: 'strongroom domain records example.com --type MX', does: 'where mail goes' }],
  next: 'strongroom domain records DOMAIN --json',
  output: async () => (await shapes()).recordsShape,
  run: async (cli, { args, flags }) => {
    const { type } = flags
    const question = { domain: args.domain, ...(type !== undefined && { type }) }
    const data = await (await cli.strongroom()).domains.records(question, { signal: cli.signal })
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
  },
})

export const domain: Group = { summary: 'domains that are managed here', verbs: { records } }
