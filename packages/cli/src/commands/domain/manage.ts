import type { Cli } from '../../cli.ts'
import { confirm } from '../../cli.ts'
import { arg, command, flag } from '../../model/command.ts'
import { table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'

const shapes = () => import('../../schemas/domain.ts')
const DOMAIN = arg.one('a domain, such as example.com')
const PAGE = 100

type Client = Awaited<ReturnType<Cli['person']>>['client']
type Domain = Awaited<ReturnType<Client['domains']['list']>>['data'][number]

async function everyDomain({ domains }: Client): Promise<readonly Domain[]> {
  const found: Domain[] = []
  for (let page = 1; ; page += 1) {
    const { data, meta } = await domains.list({ query: { page, limit: PAGE } })
    found.push(...data)
    if (page >= (meta?.totalPages ?? 1)) return found
  }
}

export const list = command({
  summary: 'the domains of the organisation',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom domain list', does: 'and whether they are managed here' }],
  next: 'strongroom domain records DOMAIN',
  output: async () => (await shapes()).domainsShape,
  run: async (cli) => {
    const data = await everyDomain((await cli.person()).client)
    if (data.length === 0) cli.say('no domain yet')
    const text = table(
      data,
      [
        { title: 'DOMAIN', of: ({ domain }) => domain },
        { title: 'MANAGED', of: ({ managed }) => (managed ? 'here' : 'elsewhere') },
        { title: 'SINCE', of: ({ createdAt }) => shortTime(createdAt) },
      ],
      cli.style,
    )
    return {
      data,
      meta: { total: data.length },
      ...(data.length > 0 && { text }),
      next: 'strongroom domain add DOMAIN',
    }
  },
})

export const add = command({
  summary: 'add a domain of the organisation, managed here',
  args: { domain: DOMAIN },
  flags: { elsewhere: flag.on('only known to be yours; its records are kept elsewhere') },
  examples: [{ run: 'strongroom domain add example.com', does: 'its records are set from here' }],
  next: 'strongroom domain record set NAME TYPE CONTENT',
  output: async () => (await shapes()).domainShape,
  run: async (cli, { args, flags }) => {
    const { client } = await cli.person()
    const data = await client.domains.add({ body: { domain: args.domain, managed: !flags.elsewhere } })
    return { data, text: `${cli.style.good('✓')} ${data.domain} is a domain of this organisation` }
  },
})

export const remove = command({
  summary: 'remove a domain and the records that are kept here',
  args: { domain: DOMAIN },
  flags: {},
  examples: [{ run: 'strongroom domain remove example.com --yes', does: 'asks nothing' }],
  next: 'strongroom domain list',
  output: async () => (await shapes()).removedShape,
  run: async (cli, { args }) => {
    await confirm(cli, `Remove ${args.domain} and the records that are kept here?`)
    const { client } = await cli.person()
    const data = await client.domains.remove({ params: { domain: args.domain } })
    return { data, text: `${cli.style.good('✓')} ${data.domain} is removed` }
  },
})
