import { shellLine } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import { arg, command, flag } from '../../model/command.ts'
import { facts, table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'
import { agentProfiles, findAgent, heldAgent } from './find.ts'
import { expiryText, isExpired } from './limits.ts'

const shapes = () => import('../../schemas/agent.ts')
export const AGENT = arg.one('name or id of an agent', { completes: 'agent' })

export const dataOf = (agent: Agent, profile?: string) => ({
  agentId: agent.agentId,
  domainTenantId: agent.domainTenantId,
  name: agent.name,
  description: agent.description,
  status: agent.status,
  permissions: agent.permissions,
  securityGroups: agent.securityGroups,
  expiresAt: agent.expiresAt?.toISOString() ?? null,
  networks: agent.networks,
  createdAt: agent.createdAt.toISOString(),
  ...(profile !== undefined && { profile }),
})

export const list = command({
  summary: 'the agents of your tenant',
  args: {},
  flags: { archived: flag.on('archived ones too') },
  examples: [
    { run: 'strongroom agent list', does: 'names, permissions, and which have their keys here' },
    { run: "strongroom agent list --pick 'data[].name'", does: 'names alone, a line each' },
  ],
  next: 'strongroom agent show NAME',
  output: async () => (await shapes()).agentListShape,
  run: async (cli, { flags }) => {
    const strongroom = await cli.strongroom()
    const params = flags.archived ? {} : ({ status: 'active' } as const)
    const agents = await strongroom.agents.list(params, { signal: cli.signal }).all()
    const here = new Map((await agentProfiles(cli)).map(([name, { agent }]) => [agent, name]))
    const rows = agents.map((agent) => dataOf(agent, here.get(agent.agentId)))
    if (rows.length === 0) cli.say('no agents yet')
    return {
      data: rows,
      meta: { total: rows.length },
      ...(rows.length > 0 && {
        text: table(
          rows,
          [
            { title: 'NAME', of: ({ name }) => name },
            { title: 'STATUS', of: (row) => (row.status === 'active' && isExpired(row) ? 'expired' : row.status) },
            { title: 'EXPIRES', of: ({ expiresAt }) => (expiresAt === null ? undefined : shortTime(expiresAt)) },
            { title: 'MAY', of: ({ permissions }) => permissions.length, right: true },
            { title: 'PROFILE HERE', of: ({ profile }) => profile },
            { title: 'ID', of: ({ agentId }) => agentId },
          ],
          cli.style,
        ),
      }),
      next: rows[0] ? shellLine`strongroom agent show ${rows[0].name}` : 'strongroom agent create',
    }
  },
})

export const show = command({
  summary: 'one agent: what it may do',
  args: { agent: AGENT },
  flags: {},
  examples: [{ run: 'strongroom agent show checkout-bot', does: 'permissions, limits, and whether its keys are here' }],
  next: 'strongroom agent test NAME',
  output: async () => (await shapes()).agentShape,
  run: async (cli, { args }) => {
    const agent = await findAgent(cli, args.agent)
    const held = await heldAgent(cli, args.agent, agent.agentId).catch(() => undefined)
    const data = dataOf(agent, held?.name)
    const text = facts(
      [
        ['name', data.name],
        ['id', data.agentId],
        ['status', data.status],
        ['about', data.description],
        ['may', data.permissions.join(', ')],
        ['groups', data.securityGroups.map(({ name }) => name).join(', ')],
        ['expires', expiryText(data)],
        ['networks', data.networks.join(', ')],
        ['made', data.createdAt],
        ['keys', held ? `on this machine, profile "${held.name}"` : 'not on this machine'],
      ],
      cli.style,
    )
    return { data, text, next: shellLine`strongroom agent test ${data.name}` }
  },
})
